// The fate of a cluster whose members cannot reach each other for a while.
#include "tests/system/integration/members_on_hosts.h"

namespace coordkit::testkit {
namespace {

using ::testing::StartsWith;

// One election is enough; a vote may be split now and then.
class PartitionTest : public MembersOnHosts {};

// Covers: FLT_N10
TEST_F(PartitionTest, TheMajorityGoesOnAndTheHolderOnTheOtherSideHasLostItByThen) {
  start(kZones, {"--ttl-ms=4000"});
  const int previous = agreed_leader();
  const int follower = other_than(previous);
  const uint64_t before = term(follower);
  const std::string held = members().ask(previous, "hold ledger");
  ASSERT_THAT(held, StartsWith("holds "));
  for (const int id : {previous, follower}) ASSERT_EQ(members().ask(id, "load load-" + std::to_string(id) + "-"), "loading");
  put(other_than(previous, follower), "early-", 20);

  cut_off(previous, true, true);
  ASSERT_NE(new_leader(follower, previous), 0);
  EXPECT_LE(term(follower), before + kFewTerms);
  const std::string taken = members().ask(follower, "hold ledger");
  ASSERT_THAT(taken, StartsWith("holds "));
  EXPECT_EQ(members().ask(previous, "valid"), "lost");  // before another holder had it
  EXPECT_GT(std::stoull(taken.substr(6)), std::stoull(held.substr(6)));
  put(follower, "late-", 20);
  const uint64_t elected = term(follower);

  mend();
  ASSERT_NE(agreed_leader(), 0);
  put(previous, "after-", 20);
  EXPECT_EQ(term(previous), elected) << "the one that came back has forced an election";
  for (const int id : {previous, follower}) expect_loaded_keys(id, "load-" + std::to_string(id) + "-", other_than(id));
  for (const char* prefix : {"early-", "late-", "after-"}) {
    for (int id = 1; id <= kMembers; ++id) expect_keys(prefix, {{1, 20}}, id);
  }
}

// Covers: FLT_N06
TEST_F(PartitionTest, TwoThatAThirdConnectsKeepOneLeader) {
  start(kZones);
  const int leader = agreed_leader();
  const int follower = other_than(leader);
  const int third = other_than(leader, follower);
  const uint64_t before = term(third);
  between(leader, follower, {.cut = true});
  put(third, "first-", 20);
  ASSERT_TRUE(members().wait_for(follower, "leader", "none"));  // by now it would campaign
  const uint64_t later = term(third);
  EXPECT_LE(later, before + kFewTerms);
  put(third, "second-", 50);
  EXPECT_EQ(term(third), later) << "elections go on";
  mend();
  ASSERT_NE(agreed_leader(), 0);
  EXPECT_LE(term(third), before + kFewTerms);
  expect_keys("first-", {{1, 20}}, follower);
  expect_keys("second-", {{1, 50}}, follower);
}

}  // namespace
}  // namespace coordkit::testkit
