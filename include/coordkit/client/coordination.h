// Semaphores, latches, barriers, double barriers, claim queues, counters, groups and elections as asynchronous calls: a face of
// a Client, made by Client::coordination() for as long as that one lives. What the operations do: docs/semantics.md S-50 and
// S-37. Rules for callbacks, deadlines and outcomes are the Client's.
//
// Permits, a place inside a double barrier and a claimed item are holds like a lock's: HoldRef::valid() says whether the
// session still stands for them, Client::release() gives them back, Client::cancel() ends the wait for them. Calls that act
// for a session answer Lost if it has ended, SessionNotFound if only the log knew so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/client/handles.h"
#include "coordkit/client/options.h"
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class Client;

// What becomes of a closed barrier when the session that closed it ends.
enum class BarrierAtSessionEnd : uint8_t { Stays = 0, Opens = 1, Breaks = 2 };
constexpr std::string_view name_of(BarrierAtSessionEnd at_end) {
  switch (at_end) {
    case BarrierAtSessionEnd::Stays: return "Stays";
    case BarrierAtSessionEnd::Opens: return "Opens";
    case BarrierAtSessionEnd::Breaks: return "Breaks";
  }
  return "?";
}
// What the end of a party's session does to a double barrier: all others get Broken, or one party less is waited for. The
// first who enters decides it for the cycle.
enum class PartyAtSessionEnd : uint8_t { Breaks = 1, Shrinks = 2 };
constexpr std::string_view name_of(PartyAtSessionEnd at_end) {
  switch (at_end) {
    case PartyAtSessionEnd::Breaks: return "Breaks";
    case PartyAtSessionEnd::Shrinks: return "Shrinks";
  }
  return "?";
}

struct PermitOptions {
  LockWait wait = {};
  std::optional<uint64_t> initial_limit = {};  // makes the semaphore if there is none; else such an acquire is NotFound
  CallDeadline deadline = {};
};
struct PermitsInfo {
  Token token;
  SessionId session;
  uint64_t count = 0;
  Index since;
};
struct SemaphoreInfo {
  bool exists = false;
  uint64_t limit = 0;
  uint64_t held = 0;
  uint64_t waiters = 0;
  std::vector<PermitsInfo> holders;  // in grant order
  Index as_of;
  bool more = false;  // holders than one answer has (10,000)
};

struct LatchInfo {
  bool exists = false;
  uint64_t count = 0;
  uint64_t waiters = 0;
  Index as_of;
};
struct BarrierInfo {
  bool closed = false;
  uint64_t waiters = 0;
  Index as_of;
};
struct DoubleBarrierInfo {
  bool exists = false;   // a party is entering, inside or waiting to leave
  uint64_t parties = 0;  // as all must say
  uint64_t inside = 0;
  uint64_t waiters = 0;  // to enter or to leave
  Index as_of;
};

struct ClaimOptions {
  LockWait wait = {};
  // After this time from the grant the item goes back by itself; zero: only with the session. The claimer's valid() does not
  // know of it: its acknowledgement then gets NotOwner.
  Duration term{};
  CallDeadline deadline = {};
};
struct ClaimedItem {
  HoldRef hold;
  Index item;               // its id: the entry that queued it
  uint64_t deliveries = 0;  // before this one
  std::string value;
};
struct QueuedItem {
  Index item;
  int64_t priority = 0;
  uint64_t deliveries = 0;
  std::string value;
};
struct ItemQueueInfo {
  uint64_t length = 0;  // items not claimed
  uint64_t claimed = 0;
  uint64_t waiters = 0;
  std::vector<QueuedItem> next;  // of the unclaimed, in the order in which they are handed out
  bool more = false;             // than these
  Index as_of;
};

struct SwapResult {
  bool swapped = false;
  int64_t current = 0;  // after the call
};

struct GroupMember {
  Index number;  // the entry of its join: members are in the order of their numbers
  SessionId session;
  std::string owner;
  std::string value;
  friend bool operator==(const GroupMember&, const GroupMember&) = default;
};
struct GroupInfo {
  std::vector<GroupMember> members;
  bool more = false;  // than one answer holds (10,000)
  Index as_of;
};

struct CampaignOptions {
  LockWait wait = {};
  std::string owner = {};  // which thread of control of the session, as of AcquireOptions
  std::string value = {};  // shown to everybody; at most 4 KiB
  CallDeadline deadline = {};
  // If this owner leads already, it goes on, with the new value, and gets the hold that it has; else it is AlreadyHeld.
  bool proclaim_if_leader = false;
};
struct LeaderInfo {
  SessionId session;
  std::string owner;
  Token token;
  Index since;
  std::string value;
  friend bool operator==(const LeaderInfo&, const LeaderInfo&) = default;
};

// ---- observation streams (docs/semantics.md S-37)

// First a linearizable Snapshot at its index, then every change above it, each once, in order. Resync: entries were skipped
// (a state was taken over from a peer, or the observer was too slow); it is a snapshot again, at a greater index.
enum class Seen : uint8_t { Snapshot = 1, Resync = 2, Change = 3 };
constexpr std::string_view name_of(Seen seen) {
  switch (seen) {
    case Seen::Snapshot: return "Snapshot";
    case Seen::Resync: return "Resync";
    case Seen::Change: return "Change";
  }
  return "?";
}

struct LeaderSeen {
  Seen how = Seen::Snapshot;
  Index index;
  std::optional<LeaderInfo> leader;  // nothing: vacant
};
struct CounterSeen {
  Seen how = Seen::Snapshot;
  Index index;
  int64_t value = 0;
};
struct LatchSeen {
  Seen how = Seen::Snapshot;
  Index index;
  std::optional<uint64_t> count;  // nothing: there is no such latch
};
struct GroupSeen {
  enum class What : uint8_t { Joined = 3, Updated = 4, Left = 5 };
  friend constexpr std::string_view name_of(What one) {
    switch (one) {
      case What::Joined: return "Joined";
      case What::Updated: return "Updated";
      case What::Left: return "Left";
    }
    return "?";
  }
  Seen how = Seen::Snapshot;
  Index index;
  std::vector<GroupMember> members;  // snapshots: all; a change: the one it is about
  What what = What::Joined;          // of a change
};

// Runs through the Notifier, like announcements of phases.
template <typename T>
using Observer = absl::AnyInvocable<void(const T&)>;
using ObserverId = Id<struct ObserverIdTag>;

struct ObserveOptions {
  // Changes that may wait for the observer to return; a slower one gets a Resync. Those of one entry count together. Legal: 1
  // and up.
  size_t waiting_max = 1024;
};

class CoordinationCalls {
 public:
  explicit CoordinationCalls(Client& client) : client_(&client) {}

  // ---- semaphores. Amounts are at most 2^63 - 1.
  // Makes it if there is none. Lowering takes nothing back.
  CallId set_limit(const SessionRef& session, std::string name, uint64_t limit, DoneCallback done, CallDeadline deadline = {});
  // All `count` permits or none, in the order of asking. Held, WaitTimeout, Cancelled, Lost, NotFound; CallTimeout,
  // CancelPending (UNKNOWN; what arrives late is given back).
  CallId acquire_permits(const SessionRef& session, std::string name, uint64_t count, PermitOptions options,
                         Callback<HoldRef> done);
  CallId delete_semaphore(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline = {});  // Held
  CallId semaphore(std::string name, Callback<SemaphoreInfo> done, CallDeadline deadline = {});

  // ---- latches
  CallId create_latch(const SessionRef& session, std::string name, uint64_t count, DoneCallback done,
                      CallDeadline deadline = {});  // AlreadyExists
  CallId count_down(const SessionRef& session, std::string name, uint64_t by, Callback<uint64_t> done,
                    CallDeadline deadline = {});  // answers what is left; NotFound
  CallId await_latch(const SessionRef& session, std::string name, LockWait wait, DoneCallback done, CallDeadline deadline = {});
  CallId delete_latch(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline = {});
  CallId latch(std::string name, Callback<LatchInfo> done, CallDeadline deadline = {});

  // ---- barriers
  CallId close_barrier(const SessionRef& session, std::string name, BarrierAtSessionEnd at_end, DoneCallback done,
                       CallDeadline deadline = {});  // AlreadyExists: it is closed
  CallId open_barrier(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline = {});  // NotFound
  CallId await_barrier(const SessionRef& session, std::string name, LockWait wait, DoneCallback done,
                       CallDeadline deadline = {});  // Broken
  CallId barrier(std::string name, Callback<BarrierInfo> done, CallDeadline deadline = {});

  // ---- double barriers
  // Answers when all parties have entered. TooManyParties, InvalidArgument (another number of parties), Broken.
  CallId enter(const SessionRef& session, std::string name, uint64_t parties, PartyAtSessionEnd at_end, LockWait wait,
               Callback<HoldRef> done, CallDeadline deadline = {});
  // Leaves, and answers when all have left; without a wait at once. NotOwner: left before, or the barrier broke.
  CallId leave(const HoldRef& place, LockWait wait, DoneCallback done, CallDeadline deadline = {});
  CallId double_barrier(std::string name, Callback<DoubleBarrierInfo> done, CallDeadline deadline = {});

  // ---- claim queues. An item's value has at most 64 KiB.
  CallId enqueue(std::string name, std::string value, int64_t priority, Callback<Index> done, CallDeadline deadline = {});
  CallId claim(const SessionRef& session, std::string name, ClaimOptions options, Callback<ClaimedItem> done);
  // Deletes the item; the claim is over when this is answered. NotOwner: it had gone back before. A claim that was invalidated,
  // by a handle that leaves its end to this call, is given back if that was not sent or not executed.
  CallId acknowledge(const HoldRef& claim, DoneCallback done, CallDeadline deadline = {});
  CallId item_queue(std::string name, uint64_t limit, Callback<ItemQueueInfo> done, CallDeadline deadline = {});

  // ---- counters; no session. CounterOverflow: unchanged.
  CallId add(std::string name, int64_t by, Callback<int64_t> done, CallDeadline deadline = {});
  CallId set(std::string name, int64_t value, Callback<int64_t> done, CallDeadline deadline = {});
  CallId compare_and_set(std::string name, int64_t expected, int64_t value, Callback<SwapResult> done,
                         CallDeadline deadline = {});
  // The first of `count` (1 and up) consecutive numbers, given out only once.
  CallId allocate(std::string name, int64_t count, Callback<int64_t> done, CallDeadline deadline = {});
  CallId delete_counter(std::string name, DoneCallback done, CallDeadline deadline = {});  // NotFound
  CallId counter(std::string name, Callback<int64_t> done, CallDeadline deadline = {});    // zero if there is none

  // ---- groups. A member's value has at most 4 KiB.
  // Answers the member's number. AlreadyExists: this owner is a member. A join that is given up is left again.
  CallId join(const SessionRef& session, std::string group, std::string owner, std::string value, Callback<Index> done,
              CallDeadline deadline = {});
  CallId update(const SessionRef& session, std::string group, std::string owner, std::string value, DoneCallback done,
                CallDeadline deadline = {});  // NotFound: not a member
  CallId leave_group(const SessionRef& session, std::string group, std::string owner, DoneCallback done,
                     CallDeadline deadline = {});
  CallId members(std::string group, Callback<GroupInfo> done, CallDeadline deadline = {});

  // ---- elections: to campaign is to acquire the lock of that name with a value, to resign is to release it
  // As Client::acquire(). NotOwner, with proclaim_if_leader: the leadership ended before it could be proclaimed anew.
  CallId campaign(const SessionRef& session, std::string name, CampaignOptions options, Callback<HoldRef> done);
  CallId proclaim(const HoldRef& leadership, std::string value, DoneCallback done, CallDeadline deadline = {});  // NotOwner
  CallId leader(std::string name, Callback<std::optional<LeaderInfo>> done, CallDeadline deadline = {});

  // ---- observation. A stopped client observes nothing.
  ObserverId observe_leader(std::string name, Observer<LeaderSeen> observer, ObserveOptions options = {});
  ObserverId observe_counter(std::string name, Observer<CounterSeen> observer, ObserveOptions options = {});
  ObserverId observe_latch(std::string name, Observer<LatchSeen> observer, ObserveOptions options = {});
  ObserverId observe_group(std::string name, Observer<GroupSeen> observer, ObserveOptions options = {});
  void end_observation(ObserverId observer);  // nothing is handed to the Notifier after it; what was may still run

 private:
  Client* client_;
};

}  // namespace coordkit
