#include "engine/peers/peer_set.h"

#include <algorithm>
#include <utility>

#include "engine/peers/hello_check.h"
#include "raft/members/configuration_rules.h"
#include "raft/quorum.h"

namespace coordkit::engine {

// ---- connections

bool PeerSet::connected(const Hello& hello, LaggingTime now) {
  Disagreement found = check_hello(options_.agreement, feature_level_, hello);
  if (!found.dangerous.empty()) {
    refuse(hello.from, std::move(found.dangerous), now);
    return false;
  }
  disagreements_.erase(hello.from);
  if (!found.tolerable.empty()) disagreements_[hello.from] = std::move(found.tolerable);
  reachability_.connected(hello);
  members_.connected(hello);
  return true;
}

void PeerSet::require(uint64_t feature_level, LaggingTime now) {
  if (std::exchange(feature_level_, feature_level) == feature_level) return;
  for (const ReplicaId old : members_.below(feature_level)) {
    refuse(old, check_hello(options_.agreement, feature_level, *members_.hello_of(old)).dangerous, now);
  }
}

void PeerSet::refused(ReplicaId peer, std::string why) {
  if (expects(peer) || reachability_.remembers(peer)) reachability_.refused_at_address(peer, std::move(why));
}

void PeerSet::unreachable(ReplicaId peer, std::string why) {
  if (expects(peer) || reachability_.remembers(peer)) reachability_.unreachable(peer, std::move(why));
}

void PeerSet::lost(ReplicaId peer, LaggingTime now) {
  disregard(peer, now);
  if (!expects(peer)) reachability_.forget(peer);
}

// Whether it is to be connected with: before the first turn, as the operator lists it.
bool PeerSet::expects(ReplicaId peer) const {
  const std::vector<Peer>& peers = basis_ ? targets_ : options_.members;
  return std::ranges::find(peers, peer, &Peer::id) != peers.end();
}

// While the transport may still be connected with it.
void PeerSet::refuse(ReplicaId peer, std::string why, LaggingTime now) {
  disregard(peer, now);
  reachability_.refused(peer, std::move(why));
}

void PeerSet::disregard(ReplicaId peer, LaggingTime now) {
  reachability_.lost(peer, now);
  round_trips_.forget(peer);
  members_.lost(peer);
  disagreements_.erase(peer);
}

bool PeerSet::admits(ReplicaId from, const Message& message, ReplicaId leader, const raft::Configuration& applied) {
  const bool admitted = members_.admits(from, message, leader, applied);
  if (!admitted) ++rejected_;
  return admitted;
}

const Hello* PeerSet::member(ReplicaId peer) const {
  return members_.capacity(peer) == Capacity::Member ? members_.hello_of(peer) : nullptr;
}

void PeerSet::receive(ReplicaId from, const SteppedAside& message) {
  if (member(from)) reachability_.stepped_aside(from, message.why);
}

std::optional<std::vector<Hello>> PeerSet::follow(const raft::Core& core, ClusterId cluster) {
  const Position at = core.configuration_position();
  if (at == followed_ && members_.goes_by(core.configuration())) return std::nullopt;
  followed_ = at;
  ++follows_;
  inform_soon();
  return members_.follow(core.configuration(), cluster);
}

bool PeerSet::removes_us(const raft::Core& core, const Router& router, StoreId own) {
  const auto names_us = [&](const raft::Configuration& configuration) {
    const raft::Member* self = raft::member_of(configuration, options_.raft.self);
    return self && self->store == own;
  };
  const bool named = names_us(core.configuration()) || names_us(router.configuration());
  named_once_ = named_once_ || named;
  return core.removed() || (named_once_ && !named);
}

// ---- connection targets

// The members in force and the committed ones, the operator's list as long as the log does not name us, and peers that a change
// started here needs to connect to. A member that is connected is not given up for one that is to come in its place.
void PeerSet::report_targets(const raft::Core* core, const Router& router, std::vector<Peer> prospects,
                             EngineEffects& effects) {
  std::erase_if(prospects, [this](const Peer& peer) { return member(peer.id) != nullptr; });
  Basis basis{follows_, router.configuration_at(), std::move(prospects)};
  if (basis_ == basis) return;
  basis_ = std::move(basis);
  absl::btree_map<ReplicaId, Peer> wanted;
  const auto want = [&](const raft::Configuration& configuration) {
    for (const auto* members : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
      for (const raft::Member& member : *members) wanted.try_emplace(member.id, Peer{member.id, member.address, member.store});
    }
  };
  if (core) want(core->configuration());
  if (core) want(router.configuration());
  const bool named = wanted.contains(options_.raft.self);
  for (const Peer& peer : basis_->prospects) wanted[peer.id] = peer;
  if (!named) {
    for (const Peer& peer : options_.members) wanted.try_emplace(peer.id, peer);
  }
  wanted.erase(options_.raft.self);
  std::vector<Peer> peers;
  for (auto& [id, peer] : wanted) peers.push_back(std::move(peer));
  if (peers == targets_) return;
  targets_ = peers;
  reachability_.forget_others(targets_);
  effects.peers = std::move(peers);
}

// ---- what peers must be told

// A named store that is blank is given the genesis: at initialization by any member, later as an invitation. The leader
// invites. So does a member that cannot give the genesis up because it has been beyond term 1. So does one that knows that
// members that name the store are settled: a founder may have been away from the first moment, and be needed to elect a leader.
// An acquaintance that the committed configuration does not know is told that it is removed.
void PeerSet::inform(const Router& router, Turn& turn) {
  const Consensus& consensus = turn.consensus;
  if (turn.now.lagging < next_deadline(consensus, router)) return;
  inform_again_ = turn.now.lagging + options_.raft.election_timeout;
  const raft::SettledMembers settled = consensus.core()->settled_members();
  for (const ReplicaId peer : members_.uninitiated()) {
    const StoreId store = members_.hello_of(peer)->store;
    const raft::Member* named = settled.at.index > Index(1) ? raft::member_of(settled.configuration, peer) : nullptr;
    const bool voted = consensus.core()->hard_state().term > Term(1);
    const StoreId invited = consensus.leads() || voted || (named && named->store == store) ? store : StoreId();
    turn.effects.sends.push_back({peer, GenesisOffer{*router.genesis(), invited}});
  }
  if (!consensus.leads()) return;
  for (const ReplicaId peer : members_.of(Capacity::Acquaintance)) {
    if (raft::member_of(router.configuration(), peer)) continue;  // not decided yet
    turn.effects.sends.push_back({peer, raft::Removed{consensus.term(), router.configuration_at()}});
  }
}

LaggingTime PeerSet::next_deadline(const Consensus& consensus, const Router& router) const {
  const bool mine = consensus.leads() || !consensus.leader();
  const bool any = mine && (members_.any_uninitiated() || (consensus.leads() && members_.any(Capacity::Acquaintance)));
  return any && router.genesis() ? inform_again_ : LaggingTime::max();
}

void PeerSet::drop_for_blank(std::vector<Outbound>& sends) const {
  std::erase_if(sends, [this](const Outbound& one) {
    const Hello* hello = members_.hello_of(one.to);
    return hello && !hello->cluster && !std::holds_alternative<GenesisOffer>(one.message);
  });
}

// ---- for operators

Duration PeerSet::silence_max() const { return kSilentTimeouts * options_.raft.election_timeout; }

// Before the first turn: of the peers that it will connect to.
std::vector<MissingMember> PeerSet::missing(const raft::Core* core, LaggingTime now) const {
  std::vector<Peer> peers = targets_;
  if (!core) return reachability_.missing(peers, options_.raft.self, nullptr, now, silence_max());
  std::erase_if(peers, [core](const Peer& peer) { return !raft::is_member(core->configuration(), peer.id); });  // not members
  for (Peer& peer : peers) peer.store = raft::member_of(core->configuration(), peer.id)->store;
  const raft::Status status = core->status();
  std::vector<MissingMember> missing = reachability_.missing(peers, options_.raft.self, &status, now, silence_max());
  if (!status.leadership.leader) add_uninitiated(core->configuration(), missing);
  return missing;
}

// Without a genesis they cannot vote. A leader invites them.
void PeerSet::add_uninitiated(const raft::Configuration& configuration, std::vector<MissingMember>& missing) const {
  for (const ReplicaId peer : members_.uninitiated()) {
    if (std::ranges::find(missing, peer, &MissingMember::id) != missing.end()) continue;
    const ListComparison lists = compare_lists(list_of(configuration.voters), members_.hello_of(peer)->members);
    missing.push_back({.id = peer,
                       .address = raft::member_of(configuration, peer)->address,
                       .received = true,
                       .why = lists.how.empty()
                                  ? "it has not stored the first entry of this cluster yet"
                                  : "it takes no part in this cluster: " + differing_list(peer, lists.how).sentence});
  }
  std::ranges::sort(missing, {}, &MissingMember::id);
}

std::vector<DifferingList> PeerSet::differing_lists(const raft::Configuration& configuration) const {
  std::vector<DifferingList> differing;
  for (const ReplicaId peer : members_.uninitiated()) {
    const ListComparison lists = compare_lists(list_of(configuration.voters), members_.hello_of(peer)->members);
    if (!lists.how.empty()) differing.push_back(differing_list(peer, lists.how));
  }
  return differing;
}

void PeerSet::warnings(const std::vector<MissingMember>& missing, LaggingTime now, std::vector<std::string>& out) const {
  out = reachability_.explanations();
  for (const MissingMember& member : missing) {
    if (reachability_.explained(member.id) || members_.capacity(member.id) == Capacity::Impostor) continue;
    if (member.silence >= silence_max()) out.push_back(roll_call({member}));
  }
  for (std::string& one : reachability_.not_reached(targets_)) out.push_back(std::move(one));
  for (const auto& [peer, disagreement] : disagreements_) out.push_back(disagreement);
  for (std::string& slow : round_trips_.warnings()) out.push_back(std::move(slow));
  if (std::string unrest = unrest_.warning(now); !unrest.empty()) out.push_back(std::move(unrest));
  for (const ReplicaId peer : members_.of(Capacity::Impostor)) {
    out.push_back("replica " + std::to_string(peer.value()) +
                  " runs with another data directory than the cluster knows: restore that one, or replace the member");
  }
}

}  // namespace coordkit::engine
