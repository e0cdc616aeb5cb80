// The judge of the remotes experiment, against traces that are known to be right or wrong.
#include "tools/experiment/crowd_seen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace coordkit::experiment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CrowdSeen seen(const std::string& lines) {
  std::istringstream in(lines);
  CrowdSeen seen;
  seen.read(in);
  return seen;
}

constexpr char kRight[] =
    "put 1 1 done 10 20\nseen 1 1 1 25\nput 1 2 unknown 30 40\nput 1 3 refused 50 60\nput 1 4 done 70 80\nseen 1 2 4 85\n"
    "final 1 2 4\n";

TEST(CrowdSeenTest, PutsThatAreThereOnceAreFine) {
  const CrowdPuts puts = seen(kRight).puts();
  EXPECT_EQ(puts.done, 2u);
  EXPECT_EQ(puts.unknown, 1u);
  EXPECT_EQ(puts.refused, 1u);
  EXPECT_THAT(seen(kRight).sentences(), IsEmpty());
}

TEST(CrowdSeenTest, APutOfUnknownOutcomeMayBeThere) {
  EXPECT_THAT(seen("put 1 1 unknown 10 20\nseen 1 1 1 25\nfinal 1 1 1\n").sentences(), IsEmpty());
}

TEST(CrowdSeenTest, ALostPutIsFoundByTheWatchAndByTheFinalState) {
  const CrowdSeen lost = seen("put 1 1 done 10 20\nput 1 2 done 30 40\nseen 1 1 2 45\nfinal 1 1 2\n");
  EXPECT_EQ(lost.puts().lost, 2u);
  EXPECT_THAT(lost.sentences().front(), HasSubstr("put 1 was acknowledged"));
}

TEST(CrowdSeenTest, APutThatRanTwiceIsFound) {
  const CrowdSeen twice = seen("put 1 1 done 10 20\nseen 1 1 1 25\nseen 1 2 1 26\nfinal 1 2 1\n");
  EXPECT_EQ(twice.puts().twice, 2u);
}

TEST(CrowdSeenTest, ARefusedPutThatIsThereIsFound) {
  EXPECT_EQ(seen("put 1 1 refused 10 20\nseen 1 1 1 25\nfinal 1 1 1\n").puts().invented, 1u);
  EXPECT_EQ(seen("seen 1 1 1 25\nfinal 1 1 1\n").puts().invented, 1u);
}

TEST(CrowdSeenTest, AWatchWithAGapOrARepeatIsFound) {
  const std::string puts = "put 1 1 done 1 2\nput 1 2 done 3 4\nput 1 3 done 5 6\n";
  EXPECT_EQ(seen(puts + "seen 1 1 1 9\nseen 1 3 3 9\nfinal 1 3 3\n").puts().gaps, 1u);
  EXPECT_EQ(seen(puts + "seen 1 1 1 9\nseen 1 2 2 9\nfinal 1 3 3\n").puts().gaps, 1u);
  EXPECT_EQ(seen(puts + "seen 1 1 1 9\nseen 1 2 2 9\nseen 1 2 2 9\nseen 1 3 3 9\nfinal 1 3 3\n").puts().repeats, 1u);
}

TEST(CrowdSeenTest, AWatchThatEndsIsToldWithItsReason) {
  EXPECT_THAT(seen("ended 7 OUT_OF_RANGE: compacted\n").sentences(), ElementsAre(HasSubstr("OUT_OF_RANGE: compacted")));
}

TEST(CrowdSeenTest, LostSessionsAndJeopardiesAreCounted) {
  const CrowdSeen lost = seen("session 1 5 Jeopardy\nsession 1 6 Valid\nsession 1 7 Lost\nhold 1 8\n");
  EXPECT_EQ(lost.sessions_lost(), 1u);
  EXPECT_EQ(lost.sessions_in_jeopardy(), 1u);
  EXPECT_EQ(lost.holds_in_jeopardy(), 1u);
}

TEST(CrowdSeenTest, ALineThatIsNoRecordIsRefused) {
  EXPECT_THROW(seen("nothing 1 2\n"), std::runtime_error);
  EXPECT_THROW(seen("put 1 2\n"), std::runtime_error);
}

TEST(CrowdSeenTest, AMoveIsTheTimeUntilTheNextGatewayServes) {
  constexpr char kLinks[] =
      "link 1 1000000 Serving 2\nlink 2 1000000 Serving 1\nlink 3 1000000 Serving 2\n"
      "link 1 5000000 Dialing 2\nlink 1 9000000 Serving 3\nlink 3 6000000 Dialing 2\nlink 3 400000000 Serving 1\n";
  const CrowdMoves all = seen(kLinks).moves(4'000'000, 2, 500'000'000);
  EXPECT_EQ(all.remotes, 2u);
  EXPECT_THAT(all.took_ms, ElementsAre(5, 396));
  EXPECT_EQ(all.percentile_ms(50), 5);
  EXPECT_EQ(all.most_in_a_second(), 2u);
  const CrowdMoves cut = seen(kLinks).moves(4'000'000, 2, 100'000'000);
  EXPECT_EQ(cut.moved, 1u);
  EXPECT_EQ(cut.percentile_ms(99), std::nullopt);
}

TEST(CrowdSeenTest, ADipIsOfTheRemotesOfOtherGateways) {
  constexpr int64_t kMs = 1'000'000;
  std::string lines = "link 1 1 Serving 1\nlink 2 1 Serving 2\n";
  int64_t number = 0;
  for (int64_t at = 0; at < 8000; at += 10) {
    const bool away = at >= 3000 && at < 4000;
    if (!away || at % 20 == 0) lines += "put 1 " + std::to_string(++number) + " done 1 " + std::to_string(at * kMs) + "\n";
    if (!away) lines += "put 2 " + std::to_string(number) + " done 1 " + std::to_string(at * kMs) + "\n";
  }
  EXPECT_NEAR(seen(lines).dip(3000 * kMs, 2), 0.5, 0.01);
  EXPECT_NEAR(seen(lines).dip(3000 * kMs, 1), 1.0, 0.01);
}

}  // namespace
}  // namespace coordkit::experiment
