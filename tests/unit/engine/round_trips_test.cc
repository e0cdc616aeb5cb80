#include "engine/peers/round_trips.h"

#include <gmock/gmock.h>

#include "engine/loop/unrest.h"

namespace coordkit::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr ReplicaId kPeer{2};
constexpr Term kTerm{4};

struct RoundTripsTest : ::testing::Test {
  RoundTrips trips{300ms};
  LaggingTime now{1s};
  uint64_t round = 0;

  void beat(Duration takes) {
    trips.sent(kPeer, raft::Heartbeat{.term = kTerm, .round = ++round}, now);
    now += takes;
    trips.received(kPeer, raft::HeartbeatReply{.term = kTerm, .round = round}, now);
  }
};

// Covers: FLT_N13
TEST_F(RoundTripsTest, TenInAnElectionTimeoutAreNotWarnedOf) {
  for (int i = 0; i < 20; ++i) beat(30ms);
  EXPECT_THAT(trips.warnings(), IsEmpty());
}

// Covers: FLT_N13
TEST_F(RoundTripsTest, FewerThanTenRoundTripsAreWarnedOfWithTheOptionToSet) {
  for (int i = 0; i < 3; ++i) beat(31ms);
  EXPECT_THAT(trips.warnings(), IsEmpty()) << "too few to judge by";
  beat(31ms);
  EXPECT_THAT(
      trips.warnings(),
      ElementsAre("a round trip to replica 2 takes at least 31 ms, more than a tenth of the election timeout of 300 ms: "
                  "set election_timeout to at least ten round trips on every replica"));
}

// Covers: FLT_N13
TEST_F(RoundTripsTest, OneQuickAnswerOfTheLastFewShowsThatTheWayIsShort) {
  for (int i = 0; i < 4; ++i) beat(200ms);
  beat(1ms);
  EXPECT_THAT(trips.warnings(), IsEmpty());
  for (int i = 0; i < 16; ++i) beat(200ms);
  EXPECT_THAT(trips.warnings(), ElementsAre(HasSubstr("at least 200 ms"))) << "it is long ago";
}

// Covers: FLT_N13
TEST_F(RoundTripsTest, PreVotesAreMeasuredWhereNoElectionSucceeds) {
  for (int i = 0; i < 4; ++i) {
    const auto kind = raft::VoteKind::Pre;
    trips.sent(kPeer, raft::VoteRequest{.kind = kind, .term = Term(9), .round = ++round}, now);
    now += 450ms;
    trips.sent(kPeer, raft::VoteRequest{.kind = kind, .term = Term(9), .round = round + 1}, now);  // the next campaign
    trips.received(kPeer, raft::VoteReply{.kind = kind, .term = Term(1), .round = round}, now + 50ms);
  }
  EXPECT_THAT(trips.warnings(), ElementsAre(HasSubstr("at least 500 ms, longer than the election timeout of 300 ms")));
}

TEST_F(RoundTripsTest, AnAnswerToAnotherQuestionSaysNothing) {
  for (int i = 0; i < 8; ++i) {
    trips.sent(kPeer, raft::Heartbeat{.term = kTerm, .round = 7}, now);
    trips.received(kPeer, raft::HeartbeatReply{.term = kTerm.next(), .round = 7}, now + 1s);
    trips.received(kPeer, raft::HeartbeatReply{.term = kTerm, .round = 6}, now + 1s);
    trips.received(ReplicaId(3), raft::HeartbeatReply{.term = kTerm, .round = 7}, now + 1s);
    trips.received(kPeer, raft::VoteReply{.kind = raft::VoteKind::Pre, .term = kTerm, .round = 7}, now + 1s);
  }
  EXPECT_THAT(trips.warnings(), IsEmpty());
}

TEST_F(RoundTripsTest, ALostAnswerIsGivenUpAndANewConnectionBeginsAnew) {
  trips.sent(kPeer, raft::Heartbeat{.term = kTerm, .round = ++round}, now);
  now += 20 * 300ms;
  for (int i = 0; i < 4; ++i) beat(100ms);
  EXPECT_THAT(trips.warnings(), ElementsAre(HasSubstr("at least 100 ms")));
  trips.forget(kPeer);
  EXPECT_THAT(trips.warnings(), IsEmpty());
}

// Covers: FLT_N14
TEST(UnrestTest, TermsThatChangeAgainAndAgainAreToldToEverybody) {
  Unrest unrest(300ms);
  LaggingTime now(1h);
  uint64_t term = 50;
  const auto changes = [&](Duration after) {
    now += after;
    unrest.leadership_changed(Term(++term), now);
    unrest.leadership_changed(Term(term), now);  // the same one, with its leader
  };
  for (int i = 0; i < 6; ++i) changes(2s);
  EXPECT_EQ(unrest.warning(now), "") << "the first one is the term of the start";
  changes(2s);
  EXPECT_THAT(unrest.warning(now), HasSubstr("6 times in the last 10 s: leaders are lost"));
  now += 19s;
  EXPECT_THAT(unrest.warning(now), HasSubstr("in the last 29 s"));
  now += 2s;
  EXPECT_EQ(unrest.warning(now), "") << "a hundred election timeouts are over";
  for (int i = 0; i < 50; ++i) changes(10s);
  EXPECT_EQ(unrest.warning(now), "") << "seldom enough";
}

}  // namespace
}  // namespace coordkit::engine
