// The judge of the history experiment must be able to say no: files as members write them, with and without what is wrong.
#include "tools/experiment/seen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace coordkit::experiment {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SeenTest : public ::testing::Test {
 protected:
  // A member's life, in which this was written.
  void life(const std::vector<json>& records, const std::string& torn = {}) {
    const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) /
                                       (std::string("seen-") + std::to_string(getpid()) + "-" + std::to_string(lives_++));
    std::ofstream out(file);
    for (const json& record : records) out << record.dump() << "\n";
    out << torn;
    files_.push_back(file);
  }
  Seen seen() const { return Seen(files_, until_); }
  void TearDown() override {
    for (const std::filesystem::path& file : files_) std::filesystem::remove(file);
  }

  static json begin(uint64_t number, const char* model, const char* op, int64_t at, json in = json::object()) {
    return {{"begin", number},
            {"line", {{"model", model}, {"op", op}, {"key", "k"}, {"client", "c"}, {"in", std::move(in)}, {"call", at}}}};
  }
  static json end(uint64_t number, int64_t at, json out) {
    return {{"end", number}, {"more", {{"outcome", "ok"}, {"return", at}, {"out", std::move(out)}}}};
  }
  static json refused(uint64_t number) { return {{"end", number}, {"more", {{"outcome", "refused"}}}}; }
  static json trusted(uint64_t number, int64_t at) { return {{"trusted", number}, {"at", at}}; }
  static json changed(uint64_t revision, const char* value) {
    return {{"changed", {{"revision", revision}, {"key", "k"}, {"value", value}}}, {"at", 1000 + revision}};
  }
  static json erased(uint64_t revision) {
    return {{"changed", {{"revision", revision}, {"key", "k"}}}, {"at", 1000 + revision}};
  }

  // The operations of the history with the moments at which they were called.
  std::vector<std::string> calls() const {
    std::vector<std::string> calls;
    for (const std::string& text : seen().history()) {
      const json line = json::parse(text);
      calls.push_back(line["op"].get<std::string>() + " " + std::to_string(line["call"].get<int64_t>()) + " " +
                      line.value("outcome", std::string("unknown")));
    }
    return calls;
  }

  int64_t until_ = kToTheEnd;

 private:
  std::vector<std::filesystem::path> files_;
  int lives_ = 0;
};

TEST_F(SeenTest, AReleaseThatWasAnsweredIsTheEndOfItsHold) {
  life({begin(1, "fenced-mutex", "acquire", 10), end(1, 20, {{"token", 7}}), trusted(1, 30),
        begin(2, "fenced-mutex", "release", 40, {{"token", 7}}), end(2, 50, json::object())});
  EXPECT_THAT(calls(), ElementsAre("acquire 10 ok", "release 40 ok"));
  EXPECT_EQ(seen().answered(), 2u);
}

TEST_F(SeenTest, AHoldWhoseReleaseIsNotKnownMayHaveEndedSinceItWasTrustedLast) {
  life({begin(1, "fenced-mutex", "acquire", 10), end(1, 20, {{"token", 7}}), trusted(1, 30), trusted(1, 35),
        begin(2, "fenced-mutex", "release", 40, {{"token", 7}})});
  EXPECT_THAT(calls(), ElementsAre("acquire 10 ok", "expire 35 unknown"));
  life({begin(1, "fenced-mutex", "acquire", 110), end(1, 120, {{"token", 8}}), trusted(1, 130),
        begin(2, "fenced-mutex", "release", 140, {{"token", 8}}), refused(2)});
  EXPECT_THAT(calls(), ElementsAre("acquire 10 ok", "expire 35 unknown", "acquire 110 ok", "expire 130 unknown"));
}

TEST_F(SeenTest, AGrantThatNobodyWasToldOfMayEndAtAnyTime) {
  life({begin(1, "fenced-mutex", "acquire", 10)}, R"({"end":1,"more":{"outc)");  // killed while it wrote
  EXPECT_THAT(calls(), ElementsAre("acquire 10 unknown", "expire 10 unknown"));
  EXPECT_EQ(seen().answered(), 0u);
}

TEST_F(SeenTest, ARefusedAcquireHoldsNothing) {
  life({begin(1, "fenced-mutex", "acquire", 10), refused(1)});
  EXPECT_THAT(calls(), ElementsAre("acquire 10 refused"));
}

TEST_F(SeenTest, TheCallsOfAllLivesAreInOneOrder) {
  life({begin(1, "kv", "put", 30, {{"value", "a"}}), end(1, 40, {{"revision", 2}})});
  life({begin(1, "kv", "get", 10)});
  EXPECT_THAT(calls(), ElementsAre("get 10 unknown", "put 30 ok"));
  EXPECT_THAT(seen().history().front(), HasSubstr(R"("model":"transaction")"));
}

TEST_F(SeenTest, AWriteWithoutAnAnswerWhoseChangeWasGivenTookEffectByThen) {
  life({begin(1, "kv", "put", 1, {{"value", "a"}}), begin(2, "kv", "delete", 2),
        begin(3, "transaction", "txn", 3, {{"then", {{{"value", "b"}}}}, {"else", {{{"value", "c"}}}}}),
        begin(4, "kv", "put", 4, {{"value", "d"}}), begin(5, "kv", "delete", 5)});
  life({changed(2, "a"), erased(3), changed(4, "c")});
  EXPECT_THAT(calls(), ElementsAre("put 1 ok", "delete 2 ok", "txn 3 ok", "put 4 unknown", "delete 5 unknown"));
  const json txn = json::parse(seen().history()[2]);
  EXPECT_EQ(txn["out"], (json{{"succeeded", false}, {"revision", 4}}));
  EXPECT_EQ(txn["return"], 1004);
}

TEST_F(SeenTest, ADeleteThatWasAnsweredIsNotGivenToAnother) {
  life({begin(1, "kv", "delete", 1), begin(2, "kv", "delete", 2), end(2, 9, {{"deleted", 1}, {"revision", 3}}), erased(3)});
  EXPECT_THAT(calls(), ElementsAre("delete 1 unknown", "delete 2 ok"));
}

TEST_F(SeenTest, ADeleteThatFoundNothingHasNoChange) {
  life({begin(1, "kv", "delete", 1), begin(2, "kv", "delete", 2), end(2, 9, {{"deleted", 0}, {"revision", 3}}), erased(3)});
  EXPECT_THAT(calls(), ElementsAre("delete 1 ok", "delete 2 ok"));
}

TEST_F(SeenTest, AChangeIsNotThatOfADeleteThatWasCalledLater) {
  life({begin(1, "kv", "delete", 2000), erased(3)});
  EXPECT_THAT(calls(), ElementsAre("delete 2000 unknown"));
}

TEST_F(SeenTest, WatchesThatAgreeAreFine) {
  life({begin(1, "kv", "put", 1, {{"value", "b"}}), end(1, 2, {{"revision", 3}}), changed(2, "a"), changed(3, "b")});
  life({changed(3, "b"), changed(4, "c")});
  EXPECT_THAT(seen().watch_errors(), IsEmpty());
}

TEST_F(SeenTest, AWatchWithAGapIsSeen) {
  life({changed(2, "a"), changed(3, "b"), changed(4, "c")});
  life({changed(2, "a"), changed(4, "c")});
  EXPECT_THAT(seen().watch_errors(), ElementsAre(AllOf(HasSubstr("was not given"), HasSubstr("revision 3"))));
}

TEST_F(SeenTest, WatchesThatDisagreeAreSeen) {
  life({changed(2, "a")});
  life({changed(2, "b")});
  EXPECT_THAT(seen().watch_errors(), ElementsAre(HasSubstr("something else")));
}

TEST_F(SeenTest, AChangeThatIsGivenTwiceIsSeen) {
  life({changed(2, "a"), changed(3, "b")});
  life({changed(2, "a"), changed(3, "b"), changed(3, "b")});
  EXPECT_THAT(seen().watch_errors(), ElementsAre(HasSubstr("a second time")));
}

TEST_F(SeenTest, AWriteThatNoWatchWasGivenIsSeen) {
  life({begin(1, "kv", "put", 1, {{"value", "x"}}), end(1, 2, {{"revision", 3}}), changed(2, "a"), changed(3, "b"),
        changed(4, "c")});
  EXPECT_THAT(seen().watch_errors(), ElementsAre(HasSubstr("no watch was given")));
}

TEST_F(SeenTest, APauseLastsUntilACallThatBeganLaterIsAnswered) {
  constexpr int64_t kMs = 1'000'000;
  life({begin(1, "kv", "get", 5 * kMs), end(1, 20 * kMs, {{"value", nullptr}}),  // under way before: says nothing
        begin(2, "kv", "get", 12 * kMs), end(2, 90 * kMs, {{"value", nullptr}}), begin(3, "kv", "get", 30 * kMs),
        end(3, 60 * kMs, {{"value", nullptr}}), begin(4, "fenced-mutex", "acquire", 11 * kMs),
        end(4, 12 * kMs, {{"token", 7}})});  // possibly granted without the log
  EXPECT_THAT(seen().pauses_ms({{1 * kMs, "stop a follower", false}, {10 * kMs, "stop the leader", true}}), ElementsAre(50));
}

TEST_F(SeenTest, ASpreadHasTheMedianAndTheMost) {
  EXPECT_EQ(spread_of({}).count, 0u);
  const Spread spread = spread_of({50, 10, 30});
  EXPECT_EQ(spread.count, 3u);
  EXPECT_EQ(spread.median_ms, 30);
  EXPECT_EQ(spread.most_ms, 50);
}

TEST_F(SeenTest, AGapIsTheLongestTimeWithoutAnAnsweredWriteByKindOfFault) {
  constexpr int64_t kMs = 1'000'000;
  life({begin(1, "kv", "put", 5 * kMs, {{"value", "a"}}), end(1, 110 * kMs, {{"revision", 2}}),
        begin(2, "kv", "get", 120 * kMs), end(2, 130 * kMs, {{"value", "a"}}),  // no write
        begin(3, "kv", "delete", 140 * kMs), end(3, 180 * kMs, {{"revision", 3}}),
        begin(4, "kv", "put", 190 * kMs, {{"value", "b"}}), refused(4), begin(5, "kv", "put", 200 * kMs, {{"value", "c"}}),
        end(5, 325 * kMs, {{"revision", 4}})});
  const std::vector<Disturbance> faults = {{100 * kMs, "kill", true}, {200 * kMs, "stop", false}, {300 * kMs, "kill", false}};
  const auto gaps = seen().write_gaps(faults, 330 * kMs);
  EXPECT_THAT(gaps.at("kill").lengths_ms, ElementsAre(70, 25));
  EXPECT_EQ(gaps.at("kill").without_end, 0u);
  EXPECT_THAT(gaps.at("stop").lengths_ms, IsEmpty());
  EXPECT_EQ(gaps.at("stop").without_end, 1u);
  const auto stopped = seen().write_gaps(faults, 1330 * kMs);
  EXPECT_THAT(stopped.at("kill").lengths_ms, ElementsAre(70));
  EXPECT_EQ(stopped.at("kill").without_end, 1u);
}

TEST_F(SeenTest, WhatCameAfterAMomentIsNotKnownAtIt) {
  life({begin(1, "kv", "put", 10, {{"value", "a"}}), end(1, 50, {{"revision", 2}}), changed(2, "a"),
        begin(2, "fenced-mutex", "acquire", 20), end(2, 30, {{"token", 7}}), trusted(2, 35), trusted(2, 45),
        begin(3, "kv", "put", 41, {{"value", "b"}}), end(3, 42, {{"revision", 3}})});
  EXPECT_THAT(calls(), ElementsAre("put 10 ok", "acquire 20 ok", "put 41 ok", "expire 45 unknown"));
  until_ = 40;
  EXPECT_THAT(calls(), ElementsAre("put 10 unknown", "acquire 20 ok", "expire 35 unknown"));
}

}  // namespace
}  // namespace coordkit::experiment
