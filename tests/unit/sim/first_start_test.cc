// Runs in which lists of members differ at the first start, and what their plans may draw.
#include <gtest/gtest.h>

#include <algorithm>

#include "coordkit/sim/sim_options.h"
#include "sim/faults/member_lists.h"
#include "sim/plan.h"
#include "sim/plan_lists.h"

namespace coordkit::sim {
namespace {

using WrongList = FirstStartPlan::WrongList;

Plan drawn(uint64_t seed, uint32_t nodes, uint32_t founders = 0) {
  Plan plan{.nodes = nodes, .founders = founders, .hostile = std::chrono::seconds(10)};
  Random random(seed);
  draw_first_start(plan, random, 1);
  return plan;
}

// The lists are corrected, a cluster is born and serves, and no replica votes by a genesis that was given up.
// Covers: FLT_A19 INV_R04
TEST(FirstStartTest, OnceTheListsAreCorrectedOneClusterServes) {
  SituationCounts situations{};
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Report report = simulate({.seed = seed, .profile = "founding"});
    ASSERT_EQ(report.violation, "") << "seed " << seed << ": " << report.what;
    for (size_t situation = 0; situation < kSituations; ++situation) situations[situation] += report.situations[situation];
  }
  for (const Situation situation : {Situation::ListsDiffered, Situation::ListsCorrected, Situation::WrongListFounded,
                                    Situation::GenesisGaveWay, Situation::GenesisReplaced}) {
    EXPECT_GT(situations[static_cast<size_t>(situation)], 0u) << name_of(situation);
  }
}

TEST(FirstStartTest, AWrongListHasItsOwnerAndIsNotTheRightOne) {
  size_t plans = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const auto nodes = static_cast<uint32_t>(1 + seed % 5);
    const Plan plan = drawn(seed, nodes, static_cast<uint32_t>(seed % 3 == 0 ? nodes : 0));
    plans += plan.first_start.wrong.empty() ? 0 : 1;
    for (const WrongList& wrong : plan.first_start.wrong) {
      const ReplicaId owner(wrong.node + 1);
      ASSERT_NE(std::ranges::find(wrong.members, owner, &Peer::id), wrong.members.end()) << seed;
      EXPECT_NE(wrong.members, right_list(plan, wrong.node)) << seed;
      EXPECT_LT(wrong.from, wrong.corrected) << seed;
      EXPECT_EQ(std::ranges::count(plan.first_start.wrong, wrong.node, &WrongList::node), 1) << seed;
    }
  }
  EXPECT_GT(plans, 1900u);
}

TEST(FirstStartTest, AMessageToTheAddressOfAnotherReachesNobody) {
  Plan plan{.nodes = 3};
  plan.first_start.wrong = {{.node = 0, .members = right_list(plan, 0)}};
  std::vector<Peer>& members = plan.first_start.wrong.front().members;
  std::swap(members[1].address, members[2].address);
  MemberLists lists(plan);
  lists.spoil(0);
  lists.connects_to(0, lists.start(0, false));
  EXPECT_FALSE(lists.has_address(0, ReplicaId(2)));
  EXPECT_FALSE(lists.has_address(0, ReplicaId(3)));
  lists.correct(0);
  lists.connects_to(0, lists.start(0, false));
  EXPECT_TRUE(lists.has_address(0, ReplicaId(2)));
  EXPECT_TRUE(lists.ever_listed(0, {ReplicaId(1), ReplicaId(2), ReplicaId(3)}));
  EXPECT_FALSE(lists.ever_listed(1, {ReplicaId(1), ReplicaId(2), ReplicaId(3)}));
}

}  // namespace
}  // namespace coordkit::sim
