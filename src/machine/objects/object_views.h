// The readable state of semaphores, latches, barriers, queues, counters and groups: one shape for all kinds, of which each
// uses the fields that apply. Also the objects that a session has (docs/semantics.md S-45).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordination/step.h"
#include "coordkit/types.h"

namespace coordkit::machine {

// The subject's name in StateMachine::observe() of this machine.
inline std::string subject_of(coordination::Kind kind, std::string_view name) {
  std::string subject(1, static_cast<char>(kind));
  return subject.append(name);
}

// Permits of a session, an unclaimed item, or a member.
struct ObjectRow {
  Index id;              // item, member; permits: the entry that granted
  Token token;           // permits
  SessionId session;     // permits, member
  std::string owner;     // member
  uint64_t count = 0;    // permits; deliveries of an item
  int64_t priority = 0;  // item
  std::string value;     // item, member
  friend bool operator==(const ObjectRow&, const ObjectRow&) = default;
};

struct ObjectView {
  bool exists = false;   // barrier: it is closed
  int64_t number = 0;    // counter: its value; latch: its count; queue: items that are not claimed
  uint64_t limit = 0;    // semaphore: its limit; double barrier: its parties
  uint64_t taken = 0;    // permits held; parties inside; items claimed
  uint64_t waiters = 0;  // length of the line
  bool more = false;     // there are more rows than these
  std::vector<ObjectRow> rows;
  friend bool operator==(const ObjectView&, const ObjectView&) = default;
};

// Permits, a place inside a double barrier, a claimed item or a membership.
struct OwnedObject {
  coordination::Kind kind{};  // Semaphore, DoubleBarrier, Queue or Group
  std::string name;
  Token token;         // none for a membership
  Index since;         // the entry that granted; none for a membership
  Index id;            // the item; the member's number
  uint64_t count = 0;  // permits; earlier deliveries of the item
  std::string owner;   // of the member
  std::string value;   // of the item, of the member
  friend bool operator==(const OwnedObject&, const OwnedObject&) = default;
};

// Ordered by kind, then by token; memberships by number.
struct OwnedObjects {
  std::vector<OwnedObject> rows;
  bool more = false;
  friend bool operator==(const OwnedObjects&, const OwnedObjects&) = default;

  // The place of a row in that order; the rows after it are the next page.
  struct Place {
    coordination::Kind kind{};
    uint64_t number = 0;
  };
  Place last() const { return {rows.back().kind, rows.back().token ? rows.back().token.value() : rows.back().id.value()}; }
};

}  // namespace coordkit::machine
