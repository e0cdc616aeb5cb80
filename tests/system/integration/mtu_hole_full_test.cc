// A path that takes small packets and silently loses large ones: a tunnel with an unannounced MTU. TCP resends such a
// packet again and again, and everything after it waits behind it, however small it is.
#include <fstream>

#include "tests/system/integration/members_on_hosts.h"

namespace coordkit::testkit {
namespace {

constexpr Way kHole{.packet_bytes_max = 1300};
constexpr uint64_t kFewTerms = 4;  // one election; a vote may be split now and then

class MtuHoleTest : public MembersOnHosts {
 protected:
  // Eight values of 64 KiB through `id`, whose answer is awaited elsewhere.
  void fill(int id) { ASSERT_TRUE(members().tell(id, "fill large- 8")); }
  void expect_filled(int id) { EXPECT_EQ(members().answer(id), "done"); }
  // An operator's remedy: `sysctl net.ipv4.tcp_mtu_probing=2`, on that host.
  void let_tcp_find_out(int id) {
    const NetworkHost::Inside there(host(id));
    std::ofstream setting("/proc/sys/net/ipv4/tcp_mtu_probing");
    setting << 2;
    setting.close();
    ASSERT_TRUE(setting.good());
  }
  void set_hole(int id, const Way& way) {
    for (int other = 1; other <= kMembers; ++other) {
      if (other != id) between(id, other, way);
    }
  }
};

// Covers: FLT_N14
TEST_F(MtuHoleTest, AFollowerBehindAHoleIsNamedAndCostsNobodyElseAnything) {
  start(kZones);
  const int leader = agreed_leader();
  const int follower = other_than(leader);
  const int third = other_than(leader, follower);
  const uint64_t before = term(leader);
  set_hole(follower, kHole);
  fill(third);
  expect_filled(third);
  put(third, "small-", 50);
  EXPECT_TRUE(says(leader, "large packets to replica " + std::to_string(follower) + " were lost on the way"));
  mend();
  ASSERT_TRUE(members().wait_for(follower, "applied", members().status_of(leader, "applied")));
  EXPECT_EQ(agreed_leader(), leader);
  EXPECT_EQ(term(follower), before) << "a needless election";
  expect_keys("small-", {{1, 50}}, follower);
}

// Covers: FLT_N14
TEST_F(MtuHoleTest, ALeaderBehindAHoleIsReplacedOnceAndItsCallIsNotLost) {
  start(kZones);
  const int previous = agreed_leader();
  const int follower = other_than(previous);
  const uint64_t before = term(previous);
  set_hole(previous, kHole);
  fill(previous);
  ASSERT_NE(new_leader(follower, previous), 0);
  put(follower, "small-", 20);
  const uint64_t elected = term(follower);
  EXPECT_LE(elected, before + kFewTerms);
  fill(follower);
  expect_filled(follower);
  put(follower, "more-", 50);
  EXPECT_EQ(term(follower), elected) << "elections go on";
  mend();
  expect_filled(previous);
  ASSERT_NE(agreed_leader(), 0);
  EXPECT_EQ(term(previous), elected);
  expect_keys("small-", {{1, 20}}, previous);
  expect_keys("more-", {{1, 50}}, previous);
}

// No replica can send anything large to another one: leaders are lost again and again, until connections use small packets.
// Covers: FLT_N14
TEST_F(MtuHoleTest, AHoleEverywhereIsPassedByWithSmallPacketsAndTold) {
  start(kZones);
  const int leader = agreed_leader();
  const int follower = other_than(leader);
  everywhere(kHole);
  fill(follower);
  expect_filled(follower);
  EXPECT_TRUE(says(follower, "large packets to replica")) << "it has sent large values";
  put(leader, "small-", 20);
  for (int id = 1; id <= kMembers; ++id) expect_keys("small-", {{1, 20}}, id);
}

// Covers: FLT_N14
TEST_F(MtuHoleTest, WithMtuProbingEverythingGoesOnThroughTheHole) {
  for (int id = 1; id <= kMembers; ++id) let_tcp_find_out(id);
  everywhere(kHole);
  start(kZones);
  const int leader = agreed_leader();
  for (const int id : {leader, other_than(leader)}) {
    fill(id);
    expect_filled(id);
  }
  put(leader, "small-", 50);
  for (int id = 1; id <= kMembers; ++id) expect_keys("small-", {{1, 50}}, id);
}

}  // namespace
}  // namespace coordkit::testkit
