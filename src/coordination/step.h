// The step that the seven tables of this folder share: its inputs and its effects.
//
// A step is one entry: at most one command of one table, or the ends of sessions and waits. decide_waits() of every table
// ends it. Ends only remove records and note the objects that they touched; only decide_waits() wakes and grants. So no hold
// is granted to a session or a wait that ends in the same entry (docs/semantics.md S-39).
//
// An object (a semaphore, a queue, ...) is named by the entry that made it. A wait is named by the entry that queued it. One
// entry has one command, so these numbers never collide.
//
// Tokens come from a function, because the counter belongs to the locks and the two folders do not know each other. This
// folder needs only the next number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/functional/function_ref.h"
#include "coordkit/types.h"

namespace coordkit::coordination {

class Waits;

// Lock appears only in a Change. Its holder is the leader of the election of that name.
enum class Kind : uint8_t {
  Semaphore = 1,
  Latch = 2,
  Barrier = 3,
  DoubleBarrier = 4,
  Queue = 5,
  Counter = 6,
  Group = 7,
  Lock = 8
};

// How a command or a wait ended.
struct Verdict {
  enum class Kind : uint8_t {
    Ok,
    Granted,  // `token` is the new hold
    Queued,   // waits; a Decision comes later
    Held,     // a try that would have to wait; a deletion: there are holders or waiters
    WaitTimeout,
    Cancelled,
    Lost,    // the session ended
    Broken,  // the barrier broke
    NotFound,
    AlreadyExists,
    NotOwner,
    TooManyParties,
    InvalidArgument,
    Overflow,
  };
  Kind kind = Kind::Ok;
  Token token;
  Index id;                // of a member, of an item
  Index since;             // Granted: the entry that granted
  uint64_t position = 0;   // Queued: waits before it
  int64_t number = 0;      // of a counter, a latch; deliveries of an item before this one
  bool swapped = false;    // a compare-and-set succeeded
  std::string value = {};  // of an item
};

// How a wait ended. Each wait gets exactly one decision (INV_L08).
struct Decision {
  Index queued;
  SessionId session;
  RequestId request;
  bool timed = false;
  Verdict verdict;
};

// A change that an observer sees. It has the complete new state of the name, except for a group: there it is one member.
struct Change {
  enum class What : uint8_t { Set = 1, Deleted = 2, Joined = 3, Updated = 4, Left = 5 };
  Kind kind = Kind::Counter;
  What what = What::Set;
  std::string name;
  int64_t number = 0;  // counter, latch: its number; lock: its token
  Index member;        // its number; lock: the entry that granted it
  SessionId session;
  std::string owner;
  std::string value;

  static constexpr auto fields() {
    return std::tuple(&Change::kind, &Change::what, &Change::name, &Change::number, &Change::member, &Change::session,
                      &Change::owner, &Change::value);
  }
  friend bool operator==(const Change&, const Change&) = default;
};

// The timer of a claim on an item. A duration above zero arms it, zero disarms it. The entry of the claim's command names it,
// as it named the timer of the claim's wait, and the token guards it.
struct ClaimTimer {
  Index queued;
  Token token;
  Duration duration{};
};

struct Step {
  Index index;
  RequestId request;
  absl::FunctionRef<Token()> next_token;
  Waits& waits;
  std::vector<Decision>& decisions;
  std::vector<Change>& changes;
  std::vector<ClaimTimer>& timers;
};

// A command that may have to wait, as it arrives.
struct Attempt {
  SessionId session;
  std::string_view name;
  bool waits = false;  // false: a try
  Duration timeout{};  // of a timed wait, else zero
};

}  // namespace coordkit::coordination
