// The records of the lock table: a Lock per name in use, an Owner per thread of control with a claim, a Claim per acquire
// that waits or holds.
//
// A claim is first a waiter, then a hold: the same object moves from the queues of its locks to their holds. It stands in
// each of its locks through a Place; nearly every claim has exactly one, a multi-lock has several (docs/semantics.md S-53).
// Records are linked by pointers and owned by the table; none of this leaves the folder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/linked.h"
#include "coordkit/types.h"
#include "lock/short_text.h"
#include "lock/terms.h"

namespace coordkit::lock {

struct Claim;
struct Lock;

// A claim's place in one lock: in its queue while the claim waits, among its holds afterwards.
struct Place {
  Claim* claim = nullptr;
  Lock* lock = nullptr;
  Mode mode = Mode::Exclusive;
  Place* before = nullptr;
  Place* after = nullptr;
};
using PlaceList = Linked<Place, &Place::before, &Place::after>;

// Exists while it has a hold, a waiter or a delay; afterwards nothing remains.
struct Lock {
  explicit Lock(std::string_view of) : name(of) {}
  ShortText name;
  PlaceList holds;       // INV_L01: a single exclusive one, or only shared ones; in grant order
  PlaceList queue;       // INV_L05: in the order of Claim::since
  uint64_t delay = 0;    // S-40: id of the lock-delay that runs; zero: none
  uint32_t waiting = 0;  // length of the queue
  bool touched = false;  // listed for decide_waits()
};

// Could one more hold of this mode coexist with the present ones?
inline bool admits(const Lock& lock, Mode mode) { return lock.holds.empty() || compatible(lock.holds.first->mode, mode); }

// Session and tag: whatever it has on one lock, it has at most once.
struct Owner;
struct Claim {
  Owner* owner = nullptr;
  Claim* owner_before = nullptr;  // in Owner::holds or Owner::waits
  Claim* owner_after = nullptr;
  RequestId request;   // of the acquire: its permanent name
  Index since;         // waiting: the entry that queued it, unique; held: the entry that granted it
  Token token;         // zero: waiting
  Duration timeout{};  // of a timed wait, else zero; zero once held
  Duration delay{};    // S-40: the lock-delay after its session expires
  uint64_t releases = 0;
  ShortText value;
  std::unique_ptr<Block> block;  // of a sticky claim; null otherwise
  bool reentrant = false;
  bool stored = false;               // its present row is in the checkpoint
  uint32_t count = 1;                // 1 to kCountMax; above 1 only if held and reentrant
  uint32_t dirty_slot = 0;           // position in the table's list of changed claims, plus one; zero: unchanged
  uint32_t extent = 1;               // number of places
  Place one;                         // the place, if there is one
  std::unique_ptr<Place[]> several;  // the places, if there are more

  bool held() const { return static_cast<bool>(token); }
  std::span<Place> places() { return {several ? several.get() : &one, extent}; }
  std::span<const Place> places() const { return {several ? several.get() : &one, extent}; }
  Lock& lock() const { return *places().front().lock; }  // the first
};
using ClaimList = Linked<Claim, &Claim::owner_before, &Claim::owner_after>;

// Exists while it has a claim.
struct Owner {
  Owner(SessionId of, std::string_view with) : session(of), tag(with) {}
  SessionId session;
  ShortText tag;
  ClaimList holds;                  // in no meaningful order
  ClaimList waits;                  // in no meaningful order
  Owner* session_before = nullptr;  // the other owners of the session
  Owner* session_after = nullptr;
};
using OwnerList = Linked<Owner, &Owner::session_before, &Owner::session_after>;

// S-48: nothing is ahead of it in any of its queues, no hold is in the way, and no delay runs.
bool grantable(const Claim& waiter);

}  // namespace coordkit::lock
