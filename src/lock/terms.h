// The questions to the lock table and its answers: plain values. The views in them live until the table's next change.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hold_texts.h"
#include "coordkit/records.h"
#include "coordkit/types.h"
#include "lock/block.h"

namespace coordkit::lock {

using Mode = LockMode;

constexpr bool compatible(Mode a, Mode b) { return a == Mode::Shared && b == Mode::Shared; }

// docs/semantics.md S-53, S-38, S-40. Part of the replicated behaviour.
inline constexpr size_t kNamesMax = 128;       // of one acquire
inline constexpr uint32_t kCountMax = 65'535;  // of one hold by re-entry
inline constexpr Duration kDelayMax = std::chrono::seconds(60);
inline constexpr uint64_t kBlockMax = 1 << 20;  // S-58: tokens that one sticky hold may reserve at a time

struct Wanted {
  std::string_view name;
  Mode mode = Mode::Exclusive;
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

enum class ClaimKind : uint8_t { Plain, Sticky };

// An acquire as it arrives.
struct Attempt {
  Index index;  // of its entry: the place in every queue
  RequestId request;
  SessionId session;
  std::string_view tag;
  std::span<const Wanted> names;  // 1 to kNamesMax, distinct: all or nothing
  HoldTextViews texts;
  bool waits = false;            // false: a try
  Duration timeout{};            // of a timed wait, else zero
  Duration delay{};              // S-40: of the hold it becomes
  bool reentrant = false;        // S-38: counts up an existing hold; only with one name
  bool may_close_cycle = false;  // S-49: no deadlock detection for this one
  uint64_t block = 0;            // S-58: above zero: sticky; exclusive, one name, not reentrant
};

struct AcquireVerdict {
  enum class Kind : uint8_t { Granted, Queued, Held, Delayed, AlreadyHeld, AlreadyWaiting, Deadlock, TooDeep };
  Kind kind = Kind::Held;
  Token token;            // Granted, AlreadyHeld
  Index since;            // of the blocking hold or wait
  uint64_t position = 0;  // Queued: waiters before it, in the longest of its queues
  uint64_t releases = 0;  // Granted by counting up: releases of this hold so far
};

// Names the hold on this lock with this token. The hold must belong to the session, and to the tag if one is given.
struct HoldKey {
  SessionId session;
  std::optional<std::string_view> tag;
  std::string_view name;
  Token token;
};

// For an upgrade or a downgrade.
struct ModeVerdict {
  enum class Kind : uint8_t { Done, NotOwner, Impossible, Conflict, Delayed, Deadlock };
  Kind kind = Kind::NotOwner;
  Token token;  // Done: the new token; the previous one is dead
  Index since;  // Done
};

struct CancelVerdict {
  enum class Kind : uint8_t { Cancelled, Granted, Absent };
  Kind kind = Kind::Absent;
  Token token;  // Granted
  Index since;  // Granted
};

// How a wait ended. Each waiting acquire gets exactly one decision (INV_L08).
struct Decision {
  enum class Kind : uint8_t { Granted, WaitTimeout, Cancelled, Lost };
  Kind kind = Kind::Lost;
  RequestId request;
  SessionId session;
  Index queued;        // the entry that queued it
  bool timed = false;  // it had a timeout
  Token token;         // Granted
};

// A lock-delay that began or is over; its id comes from the token counter and is never reused.
struct DelayChange {
  enum class Kind : uint8_t { Begun, Over };
  Kind kind = Kind::Begun;
  uint64_t id = 0;
  Duration duration{};  // Begun
};

// S-58: another session wants a lock that this session has as a delegation. Reported once for each delegation.
struct Asked {
  SessionId session;
  std::string name;
  Token token;  // of the hold
};

// The decisions of one step, in order.
struct Decisions {
  std::vector<Decision> waits;
  std::vector<DelayChange> delays;
  std::vector<std::string> led;  // names whose exclusive hold came, went or has another value; may repeat
  std::vector<Asked> asked;

  bool empty() const { return waits.empty() && delays.empty() && led.empty() && asked.empty(); }
  // Keeps the memory: one object serves step after step.
  void clear() {
    waits.clear();
    delays.clear();
    led.clear();
    asked.clear();
  }
};

// A claim as seen from outside: an acquire that waits or holds.
struct ClaimView {
  std::string_view name;  // the first or only one
  Mode mode = Mode::Exclusive;
  std::string_view tag;
  HoldTextViews texts;
  SessionId session;
  RequestId request;
  Index since;
  Token token;  // zero: waiting
  Duration timeout{};
  Duration delay{};
  bool reentrant = false;
  uint32_t count = 1;          // acquires that the hold counts
  uint64_t releases = 0;       // releases that counted it down so far
  std::vector<Wanted> others;  // the further names of a multi-lock
  Block block = {};
  bool sticky() const { return block.size != 0; }
  bool held() const { return static_cast<bool>(token); }
};

// Counts the claims of a session.
struct ClaimCounts {
  uint32_t holds = 0;
  uint32_t waiters = 0;
};

// The mode of this claim on that lock, which is one of its names.
Mode mode_on(const ClaimView& claim, std::string_view name);

// A lock-delay as seen from outside.
struct DelayView {
  uint64_t id = 0;
  std::string_view name;
  Duration duration{};
};

// Names a row of a checkpoint: a delay by its id, a hold by its token, a waiter by its entry.
struct RowId {
  enum class Kind : uint8_t { Delay, Hold, Wait };
  Kind kind = Kind::Hold;
  uint64_t id = 0;
  friend auto operator<=>(const RowId&, const RowId&) = default;
};

}  // namespace coordkit::lock
