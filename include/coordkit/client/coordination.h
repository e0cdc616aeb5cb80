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
#include <vector>

#include "coordkit/client/client_options.h"
#include "coordkit/client/handles.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class Client;

// The effect of the end of the closing session on a closed barrier.
enum class BarrierAtSessionEnd : uint8_t { Stays = 0, Opens = 1, Breaks = 2 };
// The effect of the end of a party's session on a double barrier: all others get Broken, or the
// barrier waits for one party less. The first party that enters decides it for the cycle.
enum class PartyAtSessionEnd : uint8_t { Breaks = 1, Shrinks = 2 };

// Options of CoordinationCalls::acquire_permits().
struct PermitOptions {
  LockWait wait = {};                          // by default none: Held without enough free permits
  std::optional<uint64_t> initial_limit = {};  // makes the semaphore if there is none; otherwise
                                               // such an acquire is NotFound
  CallDeadline deadline = {};                  // absent: as CallDeadline says
};
// One grant of permits of a semaphore.
struct PermitsInfo {
  Token token;         // its fencing token
  SessionId session;   // that holds them
  uint64_t count = 0;  // permits that it has and gives back together
  Index since;         // the entry that granted them
};
// A semaphore in one applied state.
struct SemaphoreInfo {
  bool exists = false;               // false: there is none of that name, and the numbers are zero
  uint64_t limit = 0;                // permits that there are in all
  uint64_t held = 0;                 // permits that are granted; above the limit once it was
                                     // lowered
  uint64_t waiters = 0;              // acquires in line
  std::vector<PermitsInfo> holders;  // in grant order
  Index as_of;                       // the applied state that was read
  bool more = false;                 // there are more holders than one answer has (10,000)
};

// A latch in one applied state.
struct LatchInfo {
  bool exists = false;   // true also at zero, until it is deleted
  uint64_t count = 0;    // still to be counted down; zero: every wait returns, if the latch exists
  uint64_t waiters = 0;  // waits for zero
  Index as_of;           // the applied state that was read
};
// A barrier in one applied state.
struct BarrierInfo {
  bool closed = false;   // false: every wait returns at once
  uint64_t waiters = 0;  // waits for its opening
  Index as_of;           // the applied state that was read
};
// A double barrier in one applied state.
struct DoubleBarrierInfo {
  bool exists = false;   // a party is entering, inside or waiting to leave
  uint64_t parties = 0;  // the number that all parties must give
  uint64_t inside = 0;   // parties; zero while they gather
  uint64_t waiters = 0;  // to enter or to leave
  Index as_of;           // the applied state that was read
};

// Options of CoordinationCalls::claim().
struct ClaimOptions {
  LockWait wait = {};  // by default none: Held if there is no item to claim
  // After this time from the grant the item goes back; zero: only with the session. The claimer's
  // valid() does not cover it: its acknowledgement then gets NotOwner.
  Duration term{};
  CallDeadline deadline = {};  // absent: as CallDeadline says
};
// The answer of CoordinationCalls::claim().
struct ClaimedItem {
  HoldRef hold;             // the claim: acknowledge() deletes the item, Client::release() gives it
                            // back
  Index item;               // its id: the entry that queued it
  uint64_t deliveries = 0;  // before this one
  std::string value;        // as it was queued
};
// An item that is not claimed.
struct QueuedItem {
  Index item;               // its id: the entry that queued it
  int64_t priority = 0;     // the lowest is handed out first, and the oldest of equal ones
  uint64_t deliveries = 0;  // claims of it that ended without an acknowledgement
  std::string value;        // as it was queued
};
// A claim queue in one applied state.
struct ItemQueueInfo {
  uint64_t length = 0;           // items not claimed
  uint64_t claimed = 0;          // items that are claimed and not acknowledged
  uint64_t waiters = 0;          // claims in line
  std::vector<QueuedItem> next;  // the unclaimed ones, in the order in which they are handed out
  bool more = false;             // there are more than these
  Index as_of;                   // the applied state that was read
};

// The answer of CoordinationCalls::compare_and_set().
struct SwapResult {
  bool swapped = false;  // false: the counter had another value than the expected one, and keeps it
  int64_t current = 0;   // after the call
};

// A member of a group.
struct GroupMember {
  Index number;       // the entry of its join; members are ordered by number
  SessionId session;  // with whose end it leaves
  std::string owner;  // the owner of that session that joined; may be empty
  std::string value;  // as it joined with, or set last
  friend bool operator==(const GroupMember&, const GroupMember&) = default;
};
// The members of a group in one applied state.
struct GroupInfo {
  std::vector<GroupMember> members;  // by number; none: nobody is in it
  bool more = false;                 // there are more than one answer holds (10,000)
  Index as_of;                       // the applied state that was read
};

// Options of CoordinationCalls::campaign().
struct CampaignOptions {
  LockWait wait = {};          // by default none: Held if there is a leader or a candidate in line
  std::string owner = {};      // the thread of control of the session, as in AcquireOptions
  std::string value = {};      // shown to everybody; at most 4 KiB
  CallDeadline deadline = {};  // absent: as CallDeadline says
  // If this owner leads already, it proclaims the new value and gets the hold that it has.
  // Otherwise it is AlreadyHeld.
  bool proclaim_if_leader = false;
};
// The leader of an election: the owner that holds its lock exclusively.
struct LeaderInfo {
  SessionId session;  // of the leader
  std::string owner;  // the thread of control that leads; "~..." was drawn
  Token token;        // its fencing token
  Index since;        // the entry that granted the leadership
  std::string value;  // as it campaigned with, or last proclaimed
  friend bool operator==(const LeaderInfo&, const LeaderInfo&) = default;
};

// ---- observation streams (docs/semantics.md S-37)

// First a linearizable Snapshot at its index, then every change above it, each once, in order.
// Resync: entries were skipped (a state was taken over from a peer, or the observer was too slow).
// It is a snapshot again, at a greater index.
enum class Seen : uint8_t { Snapshot = 1, Resync = 2, Change = 3 };

// A report of CoordinationCalls::observe_leader().
struct LeaderSeen {
  Seen how = Seen::Snapshot;         // whether it is a snapshot or a change
  Index index;                       // of the log: the state that the snapshot shows, or the entry
                                     // of the change
  std::optional<LeaderInfo> leader;  // nullopt: vacant
};
// A report of CoordinationCalls::observe_counter().
struct CounterSeen {
  Seen how = Seen::Snapshot;  // as in LeaderSeen
  Index index;                // as in LeaderSeen
  int64_t value = 0;          // zero also if there is no such counter
};
// A report of CoordinationCalls::observe_latch().
struct LatchSeen {
  Seen how = Seen::Snapshot;      // as in LeaderSeen
  Index index;                    // as in LeaderSeen
  std::optional<uint64_t> count;  // nullopt: there is no such latch
};
// A report of CoordinationCalls::observe_group().
struct GroupSeen {
  // The kind of a change.
  enum class What : uint8_t { Joined = 3, Updated = 4, Left = 5 };
  Seen how = Seen::Snapshot;         // as in LeaderSeen
  Index index;                       // as in LeaderSeen
  std::vector<GroupMember> members;  // snapshots: all; a change: the member that changed
  What what = What::Joined;          // of a change
};

// Runs through the Notifier, like announcements of phases.
template <typename T>
using Observer = absl::AnyInvocable<void(const T&)>;
using ObserverId = Id<struct ObserverIdTag>;  // of one client; never reused

// Options of CoordinationCalls::observe_leader() and the others.
struct ObserveOptions {
  // How many changes may wait for the observer to return; a slower observer gets a Resync. All
  // changes of one entry count as one. Legal: 1 and up.
  size_t waiting_max = 1024;
};

// The calls. Made by Client::coordination().
class CoordinationCalls {
 public:
  explicit CoordinationCalls(Client& client) : client_(&client) {}  // `client` outlives it

  // ---- semaphores. Amounts are at most 2^63 - 1

  // Makes the semaphore if there is none. Lowering the limit takes no permits back.
  CallId set_limit(const SessionRef& session, std::string name, uint64_t limit, DoneCallback done, CallDeadline deadline = {});
  // Acquires all `count` permits or none, in the order of asking. Held, WaitTimeout, Cancelled,
  // Lost, NotFound; CallTimeout, CancelPending (UNKNOWN; a grant that arrives late is given back).
  CallId acquire_permits(const SessionRef& session, std::string name, uint64_t count, PermitOptions options,
                         Callback<HoldRef> done);
  // Deletes the semaphore. Held: permits are held or waited for. NotFound: there is none.
  CallId delete_semaphore(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline = {});
  // Reads the semaphore, linearizably.
  CallId semaphore(std::string name, Callback<SemaphoreInfo> done, CallDeadline deadline = {});

  // ---- latches

  // Makes a latch with `count` (1 and up) to count down. AlreadyExists: there is one, whatever its
  // count.
  CallId create_latch(const SessionRef& session, std::string name, uint64_t count, DoneCallback done,
                      CallDeadline deadline = {});
  // Counts down by `by` (1 and up), to zero at most. Answers the count that is left. NotFound:
  // there is no latch.
  CallId count_down(const SessionRef& session, std::string name, uint64_t by, Callback<uint64_t> done,
                    CallDeadline deadline = {});
  // Answers when the count is zero, at once if it is. NotFound: there is no latch, or it was
  // deleted meanwhile. Held, WaitTimeout, Cancelled, Lost; CallTimeout, CancelPending.
  CallId await_latch(const SessionRef& session, std::string name, LockWait wait, DoneCallback done, CallDeadline deadline = {});
  // Ends every wait for it with NotFound. NotFound: there is none.
  CallId delete_latch(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline = {});
  // Reads the latch, linearizably.
  CallId latch(std::string name, Callback<LatchInfo> done, CallDeadline deadline = {});

  // ---- barriers

  // Closes the barrier: later waits do not return until it is open. `at_end` decides about the end
  // of this session. AlreadyExists: it is closed.
  CallId close_barrier(const SessionRef& session, std::string name, BarrierAtSessionEnd at_end, DoneCallback done,
                       CallDeadline deadline = {});
  // Opens the barrier: all waits return. NotFound: it is not closed.
  CallId open_barrier(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline = {});
  // Answers when the barrier is open, at once if it is. Broken: the session that closed it has
  // ended. Held, WaitTimeout, Cancelled, Lost; CallTimeout, CancelPending.
  CallId await_barrier(const SessionRef& session, std::string name, LockWait wait, DoneCallback done,
                       CallDeadline deadline = {});
  // Reads the barrier, linearizably.
  CallId barrier(std::string name, Callback<BarrierInfo> done, CallDeadline deadline = {});

  // ---- double barriers

  // Answers when all parties have entered. TooManyParties, InvalidArgument (another number of
  // parties), Broken.
  CallId enter(const SessionRef& session, std::string name, uint64_t parties, PartyAtSessionEnd at_end, LockWait wait,
               Callback<HoldRef> done, CallDeadline deadline = {});
  // Leaves, and answers when all have left; without a wait at once. NotOwner: it left before, or
  // the barrier broke.
  CallId leave(const HoldRef& place, LockWait wait, DoneCallback done, CallDeadline deadline = {});
  // Reads the double barrier, linearizably.
  CallId double_barrier(std::string name, Callback<DoubleBarrierInfo> done, CallDeadline deadline = {});

  // ---- claim queues

  // Queues an item at the end of those with its priority. The value has at most 64 KiB. Answers the
  // item's id: the entry that queued it. Needs no session, and stays when the caller's ends.
  CallId enqueue(std::string name, std::string value, int64_t priority, Callback<Index> done, CallDeadline deadline = {});
  // Claims the next item: that of the lowest priority number, and of these the oldest. Held,
  // WaitTimeout, Cancelled, Lost; CallTimeout, CancelPending (UNKNOWN; a claim that arrives late is
  // given back).
  CallId claim(const SessionRef& session, std::string name, ClaimOptions options, Callback<ClaimedItem> done);
  // Deletes the item. The claim is over when this is answered. NotOwner: the item had gone back
  // before. A handle may invalidate the claim and leave its end to this call; the claim is then
  // given back if this call was not sent or not executed.
  CallId acknowledge(const HoldRef& claim, DoneCallback done, CallDeadline deadline = {});
  // Reads the queue, linearizably, with at most `limit` of its next items. Zero: as many as one
  // answer has, 10,000 and about 4 MiB.
  CallId item_queue(std::string name, uint64_t limit, Callback<ItemQueueInfo> done, CallDeadline deadline = {});

  // ---- counters. They need no session

  // Adds `by`, which may be negative, and answers the sum. CounterOverflow: it is unchanged. A
  // missing counter counts as zero, here and below.
  CallId add(std::string name, int64_t by, Callback<int64_t> done, CallDeadline deadline = {});
  // Sets the counter, and answers `value`. Makes it if there is none.
  CallId set(std::string name, int64_t value, Callback<int64_t> done, CallDeadline deadline = {});
  // Sets the counter to `value` if it is `expected`. Answers whether it did, and the value now.
  CallId compare_and_set(std::string name, int64_t expected, int64_t value, Callback<SwapResult> done,
                         CallDeadline deadline = {});
  // Answers the first of `count` (1 and up) consecutive numbers, which are given out only once.
  CallId allocate(std::string name, int64_t count, Callback<int64_t> done, CallDeadline deadline = {});
  // Deletes the counter, which then counts as zero. NotFound: there is none.
  CallId delete_counter(std::string name, DoneCallback done, CallDeadline deadline = {});
  // Reads the counter, linearizably. Zero if there is none.
  CallId counter(std::string name, Callback<int64_t> done, CallDeadline deadline = {});

  // ---- groups. A member's value has at most 4 KiB

  // Answers the member's number. AlreadyExists: this owner is a member. A join that is given up is
  // undone by a leave.
  CallId join(const SessionRef& session, std::string group, std::string owner, std::string value, Callback<Index> done,
              CallDeadline deadline = {});
  // Replaces the value of this member. NotFound: this owner is no member.
  CallId update(const SessionRef& session, std::string group, std::string owner, std::string value, DoneCallback done,
                CallDeadline deadline = {});
  // Ends this owner's membership. NotFound: it is no member.
  CallId leave_group(const SessionRef& session, std::string group, std::string owner, DoneCallback done,
                     CallDeadline deadline = {});
  // Reads the group, linearizably.
  CallId members(std::string group, Callback<GroupInfo> done, CallDeadline deadline = {});

  // ---- elections: to campaign is to acquire the lock of that name with a value, to resign is to
  // release it

  // As Client::acquire(). NotOwner, with proclaim_if_leader: the leadership ended before the new
  // value could be proclaimed.
  CallId campaign(const SessionRef& session, std::string name, CampaignOptions options, Callback<HoldRef> done);
  // Replaces the leader's value; the token stays. NotOwner: the leadership is over, or the hold is
  // shared.
  CallId proclaim(const HoldRef& leadership, std::string value, DoneCallback done, CallDeadline deadline = {});
  // Reads the leader, linearizably. nullopt: vacant.
  CallId leader(std::string name, Callback<std::optional<LeaderInfo>> done, CallDeadline deadline = {});

  // ---- observation

  // These report a snapshot and then every change, until end_observation() is called. A stopped
  // client observes nothing.
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
