#include "sim/oracle/retention_observer.h"

#include <fmt/format.h>

#include <algorithm>

#include "raft/members/configuration_rules.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {

void RetentionObserver::started(uint32_t node) {
  const NodeStores& stores = nodes_[node]->stores();
  if (!stores.intact() || stores.log().disk().was_set_back() || stores.log().disk().found().holes) damaged_.insert(node);
  std::erase_if(streams_, [node](const auto& one) { return one.first.first == node; });
}

void RetentionObserver::handles(uint32_t node, const EngineInput& input) {
  const auto* read = std::get_if<LogWasRead>(&input);  // for a peer, before a scrub has found the damage
  const bool rotten = read != nullptr && absl::IsDataLoss(read->entries.status());
  if (rotten || std::holds_alternative<LogDamaged>(input)) damaged_.insert(node);
  const auto* mail = std::get_if<MessageReceived>(&input);
  if (mail == nullptr) return;
  if (const auto* append = std::get_if<raft::AppendReply>(&mail->message)) {
    answered(node, mail->from, append->term, append->stream);
  } else if (const auto* beat = std::get_if<raft::HeartbeatReply>(&mail->message)) {
    answered(node, mail->from, beat->term, beat->stream);
  }
}

void RetentionObserver::answered(uint32_t node, ReplicaId from, Term term, uint64_t stream) {
  const auto found = streams_.find({node, from});
  if (found == streams_.end() || found->second.term != term || found->second.number != stream) return;
  found->second.answered_in_this_turn = true;
}

void RetentionObserver::sends(uint32_t node, ReplicaId to, const Message& message) {
  const auto note = [&](Term term, uint64_t number) {
    Stream& stream = streams_[{node, to}];
    if (stream.term == term && stream.number == number) return;
    stream = {term, number, nodes_[to.value() - 1]->stores().log().id()};
  };
  if (const auto* append = std::get_if<raft::AppendRequest>(&message)) {
    note(append->term, append->stream);
  } else if (const auto* beat = std::get_if<raft::Heartbeat>(&message)) {
    note(beat->term, beat->stream);
  }
}

void RetentionObserver::turned(uint32_t node, const EngineEffects& effects) {
  const raft::Core* core = nodes_[node]->engine()->core();
  if (effects.compact && core != nullptr && core->leadership().role == raft::Role::Leader) check(node, effects.compact->index);
  for (auto one = streams_.lower_bound({node, ReplicaId()}); one != streams_.end() && one->first.first == node;) {
    Stream& stream = one->second;
    stream.answered = stream.answered || std::exchange(stream.answered_in_this_turn, false);
    // A member that is removed and added again has answered nothing since.
    const bool member = core != nullptr && raft::member_of(core->configuration(), one->first.second) != nullptr;
    one = member ? std::next(one) : streams_.erase(one);
  }
}

void RetentionObserver::check(uint32_t node, Index through) const {
  if (log_is_bounded_ || damaged_.contains(node)) return;
  const raft::Status status = nodes_[node]->engine()->core()->status();
  for (const raft::PeerStatus& peer : status.peers) {
    if (!served_from_log(node, peer, status.leadership.term)) continue;
    const std::optional<Index> has = common(node, static_cast<uint32_t>(peer.peer.value() - 1));
    if (!has || *has >= through) continue;
    throw Violation("INV_S09",
                    fmt::format("n{} removes its log up to {}, but n{}, which answers, has only {} of it on disk", node + 1,
                                through.value(), peer.peer.value(), has->value()),
                    {.index = through});
  }
}

// The leader forgets a peer that has been silent for eight election timeouts.
bool RetentionObserver::served_from_log(uint32_t node, const raft::PeerStatus& peer, Term term) const {
  const auto place = static_cast<uint32_t>(peer.peer.value() - 1);
  const auto stream = streams_.find({node, peer.peer});
  const bool answers = stream != streams_.end() && stream->second.term == term && stream->second.answered;
  const Duration silent = nodes_[node]->clock_now().lagging - peer.last_received;
  if (!answers || peer.behind || silent >= 7 * plan_.election_timeout || damaged_.contains(place)) return false;
  const raft::Member* member = raft::member_of(members_.in_force(node), peer.peer);
  const NodeStores& stores = nodes_[place]->stores();
  return member != nullptr && member->store == stream->second.store && stores.log().stands_for(member->store) &&
         stores.intact();
}

// Two logs differ from one entry on. An installed state is durable before the log that follows it.
std::optional<Index> RetentionObserver::common(uint32_t node, uint32_t peer) const {
  const LogImage& log = nodes_[node]->stores().log().submitted();
  const LogImage& disk = nodes_[peer]->stores().log().durable();
  Index equal = std::max(log.base.index, disk.base.index);
  const Index end = std::min(log.last(), disk.last());
  if (end < equal || log.chain(equal) != disk.chain(equal)) return std::nullopt;
  for (Index differs = end.next(); equal.next() < differs;) {
    const Index middle = equal + (differs - equal) / 2;
    (log.chain(middle) == disk.chain(middle) ? equal : differs) = middle;
  }
  return std::max(equal, nodes_[peer]->stores().state().applied().index);
}

}  // namespace coordkit::sim
