// The judge of faults beyond the fault model must be able to say no: episodes made by hand, with and without what is wrong.
#include "tools/experiment/beyond.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace coordkit::experiment {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Keys are called "k"; a call takes from its time to one later.
class BeyondTest : public ::testing::Test {
 protected:
  // The life of the process at a place.
  class Life {
   public:
    Life(int place, bool kept) : placed_{.life = {.name = "life-" + std::to_string(place)}, .place = place, .kept = kept} {}
    Life& put(int64_t at, const char* value, uint64_t revision) {
      return call("put", at, {{"value", value}}, "ok", {{"revision", revision}});
    }
    Life& put_without_answer(int64_t at, const char* value) { return call("put", at, {{"value", value}}, "unknown"); }
    Life& refused_put(int64_t at, const char* value) { return call("put", at, {{"value", value}}, "refused"); }
    Life& erase(int64_t at, uint64_t revision) {
      return call("delete", at, json::object(), "ok", {{"deleted", 1}, {"revision", revision}});
    }
    Life& get(int64_t at, const char* value, uint64_t mod, uint64_t revision) {
      return call("get", at, json::object(), "ok", {{"value", value}, {"mod", mod}, {"revision", revision}});
    }
    Life& get_nothing(int64_t at, uint64_t revision) {
      return call("get", at, json::object(), "ok", {{"value", nullptr}, {"revision", revision}});
    }
    // It puts `value`, and is shown what k is then.
    Life& txn(int64_t at, const char* value, uint64_t revision, const char* shown, uint64_t mod) {
      const json put{{"op", "put"}, {"key", "k"}, {"value", value}}, get{{"op", "get"}, {"key", "k"}};
      const json other{{"op", "put"}, {"key", "k"}, {"value", "never"}};
      return call(
          "txn", at, {{"then", {put, get}}, {"else", {other, get}}}, "ok",
          {{"succeeded", true}, {"revision", revision}, {"results", {json::object(), {{"value", shown}, {"mod", mod}}}}});
    }
    Life& watched(uint64_t revision, const char* value, int64_t at = 0) {
      placed_.life.changes[revision] = {.key = "k", .value = value, .at = at};
      return *this;
    }
    const PlacedLife& placed() const { return placed_; }

   private:
    Life& call(const char* op, int64_t at, json in, const char* outcome, json out = json::object()) {
      json line{{"model", "kv"}, {"op", op}, {"key", "k"}, {"call", at}, {"in", std::move(in)}, {"outcome", outcome}};
      if (std::string(outcome) == "ok") line.update({{"return", at + 1}, {"out", std::move(out)}});
      placed_.life.calls[placed_.life.calls.size() + 1].line = std::move(line);
      return *this;
    }
    PlacedLife placed_;
  };

  static constexpr int64_t kRest = 1000;
  static Life kept(int place) { return {place, true}; }
  static Life set_back(int place) { return {place, false}; }

  static Judgement judged(const std::vector<Life>& lives, std::vector<Word> words = {}, std::vector<int> died = {}) {
    Episode episode{.lives = {}, .words = std::move(words), .died = std::move(died), .rest_ns = kRest};
    for (const Life& life : lives) episode.lives.push_back(life.placed());
    return judge(episode);
  }
};

TEST_F(BeyondTest, OneHistoryIsHarmless) {
  const Judgement judgement =
      judged({kept(1).put(10, "a", 2).watched(2, "a", 11).get(1000, "a", 2, 2),
              kept(2).watched(2, "a", 12).txn(1002, "b", 3, "a", 2).get(1004, "b", 3, 3).erase(1006, 4)});
  EXPECT_THAT(judgement.wrong, IsEmpty());
  EXPECT_EQ(judgement.ending, Ending::Harmless);
}

// ---- invented

TEST_F(BeyondTest, AValueThatNobodyWroteIsInventedWhateverIsSaid) {
  const Judgement judgement = judged({kept(1).put(10, "a", 2).get(1000, "x", 2, 2)}, {{1, "halted"}});
  EXPECT_EQ(judgement.ending, Ending::Wrong);
  EXPECT_THAT(judgement.wrong, Contains(HasSubstr("invented")));
}

TEST_F(BeyondTest, AValueThatIsShownBeforeItIsWrittenIsInvented) {
  EXPECT_THAT(judged({kept(1).get(1000, "a", 2, 2), kept(2).put(1010, "a", 2)}).wrong, Contains(HasSubstr("invented")));
}

TEST_F(BeyondTest, AValueThatOnlyAWatchShowsIsInventedToo) {
  EXPECT_THAT(judged({kept(1).put(1000, "a", 2).watched(3, "x", 1005)}).wrong, ElementsAre(HasSubstr("invented")));
}

TEST_F(BeyondTest, AWriteWithoutAnAnswerMayHaveTakenEffect) {
  const Judgement judgement = judged({kept(1).put_without_answer(10, "a"), kept(2).get(1000, "a", 2, 2)});
  EXPECT_THAT(judgement.wrong, IsEmpty());
}

// ---- silent

TEST_F(BeyondTest, AnAcknowledgedWriteThatIsGoneMustNotBeSilent) {
  const std::vector<Life> lives = {kept(1).watched(5, "a", 11), set_back(2).put(10, "a", 5), kept(2).get_nothing(100, 4)};
  const Judgement silent = judged(lives);
  EXPECT_EQ(silent.ending, Ending::Wrong);
  EXPECT_THAT(silent.wrong, Contains(HasSubstr("silent: life-2 was answered later at revision 4")));
  EXPECT_EQ(judged(lives, {{1, "the one that has it"}}).ending, Ending::Said);
  EXPECT_EQ(judged(lives, {{2, "the one that has it not"}}).ending, Ending::Said);
}

TEST_F(BeyondTest, AReportOfAnotherReplicaDoesNotExcuseALostWrite) {
  const Judgement judgement = judged({kept(1).watched(5, "a", 11), set_back(2).put(10, "a", 5), kept(2).get_nothing(100, 4)},
                                     {{3, "my disk was set back"}});
  EXPECT_EQ(judgement.ending, Ending::Wrong);
}

TEST_F(BeyondTest, AWriteThatNoKeptDirectoryHadCannotBeMissed) {
  const Judgement judgement =
      judged({set_back(1).watched(5, "a", 11), set_back(2).put(10, "a", 5).watched(5, "a", 12), kept(2).get_nothing(1000, 4)});
  EXPECT_THAT(judgement.wrong, IsEmpty());
  EXPECT_EQ(judgement.ending, Ending::Excused);
}

TEST_F(BeyondTest, ACallThatBeganBeforeTheAnswerContradictsNothing) {
  EXPECT_EQ(judged({kept(1).put(1000, "a", 5).watched(5, "a", 1001), kept(2).get_nothing(1000, 4)}).ending, Ending::Harmless);
}

TEST_F(BeyondTest, TwoChangesOfOneRevisionAreTwoHistories) {
  const std::vector<Life> lives = {kept(1).put(10, "a", 5).watched(5, "a", 11), kept(3).put(12, "b", 5).watched(5, "b", 13)};
  const Judgement silent = judged(lives);
  EXPECT_THAT(silent.wrong, Contains(HasSubstr("silent: life-3 has a put of b at k, revision 5")));
  EXPECT_EQ(judged(lives, {{3, "steps aside"}}).ending, Ending::Said);
}

TEST_F(BeyondTest, AWatchThatIsGivenAnotherHistoryCountsToo) {
  EXPECT_THAT(
      judged({kept(1).put(10, "a", 5).watched(5, "a", 11), kept(3).put_without_answer(12, "b").watched(5, "b", 13)}).wrong,
      Contains(HasSubstr("the watch of life-3")));
}

TEST_F(BeyondTest, AKeyAsItWasBeforeAtALaterRevisionIsALostWrite) {
  const Judgement judgement =
      judged({kept(1).put(10, "a", 4).put(12, "b", 5).watched(5, "b", 13), kept(2).get(1000, "a", 4, 9)});
  EXPECT_THAT(judgement.wrong, ElementsAre(HasSubstr("silent: life-2 was shown k of revision 4")));
}

TEST_F(BeyondTest, ATransactionShowsTheOtherHistoryToo) {
  EXPECT_THAT(
      judged({kept(1).put(10, "a", 5).watched(5, "a", 11), kept(3).put_without_answer(12, "b").txn(20, "c", 9, "b", 5)}).wrong,
      Contains(HasSubstr("silent: life-3 has a put of b at k, revision 5")));
}

TEST_F(BeyondTest, ARefusedWriteThatIsShownMustNotBeSilent) {
  const std::vector<Life> lives = {kept(1).refused_put(10, "a"), kept(2).get(1000, "a", 2, 2)};
  EXPECT_THAT(judged(lives).wrong, ElementsAre(HasSubstr("which was refused")));
  EXPECT_EQ(judged(lives, {{2, "steps aside"}}).ending, Ending::Said);
}

// ---- two at rest

TEST_F(BeyondTest, TwoHistoriesAtRestAreWrongWhateverIsSaid) {
  const Judgement judgement =
      judged({kept(1).put(1000, "a", 5), kept(3).put(1002, "b", 5)}, {{1, "steps aside"}, {3, "steps aside"}});
  EXPECT_EQ(judgement.ending, Ending::Wrong);
  EXPECT_THAT(judgement.wrong, Contains(HasSubstr("two at rest")));
}

TEST_F(BeyondTest, TwoReadsThatDifferForGoodAreWrongWhateverIsSaid) {
  const Judgement judgement = judged({kept(1).put_without_answer(10, "left").get(1000, "left", 5, 5),
                                      kept(3).put_without_answer(10, "right").get(1002, "right", 5, 5)},
                                     {{1, "steps aside"}});
  EXPECT_THAT(judgement.wrong, Contains(HasSubstr("two at rest")));
}

TEST_F(BeyondTest, AWriteThatIsLostAtRestIsWrongWhateverIsSaid) {
  EXPECT_THAT(judged({kept(1).put(1000, "a", 5), kept(3).get_nothing(1002, 4)}, {{1, "steps aside"}}).wrong,
              Contains(HasSubstr("two at rest")));
}

// ---- the end

TEST_F(BeyondTest, AnEndWithoutAnyReportIsWrong) {
  EXPECT_THAT(judged({kept(1).put(10, "a", 5)}).wrong, ElementsAre(HasSubstr("wordless")));
  EXPECT_EQ(judged({kept(1).put(10, "a", 5)}, {{2, "quarantine"}}).ending, Ending::Stopped);
}

TEST_F(BeyondTest, ADeathIsWrongWhateverElseHappens) {
  EXPECT_THAT(judged({kept(1).put(1000, "a", 5)}, {}, {2}).wrong, ElementsAre("died: process 2"));
}

TEST_F(BeyondTest, AWordSaysThatDataIsWrong) {
  EXPECT_TRUE(is_word("StateChanged", "Error", "quarantine"));
  EXPECT_TRUE(is_word("Halted", "Error", "a check failed"));
  EXPECT_TRUE(is_word("PeerRefused", "Warning", "two processes act as replica 2"));
  EXPECT_FALSE(is_word("PeerRefused", "Warning", "its cluster has another name"));
  EXPECT_FALSE(is_word("StateChanged", "Warning", "uninvited"));
  EXPECT_FALSE(is_word("LeaderChanged", "Warning", "no leader"));
  EXPECT_FALSE(is_word("MemberSilent", "Warning", "replica 2"));
}

}  // namespace
}  // namespace coordkit::experiment
