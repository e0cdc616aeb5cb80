// The records of the lock table: a Lock per name in use, a Claim per acquire that waits or holds.
//
// A claim is first a waiter, then a hold: the same object moves from the queue of its lock to its holds. It stands in a
// lock through a Place; today every claim has exactly one, a multi-lock will have several (docs/semantics.md S-53), and all
// code goes through places(). Records are linked by pointers and owned by the table; none of this leaves the folder.
#pragma once

#include <cstdint>
#include <span>

#include "coordkit/types.h"
#include "lock/packed_text.h"

namespace coordkit::lock {

struct Claim;
struct Lock;

// A claim's place in one lock: in its queue while the claim waits, among its holds afterwards.
struct Place {
  Claim* claim = nullptr;
  Lock* lock = nullptr;
  Place* before = nullptr;
  Place* after = nullptr;
};

struct PlaceList {
  Place* first = nullptr;
  Place* last = nullptr;

  void append(Place& place) {
    place.before = last;
    place.after = nullptr;
    (last ? last->after : first) = &place;
    last = &place;
  }
  void remove(Place& place) {
    (place.before ? place.before->after : first) = place.after;
    (place.after ? place.after->before : last) = place.before;
    place.before = place.after = nullptr;
  }
  bool empty() const { return first == nullptr; }
};

// Exists while it has a hold or a waiter (later: a delay); afterwards nothing remains.
struct Lock {
  explicit Lock(std::string_view of) : name(of) {}
  PackedText name;       // first()
  PlaceList holds;       // INV_L01: at most one exclusive, and then no other; in grant order
  PlaceList queue;       // INV_L05: in the order of Claim::since
  uint32_t waiting = 0;  // length of the queue
  bool touched = false;  // listed for settle()
};

struct Claim {
  Place place;
  Claim* session_before = nullptr;  // the other claims of the session, in no meaningful order
  Claim* session_after = nullptr;
  SessionId session;
  RequestId request;        // of the acquire: names it for ever
  Index since;              // waiting: the entry that queued it, unique; held: the entry that granted it
  Token token;              // zero: waiting
  Duration timeout{};       // of a timed wait, else zero; zero once held
  PackedText text;          // owner tag and value
  uint32_t dirty_slot = 0;  // position in the table's list of changed claims, plus one; zero: unchanged
  bool stored = false;      // its present row is in the checkpoint

  bool held() const { return static_cast<bool>(token); }
  std::string_view tag() const { return text.first(); }
  std::string_view value() const { return text.second(); }
  std::span<Place> places() { return {&place, 1}; }
  std::span<const Place> places() const { return {&place, 1}; }
};

}  // namespace coordkit::lock
