// The releases of one session whose end in the log is not acknowledged, in the order in which they were made. They are found by
// their names in the log, and end in any order; the cost does not grow with their number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/ring.h"
#include "coordkit/client/handles.h"
#include "coordkit/client/options.h"

namespace coordkit::client {

// Names a release: for a counted hold (S-38) its n-th, otherwise number zero.
struct ReleaseId {
  Token token;
  uint64_t number = 0;
  friend bool operator==(const ReleaseId&, const ReleaseId&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const ReleaseId& id) {
    return H::combine(std::move(state), id.token, id.number);
  }
};

// Callers that wait for one release: nearly always one.
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
  std::string name;
  ReleaseId id;
  HoldRef hold = {};      // whose release it is; null: of a grant that nobody got to know
  bool posted = false;    // a command that performs it is under way
  bool repeated = false;  // more than one may perform it: NotOwner then means done
  Waiters waiting = {};
};

class PendingReleases {
 public:
  PendingRelease& add(std::string name, ReleaseId id) {
    if (list_ == nullptr) list_ = std::make_unique<List>();
    list_->places.emplace(id, list_->first + list_->line.size());
    ++list_->not_posted;
    PendingRelease& added = list_->line.push_back().emplace();
    added.name = std::move(name);
    added.id = id;
    return added;
  }
  PendingRelease* find(const ReleaseId& id) {
    if (list_ == nullptr) return nullptr;
    const auto place = list_->places.find(id);
    return place == list_->places.end() ? nullptr : &*list_->line[place->second - list_->first];
  }
  void erase(const ReleaseId& id) {
    const auto place = list_->places.find(id);
    std::optional<PendingRelease>& over = list_->line[place->second - list_->first];
    if (!over->posted) --list_->not_posted;
    over.reset();
    list_->places.erase(place);
    for (; !list_->line.empty() && !list_->line.front(); list_->line.pop_front()) ++list_->first;
  }
  void set_posted(PendingRelease& release, bool posted) {
    if (std::exchange(release.posted, posted) != posted) list_->not_posted += posted ? -1 : 1;
  }
  bool all_posted() const { return list_ == nullptr || list_->not_posted == 0; }
  size_t size() const { return list_ == nullptr ? 0 : list_->places.size(); }

  // In their order, until `visit` says false.
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
    uint64_t first = 0;                        // how many have left the line at its front
    absl::flat_hash_map<ReleaseId, uint64_t> places;
    size_t not_posted = 0;
  };
  std::unique_ptr<List> list_;  // null until the first: many sessions release nothing before they end
};

}  // namespace coordkit::client
