#include "raft/quorum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"

namespace coordkit::raft {
namespace {

std::vector<Member> members(uint64_t first, uint64_t count) {
  std::vector<Member> out;
  for (uint64_t id = first; id < first + count; ++id) out.push_back({.id = ReplicaId(id)});
  return out;
}

// The naive twin: try every value, count with a loop.
uint64_t naive_value(const Configuration& configuration, const std::map<uint64_t, uint64_t>& matches) {
  uint64_t best = 0;
  for (uint64_t value = 1; value <= 20; ++value) {
    bool all_halves = true;
    for (const auto* half : {&configuration.voters, &configuration.outgoing}) {
      size_t reached = 0;
      for (const Member& voter : *half) reached += matches.at(voter.id.value()) >= value;
      if (!half->empty() && 2 * reached <= half->size()) all_halves = false;
    }
    if (all_halves && !configuration.voters.empty()) best = value;
  }
  return best;
}

// Covers: REG_R02 REG_R08
TEST(QuorumTest, EverySizeAndJointPairAgreesWithTheNaiveTwin) {
  Random random(7);
  for (uint64_t size = 0; size <= 9; ++size) {
    for (uint64_t outgoing = 0; outgoing <= 9; ++outgoing) {
      for (int sample = 0; sample < 60; ++sample) {
        const Configuration configuration{members(1, size), members(random.between(1, 8), outgoing),
                                          members(30, random.below(3))};
        std::map<uint64_t, uint64_t> matches;
        for (uint64_t id = 1; id < 40; ++id) matches[id] = random.below(random.between(1, 12));
        const auto value_of = [&](ReplicaId id) { return matches.at(id.value()); };
        const uint64_t value = quorum_value(configuration, value_of);
        ASSERT_EQ(value, naive_value(configuration, matches));
        if (size == 0) continue;
        ASSERT_TRUE(quorum_agrees(configuration, [&](ReplicaId id) { return value_of(id) >= value; }));
        ASSERT_FALSE(quorum_agrees(configuration, [&](ReplicaId id) { return value_of(id) >= value + 1; }));
      }
    }
  }
}

// Covers: REG_R08
TEST(QuorumTest, AQuorumNeedsTheExactMajorityOfEachHalf) {
  for (uint64_t size = 1; size <= 9; ++size) {
    for (uint64_t yes = 0; yes <= size; ++yes) {
      const auto agrees = [&](ReplicaId id) { return id.value() <= yes || id.value() >= 100; };
      const bool enough = 2 * yes > size;
      EXPECT_EQ(quorum_agrees({members(1, size), {}, {}}, agrees), enough);
      EXPECT_EQ(quorum_agrees({members(1, size), members(100, 3), {}}, agrees), enough);
      EXPECT_EQ(quorum_agrees({members(100, 3), members(1, size), {}}, agrees), enough);
    }
  }
}

TEST(QuorumTest, NobodyAgreesInAConfigurationWithoutVoters) {
  EXPECT_FALSE(quorum_agrees({}, [](ReplicaId) { return true; }));
  EXPECT_EQ(quorum_value({}, [](ReplicaId) { return uint64_t{5}; }), 0u);
  EXPECT_EQ(member_minimum({}, [](ReplicaId) { return uint64_t{5}; }), 0u);
}

// Covers: REG_R06
TEST(QuorumTest, LearnersReceiveButNeverCount) {
  const Configuration configuration{members(1, 3), {}, members(4, 4)};
  EXPECT_FALSE(quorum_agrees(configuration, [](ReplicaId id) { return id.value() != 2 && id.value() != 3; }));
  EXPECT_TRUE(is_member(configuration, ReplicaId(7)));
  EXPECT_FALSE(is_voter(configuration, ReplicaId(7)));
  EXPECT_EQ(member_minimum(configuration, [](ReplicaId id) { return 10 - id.value(); }), 3u);
  EXPECT_EQ(peers_of(configuration, ReplicaId(2)).size(), 6u);
}

// Covers: REG_R12
TEST(VoteSetTest, AVoterCountsOnceHoweverOftenItAnswers) {
  VoteSet votes;
  for (int i = 0; i < 3; ++i) votes.add(ReplicaId(2));
  const Configuration five{members(1, 5), {}, {}};
  const auto granted = [&](ReplicaId id) { return id == ReplicaId(1) || votes.contains(id); };
  EXPECT_FALSE(quorum_agrees(five, granted));
  votes.add(ReplicaId(4));
  EXPECT_TRUE(quorum_agrees(five, granted));
}

}  // namespace
}  // namespace coordkit::raft
