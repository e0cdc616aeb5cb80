// The releases of one session whose end in the log is not acknowledged, in the order in which they were made. They are found by
// their names in the log, and end in any order; the cost does not grow with their number.
#pragma once

#include <cstdint>
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
    places_.emplace(id, first_ + line_.size());
    ++not_posted_;
    return *line_.push_back(PendingRelease{.name = std::move(name), .id = id});
  }
  PendingRelease* find(const ReleaseId& id) {
    const auto place = places_.find(id);
    return place == places_.end() ? nullptr : &*line_[place->second - first_];
  }
  void erase(const ReleaseId& id) {
    const auto place = places_.find(id);
    std::optional<PendingRelease>& over = line_[place->second - first_];
    if (!over->posted) --not_posted_;
    over.reset();
    places_.erase(place);
    for (; !line_.empty() && !line_.front(); line_.pop_front()) ++first_;
  }
  void set_posted(PendingRelease& release, bool posted) {
    if (std::exchange(release.posted, posted) != posted) not_posted_ += posted ? -1 : 1;
  }
  bool all_posted() const { return not_posted_ == 0; }
  size_t size() const { return places_.size(); }

  // In their order, until `visit` says false.
  template <typename Visit>
  void each(Visit visit) {
    for (size_t i = 0; i < line_.size(); ++i) {
      if (line_[i] && !visit(*line_[i])) return;
    }
  }
  template <typename Holds>
  bool any(Holds holds) const {
    for (size_t i = 0; i < line_.size(); ++i) {
      if (line_[i] && holds(*line_[i])) return true;
    }
    return false;
  }

 private:
  Ring<std::optional<PendingRelease>> line_;  // I: the first has not ended
  uint64_t first_ = 0;                        // how many have left the line at its front
  absl::flat_hash_map<ReleaseId, uint64_t> places_;
  size_t not_posted_ = 0;
};

}  // namespace coordkit::client
