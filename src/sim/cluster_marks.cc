// Which situations a run has been in (coordkit/sim/marks.h). Nothing here changes the run.
#include "sim/cluster.h"

namespace coordkit::sim {

// As the leader sees it; without one nobody decides anything.
bool Cluster::joint() const {
  const std::optional<uint32_t> leader = consensus_.leader();
  return leader && !consensus_.members().in_force(*leader).outgoing.empty();
}

// A replica crashes or stands still.
void Cluster::mark_lost(uint32_t node) {
  const bool leads = consensus_.leader() == node;
  if (joint()) reach(leads ? Mark::LeaderLostWhileJoint : Mark::CrashWhileJoint);
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
  const auto* read = std::get_if<ReadIndexReply>(&message);
  if (read != nullptr && read->held == raft::Answer::Yes && consensus_.leader() == node && joint()) reach(Mark::ReadWhileJoint);
}

void Cluster::mark_turn(uint32_t node) {
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
