// Paths that work in one direction only. To TCP that is a cut in both, but each end sees a different half of it.
#include "tests/system/integration/members_on_hosts.h"

namespace coordkit::testkit {
namespace {

class OneWayTest : public MembersOnHosts {
 protected:
  // While `id` is cut off in this way the others elect a leader among them and keep it, and so do all of them afterwards.
  void expect_convergence(int id, bool to_it, bool from_it) {
    const int follower = other_than(id);
    const uint64_t before = term(follower);
    cut_off(id, to_it, from_it);
    ASSERT_NE(new_leader(follower, id), 0);
    put(follower, "first-", 20);
    ASSERT_TRUE(members().wait_for(id, "leader", "none"));
    const uint64_t later = term(follower);
    EXPECT_LE(later, before + kFewTerms);
    put(follower, "second-", 50);
    EXPECT_EQ(term(follower), later) << "elections go on";
    mend();
    ASSERT_NE(agreed_leader(), 0);
    put(id, "third-", 20);
    EXPECT_EQ(term(follower), later) << "the one that came back has forced an election";
    expect_keys("first-", {{1, 20}}, id);
    expect_keys("second-", {{1, 50}}, id);
    expect_keys("third-", {{1, 20}}, follower);
  }
};

// Covers: FLT_N05
TEST_F(OneWayTest, ALeaderThatHearsNobodyIsReplacedOnce) {
  start(kZones);
  expect_convergence(agreed_leader(), true, false);
}

// Covers: FLT_N05
TEST_F(OneWayTest, ALeaderThatNobodyHearsIsReplacedOnce) {
  start(kZones);
  expect_convergence(agreed_leader(), false, true);
}

// Covers: FLT_N05
TEST_F(OneWayTest, AFollowerThatHearsAndIsNotHeardChangesNothing) {
  start(kZones);
  const int leader = agreed_leader();
  const uint64_t before = term(leader);
  expect_convergence(other_than(leader), false, true);
  EXPECT_EQ(term(leader), before);
  EXPECT_EQ(agreed_leader(), leader);
}

// Covers: FLT_N05
TEST_F(OneWayTest, AFollowerThatIsHeardAndHearsNobodyChangesNothing) {
  start(kZones);
  const int leader = agreed_leader();
  const uint64_t before = term(leader);
  expect_convergence(other_than(leader), true, false);
  EXPECT_EQ(term(leader), before);
  EXPECT_EQ(agreed_leader(), leader);
}

}  // namespace
}  // namespace coordkit::testkit
