// States for peers and from them: what the host and the peers say about it, and the step of a turn that acts on it.
//
// From the decision to install until the machines are there, apply and checkpoints rest; elections, heartbeats, appends and
// reads of the old state go on (docs/decisions/0006).
#include <algorithm>
#include <exception>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "coordkit/error.h"
#include "engine/engine_impl.h"
#include "engine/restored_state.h"

namespace coordkit {

absl::StatusOr<std::unique_ptr<RestoredState>> RestoredState::build(std::vector<HostedMachine> machines,
                                                                    const CheckpointView& view) try {
  auto parts = std::make_unique<Parts>(std::move(machines));
  if (absl::Status status = parts->router.restore(view); !status.ok()) return status;
  std::vector<engine::MachineTimerOp> timers;
  parts->router.timers(timers);
  // Who leads gives every timer its full time when it applies its own first entry (docs/time.md T5), which is still to come.
  for (const engine::MachineTimerOp& one : timers)
    parts->keeper.apply(one.machine, one.op, LaggingTime(), parts->router.applied().index);
  return std::unique_ptr<RestoredState>(new RestoredState(std::move(parts)));
} catch (const std::exception& error) {
  return make_error(Reason::Corrupt, error.what());
} catch (...) {
  return make_error(Reason::HostThrew, "a machine threw something that is no std::exception while it was restored");
}

RestoredState::RestoredState(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
RestoredState::~RestoredState() = default;

}  // namespace coordkit

namespace coordkit::engine {

// ---- the sender's side

void EngineImpl::take(ViewOpened& input, Now now) {
  if (halted_) return;
  note_damage(sender_.opened(input, now.lagging));
}

// A rotten row is never sent (FLT_D08).
void EngineImpl::take(ViewWasRead& input, Now now) {
  if (halted_) return;
  note_damage(sender_.read(input, leadership_.term, now.lagging, effects_->sends));
}

// The applied state is in memory, whatever became of its copy on the disk.
void EngineImpl::note_damage(absl::Status why) {
  if (why.ok() || halted_ || quarantined_) return;
  if (mutant(Mutant::RotEndsReplica)) return halt(std::move(why));
  repair_.damaged(why);
}

// The store has dropped whatever was under way; what was fetched of a peer's state is fetched anew.
void EngineImpl::take(StateDamaged& input, Now) {
  checkpoint_under_way_ = false;
  receiver_.forgotten();
  note_damage(std::move(input.why));
}

void EngineImpl::take(StateRotten& input, Now) { note_damage(std::move(input.why)); }

void EngineImpl::take(StateWaits& input, Now now) {
  repair_.waits(input.why);
  if (core_ && mutant(Mutant::WaitingCountsAsStored)) core_->step(raft::Checkpointed{router_.applied()}, now.lagging);
}

void EngineImpl::take(LogDamaged& input, Now now) {
  if (halted_ || !core_) return;
  if (input.last > router_.applied().index && mutant(Mutant::RotEndsReplica)) return halt(std::move(input.why));
  log_damaged(std::min(input.last, core_->status().last.index), input.why, now);
}

// A checkpoint that is durable already may cover it: the log is kept for longer than checkpoints need it.
void EngineImpl::log_damaged(Index last, const absl::Status& why, Now now) {
  repair_.log_damaged(last, why);
  const Index unreadable = repair_.log_covered(checkpointed_);
  if (unreadable) core_->step(raft::Checkpointed{{}, unreadable}, now.lagging);
}

void EngineImpl::receive(ReplicaId from, StateRequest& message, Now now) {
  if (leads() && message.term == leadership_.term) sender_.asked(from, std::move(message), now.lagging);
}

void EngineImpl::receive(ReplicaId from, StateLoading& message, Now now) {
  if (leads()) sender_.loading(from, message, now.lagging);
}

// ---- the receiver's side

void EngineImpl::receive(ReplicaId from, StateOffer& message, Now now) {
  const bool ours = leadership_.leader == from && leadership_.term == message.term;
  if (ours && message.at.index > core_->commit()) receiver_.offered(from, message, now.lagging);
}

void EngineImpl::receive(ReplicaId from, StateChunk& message, Now) { receiver_.received(from, std::move(message)); }

void EngineImpl::take(RangeStaged& input, Now) { receiver_.staged(input.ticket); }

void EngineImpl::take(StateInstalled& input, Now) {
  if (halted_) return;
  receiver_.installed();
  effects_->restore = input.at;
}

void EngineImpl::take(InstallRefused&, Now) { receiver_.refused(); }

void EngineImpl::take(StateRestored& input, Now now) {
  if (!receiver_.building() || halted_) return;
  if (absl::IsDataLoss(input.state.status())) {
    receiver_.forgotten();
    return note_damage(input.state.status());
  }
  if (!input.state.ok()) return halt(input.state.status());
  adopt(**input.state, now);
  effects_->discarded = *std::move(input.state);
}

// The new state takes the place of ours in one step, and everything that leant on the old one is looked at again.
void EngineImpl::adopt(RestoredState& restored, Now now) {
  const StateOffer offer = *receiver_.offer();
  receiver_.restored();
  std::swap(router_, restored.parts().router);
  router_.observe_as(restored.parts().router);
  std::swap(keeper_, restored.parts().keeper);
  router_.note_digests_every(options_.digest_entries);
  COORDKIT_CHECK_MSG(router_.applied() == offer.at, "INV_R13 another state was restored than was installed");
  checkpointed_ = offer.at.index;
  bytes_since_checkpoint_ = 0;
  const raft::Configuration& members = mutant(Mutant::InstallKeepsMembers) ? core_->configuration() : router_.configuration();
  core_->step(raft::Installed{offer.term, offer.at, members, router_.configuration_at().index}, now.lagging);
  change_.state_replaced(router_.configuration_at().index, router_.configuration(), effects_->completions);
  if (router_.leader_term() == leadership_.term) transfer_.leader_started(leadership_, offer.at.index, effects_->completions);
  if (!mutant(Mutant::SkippedCallsForgotten)) proposals_.state_replaced(router_, effects_->completions);
  effects_->restored = offer.at;
}

// ---- the step of a turn

void EngineImpl::transfer_states(Now now) {
  if (leads()) {
    sender_.behind(core_effects_.behind, now.lagging);
    sender_.collect(leadership_.term, core_->base(), now.lagging, effects_->views, effects_->sends);
  } else {
    sender_.stop(effects_->views);
  }
  if (const Index pinned = sender_.pinned(); pinned != pinned_) {
    pinned_ = pinned;
    core_->step(raft::Pin{pinned}, now.lagging);
  }
  const bool needless = leads() || (receiver_.offer() && core_->commit() >= receiver_.offer()->at.index);
  if (needless) receiver_.drop();
  const auto may = checkpoint_under_way_ ? StateReceiver::May::Wait : StateReceiver::May::Install;
  receiver_.collect(leads() ? ReplicaId() : leadership_.leader, leadership_.term, may, now.lagging, effects_->staging,
                    effects_->sends);
}

}  // namespace coordkit::engine
