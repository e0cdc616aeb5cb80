// Conformance suite for StateStore adapters, used like log_store_suite.h. Here the disk works; in
// state_store_faults_suite.h it fails. Which defects each test notices: docs/conformance.md.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/testing/state_store_faults_suite.h"
#include "coordkit/testing/state_store_fixture.h"

namespace coordkit::testkit {

TEST_P(StateStoreSuite, BlankStoreIsEmpty) {
  EXPECT_EQ(view()->applied(), Position{});
  EXPECT_TRUE(rows_of(*view()).empty());
}

// Covers: INV_S03
TEST_P(StateStoreSuite, RowsAndPositionAreThereAfterRestart) {
  constexpr uint64_t kLarge = (uint64_t{1} << 40) + 7;
  commit(kLarge, {{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(reopen(), at(kLarge)) << "open() does not say what was applied last, or in another term";
  EXPECT_EQ(view()->applied(), at(kLarge));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}, {"b", "2"}})) << "rows that were reported are not there after a restart";
}

TEST_P(StateStoreSuite, BatchesReplaceAndErase) {
  commit(1, {{"a", "1"}, {"b", "2"}, {"c", "3"}});
  commit(2, {{"b", std::nullopt}, {"c", "33"}, {"not there", std::nullopt}});
  reopen();
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}, {"c", "33"}})) << "a row that was deleted or replaced is there again";
}

TEST_P(StateStoreSuite, ScanVisitsExactlyThePrefix) {
  commit(1, {{"a", "0"}, {"ab", "1"}, {"abc", "2"}, {"ac", "3"}, {std::string("ab\0", 3), "4"}, {"\xff", "5"}});
  EXPECT_EQ(rows_of(*view(), "ab"), (Rows{{"ab", "1"}, {"abc", "2"}, {std::string("ab\0", 3), "4"}}))
      << "scan() visits other rows than those whose keys begin with the prefix";
  EXPECT_EQ(rows_of(*view(), "\xff"), (Rows{{"\xff", "5"}}));
  EXPECT_TRUE(rows_of(*view(), "b").empty());
}

TEST_P(StateStoreSuite, ScanStopsAtTheVisitorsError) {
  commit(1, {{"a", "1"}, {"b", "2"}});
  int visited = 0;
  const absl::Status status = view()->scan("", [&](std::string_view, std::string_view) {
    ++visited;
    return absl::CancelledError("enough");
  });
  EXPECT_TRUE(absl::IsCancelled(status));
  EXPECT_EQ(visited, 1) << "scan() continues although its visitor said stop";
}

TEST_P(StateStoreSuite, LaterCommitsDoNotChangeAView) {
  commit(1, {{"a", "1"}});
  const std::unique_ptr<CheckpointView> before = view();
  commit(2, {{"a", "2"}, {"b", "2"}});
  EXPECT_EQ(rows_of(*before), (Rows{{"a", "1"}})) << "a view changes with a later commit";
  EXPECT_EQ(before->applied(), at(1));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "2"}, {"b", "2"}}));
}

TEST_P(StateStoreSuite, EmptyValuesAndLargeValuesAreFine) {
  commit(1, {{"empty", ""}, {"large", std::string(1 << 20, 'x')}, {std::string(64, 'k'), "longest key"}});
  reopen();
  EXPECT_EQ(rows_of(*view()),
            (Rows{{"empty", ""}, {"large", std::string(1 << 20, 'x')}, {std::string(64, 'k'), "longest key"}}));
}

TEST_P(StateStoreSuite, AnyBytesInKeysAndValuesComeBackAsTheyWere) {
  std::string any;
  for (int byte = 0; byte < 256; ++byte) any += static_cast<char>(byte);
  Rows rows = {{"A", any}, {"a", std::string(3, '\0')}, {std::string("a\0", 2), "\xff"}};
  for (size_t i = 0; i < any.size(); i += kStateKeyBytesMax) rows[any.substr(i, kStateKeyBytesMax)] = any.substr(i);
  for (const char* key : {"a\xfe", "a\xff", "a\xff\xff", "a\xff\x01", "b"}) rows[key] = any;
  commit(1, {});
  std::vector<CheckpointBatch::Row> batch;
  for (const auto& [key, value] : rows) batch.push_back({key, value});
  commit(2, batch);
  EXPECT_TRUE(rows_of(*view()) == rows) << "a row comes back otherwise than it was committed: keys and values are any bytes";
  EXPECT_EQ(rows_of(*view(), "a\xff"), (Rows{{"a\xff", any}, {"a\xff\xff", any}, {"a\xff\x01", any}}))
      << "scan() does not find the keys whose prefix ends in the largest byte";
  stage({}, batch);
  ASSERT_TRUE(install(3, rows)) << "staged rows are not those that were sent: keys and values are any bytes";
  EXPECT_EQ(reopen(), at(3));
  EXPECT_TRUE(rows_of(*view()) == rows) << "a row comes back otherwise than it was staged: keys and values are any bytes";
}

TEST_P(StateStoreSuite, RandomBatchesAgreeWithAMap) {
  Rows expected;
  uint64_t seed = 42;
  const auto random = [&seed](uint64_t below) {
    return (seed = seed * 6364136223846793005u + 1442695040888963407u) / 7 % below;
  };
  for (uint64_t batch = 1; batch <= 20; ++batch) {
    Rows changed;
    std::vector<CheckpointBatch::Row> rows;
    for (uint64_t i = 0; i < 20; ++i) changed[std::to_string(random(60))] = std::to_string(random(1000));
    for (auto& [key, value] : changed) {
      const bool erase = random(3) == 0;
      rows.push_back({key, erase ? std::nullopt : std::optional(value)});
      if (erase)
        expected.erase(key);
      else
        expected[key] = value;
    }
    commit(batch, std::move(rows));
    if (batch % 5 == 0) {
      EXPECT_EQ(reopen(), at(batch));
    }
    ASSERT_EQ(rows_of(*view()), expected);
  }
}

TEST_P(StateStoreSuite, ScanRangeExcludesItsBeginAndIncludesItsEnd) {
  commit(1, {{"a", "0"}, {std::string("a\0", 2), "1"}, {"b", "2"}, {"bb", "3"}, {"c", "4"}});
  EXPECT_EQ(range_of(*view(), {"a", "bb"}), (Rows{{std::string("a\0", 2), "1"}, {"b", "2"}, {"bb", "3"}}))
      << "a range excludes its first key and includes its last";
  EXPECT_EQ(range_of(*view(), {"", "a"}), (Rows{{"a", "0"}}));
  EXPECT_EQ(range_of(*view(), {"b", ""}), (Rows{{"bb", "3"}, {"c", "4"}}));
  EXPECT_EQ(range_of(*view(), {"", ""}), rows_of(*view()));
  EXPECT_TRUE(range_of(*view(), {"c", ""}).empty());
}

// Covers: INV_S04
TEST_P(StateStoreSuite, TheDigestIsThatOfTheRowsHoweverTheyCame) {
  const uint64_t empty = view()->digest();
  commit(1, {{"a", "0"}, {"b", "2"}, {"c", "3"}});
  commit(2, {{"a", "1"}, {"c", std::nullopt}});
  const uint64_t two = view()->digest();
  EXPECT_NE(two, empty);
  EXPECT_EQ(two, digest_of({{"b", "2"}, {"a", "1"}}))
      << "the digest is RowDigest over the rows that are there, and of nothing else";
  reopen();
  EXPECT_EQ(view()->digest(), two);
  commit(3, {{"a", std::nullopt}, {"b", std::nullopt}});
  EXPECT_EQ(view()->digest(), empty);
}

TEST_P(StateStoreSuite, StagedRowsAreSeenWhenTheyAreInstalledAndAllAtOnce) {
  commit(1, {{"a", "1"}, {"b", "2"}});
  stage({"", "b"}, {{"a", "3"}});
  stage({"b", ""}, {{"c", "4"}});
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}, {"b", "2"}})) << "staged rows are seen before they are installed";
  EXPECT_EQ(view()->applied(), at(1));
  ASSERT_TRUE(install(9, {{"a", "3"}, {"c", "4"}}));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "3"}, {"c", "4"}}))
      << "an installed state is the staged rows, without those of the state before";
  EXPECT_EQ(view()->applied(), at(9));
  EXPECT_EQ(view()->digest(), digest_of({{"a", "3"}, {"c", "4"}}));
}

// Covers: FLT_D16 INV_S03
TEST_P(StateStoreSuite, AnInstalledStateIsThereAfterRestartAndGoesOn) {
  commit(1, {{"a", "1"}, {"b", "2"}});
  stage({}, {{"a", "3"}, {"c", "4"}});
  ASSERT_TRUE(install(9, {{"a", "3"}, {"c", "4"}}));
  EXPECT_EQ(reopen(), at(9));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "3"}, {"c", "4"}}));
  commit(10, {{"a", std::nullopt}, {"b", "5"}});
  EXPECT_EQ(reopen(), at(10));
  EXPECT_EQ(rows_of(*view()), (Rows{{"b", "5"}, {"c", "4"}}));
  EXPECT_EQ(view()->digest(), digest_of({{"b", "5"}, {"c", "4"}}));
}

TEST_P(StateStoreSuite, ARangeReplacesWhatIsStagedInItAndNothingElse) {
  stage({}, {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}});
  stage({"a", "c"}, {{"bb", "6"}});
  stage({"d", ""}, {{"f", "7"}});
  ASSERT_TRUE(install(1, {{"a", "1"}, {"bb", "6"}, {"d", "4"}, {"f", "7"}}));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}, {"bb", "6"}, {"d", "4"}, {"f", "7"}}));
}

TEST_P(StateStoreSuite, ARangeWithoutRowsErasesWhatIsStagedInIt) {
  stage({}, {{"a", "1"}, {"b", "2"}, {"c", "3"}});
  stage({"a", "b"}, {});
  stage({"x", ""}, {});
  ASSERT_TRUE(install(1, {{"a", "1"}, {"c", "3"}}));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}, {"c", "3"}}));
}

TEST_P(StateStoreSuite, TheLastRangeStagedTwiceIsTheSame) {
  stage({}, {{"a", "1"}, {"b", "2"}});
  stage({"a", ""}, {{"b", "2"}});
  stage({"a", ""}, {{"b", "2"}});
  EXPECT_TRUE(install(1, {{"a", "1"}, {"b", "2"}}));
}

TEST_P(StateStoreSuite, AStateWithoutRowsCanBeInstalled) {
  commit(1, {{"a", "1"}});
  ASSERT_TRUE(install(2, {}));
  EXPECT_EQ(reopen(), at(2));
  EXPECT_TRUE(rows_of(*view()).empty());
}

// Covers: FLT_D08
TEST_P(StateStoreSuite, ADigestOfOtherRowsIsRefusedAndNothingChanges) {
  commit(1, {{"a", "1"}});
  stage({}, {{"a", "2"}, {"b", "3"}});
  for (const Rows& other : {Rows{{"a", "2"}}, Rows{{"a", "1"}, {"b", "3"}}, Rows{{"b", "3"}, {"aa", "2"}}}) {
    EXPECT_FALSE(install(9, other)) << "rows were installed that are not those of the digest";
    stage({}, {{"a", "2"}, {"b", "3"}});
  }
  EXPECT_FALSE(install(9, {}));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}}));
  EXPECT_EQ(view()->applied(), at(1));
  EXPECT_FALSE(install(9, {{"a", "2"}, {"b", "3"}})) << "a refusal forgets what is staged";
  commit(2, {{"c", "4"}});
  EXPECT_EQ(reopen(), at(2));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}, {"c", "4"}}));
}

TEST_P(StateStoreSuite, StagingAfterAnInstallStartsFromNothing) {
  stage({}, {{"a", "1"}, {"b", "2"}});
  ASSERT_TRUE(install(1, {{"a", "1"}, {"b", "2"}}));
  stage({"b", ""}, {{"c", "3"}});
  ASSERT_TRUE(install(2, {{"c", "3"}}));
  EXPECT_EQ(rows_of(*view()), (Rows{{"c", "3"}}));
  EXPECT_FALSE(install(3, {{"c", "3"}}));
}

TEST_P(StateStoreSuite, UnstageForgetsWhatIsStaged) {
  commit(1, {{"a", "1"}});
  stage({}, {{"b", "2"}});
  store_->unstage();
  store_->unstage();
  stage({}, {{"c", "3"}});
  ASSERT_TRUE(install(2, {{"c", "3"}})) << "rows that unstage() had to forget are still staged";
  EXPECT_EQ(rows_of(*view()), (Rows{{"c", "3"}}));
}

TEST_P(StateStoreSuite, AnInstallDoesNotChangeAView) {
  commit(1, {{"a", "1"}, {"b", "2"}});
  const std::unique_ptr<CheckpointView> before = view();
  for (uint64_t index = 2; index <= 5; ++index) {  // more often than there are places for a state
    stage({}, {{"c", std::to_string(index)}});
    ASSERT_TRUE(install(index, {{"c", std::to_string(index)}}));
  }
  commit(6, {{"c", "6"}});
  EXPECT_EQ(rows_of(*before), (Rows{{"a", "1"}, {"b", "2"}})) << "a view changes with a later install";
  EXPECT_EQ(range_of(*before, {"a", ""}), (Rows{{"b", "2"}}));
  EXPECT_EQ(before->applied(), at(1));
  EXPECT_EQ(before->digest(), digest_of({{"a", "1"}, {"b", "2"}}));
}

TEST_P(StateStoreSuite, ACommitBetweenStagesIsOfTheStateBefore) {
  stage({"", "b"}, {{"a", "1"}});
  commit(1, {{"a", "0"}, {"z", "9"}});
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "0"}, {"z", "9"}}));
  stage({"b", ""}, {{"c", "2"}});
  ASSERT_TRUE(install(2, {{"a", "1"}, {"c", "2"}}));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}, {"c", "2"}}));
}

TEST_P(StateStoreSuite, CompletionsComeInTheOrderOfTheCalls) {
  using Reports = StateSinkProbe;
  store_->stage(Ticket(7), {"", "b"}, {{"a", "1"}});
  store_->commit({at(1), {{"x", "1"}}});
  store_->stage(Ticket(3), {"b", ""}, {{"c", std::string(1 << 20, 'x')}});
  store_->unstage();
  store_->stage(Ticket(5), {}, {{"d", "2"}});
  ASSERT_TRUE(probe_->wait_for(Reports::Staged{Ticket(5)}));
  store_->install(at(2), digest_of({{"d", "2"}}));
  store_->stage(Ticket(6), {}, {{"e", "2"}});
  ASSERT_TRUE(probe_->wait_for(Reports::Staged{Ticket(6)}));
  store_->install(at(3), digest_of({}));
  store_->stage(Ticket(7), {}, {});
  ASSERT_TRUE(probe_->wait_for(Reports::Staged{Ticket(7)}));
  EXPECT_EQ(probe_->reports(),
            (std::vector<Reports::Report>{Reports::Staged{Ticket(7)}, Reports::Checkpointed{at(1)}, Reports::Staged{Ticket(3)},
                                          Reports::Staged{Ticket(5)}, Reports::Installed{at(2)}, Reports::Staged{Ticket(6)},
                                          Reports::Refused{at(3)}, Reports::Staged{Ticket(7)}}))
      << "reports come in the order of the calls";
}

TEST_P(StateStoreSuite, AStateOfManyAndOfHugeRowsCanBeInstalledOverAnother) {
  Rows many;
  for (int i = 0; i < 10'000; ++i) many["key" + std::to_string(i)] = std::to_string(i);
  const Rows huge = {{"a", std::string(5 << 20, 'a')}, {"b", ""}, {std::string(64, 'z'), std::string(3 << 20, 'z')}};
  uint64_t index = 0;
  for (const Rows& rows : {many, huge, many}) {
    std::vector<CheckpointBatch::Row> chunk;
    for (const auto& [key, value] : rows) chunk.push_back({key, value});
    stage({}, std::move(chunk));
    ASSERT_TRUE(install(++index, rows));
    EXPECT_EQ(rows_of(*view()), rows);
  }
  EXPECT_EQ(reopen(), at(3));
  EXPECT_EQ(rows_of(*view()), many);
}

TEST_P(StateStoreSuite, RandomStagingAgreesWithMaps) {
  Rows live;
  Rows staged;
  uint64_t seed = 11;
  const auto random = [&seed](uint64_t below) {
    return (seed = seed * 6364136223846793005u + 1442695040888963407u) / 7 % below;
  };
  for (uint64_t step = 1; step <= 300; ++step) {
    switch (random(10)) {
      case 0: {
        const std::string key = std::to_string(random(60));
        commit(step, {{key, "c" + std::to_string(step)}});
        live[key] = "c" + std::to_string(step);
        break;
      }
      case 1:
        ASSERT_TRUE(install(step, staged));
        live = std::exchange(staged, {});
        break;
      case 2:
        ASSERT_FALSE(install(step, {{"not", "these"}}));
        staged.clear();
        break;
      case 3:
        reopen();
        staged.clear();
        break;
      default: {
        KeyRange range{std::to_string(random(60)), std::to_string(random(60))};
        if (range.upto <= range.after) std::swap(range.upto, range.after);
        if (random(4) == 0 || range.upto == range.after) range.upto.clear();
        Rows fresh;
        for (uint64_t i = random(20); i > 0; --i) fresh[std::to_string(random(60))] = std::to_string(step);
        std::vector<CheckpointBatch::Row> chunk;
        std::erase_if(staged, [&](const auto& row) { return range.contains(row.first); });
        for (auto& [key, value] : fresh) {
          if (!range.contains(key)) continue;
          chunk.push_back({key, value});
          staged[key] = value;
        }
        stage(range, std::move(chunk));
      }
    }
    ASSERT_EQ(rows_of(*view()), live) << step;
    ASSERT_EQ(view()->digest(), digest_of(live)) << step;
  }
}

// A running replica writes this when stored rows are damaged: the state in memory is the truth.
// Covers: FLT_D08
TEST_P(StateStoreSuite, AWholeBatchTakesThePlaceOfEveryRow) {
  commit(1, {{"a", "1"}, {"b", "2"}});
  stage({}, {{"c", "3"}});
  store_->commit({.applied = at(2), .rows = {{"b", "4"}, {"d", "5"}}, .whole = true});
  ASSERT_TRUE(probe_->wait_applied(at(2)));
  EXPECT_EQ(rows_of(*view()), (Rows{{"b", "4"}, {"d", "5"}})) << "a whole batch leaves rows of the state before";
  EXPECT_EQ(view()->digest(), digest_of({{"b", "4"}, {"d", "5"}}));
  EXPECT_EQ(reopen(), at(2));
  EXPECT_EQ(rows_of(*view()), (Rows{{"b", "4"}, {"d", "5"}}));
}

TEST_P(StateStoreSuite, AViewKnowsWhetherItsStateWasInstalled) {
  commit(1, {{"a", "1"}});
  EXPECT_FALSE(view()->installed()) << "a committed state says that it was installed";
  stage({}, {{"a", "2"}});
  ASSERT_TRUE(install(2, {{"a", "2"}}));
  EXPECT_TRUE(view()->installed()) << "an installed state does not say so";
  reopen();
  EXPECT_TRUE(view()->installed()) << "an installed state does not say so after a restart";
  commit(3, {{"a", "3"}});
  EXPECT_FALSE(view()->installed()) << "a commit ends that a state was installed";
}

TEST_P(StateStoreSuite, AScrubOfIntactRowsReadsThemAllAndStopsOnRequest) {
  commit(1, {{"a", std::string(1000, '1')}, {"b", std::string(1000, '2')}});
  size_t bytes = 0;
  const absl::Status all = store_->scrub([&bytes](size_t more) { return bytes += more, true; });
  EXPECT_TRUE(all.ok()) << "a scrub complains about intact rows: " << all.ToString();
  EXPECT_GE(bytes, 2000u) << "a scrub has read less than there is";
  EXPECT_TRUE(absl::IsAborted(store_->scrub([](size_t) { return false; }))) << "a scrub continues although it was told to stop";
}

TEST_P(StateStoreSuite, AViewMayOutliveTheClose) {
  commit(1, {{"a", "1"}, {"b", "2"}});
  const std::unique_ptr<CheckpointView> before = view();
  store_->close();
  SCOPED_TRACE("a view does not outlive close()");
  EXPECT_EQ(rows_of(*before), (Rows{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(before->applied(), at(1));
}

TEST_P(StateStoreSuite, CloseIsIdempotent) {
  commit(1, {{"a", "1"}});
  store_->close();
  store_->close();
  EXPECT_TRUE(probe_->failures().empty());
}

}  // namespace coordkit::testkit
