#include "engine/apply/divergence.h"

#include <algorithm>
#include <string>
#include <utility>

#include "raft/quorum.h"

namespace coordkit::engine {
namespace {

bool votes(const raft::Configuration& configuration, ReplicaId replica) {
  return std::any_of(configuration.voters.begin(), configuration.voters.end(),
                     [&](const raft::Member& member) { return member.id == replica; });
}

std::string hex(uint64_t digest) {
  std::string text(16, '0');
  for (size_t i = 16; i-- > 0; digest >>= 4) text[i] = "0123456789abcdef"[digest & 15];
  return text;
}

std::string sentence(const Divergence& found) {
  std::string text = "after entry " + std::to_string(found.index.value()) + " the state of this replica has digest " +
                     hex(found.own) + ", that of replica " + std::to_string(found.other.value()) + " has " + hex(found.others) +
                     ": ";
  switch (found.verdict) {
    case Divergence::Verdict::Self:
      return text +
             "this state is not the one that the cluster agrees on; replace this member, and look for a state machine that is "
             "not deterministic, or for bad memory";
    case Divergence::Verdict::Other:
      return text +
             "most replicas agree with this one; replace the other member, and look for a state machine that is not "
             "deterministic, or for bad memory";
    case Divergence::Verdict::Unclear: break;
  }
  return text + "the votes so far do not show which one is right";
}

std::string text_of(Position at) { return std::to_string(at.index.value()) + " of term " + std::to_string(at.term.value()); }

std::string difference(const raft::Contradiction& found) {
  const std::string theirs = found.theirs.term ? "it has entry " + text_of(found.theirs)
                                               : "its log ends at entry " + std::to_string(found.theirs.index.value());
  const std::string here = theirs + ", but in the log of this replica ";
  if (found.ours == found.theirs) return here + "that entry has other contents";
  if (found.ours.index == found.theirs.index) return here + "entry " + text_of(found.ours) + " is committed there";
  return here + "everything up to entry " + text_of(found.ours) + " is committed";
}

}  // namespace

std::optional<Divergence> DivergenceCheck::note(const DigestNote& note, const raft::Configuration& configuration,
                                                ReplicaId leader) {
  if (!note.voter) {
    sampled(note.index, note.digest, configuration);
    return std::nullopt;
  }
  if (pending_ == DigestVote{note.voter, note.index, note.digest}) pending_.reset();
  const auto found = tallies_.find(note.index);
  if (found == tallies_.end() || !votes(configuration, note.voter)) return std::nullopt;
  Tally& tally = found->second;
  tally.votes[note.voter] = note.digest;  // from its newest boot
  const Tally* const before = found == tallies_.begin() ? nullptr : &std::prev(found)->second;
  const std::optional<Divergence::Verdict> verdict = judge(tally, before, configuration, leader);
  if (!verdict && tally.votes.size() == configuration.voters.size()) warning_.clear();
  if (!verdict || tally.reported == verdict) return std::nullopt;
  tally.reported = verdict;
  const auto other = std::find_if(tally.votes.begin(), tally.votes.end(), [&](auto& vote) { return vote.second != tally.own; });
  Divergence divergence{note.index, *verdict, other->first, tally.own, other->second, {}};
  warning_ = divergence.sentence = sentence(divergence);
  return divergence;
}

void DivergenceCheck::sampled(Index index, uint64_t digest, const raft::Configuration& configuration) {
  tallies_[index].own = digest;
  if (tallies_.size() > kIndexesKept) tallies_.erase(tallies_.begin());
  if (configuration.voters.size() < 2 || !votes(configuration, self_)) return;
  pending_ = {self_, index, digest};
  hand_at_ = LaggingTime::min();
}

// nullopt: every replica that has voted agrees with this one. Without a majority on any side it cannot be known which is
// right; then those that differ from the leader step aside, so that not all do and the leader's side can be examined.
// A voter whose vote is missing here and was missing at the index before, when it was unclear, is not waited for any more.
std::optional<Divergence::Verdict> DivergenceCheck::judge(const Tally& tally, const Tally* before,
                                                          const raft::Configuration& configuration, ReplicaId leader) const {
  using Verdict = Divergence::Verdict;
  absl::btree_map<uint64_t, size_t> sides;
  for (const auto& [replica, digest] : tally.votes) ++sides[digest];
  if (sides.size() == 1 && sides.begin()->first == tally.own) return std::nullopt;
  const size_t quorum = raft::majority(configuration.voters.size());
  size_t largest = 0;
  for (const auto& [digest, count] : sides) {
    if (count >= quorum) return digest == tally.own ? Verdict::Other : Verdict::Self;
    largest = std::max(largest, count);
  }
  const bool unclear_before = before != nullptr && before->reported == Verdict::Unclear;
  const size_t missing = static_cast<size_t>(std::ranges::count_if(configuration.voters, [&](const raft::Member& voter) {
    return !tally.votes.contains(voter.id) && !(unclear_before && !before->votes.contains(voter.id));
  }));
  const auto led = tally.votes.find(leader);
  const bool undecidable = largest + missing < quorum;
  return undecidable && led != tally.votes.end() && led->second != tally.own ? Verdict::Self : Verdict::Unclear;
}

std::optional<DigestVote> DivergenceCheck::due(LaggingTime now) {
  if (!pending_ || now < hand_at_) return std::nullopt;
  hand_at_ = now + retry_;
  return pending_;
}

std::string why_aside(const raft::Contradiction& found) {
  std::string text = "replica " + std::to_string(found.leader.value()) + " is the leader of term ";
  text.append(std::to_string(found.term.value())).append(", and ").append(difference(found));
  text.append(". A data directory was set back to an older state or copied, this one or most of the others, ");
  text.append("so this replica steps aside and acknowledges nothing. ");
  text.append("Keep its directory: it may be the only one that has everything. ");
  text.append("The runbook \"Two histories\" in docs/operations.md says how to find out");
  return text;
}

}  // namespace coordkit::engine
