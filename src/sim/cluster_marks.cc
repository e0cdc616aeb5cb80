// Which situations a run has reached (coordkit/sim/marks.h). Nothing here changes the run.
#include "sim/cluster.h"

namespace coordkit::sim {

// As the leader sees it; without a leader nothing is decided.
bool Cluster::joint() const {
  const std::optional<uint32_t> leader = consensus_.leader();
  return leader && !consensus_.members().in_force(*leader).outgoing.empty();
}

// A replica crashes or stands still.
void Cluster::mark_lost(uint32_t node) {
  const bool leads = consensus_.leader() == node;
  if (joint()) reach(leads ? Mark::LeaderLostWhileJoint : Mark::CrashWhileJoint);
  if (takes_state(node)) reach(Mark::CrashDuringState);
  const bool soon = promoted_at_ != TrueTime{} && world_.now() - promoted_at_ < std::chrono::seconds(1);
  if (leads && soon) reach(Mark::LeaderLostAfterPromotion);
}

void Cluster::mark_cut() {
  if (joint()) reach(Mark::PartitionWhileJoint);
}

void Cluster::mark_message(uint32_t node, const Message& message) {
  if (const auto* order = std::get_if<raft::TimeoutNow>(&message)) {
    reach(Mark::TransferOrdered);
    if (cuts_ > 0) reach(Mark::TransferDuringPartition);
    told_to_campaign_ = order->term.next();
  }
  if (std::holds_alternative<StateOffer>(message)) reach(Mark::StateOffered);
  if (std::holds_alternative<StateRequest>(message)) taking_state_[node] = world_.now();
  const auto* chunk = std::get_if<StateChunk>(&message);
  if (chunk != nullptr && chunk->rows.same) reach(Mark::StateResumed);
  const auto* read = std::get_if<ReadIndexReply>(&message);
  if (read != nullptr && read->held == raft::Answer::Yes && consensus_.leader() == node && joint()) reach(Mark::ReadWhileJoint);
}

void Cluster::mark_opened(uint32_t node, const absl::Status& opened) {
  const SimLogStore& log = nodes_[node]->log();
  if (absl::IsUnavailable(opened)) return reach(Mark::PowerLostInOpen);
  if (nodes_[node]->too_old()) return reach(Mark::OlderBuildRefused);
  if (!opened.ok() && nodes_[node]->refused_pair()) return reach(Mark::StoresRefused);
  if (!nodes_[node]->state().intact()) return reach(Mark::RottenStateFound);
  if (!opened.ok()) return reach(log.intact() ? Mark::OpenFailed : Mark::ShortLogFound);
  if (log.found_unsynced()) reach(Mark::UnsyncedWriteFound);
  if (log.found_holes()) reach(Mark::HolesFound);
}

// It asked for more rows a moment ago.
bool Cluster::takes_state(uint32_t node) const {
  const auto asked = taking_state_.find(node);
  return asked != taking_state_.end() && world_.now() - asked->second < plan_.election_timeout;
}

void Cluster::mark_installed(uint32_t node) {
  taking_state_.erase(node);
  reach(Mark::StateInstalled);
  if (!consensus_.members().newest_committed().outgoing.empty()) reach(Mark::InstallWhileJoint);
}

void Cluster::mark_turn(uint32_t node) {
  if (consensus_.elections() != elections_seen_) {
    elections_seen_ = consensus_.elections();
    for (uint32_t taker = 0; taker < plan_.nodes; ++taker) {
      if (taker != node && takes_state(taker)) reach(Mark::LeaderChangedDuringState);
    }
  }
  if (marks_[static_cast<size_t>(Mark::LearnerPromoted)] != promotions_) {
    promotions_ = marks_[static_cast<size_t>(Mark::LearnerPromoted)];
    promoted_at_ = world_.now();
  }
  const raft::Leadership& now = nodes_[node]->engine()->leadership();
  if (now.role != raft::Role::Leader) return;
  if (now.term == told_to_campaign_) {
    reach(Mark::TransferCampaignWon);
    told_to_campaign_ = Term();
  }
  if (now.term == joint_in_ && removed_in_ == now.term) return;
  const raft::Configuration& in_force = consensus_.members().in_force(node);
  if (!in_force.outgoing.empty() && joint_in_ != now.term) {
    reach(Mark::JointConfiguration);
    joint_in_ = now.term;
  }
  if (!consensus_.members().member(node) && removed_in_ != now.term) {
    reach(Mark::LeaderRemoved);
    removed_in_ = now.term;
  }
}

}  // namespace coordkit::sim
