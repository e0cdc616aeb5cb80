#include "lock/deadlock.h"

#include <vector>

#include "base/flat_table.h"

namespace coordkit::lock {
namespace {

class Search {
 public:
  explicit Search(const Owner& owner) : owner_(owner) {}

  void follow(const Claim& wait) {
    if (seen_.insert(&wait).second) pending_.push_back(&wait);
  }
  bool closes() {
    while (!pending_.empty() && !closed_) {
      const Claim& wait = *pending_.back();
      pending_.pop_back();
      for (const Place& place : wait.places()) look_at(place);
    }
    return closed_;
  }

 private:
  // The part of a queue that was already visited for the same or a stronger mode. A claim that blocks an earlier waiter
  // blocks a later one too.
  struct Walked {
    Index exclusive;
    Index shared;
  };

  void look_at(const Place& place) {
    Walked& walked = walked_[place.lock];
    const bool exclusive = place.mode == Mode::Exclusive;
    Index& until = exclusive ? walked.exclusive : walked.shared;
    if (place.claim().since <= until) return;
    const Index done = until;
    until = place.claim().since;
    if (!done) {
      for (const Place* hold = place.lock->holds.first; hold; hold = hold->after) {
        // S-58: the log does not know which owner has a delegation, and the session gives it back on request.
        if (hold->claim().block() == nullptr && !compatible(place.mode, hold->mode)) visit(*hold->claim().owner);
      }
    }
    for (const Place* earlier = place.before; earlier && earlier->claim().since >= done; earlier = earlier->before) {
      if (!compatible(place.mode, earlier->mode)) {
        visit(*earlier->claim().owner);
      } else if (earlier->claim().extent() > 1) {
        follow(earlier->claim());
      }
    }
  }

  void visit(const Owner& owner) {
    if (&owner == &owner_) closed_ = true;
    if (!visited_.insert(&owner).second) return;
    for (const Claim* wait = owner.waits.first; wait; wait = wait->owner_after) follow(*wait);
  }

  const Owner& owner_;
  std::vector<const Claim*> pending_;
  FlatSet<const Claim*> seen_;  // these three are only looked up, never iterated
  FlatSet<const Owner*> visited_;
  FlatMap<const Lock*, Walked> walked_;
  bool closed_ = false;
};

// Whether any owner waits behind one of these claims of an owner.
bool anybody_waits_behind(const Claim* claim) {
  for (; claim != nullptr; claim = claim->owner_after) {
    for (const Place& place : claim->places()) {
      if (claim->held() ? !place.lock->queue.empty() : place.after != nullptr) return true;
    }
  }
  return false;
}

// Only then can a wait lead to this owner. An owner with more claims than this is not worth the look.
bool may_block(const Owner& owner) {
  constexpr uint32_t kPlacesMax = 16;
  return owner.places > kPlacesMax || anybody_waits_behind(owner.holds.first) || anybody_waits_behind(owner.waits.first);
}

}  // namespace

// An owner without other claims blocks no other owner; this is the usual case.
bool closes_cycle(const Claim& wait) {
  const Owner& owner = *wait.owner;
  if (owner.holds.empty() && wait.owner_before == nullptr && wait.owner_after == nullptr) return false;
  if (!may_block(owner)) return false;
  Search search(owner);
  search.follow(wait);
  return search.closes();
}

bool waits_for_itself(const Owner& owner) {
  if (!may_block(owner)) return false;
  Search search(owner);
  for (const Claim* wait = owner.waits.first; wait; wait = wait->owner_after) search.follow(*wait);
  return search.closes();
}

}  // namespace coordkit::lock
