#include "engine/disks/rollback_check.h"

#include <algorithm>

#include "raft/members/configuration_rules.h"
#include "raft/position.h"
#include "raft/quorum.h"

namespace coordkit::engine {
namespace {

std::string set_back(ReplicaId by, std::string what) {
  return "this disk was set back to an older state, or has lost stored data: replica " + std::to_string(by.value()) +
         " remembers " + std::move(what) + "; replace this member, or the other one if that is wrong";
}

std::string named(const char* what, uint64_t number) { return std::string(what) + " " + std::to_string(number); }

// A peer may remember a log that was millions of entries longer, and thousands of starts. It cannot remember more than there
// ever were.
bool out_of_reach(const RecallReply& reply, BootCounter boot, const RollbackCheck::Holds& disk) {
  constexpr uint64_t kEntriesMost = uint64_t{1} << 48;  // years of the quickest log
  constexpr uint64_t kStartsMost = uint64_t{1} << 32;
  const PeerMark& known = reply.known;
  const auto far = [](uint64_t claimed, uint64_t own, uint64_t most) { return claimed > own && claimed - own > most; };
  return far(known.match.index.value(), disk.last.index.value(), kEntriesMost) ||
         far(reply.settled.at.index.value(), disk.last.index.value(), kEntriesMost) ||
         far(known.term.value(), disk.hard_state.term.value(), raft::kTermLeapMax) ||
         far(known.boot.value(), boot.value(), kStartsMost);
}

// Anything said in the term that peer and disk both know is on the disk only if the vote is, and the entry itself.
std::string lacking(const PeerMark& known, const RollbackCheck::Holds& disk) {
  const Term term = disk.hard_state.term;
  if (known.term > term) {
    return named("a vote or an acknowledgement in term", known.term.value()) + ", the disk knows " +
           named("term", term.value());
  }
  if (known.term < term) return {};
  if (known.vote && known.vote != disk.hard_state.vote) {
    return named("a vote for replica", known.vote.value()) + " in " + named("term", term.value()) +
           ", which this disk does not know";
  }
  const std::string entry = named("entry", known.match.index.value());
  if (known.match.index > disk.last.index) {
    return entry + " acknowledged in " + named("term", term.value()) + ", the log here ends with " +
           named("entry", disk.last.index.value());
  }
  const std::optional<Term> held = disk.term_at(known.match.index);
  if (!known.match.term || !held || *held == known.match.term) return {};
  return entry + " of " + named("term", known.match.term.value()) + " acknowledged in " + named("term", term.value()) +
         ", the log here has one of " + named("term", held->value()) + " there";
}

}  // namespace

void RollbackCheck::connected(ReplicaId peer) {
  connected_.insert(peer);
  again_ = LaggingTime::min();
}

std::vector<ReplicaId> RollbackCheck::due(LaggingTime now, bool leaderless) {
  std::vector<ReplicaId> peers;
  if (!leaderless) all_again_ = LaggingTime::max();
  if (leaderless && all_again_ == LaggingTime::max()) all_again_ = now + options_.raft.election_timeout;
  if (now < next_deadline()) return peers;
  const bool all = now >= all_again_;
  if (all) all_again_ = now + options_.raft.election_timeout;
  if (now >= again_) again_ = waiting_ ? now + options_.raft.heartbeat_interval : LaggingTime::max();
  for (const ReplicaId peer : connected_) {
    if (all || !answered_.contains(peer)) peers.push_back(peer);
  }
  return peers;
}

LaggingTime RollbackCheck::next_deadline() const { return begun_ ? std::min(again_, all_again_) : LaggingTime::max(); }

std::optional<std::string> RollbackCheck::answered(ReplicaId from, StoreId store, const RecallReply& reply, const Holds& disk) {
  if (!begun_ || reply.asked != question()) return std::nullopt;
  if (out_of_reach(reply, self_.boot, disk)) {
    disbelief_ = "replica " + std::to_string(from.value()) +
                 " claims to remember something of this disk that was never there: the claim was ignored; check its machine "
                 "and its disk";
    return std::nullopt;
  }
  std::string lacks = lacks_of(from, reply.known, disk);
  if (!lacks.empty()) {
    answered_.erase(from);
    claims_[from] = {store, lacks, reply.settled};
    return lacks;
  }
  claims_.erase(from);
  answered_[from] = store;
  const raft::SettledMembers& told = reply.settled;
  const bool leaves = told.at == settled_.at && told.configuration.outgoing.empty();
  if (leaves || raft::newer(told.at, settled_.at)) settled_ = told;
  return std::nullopt;
}

std::string RollbackCheck::lacks_of(ReplicaId from, const PeerMark& known, const Holds& disk) const {
  const bool another_start = known.boot == self_.boot && known.start != options_.start && known.start && options_.start;
  if (known.boot > self_.boot || another_start) {
    return set_back(from, named("start", known.boot.value()) + ", this is " + named("start", self_.boot.value()) +
                              (another_start ? " for the second time" : ""));
  }
  std::string lacks = lacking(known, disk);
  return lacks.empty() ? std::string() : set_back(from, std::move(lacks));
}

// A peer that is not named may be a member by entries that are not here.
std::string RollbackCheck::claim(const raft::Configuration& members, Position at) const {
  for (const auto& [peer, claim] : claims_) {
    const raft::Member* member = raft::member_of(members, peer);
    const bool named = member == nullptr || !member->store || member->store == claim.by;
    if (named || named_by_another_claim(peer, claim.by, at)) return claim.sentence;
  }
  return {};
}

// The disks of all peers may have been exchanged since. The members in force here name none of them then, so no answer says
// who the members are, and the claims have to. A claim only keeps this disk aside.
bool RollbackCheck::named_by_another_claim(ReplicaId peer, StoreId disk, Position at) const {
  return std::ranges::any_of(claims_, [&](const auto& other) {
    const raft::SettledMembers& told = other.second.settled;
    if (other.first == peer || !told.at.index || !raft::newer(told.at, at)) return false;
    const raft::Member* member = raft::member_of(told.configuration, peer);
    return member != nullptr && member->store == disk;
  });
}

// A directory counts only where it is the one that is named.
bool RollbackCheck::majority(const raft::Configuration& members) const {
  return raft::quorum_agrees(members, [&](ReplicaId id) {
    const StoreId named = raft::member_of(members, id)->store;
    if (id == self_.replica) return named == self_.store;
    const auto answer = answered_.find(id);
    return answer != answered_.end() && answer->second == named;
  });
}

bool RollbackCheck::enough(const raft::Configuration& members, Position at) const {
  return majority(members) || (settled_.at.index && !raft::newer(at, settled_.at) && majority(settled_.configuration));
}

}  // namespace coordkit::engine
