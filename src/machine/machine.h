// coordkit's own state machine: sessions, locks, keys, semaphores and the like, composed of lease::Table, lock::Table,
// mvcc::Store and coordination::Coordination, none of which knows another. It decides everything inside apply and reads nothing
// but the replicated state and the entry.
//
// Requests arrive once each (the router above answers repeats) and are answered with encoded Results. An entry carries
// one request, so the index of an acquire's entry names its place in the queue.
//
// Timers. A session's timer has the session's id, its binding as group (none once it is ending) and its generation. A timed
// wait has a timer of its own, generation 0, named by the index of the acquire with the top bit set; session ids stay below
// that bit (TokenCounter::kMax), so the two never meet, whatever the token base. A claim on an item that has a term continues
// with the timer of its wait, with its token as generation. A lock-delay's id is drawn from the same counter as the
// sessions', and so is never one of theirs; its generation is 0. A lease of keys has a timer like a session's, named by the
// number that it gets from that counter besides its own id. Whatever ends a session, a wait, a claim or a delay also
// disarms its timer, the firing itself included.
//
// What a compaction of the keys leaves is swept a little by every entry, so that no entry takes long.
//
// Release assertions: INV_L01, L04 to L07 and K02, each O(1) or O(what the entry touched).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "coordination/coordination.h"
#include "coordkit/state_machine.h"
#include "lease/table.h"
#include "lock/table.h"
#include "machine/cancel_marks.h"
#include "machine/command.h"
#include "machine/reads.h"
#include "machine/result.h"
#include "machine/rows.h"
#include "mvcc/store.h"

namespace coordkit::machine {

inline constexpr uint64_t kWaitTimerBit = uint64_t{1} << 63;
constexpr TimerId session_timer(SessionId session) { return TimerId(session.value()); }
constexpr TimerId delay_timer(uint64_t id) { return TimerId(id); }
constexpr TimerId wait_timer(Index queued) { return TimerId(queued.value() | kWaitTimerBit); }

class Machine final : public StateMachine, public Reads {
 public:
  // All checkpoint rows start with `row_prefix`, at most 48 bytes.
  explicit Machine(std::string row_prefix = {});

  void bootstrap(ClusterId cluster, uint64_t token_base) override;
  void apply(std::span<const Command> commands, ApplyOutput& output) override;
  void fire(Index index, std::span<const FiredTimer> timers, ApplyOutput& output) override;
  absl::StatusOr<std::string> query(std::string_view request) const override;
  bool holds(std::string_view guard) override;                   // src/machine/guard.h
  void observe(std::string_view subject, bool wanted) override;  // subject_of(); changes only; ends are always announced
  void checkpoint(CheckpointBatch& batch) override;
  bool forget_stored() override;
  absl::Status restore(const CheckpointView& view) override;
  std::optional<ApplyOutput::Result> standing(const Command& queued) const override;
  void timers(std::vector<TimerOp>& out) const override;
  uint64_t digest() const override;
  const Reads* reads() const override { return this; }

  // ---- Reads
  Holders holders_of(std::string_view name) const override;
  LockQueue queue_of(std::string_view name, uint64_t limit) const override;
  std::optional<SessionInfo> session(SessionId id) const override;
  Sessions sessions_after(SessionId id, uint64_t limit) const override;
  HeldLocks locks_of(SessionId session, Token after) const override;
  OwnedObjects objects_of(SessionId session, const OwnedObjects::Place& after) const override;
  bool still_held(std::string_view name, Token token) const override;
  std::optional<Result> refusal_of(const Acquire& acquire) const override;
  std::optional<Result> refusal_of(const AcquireAll& acquire) const override;
  ObjectView object(coordination::Kind kind, std::string_view name, uint64_t limit) const override;
  Entry entry(std::string_view key) const override;
  KeysRead<RangeReply> range(const RangeOperation& range) const override;
  KeysRead<RangeReply> rest_of_range(const RangeOperation& range) const override;
  KeysRead<TransactionReply> read(const Transaction& transaction) const override;
  Changes changes(const ChangesAfter& place) const override;
  KeySpace key_space() const override;
  Contents contents() const override;
  Leases lease(LeaseId id, bool keys, std::string_view after) const override;
  Leases leases_after(LeaseId id, uint64_t limit) const override;

  // ---- for tests and tools
  uint64_t recomputed_digest() const;  // the same from all records, O(n)
  void verify() const;                 // INV_L07 in full, and the digest: O(n); throws CheckFailure
  size_t sessions() const { return state_.sessions.size(); }
  size_t lock_names() const { return state_.locks.names(); }
  size_t lock_claims() const { return state_.locks.claims(); }
  size_t keys() const { return state_.keys.size(); }
  size_t leases() const { return state_.leases.size(); }
  size_t cancel_marks() const { return state_.cancels.size(); }
  size_t coordination_records() const { return state_.coordination.records(); }
  uint64_t last_token() const { return state_.counter.last(); }

 private:
  struct State {
    ClusterId cluster;
    lock::TokenCounter counter;
    lease::Table sessions;
    lease::Table leases;  // of keys; ids from the same counter, so that they never collide with sessions
    lock::Table locks;
    mvcc::Store keys;
    uint64_t key_quota = 0;
    CancelMarks cancels;
    coordination::Coordination coordination;
  };

  // One entry in progress: what it decided so far.
  struct Step {
    Index index;
    RequestId request;
    ApplyOutput& output;
    lock::Decisions& decisions;
  };

  void apply_one(const Command& command, ApplyOutput& output);
  ResultCode admit(const absl::StatusOr<Request>& request, const RequestId& by) const;
  void perform_prior_releases(const Request& request, Step& step);

  // One per kind of request. Each returns its answer; nullopt: it was Queued and is answered later.
  using Answer = std::optional<Result>;
  Answer execute(std::monostate, Step& step);
  Answer execute(OpenSession& open, Step& step);
  Answer execute(CloseSession& close, Step& step);
  Answer execute(Acquire& acquire, Step& step);
  Answer execute(Release& release, Step& step);
  Answer execute(CancelAcquire& cancel, Step& step);
  Answer execute(AcquireAll& acquire, Step& step);
  Answer execute(Downgrade& downgrade, Step& step);
  Answer execute(Upgrade& upgrade, Step& step);
  Answer execute(UpdateValue& update, Step& step);
  Answer execute(ClearDelay& clear, Step& step);
  Answer execute(RefillBlock& refill, Step& step);
  Answer execute(ResumeSession& resume, Step& step);
  Answer execute(KillSession& kill, Step& step);
  Answer execute(ForceRelease& force, Step& step);
  Answer execute(Put& put, Step& step);
  Answer execute(Delete& erase, Step& step);
  Answer execute(CoordinationCommand& command, Step& step);
  Answer execute(Transaction& transaction, Step& step);
  Answer execute(Compact& compact, Step& step);
  Answer execute(GrantLease& grant, Step& step);
  Answer execute(RenewLease& renew, Step& step);
  Answer execute(RevokeLease& revoke, Step& step);
  Answer execute(SetKeyQuota& set, Step& step);

  Answer attempt(lock::Attempt attempt, Step& step);
  void end_session(SessionId session, SessionEnded::Reason reason, Step& step);
  void mark_ending(SessionId session, Step& step);
  static TimerOp timer_of(SessionId id, const lease::Session& session);
  void settle(Step& step);
  void answer(Result result, ApplyOutput::Stage stage, Step& step);
  void announce(const lock::Decision& decision, Step& step);

  // ---- semaphores, barriers and the like (machine_coordination.cc)
  template <typename Run>
  auto coordinate(const Step& step, Run run);
  bool release_coordinated(SessionId session, std::string_view name, Token token, Step& step);
  Answer cancel_coordinated(SessionId session, const RequestId& request, Step& step);  // nothing: it neither waits nor holds
  void end_coordinated(SessionId session, Step& step);
  void end_coordinated_waits(SessionId session, coordination::Waiter waiter, Step& step);
  void regrant_coordinated(SessionId session, Step& step);
  void time_out_coordinated(const FiredTimer& timer, Step& step);  // of a wait or a claim
  void settle_coordination(Step& step);
  void announce_leaders(Step& step);  // ends every entry
  bool observed(coordination::Kind kind, std::string_view name) const;
  std::optional<ApplyOutput::Result> coordinated_standing(const Request& request, const Command& queued) const;
  void coordination_timers(std::vector<TimerOp>& out) const;

  // ---- keys (machine_keys.cc)
  template <typename Held, typename Run>
  auto with_surroundings(Held held, Run run) const;
  bool lock_held(std::string_view name, Token token, bool exclusive) const;
  bool lock_shown(std::string_view name, Token token, bool exclusive);
  bool meets(std::optional<LockMode> mode, std::string_view name, Token token, bool exclusive) const;
  void end_attached(LeaseId lease);

  // ---- leases of keys (machine_leases.cc)
  bool lease_exists(LeaseId lease) const;
  void end_lease(SessionId number, SessionEnded::Reason reason, Step& step);

  // ---- space of the keys (machine_key_space.cc)
  bool has_room(uint64_t growth);

  KeysRead<RangeReply> range_in(const mvcc::RangeRoom& room, const RangeOperation& range) const;
  template <typename Reply>
  KeysRead<Reply> keys_read(mvcc::Refusal refusal, Reply reply) const;
  template <typename Body>
  std::optional<Result> refusal_of_try(const Body& acquire) const;

  rows::Counters counters() const;
  static SessionInfo describe(SessionId id, const lease::Session& session, const lock::Table& locks);

  std::string prefix_;
  absl::flat_hash_set<std::string> observed_;  // here; not replicated
  State state_;
  std::optional<rows::Counters> stored_counters_;  // as the last checkpoint has them
  lock::Decisions decisions_;                      // scratch for one step
  std::string scratch_;                            // a result while it is written
  struct {
    std::vector<coordination::Decision> decisions;
    std::vector<coordination::Change> changes;
    std::vector<coordination::ClaimTimer> timers;
    absl::btree_set<std::string> led;  // locks whose exclusive holder changed, if that is observed
  } coordinated_;                      // the same
};

}  // namespace coordkit::machine
