// One replica, put together. Each turn is a straight line (ARCHITECTURE.md, Flow):
//
//   inputs -> core -> what to hand over -> drain -> sends, write -> states for peers -> apply -> answers -> checkpoint
//
// A step never reaches back: what apply makes possible (a read, a renewal, a retry) is taken up in the same turn if its
// part comes later, else in the next, which next_deadline() then asks for at once.
#pragma once

#include <deque>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/engine.h"
#include "engine/attendance.h"
#include "engine/attestation.h"
#include "engine/divergence.h"
#include "engine/forwarded.h"
#include "engine/founding.h"
#include "engine/leadership_transfer.h"
#include "engine/lost_entries.h"
#include "engine/member_change.h"
#include "engine/members.h"
#include "engine/peer_marks.h"
#include "engine/proposals.h"
#include "engine/reads.h"
#include "engine/renewals.h"
#include "engine/round_trips.h"
#include "engine/router.h"
#include "engine/sleep_gauge.h"
#include "engine/state_receiver.h"
#include "engine/state_repair.h"
#include "engine/state_sender.h"
#include "engine/timer_keeper.h"

namespace coordkit::engine {

class EngineImpl final : public Engine {
 public:
  EngineImpl(EngineOptions options, std::vector<HostedMachine> machines, RecoveredLog& log);
  absl::Status start(RecoveredLog log, const CheckpointView& checkpoint, Now now);

  void post(EngineInput input) override { inbox_.push_back(std::move(input)); }
  void turn(Now now, EngineEffects& effects) override;
  LaggingTime next_deadline() const override;

  EngineStatus status() const override;
  const raft::Leadership& leadership() const override { return leadership_; }
  Index applied() const override { return router_.applied().index; }
  ReplicaId self() const override { return options_.raft.self; }
  StoreId store() const override { return origin_.store; }
  BootCounter boot() const override { return origin_.boot; }
  const StateMachine* machine(MachineId id) const override { return router_.machine(id); }
  void observe(MachineId id, std::string_view subject, bool wanted) override { router_.observe(id, subject, wanted); }
  const raft::Core* core() const override { return core_ ? &*core_ : nullptr; }

 private:
  // What a confirmation ticket was asked for.
  struct PeerRead {
    ReplicaId peer;
    uint64_t id = 0;
  };
  struct OwnRead {
    uint64_t id = 0;
  };
  struct RenewalRound {};
  struct GapCheck {};
  struct Handed {
    Sequence sequence;
    Proposals::Handing handing;
  };
  using Purpose = std::variant<PeerRead, OwnRead, RenewalRound, GapCheck>;

  // The turn, in order (engine_turn.cc).
  void run(Now now);
  void notice_gap(Now now);
  void take_inputs(Now now);
  void found();
  void attest(Now now);
  void ask_questions(Now now);
  void ask_about_members(Now now);
  void propose(Now now);
  void forward(std::vector<Proposals::Handover> handovers);
  void vote_digest(Now now);
  void fire_timers(Now now);
  void drain(Now now);
  void transfer_states(Now now);
  void apply(Now now);
  void answer(Now now);
  void checkpoint();
  bool checkpoint_due() const;
  bool compare_digests();  // false: this replica is the one that differs, and in quarantine now
  void halt(absl::Status why);
  void quarantine(std::string why);
  void fall_silent(Reason reason);

  // Inputs (engine_inputs.cc).
  void take(PeerConnected& input, Now now);
  void take(PeerLost& input, Now now);
  void take(MessageReceived& input, Now now);
  void take(LogWritten& input, Now now);
  void take(LogWasRead& input, Now now);
  void take(StateCheckpointed& input, Now now);
  void take(StoreFailed& input, Now now);
  void take(LogSpaceChanged& input, Now now);
  void take(StateDamaged& input, Now now);
  void take(StateRotten& input, Now now);
  void take(StateWaits& input, Now now);
  void take(LogDamaged& input, Now now);
  void note_damage(absl::Status why);
  void take(Submit& input, Now now);
  void take(Ask& input, Now now);
  void take(Renew& input, Now now);
  void take(Forget& input, Now now);
  void take(ChangeMembers& input, Now now);
  void take(TransferLeadership& input, Now now);
  void take(PeerRefused& input, Now now);
  void take(PeerUnreachable& input, Now now);

  // States for peers and from them (engine_state.cc).
  void take(ViewOpened& input, Now now);
  void take(ViewWasRead& input, Now now);
  void take(RangeStaged& input, Now now);
  void take(StateInstalled& input, Now now);
  void take(InstallRefused& input, Now now);
  void take(StateRestored& input, Now now);
  void receive(ReplicaId from, StateOffer& message, Now now);
  void receive(ReplicaId from, StateRequest& message, Now now);
  void receive(ReplicaId from, StateChunk& message, Now now);
  void receive(ReplicaId from, StateLoading& message, Now now);
  void adopt(RestoredState& restored, Now now);

  void receive(ReplicaId from, GenesisOffer& message, Now now);
  void receive(ReplicaId from, Forward& message, Now now);
  void log_damaged(Index last, const absl::Status& why, Now now);
  bool has_already(const LogCommand& command) const;
  void receive(ReplicaId from, Refusal& message, Now now);
  void receive(ReplicaId from, ReadIndexRequest& message, Now now);
  void receive(ReplicaId from, ReadIndexReply& message, Now now);
  void receive(ReplicaId from, RenewRequest& message, Now now);
  void receive(ReplicaId from, RenewReply& message, Now now);
  void receive(ReplicaId from, ChangeRequest& message, Now now);
  void receive(ReplicaId from, ChangeReply& message, Now now);
  void receive(ReplicaId from, TransferRequest& message, Now now);
  void receive(ReplicaId from, TransferReply& message, Now now);
  void receive(ReplicaId from, RecallRequest& message, Now now);
  void receive(ReplicaId from, RecallReply& message, Now now);
  void receive(ReplicaId from, SteppedAside& message, Now now);
  template <typename RaftMessage>
  void receive(ReplicaId from, RaftMessage& message, Now now) {
    round_trips_.received(from, message, now.lagging);
    raft::Received received{from, raft::Message(std::move(message))};
    const Said said = said_by(received.message);
    core_->step(std::move(received), now.lagging);
    note(from, said);
  }

  // What peers' disks are known to hold (engine_attestation.cc).
  struct Said {
    enum class What : uint8_t { Nothing, Campaign, Vote, Acknowledgement, Durable } what = What::Nothing;
    Term term;
    Position durable;
  };
  static Said said_by(const raft::Message& message);
  void note(ReplicaId from, const Said& said);
  void forget_strangers();

  // Consequences of a drain (engine_turn.cc).
  void send(raft::Send send);
  void settle(const raft::Leadership& leadership);
  void settle(const raft::ProposalFate& fate, Now now);
  void settle(const raft::Confirmation& confirmation);
  void settle(const raft::ChangeFate& fate, Now now);
  void settle(const raft::TransferFate& fate, Now now);

  // Who belongs (engine_members.cc).
  void welcome(const Hello& hello, Now now);
  void follow_members(Now now);
  std::string directory_of_another() const;
  void notice_own_standing();
  void spare_the_blank();
  void mend_log();
  void tell_peers();
  void greet(Now now);
  LaggingTime next_greeting() const;
  void fail_uninvited(Now now);
  LaggingTime next_uninvited(LaggingTime next) const;
  std::string removal() const;
  ChangeReply reply_to(const ChangeRequest& request, const raft::ChangeFate& fate, LaggingTime now) const;
  void say_stepped_aside(ReplicaId to);
  std::vector<MissingMember> missing() const;
  std::vector<std::string> warnings(const std::vector<MissingMember>& missing) const;
  std::string slow_disk() const;
  void explain_no_leader(size_t first);
  std::string why_starting(const std::vector<MissingMember>& missing) const;
  std::optional<CatchUp> catch_up() const;
  std::string disbelief(const raft::TermLeap& leap) const;

  std::optional<Index> lease(Now now) const;
  std::optional<Duration> age(Now now) const;
  void query(const Ask& ask, Completion& completion);
  bool leads() const { return leadership_.role == raft::Role::Leader; }
  bool knows_leader() const { return core_ && leadership_.leader; }
  Proposals::Road road() const;
  absl::Status refusal_at_door(Urgency urgency, size_t bytes = 0) const;  // OK: the call is taken
  absl::Status refusal_for_space(Urgency urgency) const;
  absl::Status refusal_for_lag(Urgency urgency) const;
  Ticket confirm(Purpose purpose, Now now);
  void start_core(raft::Recovered recovered, LaggingTime now);
  void refuse(ReplicaId to, Refusal::Why why);
  WriteNumber to_store(WriteNumber core_number) const { return core_number + writes_before_core_; }

  EngineOptions options_;
  Origin origin_;
  Router router_;
  Founding founding_;
  Proposals proposals_;
  Reads reads_;
  Renewals renewals_;
  SleepGauge sleep_;
  TimerKeeper keeper_;
  DivergenceWatch divergence_;
  Attestation attestation_;
  PeerMarks marks_;
  StateSender sender_;
  StateReceiver receiver_;
  Index pinned_;  // as the core was told

  std::optional<raft::Core> core_;  // absent before genesis and in quarantine
  raft::Leadership leadership_;
  raft::Effects core_effects_;
  RouterOutput router_output_;

  Members members_;
  Position followed_;                                                // the configuration in force that members_ knows
  std::vector<Peer> told_;                                           // whom the transport was told to connect with
  std::optional<std::tuple<Position, Position, bool>> peers_basis_;  // what told_ was made from
  bool named_once_ = false;                                          // the log has named this replica as a member
  bool removed_ = false;
  LaggingTime greet_again_ = LaggingTime::min();
  std::optional<LaggingTime> uninvited_since_;
  bool uninvited_ = false;  // for so long that it is no matter of moments
  Attendance attendance_;
  RoundTrips round_trips_;
  uint64_t unheard_ = 0;  // messages of those who may not say them
  MemberChange change_;
  LeadershipTransfer transfer_;
  struct AskedChange {
    ReplicaId from;
    ChangeRequest request;
  };
  struct AskedTransfer {
    ReplicaId from;
    uint64_t attempt = 0;
  };
  absl::btree_map<Ticket, AskedChange> asked_changes_;  // of the core
  absl::btree_map<Ticket, AskedTransfer> asked_transfers_;
  std::deque<EngineInput> inbox_;

  uint64_t writes_before_core_ = 0;  // the genesis write comes before the core's own numbers
  std::optional<raft::Genesis> founding_write_;
  absl::btree_multimap<WriteNumber, Outbound> outbox_;  // waits for a write to be durable
  WriteNumber durable_;
  WriteNumber submitted_;                     // the newest write
  std::optional<LaggingTime> writing_since_;  // the store owes an answer since

  Ticket next_ticket_{1};
  absl::btree_map<Ticket, Purpose> questions_;
  absl::btree_map<Ticket, FireTimers> firing_;  // proposals whose place in the log is not known yet
  absl::btree_map<Ticket, Handed> handed_;      // likewise, of own requests
  Forwarded forwarded_;
  LaggingTime fire_again_ = LaggingTime::min();  // the log had no room for what fired
  std::vector<Ask> ready_;                       // reads to be answered in this turn

  Index checkpointed_;
  bool checkpoint_under_way_ = false;
  StateRepair repair_;
  LostEntries lost_;
  uint64_t bytes_since_checkpoint_ = 0;

  std::optional<Now> last_turn_;
  LaggingTime promised_ = LaggingTime::max();  // next_deadline() after the last turn
  std::optional<Ticket> gap_check_;            // docs/time.md T6: nothing expires before this question is answered
  LogSpace log_space_ = LogSpace::Ample;
  bool more_to_apply_ = false;
  Term campaign_;  // that was under way when the turn began; zero: none
  bool quarantined_ = false;
  std::string reason_;
  std::optional<absl::Status> halted_;
  EngineEffects* effects_ = nullptr;  // of the turn under way
};

}  // namespace coordkit::engine
