// Two nodes of one cluster over the real machine, each with its client; clocks may run at rates of their own.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "tests/unit/client/bench.h"
#include "tests/unit/client/fake_cluster.h"

namespace coordkit::test {

struct Member {
  Member(FakeCluster& cluster, uint64_t id, double lagging_rate = 1, double leading_rate = 1)
      : node(cluster, id), client(node, ClientOptions{}), lagging(lagging_rate), leading(leading_rate) {}

  Now at(Duration truth) const {
    const auto scaled = [truth](double rate) {
      return Duration(static_cast<int64_t>(static_cast<double>(truth.count()) * rate));
    };
    return {LaggingTime(scaled(lagging) + 1h), LeadingTime(scaled(leading) + 2h)};
  }
  void turn(Duration truth) {
    const Now now = at(truth);
    client.before_turn(now);
    node.turn(now, effects);
    effects.restored = std::exchange(restored, {});
    client.after_turn(now, effects);
  }
  bool due(Duration truth) const {
    const Now now = at(truth);
    return client.next_turn(now) == Duration(0) || node.next_deadline() <= now.lagging;
  }

  FakeNode node;
  Client client;
  double lagging;
  double leading;
  EngineEffects effects;
  std::optional<Position> restored;  // reported by the next turn
};

class TwoMembersTest : public ::testing::Test {
 public:
  FakeCluster cluster;
  Member one{cluster, 1};
  Member two{cluster, 2};
  Duration truth{};

  void turn() {
    for (int i = 0; i < 3; ++i) {
      cluster.tick(LaggingTime(truth));
      one.turn(truth);
      two.turn(truth);
    }
  }
  void run(Duration by) {
    for (const Duration end = truth + by; truth < end;) {
      truth = std::min(end, truth + 1ms);
      turn();
    }
  }
  SessionRef open(Member& member, Duration ttl = 3s) {
    Answer<SessionRef> answer;
    member.client.open_session({.ttl = ttl}, answer.callback());
    turn();
    EXPECT_TRUE(answer.ok());
    return *answer;
  }
  void TearDown() override {
    one.client.stop();
    two.client.stop();
  }
};

}  // namespace coordkit::test
