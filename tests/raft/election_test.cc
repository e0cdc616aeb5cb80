#include <gtest/gtest.h>

#include "cluster.h"

namespace coordkit::raft::testing {
namespace {

TEST(ElectionTest, ThreeReplicasElectReplicateAndConfirm) {
  Cluster cluster(3);
  cluster.elect(1);
  EXPECT_EQ(cluster.core(2).leadership(), (Leadership{Role::Follower, Term(2), ReplicaId(1)}));
  cluster.propose(1, "x");
  cluster.quiesce();
  EXPECT_TRUE(cluster.converged());
  EXPECT_EQ(cluster.node(3).states.back().payload.view(), "x");
  cluster.confirm(1);
  EXPECT_TRUE(cluster.node(1).confirmations.empty());
  cluster.quiesce();
  ASSERT_EQ(cluster.node(1).confirmations.size(), 1u);
  EXPECT_EQ(cluster.node(1).confirmations[0].held, Answer::Yes);
  EXPECT_EQ(cluster.node(1).confirmations[0].read_index, Index(3));
}

}  // namespace
}  // namespace coordkit::raft::testing
