// A test with a cluster of three that has initialized itself, elected a leader and is ready.
#pragma once

#include <gtest/gtest.h>

#include "tests/unit/engine/engine_cluster.h"

namespace coordkit::engine {

struct ThreeReplicas : ::testing::Test {
  Cluster cluster;
  uint64_t leader = 0, follower = 0, third = 0;

  explicit ThreeReplicas(std::function<void(EngineOptions&)> adjust = {}) : cluster(3, std::move(adjust)) {}

  void SetUp() override { born(cluster); }
  // Names the three roles after those of `made`.
  void born(Cluster& made) {
    made.start_all();
    leader = made.leader();
    ASSERT_NE(leader, 0u);
    follower = leader % 3 + 1;
    third = follower % 3 + 1;
    for (uint64_t id = 1; id <= 3; ++id) {
      ASSERT_TRUE(made.until([&] { return made.engine(id).status().state == ReplicaState::Ready; }));
    }
  }
  void isolate(uint64_t id) {
    cluster.filter = [id](ReplicaId from, ReplicaId to, const Message&) { return from.value() != id && to.value() != id; };
  }
};

}  // namespace coordkit::engine
