#include "sim/oracle/situation_observer.h"

#include "raft/members/configuration_rules.h"

namespace coordkit::sim {

// As the leader sees it; without a leader nothing is decided.
bool SituationObserver::joint() const {
  const std::optional<uint32_t> leader = consensus_.leader();
  return leader && !consensus_.members().in_force(*leader).outgoing.empty();
}

void SituationObserver::lost(uint32_t node) {
  const bool leads = consensus_.leader() == node;
  if (joint()) reach(leads ? Situation::LeaderLostWhileJoint : Situation::CrashWhileJoint);
  if (takes_state(node)) reach(Situation::CrashDuringState);
  const bool soon = promoted_at_ != TrueTime{} && world_.now() - promoted_at_ < std::chrono::seconds(1);
  if (leads && soon) reach(Situation::LeaderLostAfterPromotion);
}

void SituationObserver::links_cut(uint64_t links) {
  cuts_ += links;
  if (joint()) reach(Situation::PartitionWhileJoint);
}

void SituationObserver::sends(uint32_t node, const Message& message) {
  if (const auto* order = std::get_if<raft::TimeoutNow>(&message)) {
    reach(Situation::TransferOrdered);
    if (cuts_ > 0) reach(Situation::TransferDuringPartition);
    transfer_term_ = order->term.next();
  }
  if (std::holds_alternative<StateOffer>(message)) reach(Situation::StateOffered);
  if (std::holds_alternative<StateRequest>(message)) taking_state_[node] = world_.now();
  const auto* chunk = std::get_if<StateChunk>(&message);
  if (chunk != nullptr && chunk->rows.same) reach(Situation::StateResumed);
  const auto* read = std::get_if<ReadIndexReply>(&message);
  if (read != nullptr && read->held == raft::Answer::Yes && consensus_.leader() == node && joint())
    reach(Situation::ReadWhileJoint);
}

void SituationObserver::opened(uint32_t node, const absl::Status& opened) {
  const LogDisk& log = nodes_[node]->stores().log().disk();
  if (absl::IsUnavailable(opened)) return reach(Situation::PowerLostInOpen);
  if (nodes_[node]->build().too_old()) return reach(Situation::OlderBuildRefused);
  if (!opened.ok() && nodes_[node]->refused_pair()) return reach(Situation::StoresRefused);
  if (!nodes_[node]->stores().state().disk().intact()) return reach(Situation::RottenStateFound);
  if (!opened.ok()) return reach(log.damage().intact() ? Situation::OpenFailed : Situation::ShortLogFound);
  if (log.found().unsynced) reach(Situation::UnsyncedWriteFound);
  if (log.found().holes) reach(Situation::HolesFound);
}

void SituationObserver::halted(uint32_t node) {
  reach(nodes_[node]->build().too_old() ? Situation::OlderBuildRefused : Situation::HaltedByDisk);
}

// It asked for more rows a moment ago.
bool SituationObserver::takes_state(uint32_t node) const {
  const auto asked = taking_state_.find(node);
  return asked != taking_state_.end() && world_.now() - asked->second < election_timeout_;
}

void SituationObserver::installed(uint32_t node) {
  taking_state_.erase(node);
  reach(Situation::StateInstalled);
  if (!consensus_.members().newest_committed().outgoing.empty()) reach(Situation::InstallWhileJoint);
}

void SituationObserver::turned(uint32_t node) {
  look_at_takers(node);
  look_for_promotions();
  look_at_leader(node);
}

void SituationObserver::look_at_takers(uint32_t node) {
  if (consensus_.elections() == elections_seen_) return;
  elections_seen_ = consensus_.elections();
  for (uint32_t taker = 0; taker < nodes_.size(); ++taker) {
    if (taker != node && takes_state(taker)) reach(Situation::LeaderChangedDuringState);
  }
}

void SituationObserver::look_for_promotions() {
  const uint64_t promotions = counts_[static_cast<size_t>(Situation::LearnerPromoted)];
  if (promotions == promotions_) return;
  promotions_ = promotions;
  promoted_at_ = world_.now();
}

void SituationObserver::look_at_leader(uint32_t node) {
  const raft::Leadership& now = nodes_[node]->engine()->leadership();
  if (now.role != raft::Role::Leader) return;
  if (now.term == transfer_term_) {
    reach(Situation::TransferCampaignWon);
    transfer_term_ = Term();
  }
  if (now.term == joint_in_ && removed_in_ == now.term) return;
  const raft::Configuration& in_force = consensus_.members().in_force(node);
  if (!in_force.outgoing.empty() && joint_in_ != now.term) {
    reach(Situation::JointConfiguration);
    joint_in_ = now.term;
  }
  if (raft::member_of(in_force, nodes_[node]->id()) == nullptr && removed_in_ != now.term) {
    reach(Situation::LeaderRemoved);
    removed_in_ = now.term;
  }
}

}  // namespace coordkit::sim
