#include "raft/quorum.h"

#include <algorithm>
#include <limits>

#include "absl/container/inlined_vector.h"

namespace coordkit::raft {
namespace {

bool lists(const std::vector<Member>& members, ReplicaId id) {
  return std::any_of(members.begin(), members.end(), [id](const Member& member) { return member.id == id; });
}

bool half_agrees(const std::vector<Member>& voters, absl::FunctionRef<bool(ReplicaId)> agrees) {
  const auto count = std::count_if(voters.begin(), voters.end(), [&](const Member& voter) { return agrees(voter.id); });
  return static_cast<size_t>(count) >= majority(voters.size());
}

uint64_t half_value(const std::vector<Member>& voters, absl::FunctionRef<uint64_t(ReplicaId)> value_of) {
  if (voters.empty()) return 0;
  absl::InlinedVector<uint64_t, 16> values;
  for (const Member& voter : voters) values.push_back(value_of(voter.id));
  const auto reached = values.begin() + static_cast<ptrdiff_t>(voters.size() - majority(voters.size()));
  std::nth_element(values.begin(), reached, values.end());
  return *reached;
}

}  // namespace

bool is_voter(const Configuration& configuration, ReplicaId id) {
  return lists(configuration.voters, id) || lists(configuration.outgoing, id);
}

bool is_member(const Configuration& configuration, ReplicaId id) {
  return is_voter(configuration, id) || lists(configuration.learners, id);
}

std::vector<ReplicaId> peers_of(const Configuration& configuration, ReplicaId self) {
  std::vector<ReplicaId> peers;
  for (const auto* members : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
    for (const Member& member : *members) peers.push_back(member.id);
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  std::erase(peers, self);
  return peers;
}

bool quorum_agrees(const Configuration& configuration, absl::FunctionRef<bool(ReplicaId)> agrees) {
  return half_agrees(configuration.voters, agrees) &&
         (configuration.outgoing.empty() || half_agrees(configuration.outgoing, agrees));
}

uint64_t quorum_value(const Configuration& configuration, absl::FunctionRef<uint64_t(ReplicaId)> value_of) {
  const uint64_t agreed = half_value(configuration.voters, value_of);
  return configuration.outgoing.empty() ? agreed : std::min(agreed, half_value(configuration.outgoing, value_of));
}

uint64_t member_minimum(const Configuration& configuration, absl::FunctionRef<uint64_t(ReplicaId)> value_of) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (const auto* members : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
    for (const Member& member : *members) least = std::min(least, value_of(member.id));
  }
  return configuration.voters.empty() ? 0 : least;
}

void VoteSet::add(ReplicaId voter) {
  const auto at = std::lower_bound(voters_.begin(), voters_.end(), voter);
  if (at == voters_.end() || *at != voter) voters_.insert(at, voter);
}

bool VoteSet::contains(ReplicaId voter) const { return std::binary_search(voters_.begin(), voters_.end(), voter); }

}  // namespace coordkit::raft
