// Members that are far from each other, or whose packets are lost now and then, with the timeouts of docs/operations.md: work
// continues without an election. The tables are for humans.
#include "tests/system/integration/members_on_hosts.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;
using ::testing::StartsWith;

class LatencyTest : public MembersOnHosts {
 protected:
  // Every member takes `count` locks and makes as many reads, all at once; no term passes.
  void expect_no_election(const std::string& title, int count) {
    const int leader = agreed_leader();
    const uint64_t before = term(leader);
    print_head(title + ", leader " + std::to_string(leader));
    for (const char* what : {"locks", "reads"}) {
      for (int id = 1; id <= kMembers; ++id) ASSERT_TRUE(members().tell(id, std::string(what) + " " + std::to_string(count)));
      for (int id = 1; id <= kMembers; ++id) {
        const std::string answer = members().answer(id);
        EXPECT_THAT(answer, StartsWith("took " + std::to_string(count) + " "));
        print_row(std::string(what) + ", member " + std::to_string(id), timing_of(answer));
      }
    }
    for (int id = 1; id <= kMembers; ++id) EXPECT_EQ(term(id), before) << "member " << id << ": a needless election";
  }
};

// Covers: FLT_N13
TEST_F(LatencyTest, MembersOneMillisecondApartElectNobodyAgain) {
  everywhere({.delay = 1ms});
  start(kZones);
  expect_no_election("1 ms each way", 100);
}

// Covers: FLT_N13
TEST_F(LatencyTest, MembersFortyMillisecondsApartElectNobodyAgain) {
  everywhere({.delay = 40ms});
  start(kContinents);
  expect_no_election("40 ms each way", 8);
}

// Covers: FLT_N13
TEST_F(LatencyTest, MembersAHundredMillisecondsApartElectNobodyAgain) {
  everywhere({.delay = 100ms});
  start(kContinents);
  expect_no_election("100 ms each way", 5);
}

// Covers: FLT_N13
TEST_F(LatencyTest, PairsAtDifferentDistancesElectNobodyAgain) {
  between(1, 2, {.delay = 1ms});
  between(2, 3, {.delay = 40ms});
  between(1, 3, {.delay = 100ms});
  start(kContinents);
  expect_no_election("1 ms (1-2), 40 ms (2-3), 100 ms (1-3)", 6);
}

// The warning says what to set.
// Covers: FLT_N13
TEST_F(LatencyTest, TimeoutsThatAreTooShortForTheWayAreWarnedOf) {
  everywhere({.delay = 100ms});
  start(kZones);
  EXPECT_TRUE(says(agreed_leader(), "set election_timeout to at least ten round trips"));
}

// Covers: FLT_N01
TEST_F(LatencyTest, OnePacketOfTwentyIsLost) {
  everywhere({.loss = 0.05, .delay = 1ms});
  start(kZones);
  expect_no_election("5 % lost, 1 ms each way", 50);
}

// Covers: FLT_N01
TEST_F(LatencyTest, OnePacketOfFiveIsLost) {
  start(kContinents);
  everywhere({.loss = 0.2, .delay = 1ms});
  expect_no_election("20 % lost, 1 ms each way", 10);
}

}  // namespace
}  // namespace coordkit::testkit
