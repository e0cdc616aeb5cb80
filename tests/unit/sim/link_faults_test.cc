// Faults of links are undone one by one, and a link passes again when the last one is over.
#include "sim/faults/link_faults.h"

#include <gtest/gtest.h>

namespace coordkit::sim {
namespace {

class LinkFaultsTest : public ::testing::Test {
 protected:
  LinkFaultsTest() {
    plan_.calm.delay_max = Duration(1);
    plan_.storm.delay_max = Duration(2);
    network_.set_quality(plan_.calm);
  }

  World world_{1};
  Plan plan_;
  std::vector<std::unique_ptr<Node>> nodes_;
  SituationCounts counts_{};
  ConsensusObserver consensus_{world_, 3, counts_, /*geneses_differ=*/false};
  SituationObserver situations_{world_, Duration(1), nodes_, consensus_, counts_};
  Network network_{world_, 3, Random(1)};
  LinkFaults faults_{world_, plan_, network_, situations_};
};

TEST_F(LinkFaultsTest, ALinkCutTwicePassesAfterBothAreMended) {
  faults_.cut({{0, 1}});
  faults_.cut({{0, 1}, {1, 0}});
  faults_.mend({{0, 1}});
  EXPECT_FALSE(network_.passes(0, 1));
  faults_.mend({{0, 1}, {1, 0}});
  EXPECT_TRUE(network_.passes(0, 1));
  EXPECT_TRUE(network_.passes(1, 0));
}

TEST_F(LinkFaultsTest, AStormEndsWithTheLastOne) {
  faults_.begin_storm();
  faults_.begin_storm();
  faults_.end_storm();
  EXPECT_EQ(network_.quality().delay_max, plan_.storm.delay_max);
  faults_.end_storm();
  EXPECT_EQ(network_.quality().delay_max, plan_.calm.delay_max);
}

TEST(DrawLinksTest, AnIsolatedNodeLosesEveryLinkAndTheOthersNone) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Links links = draw_links(FaultKind::Isolation, 5, 2, random);
    EXPECT_EQ(links.size(), 8);
    for (const auto& [from, to] : links) EXPECT_TRUE((from == 2) != (to == 2));
  }
}

TEST(DrawLinksTest, AOneWayCutIsOneLinkOfThatNode) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Links links = draw_links(FaultKind::OneWayCut, 3, 1, random);
    ASSERT_EQ(links.size(), 1);
    EXPECT_TRUE((links[0].first == 1) != (links[0].second == 1));
  }
}

}  // namespace
}  // namespace coordkit::sim
