// Semaphores, latches, barriers, double barriers, claim queues, counters, groups and elections as
// asynchronous calls. This is one side of a Client, made by Client::coordination() and valid as
// long as that Client. The operations: docs/semantics.md S-50 and S-37. The Client's rules for
// callbacks, deadlines and outcomes apply.
//
// Permits, a place inside a double barrier and a claimed item are holds like a lock's.
// HoldRef::valid() says whether they may still be trusted, Client::release() gives them back,
// Client::cancel() ends the wait for them. Calls that act for a session answer Lost if it has
// ended, SessionNotFound if only the log knew that.
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

// The effect of the end of the closing session on a closed barrier.
enum class BarrierAtSessionEnd : uint8_t { Stays = 0, Opens = 1, Breaks = 2 };
constexpr std::string_view name_of(BarrierAtSessionEnd at_end) {
  switch (at_end) {
    case BarrierAtSessionEnd::Stays: return "Stays";
    case BarrierAtSessionEnd::Opens: return "Opens";
    case BarrierAtSessionEnd::Breaks: return "Breaks";
  }
  return "?";
}
// The effect of the end of a party's session on a double barrier: all others get Broken, or the
// barrier waits for one party less. The first party that enters decides it for the cycle.
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
  std::optional<uint64_t> initial_limit = {};  // makes the semaphore if there is none; otherwise
                                               // such an acquire is NotFound
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
  bool more = false;  // there are more holders than one answer has (10,000)
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
  uint64_t parties = 0;  // the number that all parties must give
  uint64_t inside = 0;
  uint64_t waiters = 0;  // to enter or to leave
  Index as_of;
};

struct ClaimOptions {
  LockWait wait = {};
  // After this time from the grant the item goes back; zero: only with the session. The claimer's
  // valid() does not cover it: its acknowledgement then gets NotOwner.
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
  std::vector<QueuedItem> next;  // the unclaimed ones, in the order in which they are handed out
  bool more = false;             // there are more than these
  Index as_of;
};

struct SwapResult {
  bool swapped = false;
  int64_t current = 0;  // after the call
};

struct GroupMember {
  Index number;  // the entry of its join; members are ordered by number
  SessionId session;
  std::string owner;
  std::string value;
  friend bool operator==(const GroupMember&, const GroupMember&) = default;
};
struct GroupInfo {
  std::vector<GroupMember> members;
  bool more = false;  // there are more than one answer holds (10,000)
  Index as_of;
};

struct CampaignOptions {
  LockWait wait = {};
  std::string owner = {};  // the thread of control of the session, as in AcquireOptions
  std::string value = {};  // shown to everybody; at most 4 KiB
  CallDeadline deadline = {};
  // If this owner leads already, it proclaims the new value and gets the hold that it has.
  // Otherwise it is AlreadyHeld.
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

// First a linearizable Snapshot at its index, then every change above it, each once, in order.
// Resync: entries were skipped (a state was taken over from a peer, or the observer was too slow).
// It is a snapshot again, at a greater index.
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
  std::optional<LeaderInfo> leader;  // nullopt: vacant
};
struct CounterSeen {
  Seen how = Seen::Snapshot;
  Index index;
  int64_t value = 0;
};
struct LatchSeen {
  Seen how = Seen::Snapshot;
  Index index;
  std::optional<uint64_t> count;  // nullopt: there is no such latch
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
  std::vector<GroupMember> members;  // snapshots: all; a change: the member that changed
  What what = What::Joined;          // of a change
};

// Runs through the Notifier, like announcements of phases.
template <typename T>
using Observer = absl::AnyInvocable<void(const T&)>;
using ObserverId = Id<struct ObserverIdTag>;

struct ObserveOptions {
  // How many changes may wait for the observer to return; a slower observer gets a Resync. All
  // changes of one entry count as one. Legal: 1 and up.
  size_t waiting_max = 1024;
};

class CoordinationCalls {
 public:
  explicit CoordinationCalls(Client& client) : client_(&client) {}

  // ---- semaphores. Amounts are at most 2^63 - 1.
  // Makes the semaphore if there is none. Lowering the limit takes no permits back.
  CallId set_limit(const SessionRef& session, std::string name, uint64_t limit, DoneCallback done, CallDeadline deadline = {});
  // Acquires all `count` permits or none, in the order of asking. Held, WaitTimeout, Cancelled,
  // Lost, NotFound; CallTimeout, CancelPending (UNKNOWN; a grant that arrives late is given back).
  CallId acquire_permits(const SessionRef& session, std::string name, uint64_t count, PermitOptions options,
                         Callback<HoldRef> done);
  // Held.
  CallId delete_semaphore(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline = {});
  CallId semaphore(std::string name, Callback<SemaphoreInfo> done, CallDeadline deadline = {});

  // ---- latches
  CallId create_latch(const SessionRef& session, std::string name, uint64_t count, DoneCallback done,
                      CallDeadline deadline = {});  // AlreadyExists
  CallId count_down(const SessionRef& session, std::string name, uint64_t by, Callback<uint64_t> done,
                    CallDeadline deadline = {});  // answers the remaining count; NotFound
  CallId await_latch(const SessionRef& session, std::string name, LockWait wait, DoneCallback done, CallDeadline deadline = {});
  CallId delete_latch(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline = {});
  CallId latch(std::string name, Callback<LatchInfo> done, CallDeadline deadline = {});

  // ---- barriers
  CallId close_barrier(const SessionRef& session, std::string name, BarrierAtSessionEnd at_end, DoneCallback done,
                       CallDeadline deadline = {});  // AlreadyExists: it is closed
  // NotFound.
  CallId open_barrier(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline = {});
  CallId await_barrier(const SessionRef& session, std::string name, LockWait wait, DoneCallback done,
                       CallDeadline deadline = {});  // Broken
  CallId barrier(std::string name, Callback<BarrierInfo> done, CallDeadline deadline = {});

  // ---- double barriers
  // Answers when all parties have entered. TooManyParties, InvalidArgument (another number of
  // parties), Broken.
  CallId enter(const SessionRef& session, std::string name, uint64_t parties, PartyAtSessionEnd at_end, LockWait wait,
               Callback<HoldRef> done, CallDeadline deadline = {});
  // Leaves, and answers when all have left; without a wait at once. NotOwner: it left before, or
  // the barrier broke.
  CallId leave(const HoldRef& place, LockWait wait, DoneCallback done, CallDeadline deadline = {});
  CallId double_barrier(std::string name, Callback<DoubleBarrierInfo> done, CallDeadline deadline = {});

  // ---- claim queues. An item's value has at most 64 KiB.
  CallId enqueue(std::string name, std::string value, int64_t priority, Callback<Index> done, CallDeadline deadline = {});
  CallId claim(const SessionRef& session, std::string name, ClaimOptions options, Callback<ClaimedItem> done);
  // Deletes the item. The claim is over when this is answered. NotOwner: the item had gone back
  // before. A handle may invalidate the claim and leave its end to this call; the claim is then
  // given back if this call was not sent or not executed.
  CallId acknowledge(const HoldRef& claim, DoneCallback done, CallDeadline deadline = {});
  CallId item_queue(std::string name, uint64_t limit, Callback<ItemQueueInfo> done, CallDeadline deadline = {});

  // ---- counters; no session. CounterOverflow: unchanged.
  CallId add(std::string name, int64_t by, Callback<int64_t> done, CallDeadline deadline = {});
  CallId set(std::string name, int64_t value, Callback<int64_t> done, CallDeadline deadline = {});
  CallId compare_and_set(std::string name, int64_t expected, int64_t value, Callback<SwapResult> done,
                         CallDeadline deadline = {});
  // Answers the first of `count` (1 and up) consecutive numbers, which are given out only once.
  CallId allocate(std::string name, int64_t count, Callback<int64_t> done, CallDeadline deadline = {});
  // NotFound.
  CallId delete_counter(std::string name, DoneCallback done, CallDeadline deadline = {});
  // Zero if there is none.
  CallId counter(std::string name, Callback<int64_t> done, CallDeadline deadline = {});

  // ---- groups. A member's value has at most 4 KiB.
  // Answers the member's number. AlreadyExists: this owner is a member. A join that is given up is
  // undone by a leave.
  CallId join(const SessionRef& session, std::string group, std::string owner, std::string value, Callback<Index> done,
              CallDeadline deadline = {});
  CallId update(const SessionRef& session, std::string group, std::string owner, std::string value, DoneCallback done,
                CallDeadline deadline = {});  // NotFound: not a member
  CallId leave_group(const SessionRef& session, std::string group, std::string owner, DoneCallback done,
                     CallDeadline deadline = {});
  CallId members(std::string group, Callback<GroupInfo> done, CallDeadline deadline = {});

  // ---- elections: to campaign is to acquire the lock of that name with a value, to resign is to
  // release it
  // As Client::acquire(). NotOwner, with proclaim_if_leader: the leadership ended before the new
  // value could be proclaimed.
  CallId campaign(const SessionRef& session, std::string name, CampaignOptions options, Callback<HoldRef> done);
  // NotOwner.
  CallId proclaim(const HoldRef& leadership, std::string value, DoneCallback done, CallDeadline deadline = {});
  CallId leader(std::string name, Callback<std::optional<LeaderInfo>> done, CallDeadline deadline = {});

  // ---- observation. A stopped client observes nothing.
  ObserverId observe_leader(std::string name, Observer<LeaderSeen> observer, ObserveOptions options = {});
  ObserverId observe_counter(std::string name, Observer<CounterSeen> observer, ObserveOptions options = {});
  ObserverId observe_latch(std::string name, Observer<LatchSeen> observer, ObserveOptions options = {});
  ObserverId observe_group(std::string name, Observer<GroupSeen> observer, ObserveOptions options = {});
  void end_observation(ObserverId observer);  // no report is handed to the Notifier after it;
                                              // earlier ones may still run

 private:
  Client* client_;
};

}  // namespace coordkit
