// Partial connectivity (REG_R54): every graph of working links in which some node reaches a majority has a stable leader.
#include <gtest/gtest.h>

#include "raft_cluster.h"

namespace coordkit::raft::testing {
namespace {

class Links {
 public:
  Links(size_t size, uint64_t bits) : size_(size) {
    for (uint64_t a = 1; a <= size; ++a) {
      for (uint64_t b = a + 1; b <= size; ++b, bits >>= 1) {
        if (bits & 1) linked_.insert({a, b}), linked_.insert({b, a});
      }
    }
  }
  bool any_reaches_a_majority() const {
    for (uint64_t a = 1; a <= size_; ++a) {
      size_t reached = 1;
      for (uint64_t b = 1; b <= size_; ++b) reached += linked_.contains({a, b});
      if (reached > size_ / 2) return true;
    }
    return false;
  }
  void impose(Cluster& cluster) const {
    for (uint64_t a = 1; a <= size_; ++a) {
      for (uint64_t b = 1; b <= size_; ++b) {
        if (a != b && !linked_.contains({a, b})) cluster.cut(a, b);
      }
    }
  }

 private:
  size_t size_;
  std::set<std::pair<uint64_t, uint64_t>> linked_;
};

void expect_stable_leader(size_t size, uint64_t bits) {
  const Links links(size, bits);
  if (!links.any_reaches_a_majority()) return;
  SCOPED_TRACE("size " + std::to_string(size) + " links " + std::to_string(bits));
  Cluster cluster(size, {.election_timeout = milliseconds(100), .heartbeat_interval = milliseconds(20)}, bits + 1);
  cluster.elect(1);
  cluster.propose(1, "before");
  cluster.run(milliseconds(50));
  links.impose(cluster);
  cluster.run(milliseconds(1000));
  const uint64_t leader = cluster.leader();
  ASSERT_NE(leader, 0u);
  const Term term = cluster.core(leader).leadership().term;
  EXPECT_LE(term, Term(7));
  cluster.run(milliseconds(1000));
  EXPECT_EQ(cluster.leader(), leader);
  EXPECT_EQ(cluster.core(leader).leadership().term, term);
  const Index before = cluster.core(leader).commit();
  cluster.propose(leader, "after");
  cluster.quiesce();
  EXPECT_EQ(cluster.core(leader).commit(), before.next());
}

// Covers: REG_R54 FLT_N05 FLT_N06
TEST(LinksTest, EveryGraphOfThreeAndFourReplicasWithAConnectedMajorityHasAStableLeader) {
  for (uint64_t bits = 0; bits < 8; ++bits) expect_stable_leader(3, bits);
  for (uint64_t bits = 0; bits < 64; ++bits) expect_stable_leader(4, bits);
}

// Covers: REG_R54
TEST(LinksTest, EveryGraphOfFiveReplicasWithAConnectedMajorityHasAStableLeader) {
  for (uint64_t bits = 0; bits < 1024; ++bits) expect_stable_leader(5, bits);
}

// Covers: REG_R54
TEST(LinksTest, AOneWayLinkCostsAtMostOneLeaderChange) {
  for (uint64_t from = 1; from <= 3; ++from) {
    for (uint64_t to = 1; to <= 3; ++to) {
      if (from == to) continue;
      Cluster cluster(3);
      cluster.elect(1);
      cluster.cut(from, to);
      cluster.run(milliseconds(6000));
      ASSERT_NE(cluster.leader(), 0u) << from << "->" << to;
      EXPECT_LE(cluster.core(cluster.leader()).leadership().term, Term(3)) << from << "->" << to;
    }
  }
}

}  // namespace
}  // namespace coordkit::raft::testing
