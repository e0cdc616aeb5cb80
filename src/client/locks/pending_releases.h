// The releases of one session whose end in the log is not acknowledged, in the order in which they were made. Each is found
// by its number. They end in any order; the cost does not grow with their number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ring.h"
#include "coordkit/client/client_options.h"
#include "coordkit/client/handles.h"

namespace coordkit::client {

// The name of a release in the log: for a counted hold (S-38) its n-th, otherwise number zero.
struct ReleaseId {
  Token token;
  uint64_t number = 0;
  friend bool operator==(const ReleaseId&, const ReleaseId&) = default;
};

// The number of a release within its session, unique there.
using ReleaseNumber = Id<struct ReleaseNumberTag>;

// Callers that wait for one release: nearly always there is one.
class Waiters {
 public:
  void add(CallId call) {
    if (first_) {
      others_.push_back(call);
    } else {
      first_ = call;
    }
  }
  template <typename Visit>
  void each(Visit visit) const {
    if (first_) visit(first_);
    for (const CallId call : others_) visit(call);
  }

 private:
  CallId first_;
  std::vector<CallId> others_;
};

// A hold given back locally.
struct PendingRelease {
  ReleaseNumber number;
  std::string name;
  ReleaseId id;
  HoldRef hold = {};                      // the hold that is released; null: a grant that no caller got to know
  std::shared_ptr<Delegation> lent = {};  // of a lock that was lent to the session
  bool posted = false;                    // a command that performs it is under way
  bool repeated = false;                  // more than one command may perform it: NotOwner then means done
  Waiters waiting = {};
};

class PendingReleases {
 public:
  PendingRelease& add(std::string&& name, ReleaseId id) {
    if (list_ == nullptr) list_ = std::make_unique<List>();
    ++list_->not_posted;
    ++list_->size;
    const ReleaseNumber number = list_->first + list_->line.size();
    PendingRelease& added = list_->line.push_back().emplace();
    added.number = number;
    added.name = std::move(name);
    added.id = id;
    return added;
  }
  // Null: the release has ended.
  PendingRelease* find(ReleaseNumber number) {
    if (list_ == nullptr || number < list_->first) return nullptr;
    std::optional<PendingRelease>& found = list_->line[number - list_->first];
    return found ? &*found : nullptr;
  }
  // The release must not have ended.
  void erase(ReleaseNumber number) {
    std::optional<PendingRelease>& over = list_->line[number - list_->first];
    if (!over->posted) --list_->not_posted;
    --list_->size;
    over.reset();
    for (; !list_->line.empty() && !list_->line.front(); list_->line.pop_front()) list_->first = list_->first.next();
  }
  void set_posted(PendingRelease& release, bool posted) {
    if (std::exchange(release.posted, posted) != posted) list_->not_posted += posted ? -1 : 1;
  }
  // The newest command that releases, until it is answered; zero: there is none.
  Ticket last_command() const { return list_ == nullptr ? Ticket() : list_->last_command; }
  void set_last_command(Ticket command) { list_->last_command = command; }  // after the first add()
  void command_answered(Ticket command) {
    if (list_ != nullptr && list_->last_command == command) list_->last_command = {};
  }
  bool all_posted() const { return list_ == nullptr || list_->not_posted == 0; }
  size_t size() const { return list_ == nullptr ? 0 : list_->size; }

  // Visits the releases in their order, until `visit` says false.
  template <typename Visit>
  void each(Visit visit) {
    for (size_t i = 0; list_ != nullptr && i < list_->line.size(); ++i) {
      if (list_->line[i] && !visit(*list_->line[i])) return;
    }
  }
  template <typename Holds>
  bool any(Holds holds) const {
    for (size_t i = 0; list_ != nullptr && i < list_->line.size(); ++i) {
      if (list_->line[i] && holds(*list_->line[i])) return true;
    }
    return false;
  }

 private:
  struct List {
    Ring<std::optional<PendingRelease>> line;  // I: the first has not ended
    ReleaseNumber first{1};                    // of the first place in the line
    size_t size = 0;                           // releases that have not ended
    size_t not_posted = 0;
    Ticket last_command;
  };
  std::unique_ptr<List> list_;  // null until the first release: many sessions release nothing before they end
};

}  // namespace coordkit::client
