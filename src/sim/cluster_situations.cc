// Which situations a run has reached (coordkit/sim/situations.h). Nothing here changes the run.
#include "sim/cluster.h"

namespace coordkit::sim {

// As the leader sees it; without a leader nothing is decided.
bool Cluster::joint() const {
  const std::optional<uint32_t> leader = consensus_.leader();
  return leader && !consensus_.members().in_force(*leader).outgoing.empty();
}

// A replica crashes or stands still.
void Cluster::note_lost(uint32_t node) {
  const bool leads = consensus_.leader() == node;
  if (joint()) reach(leads ? Situation::LeaderLostWhileJoint : Situation::CrashWhileJoint);
  if (takes_state(node)) reach(Situation::CrashDuringState);
  const bool soon = promoted_at_ != TrueTime{} && world_.now() - promoted_at_ < std::chrono::seconds(1);
  if (leads && soon) reach(Situation::LeaderLostAfterPromotion);
}

void Cluster::note_cut() {
  if (joint()) reach(Situation::PartitionWhileJoint);
}

void Cluster::note_message(uint32_t node, const Message& message) {
  if (const auto* order = std::get_if<raft::TimeoutNow>(&message)) {
    reach(Situation::TransferOrdered);
    if (cuts_ > 0) reach(Situation::TransferDuringPartition);
    told_to_campaign_ = order->term.next();
  }
  if (std::holds_alternative<StateOffer>(message)) reach(Situation::StateOffered);
  if (std::holds_alternative<StateRequest>(message)) taking_state_[node] = world_.now();
  const auto* chunk = std::get_if<StateChunk>(&message);
  if (chunk != nullptr && chunk->rows.same) reach(Situation::StateResumed);
  const auto* read = std::get_if<ReadIndexReply>(&message);
  if (read != nullptr && read->held == raft::Answer::Yes && consensus_.leader() == node && joint())
    reach(Situation::ReadWhileJoint);
}

void Cluster::note_opened(uint32_t node, const absl::Status& opened) {
  const SimLogStore& log = nodes_[node]->log();
  if (absl::IsUnavailable(opened)) return reach(Situation::PowerLostInOpen);
  if (nodes_[node]->too_old()) return reach(Situation::OlderBuildRefused);
  if (!opened.ok() && nodes_[node]->refused_pair()) return reach(Situation::StoresRefused);
  if (!nodes_[node]->state().intact()) return reach(Situation::RottenStateFound);
  if (!opened.ok()) return reach(log.intact() ? Situation::OpenFailed : Situation::ShortLogFound);
  if (log.found_unsynced()) reach(Situation::UnsyncedWriteFound);
  if (log.found_holes()) reach(Situation::HolesFound);
}

// It asked for more rows a moment ago.
bool Cluster::takes_state(uint32_t node) const {
  const auto asked = taking_state_.find(node);
  return asked != taking_state_.end() && world_.now() - asked->second < plan_.election_timeout;
}

void Cluster::note_installed(uint32_t node) {
  taking_state_.erase(node);
  reach(Situation::StateInstalled);
  if (!consensus_.members().newest_committed().outgoing.empty()) reach(Situation::InstallWhileJoint);
}

void Cluster::note_turn(uint32_t node) {
  if (consensus_.elections() != elections_seen_) {
    elections_seen_ = consensus_.elections();
    for (uint32_t taker = 0; taker < plan_.nodes; ++taker) {
      if (taker != node && takes_state(taker)) reach(Situation::LeaderChangedDuringState);
    }
  }
  if (situations_[static_cast<size_t>(Situation::LearnerPromoted)] != promotions_) {
    promotions_ = situations_[static_cast<size_t>(Situation::LearnerPromoted)];
    promoted_at_ = world_.now();
  }
  const raft::Leadership& now = nodes_[node]->engine()->leadership();
  if (now.role != raft::Role::Leader) return;
  if (now.term == told_to_campaign_) {
    reach(Situation::TransferCampaignWon);
    told_to_campaign_ = Term();
  }
  if (now.term == joint_in_ && removed_in_ == now.term) return;
  const raft::Configuration& in_force = consensus_.members().in_force(node);
  if (!in_force.outgoing.empty() && joint_in_ != now.term) {
    reach(Situation::JointConfiguration);
    joint_in_ = now.term;
  }
  if (!consensus_.members().member(node) && removed_in_ != now.term) {
    reach(Situation::LeaderRemoved);
    removed_in_ = now.term;
  }
}

}  // namespace coordkit::sim
