// The first half of a turn: what happened outside. Which part takes which input and which message between engines.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "coordkit/error.h"
#include "engine/apply/restored_state.h"
#include "engine/loop/engine_impl.h"

namespace coordkit::engine {

// ---- inputs from the host

class EngineImpl::Inputs {
 public:
  Inputs(EngineImpl& engine, Turn& turn) : engine_(engine), turn_(turn), effects_(turn.effects), now_(turn.now.lagging) {}

  // From the transport.
  void operator()(PeerConnected& input);
  void operator()(PeerLost& input);
  void operator()(PeerRefused& input) { engine_.peers_.refused(input.peer, std::move(input.why)); }
  void operator()(PeerUnreachable& input) { engine_.peers_.unreachable(input.peer, std::move(input.why)); }
  void operator()(MessageReceived& input) { engine_.receive(input.from, input.message, turn_); }

  // From the log store.
  void operator()(LogWritten& input);
  void operator()(LogWasRead& input);
  void operator()(LogDamaged& input);
  void operator()(LogSpaceChanged& input) { engine_.condition_.set_log_space(input.space); }
  void operator()(LogWaits& input) { engine_.condition_.set_log_waits(input.why); }
  void operator()(LogSpareFails& input) { engine_.condition_.set_spare_fails(input.why); }
  void operator()(StoreFailed& input) {
    const bool said = !input.why.ok() && !sentence_of(input.why).empty();
    engine_.halt(said ? std::move(input.why) : make_error(Reason::StorageFailed, "a store has failed and did not say why"),
                 effects_);
  }

  // From the state store.
  void operator()(StateCheckpointed& input) { engine_.checkpoints_.done(input, turn_); }
  void operator()(CheckpointWanted& input) { engine_.checkpoints_.want(input.at_least); }
  void operator()(StateWaits& input);
  void operator()(StateDamaged& input);
  void operator()(StateRotten& input) { damaged(input.why); }
  void operator()(ViewOpened& input);
  void operator()(ViewWasRead& input);
  void operator()(RangeStaged& input) { engine_.states_.staged(input.ticket); }
  void operator()(StateInstalled& input);
  void operator()(InstallRefused&) { engine_.states_.install_refused(); }
  void operator()(StateRestored& input);

  // From callers.
  void operator()(Submit& call);
  void operator()(Ask& call);
  void operator()(Renew& call) { engine_.calls_.reads().take(std::move(call), turn_); }
  void operator()(Relay& input);
  void operator()(ChangeMembers& call) { start(call); }
  void operator()(TransferLeadership& call) { start(call); }
  void operator()(Forget& input) { engine_.calls_.forget(input.ticket); }

 private:
  void damaged(const absl::Status& why);
  absl::Status newer_state(uint64_t level) const;
  void adopt(RestoredState& restored);
  absl::Status refusal(Urgency urgency, size_t bytes) const;
  void refuse(Ticket ticket, absl::Status why) { effects_.completions.push_back({.ticket = ticket, .status = std::move(why)}); }
  template <typename MemberCall>
  void start(MemberCall& call);

  EngineImpl& engine_;
  Turn& turn_;
  EngineEffects& effects_;
  LaggingTime now_;
};

void EngineImpl::take_inputs(Turn& turn) {
  Inputs inputs(*this, turn);
  inbox_.take_all([&](EngineInput& input) { std::visit(inputs, input); });
}

void EngineImpl::Inputs::operator()(PeerConnected& input) {
  if (!engine_.peers_.connected(input.hello, now_)) return engine_.recall_.lost(input.hello.from);
  if (engine_.condition_.quarantined()) engine_.tell_aside({input.hello.from}, effects_);
  if (engine_.core()) return engine_.welcome(input.hello, turn_);
  engine_.founding_.hello(input.hello);
}

void EngineImpl::Inputs::operator()(PeerLost& input) {
  engine_.peers_.lost(input.peer, now_);
  engine_.recall_.lost(input.peer);
  if (engine_.core()) engine_.consensus_.step(raft::PeerDown{input.peer}, now_);
}

void EngineImpl::Inputs::operator()(LogWritten& input) {
  WriteGate& writes = engine_.consensus_.writes();
  writes.written(input.number, now_);
  if (engine_.core()) {
    if (const WriteNumber durable = writes.durable_of_core()) engine_.consensus_.step(raft::Written{durable}, now_);
    return;
  }
  const std::optional<raft::Genesis> genesis = writes.take_founded();
  if (!genesis) return;
  const bool gave_one_up = engine_.founding_.gave_one_up();
  engine_.recall_.begin(gave_one_up ? RollbackCheck::Disk::WithHistory : RollbackCheck::Disk::Blank);
  engine_.start_core({.hard_state = {Term(1), ReplicaId()},
                      .configuration = genesis->configuration,
                      .entries = {genesis_entry(engine_.options_.raft.group, *genesis)},
                      .rollback_checked = !gave_one_up},
                     turn_);
}

// Entries that a peer needs and cannot be read are dropped by the next checkpoint; the peer is sent the state.
void EngineImpl::Inputs::operator()(LogWasRead& input) {
  if (!engine_.core()) return;
  const bool rotten = absl::IsDataLoss(input.entries.status()) && input.first <= engine_.applied();
  if (rotten) engine_.checkpoints_.log_damaged(input.first, input.entries.status(), turn_);
  engine_.consensus_.step(raft::LogRead{input.first, std::move(input.entries)}, now_);
}

void EngineImpl::Inputs::operator()(LogDamaged& input) {
  if (!input.last) return;  // mended
  if (!engine_.core()) return;
  engine_.checkpoints_.log_damaged(std::min(input.last, engine_.core()->status().last.index), input.why, turn_);
}

void EngineImpl::Inputs::operator()(StateWaits& input) { engine_.checkpoints_.waits(input.why); }

// The store has dropped its work in progress; the fetched part of a peer's state is fetched again.
void EngineImpl::Inputs::operator()(StateDamaged& input) {
  engine_.checkpoints_.dropped();
  engine_.states_.forgotten();
  damaged(input.why);
}

// The applied state is in memory, whatever happened to its copy on disk.
void EngineImpl::Inputs::damaged(const absl::Status& why) {
  if (why.ok() || engine_.condition_.halted() || engine_.condition_.quarantined()) return;
  engine_.checkpoints_.damaged(why);
}

// ---- states for peers and from them

void EngineImpl::Inputs::operator()(ViewOpened& input) {
  if (!engine_.condition_.halted()) damaged(engine_.states_.take(input, now_));
}

void EngineImpl::Inputs::operator()(ViewWasRead& input) {
  if (!engine_.condition_.halted()) damaged(engine_.states_.take(input, turn_));
}

// Without a core, in quarantine as after a halt, no state takes the place of ours any more.
void EngineImpl::Inputs::operator()(StateInstalled& input) {
  if (engine_.core()) engine_.states_.installed(input.at, effects_);
}

void EngineImpl::Inputs::operator()(StateRestored& input) {
  if (!engine_.states_.building() || !engine_.core()) return;
  if (absl::IsDataLoss(input.state.status())) {
    engine_.states_.forgotten();
    return damaged(input.state.status());
  }
  if (!input.state.ok()) return engine_.halt(input.state.status(), effects_);
  const uint64_t level = (*input.state)->parts().router.feature_level();
  if (level > engine_.options_.feature_level) return engine_.halt(newer_state(level), effects_);
  adopt(**input.state);
  effects_.discarded = *std::move(input.state);
}

// From a peer whose feature level is above this build's.
absl::Status EngineImpl::Inputs::newer_state(uint64_t level) const {
  return make_error(Reason::NewerFormat, "the state that a peer sent is of feature level " + std::to_string(level) +
                                             ", and this build speaks " + std::to_string(engine_.options_.feature_level) +
                                             ": start a newer build on this directory");
}

// The new state replaces ours in one step, and everything that relied on the old one is re-checked.
void EngineImpl::Inputs::adopt(RestoredState& restored) {
  Consensus& consensus = engine_.consensus_;
  const StateOffer offer = engine_.states_.take_restored();
  engine_.state_.replace(restored);
  std::swap(engine_.expirations_.timers(), restored.parts().keeper);
  const Router& router = engine_.state_.router();
  COORDKIT_CHECK_MSG(router.applied() == offer.at, "INV_R13 another state was restored than was installed");
  engine_.checkpoints_.begin_at(offer.at.index);
  consensus.step(raft::Installed{offer.term, offer.at, router.configuration(), router.configuration_at().index}, now_);
  engine_.calls_.state_replaced(router, consensus.leadership(), effects_);
  effects_.restored = offer.at;
}

// ---- calls

absl::Status EngineImpl::Inputs::refusal(Urgency urgency, size_t bytes) const {
  const Founding& founding = engine_.founding_;
  const bool uninvited = founding.given_up() && !engine_.core();
  return engine_.condition_.refusal(urgency, bytes, engine_.calls_.load(), uninvited ? &founding.reason() : nullptr);
}

void EngineImpl::Inputs::operator()(Submit& call) {
  absl::Status why = refusal(call.urgency, bytes_of(call));
  if (why.ok()) why = engine_.condition_.refusal_of_command(call.urgency, engine_.consensus_.holds_back());
  const bool hosted = engine_.machine(call.machine) && (!call.guard || engine_.machine(call.guard->machine));
  if (why.ok() && !hosted) why = not_hosted();
  if (!why.ok()) return refuse(call.ticket, std::move(why));
  engine_.calls_.proposals().submit(std::move(call), effects_.completions);
}

void EngineImpl::Inputs::operator()(Ask& call) {
  absl::Status why = refusal(Urgency::Normal, call.question ? call.question->size() : 0);
  if (why.ok() && !engine_.machine(call.machine)) why = not_hosted();
  if (why.ok() && call.consistency == Consistency::Local && !engine_.core()) {
    why = make_error(Reason::NotReady, "this replica has no state yet: " + engine_.founding_.reason());
  }
  if (!why.ok()) return refuse(call.ticket, std::move(why));
  engine_.calls_.reads().take(std::move(call), engine_.clock_.sleep(), turn_);
}

template <typename MemberCall>
void EngineImpl::Inputs::start(MemberCall& call) {
  absl::Status why = refusal(Urgency::Normal, 0);
  if (why.ok() && !engine_.core()) {
    why = make_error(Reason::NotReady, "this replica has no cluster yet: " + engine_.founding_.reason());
  }
  if (!why.ok()) return refuse(call.ticket, std::move(why));
  engine_.calls_.members().start(std::move(call), engine_.state_.router(), turn_);
}

// ---- messages of peers: only of accepted ones, and only while the core runs

class EngineImpl::Messages {
 public:
  Messages(EngineImpl& engine, ReplicaId from, Turn& turn)
      : engine_(engine), from_(from), member_(engine.peers_.member(from)), turn_(turn) {}

  // To a leader.
  void operator()(Forward& message);
  void operator()(ReadIndexRequest& message) {
    if (leads()) engine_.calls_.reads().receive(from_, message, turn_);
  }
  void operator()(RenewRequest& message);
  void operator()(ChangeRequest& message) { engine_.calls_.members().receive(from_, std::move(message), turn_); }
  void operator()(TransferRequest& message) { engine_.calls_.members().receive(from_, message, turn_); }
  void operator()(StateRequest& message) { engine_.states_.receive(from_, message, turn_); }
  void operator()(StateLoading& message) { engine_.states_.receive(from_, message, turn_); }

  // From a leader. The core itself learns of a new one; commands that were handed over are handed over again then.
  void operator()(Refusal&) {}
  void operator()(ReadIndexReply& message) {
    engine_.calls_.reads().receive(message, engine_.state_.router().applied().index, turn_);
  }
  void operator()(RenewReply& message) { turn_.effects.renewals.push_back(std::move(message)); }
  void operator()(ChangeReply& message) { engine_.calls_.members().receive(message, turn_); }
  void operator()(TransferReply& message) { engine_.calls_.members().receive(message, turn_); }
  void operator()(StateOffer& message) { engine_.states_.receive(from_, message, turn_); }
  void operator()(StateChunk& message) { engine_.states_.receive(from_, message); }

  // About disks, and before initialization.
  void operator()(RecallRequest& message);
  void operator()(RecallReply& message);
  void operator()(SteppedAside& message) { engine_.peers_.receive(from_, message); }
  void operator()(GenesisOffer&) {}

  template <typename RaftMessage>
  void operator()(RaftMessage& message);

 private:
  bool leads();  // otherwise the sender is told that we do not
  bool wanted(const LogCommand& command) const;

  EngineImpl& engine_;
  ReplicaId from_;
  const Hello* member_;  // null: it is not accepted as a member
  Turn& turn_;
};

void EngineImpl::receive(ReplicaId from, Message& message, Turn& turn) {
  if (auto* offer = std::get_if<GenesisOffer>(&message)) {
    if (!core() && !condition_.quarantined()) founding_.offered(from, *offer);
    return;
  }
  if (!core() || !peers_.admits(from, message, consensus_.leader(), state_.router().configuration())) return;
  std::visit(Messages(*this, from, turn), message);
}

template <typename RaftMessage>
void EngineImpl::Messages::operator()(RaftMessage& message) {
  engine_.peers_.received(from_, message, turn_.now.lagging);
  raft::Received received{from_, raft::Message(std::move(message))};
  const DiskRecall::Claim claim = DiskRecall::claim_of(received.message);
  engine_.consensus_.step(std::move(received), turn_.now.lagging);
  engine_.recall_.note(from_, member_, claim, *engine_.core());
}

bool EngineImpl::Messages::leads() {
  const Consensus& consensus = engine_.consensus_;
  if (consensus.leads()) return true;
  turn_.effects.sends.push_back({from_, Refusal{Refusal::Why::NotLeader, consensus.term(), consensus.leader()}});
  return false;
}

void EngineImpl::Messages::operator()(Forward& message) {
  if (!leads()) return;
  const auto wanted = [this](const LogCommand& command) { return this->wanted(command); };
  engine_.consensus_.propose_for(from_, message, wanted, turn_.now.lagging);
}

// Not what this replica cannot execute. And once is enough: a replica that hands a command over again is behind, and finds the
// answer in its own log or in a state that it is sent.
bool EngineImpl::Messages::wanted(const LogCommand& command) const {
  const Router& router = engine_.state_.router();
  const auto* request = std::get_if<Request>(&command);
  if (request && !router.hosts(*request)) return false;
  if (request) return !engine_.consensus_.under_way(request->id) && !router.executed(*request);
  const auto* registration = std::get_if<RegisterOrigin>(&command);
  return !registration || !router.origins().registered(registration->origin);
}

// A copy of a command that was executed would be a useless entry; its answer may not have reached the remote.
void EngineImpl::Inputs::operator()(Relay& input) {
  if (!engine_.core()) return;
  Forward forward;
  for (Relay::Command& command : input.commands) {
    if (auto stored = engine_.state_.router().stored(command.id)) {
      effects_.remote_answers.push_back(
          {stored->request, stored->stage, stored->refused, std::move(stored->bytes), stored->index});
    } else {
      forward.commands.push_back(std::move(command.bytes));
    }
  }
  if (forward.commands.empty() || !engine_.consensus_.knows_leader()) return;
  if (engine_.consensus_.leads()) return Messages(engine_, engine_.self(), turn_)(forward);
  ToLeader to_leader(engine_.options_, turn_);
  for (SharedBytes& command : forward.commands) to_leader.add(std::move(command));
  to_leader.flush();
}

void EngineImpl::Messages::operator()(RenewRequest& message) {
  if (leads()) engine_.calls_.reads().receive(from_, std::move(message), turn_.now.lagging);
}

void EngineImpl::Messages::operator()(RecallRequest& message) {
  engine_.recall_.receive(from_, message, engine_.peers_.hello_of(from_), member_, *engine_.core(), turn_.effects);
}

void EngineImpl::Messages::operator()(RecallReply& message) {
  const Hello* hello = engine_.peers_.hello_of(from_);
  if (!hello) return;
  std::optional<std::string> set_back = engine_.recall_.receive(*hello, message, *engine_.core());
  if (set_back) return engine_.quarantine(*std::move(set_back), turn_.effects);
  if (!engine_.recall_.answered(from_)) return;
  engine_.consensus_.step(std::move(message.settled), turn_.now.lagging);
}

}  // namespace coordkit::engine
