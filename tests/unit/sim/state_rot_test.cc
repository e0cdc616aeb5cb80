// Rot and errors in the simulated state store: never shown, never installed, found by the next open, gone once overwritten.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/world/state_disk.h"

namespace coordkit::sim {
namespace {

constexpr Position kFirst{Index(5), Term(1)};
constexpr Position kSecond{Index(9), Term(1)};

class StateRotTest : public ::testing::Test, protected StateSink {
 protected:
  StateRotTest() {
    EXPECT_TRUE(store_.open(*this).ok());
    commit(kFirst, "old");
  }

  void commit(Position at, std::string value) {
    CheckpointBatch batch{.applied = at};
    batch.put("key", std::move(value));
    store_.commit(std::move(batch));
    pass();
  }
  void stage(Ticket ticket) {
    store_.stage(ticket, {}, {{"key", "peers"}});
    pass();
  }
  void install() {
    RowDigest digest;
    digest.add("key", value_sum("key", "peers"));
    store_.install(kSecond, digest.value());
    pass();
  }
  void pass() {
    while (!world_.empty()) store_.synced(world_.pop());
  }
  // The one row as a view shows it; empty: an error.
  static std::string shown(const CheckpointView& view) {
    std::string found;
    const absl::Status status = view.scan("", [&](std::string_view, std::string_view value) {
      found = value;
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok() || (absl::IsDataLoss(status) && found.empty()));
    return found;
  }
  std::string shown() { return shown(**store_.view()); }

  World world_{1};
  SimStateStore store_{world_, 0, world_.fork_random()};
  int installed_ = 0, refused_ = 0, waiting_ = 0, committed_ = 0, failed_ = 0, damaged_ = 0, staged_ = 0;

 private:
  void checkpointed(Position) override { ++committed_; }
  void staged(Ticket) override { ++staged_; }
  void installed(Position) override { ++installed_; }
  void install_refused(Position, absl::Status) override { ++refused_; }
  void checkpoint_failed(absl::Status) override { ++failed_; }
  void checkpoint_damaged(absl::Status) override { ++damaged_; }
  void checkpoint_waits(absl::Status why) override { waiting_ = why.ok() ? 0 : waiting_ + 1; }
};

// Covers: FLT_D08
TEST_F(StateRotTest, ARottenRowIsNotShownByViewsOfAnyAge) {
  const auto before = store_.view();
  EXPECT_EQ(shown(**before), "old");
  ASSERT_TRUE(store_.disk().rot());
  EXPECT_FALSE(store_.disk().intact());
  EXPECT_EQ(shown(**before), "");
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(failed_, 0) << "the state in memory is the truth";
}

// Covers: FLT_D08
TEST_F(StateRotTest, AWholeBatchMakesEverythingSound) {
  ASSERT_TRUE(store_.disk().rot());
  store_.commit({.applied = kSecond, .rows = {{"other", "new"}}, .whole = true});
  pass();
  EXPECT_TRUE(store_.disk().intact());
  EXPECT_EQ(shown(), "new") << "the rows before it are gone";
}

TEST_F(StateRotTest, RotThatPassesIsGoneWithTheProcess) {
  ASSERT_TRUE(store_.disk().rot_passing());
  EXPECT_TRUE(store_.disk().intact()) << "its disk is";
  EXPECT_EQ(shown(), "");
  store_.crash();
  ASSERT_TRUE(store_.open(*this).ok());
  EXPECT_EQ(shown(), "old");
}

// Covers: FLT_D04
TEST_F(StateRotTest, ACommitWaitsForRoomAndGoesOn) {
  store_.set_full(true);
  commit(kSecond, "new");
  EXPECT_EQ(waiting_, 1);
  EXPECT_EQ(store_.applied(), kFirst);
  store_.set_full(false);
  pass();
  EXPECT_EQ(waiting_, 0);
  EXPECT_EQ(shown(), "new");
}

// Covers: FLT_D22
TEST_F(StateRotTest, AfterACommitThatFailedOnlyAWholeOneIsTaken) {
  store_.fail_next(1);
  commit(kSecond, "new");
  EXPECT_EQ(damaged_, 1);
  EXPECT_TRUE(store_.in_doubt());
  commit(kSecond, "newer");
  stage(Ticket(1));
  EXPECT_EQ(committed_, 1) << "the first of all";
  EXPECT_EQ(staged_, 0) << "it waits";
  store_.commit({.applied = kSecond, .rows = {{"key", "whole"}}, .whole = true});
  pass();
  EXPECT_EQ(committed_, 2);
  EXPECT_EQ(staged_, 1);
  EXPECT_FALSE(store_.in_doubt());
  EXPECT_EQ(shown(), "whole");
  EXPECT_EQ(failed_, 0);
}

// Covers: FLT_D22
TEST_F(StateRotTest, AWholeBatchThatFailsIsAskedForAgainAfterAPauseThatDoubles) {
  const auto whole = [&] {
    const TrueTime began = world_.now();
    store_.commit({.applied = kSecond, .rows = {{"key", "whole"}}, .whole = true});
    pass();
    return world_.now() - began;
  };
  store_.fail_next(4);
  commit(kSecond, "new");
  const std::string before = shown();
  EXPECT_GE(whole(), std::chrono::milliseconds(100));
  EXPECT_GE(whole(), std::chrono::milliseconds(200));
  EXPECT_EQ(waiting_, 2);
  EXPECT_EQ(shown(), before) << "of a file that failed nothing is kept";
  EXPECT_GE(whole(), std::chrono::milliseconds(400));
  EXPECT_EQ(damaged_, 4);
  whole();
  EXPECT_EQ(waiting_, 0);
  EXPECT_EQ(shown(), "whole");
  EXPECT_EQ(failed_, 0);
}

// Covers: FLT_D22
TEST_F(StateRotTest, ACommitThatFailedIsThereOrNot) {
  std::set<std::string> seen;
  for (uint64_t round = 1; round <= 40; ++round) {
    store_.commit({.applied = {Index(10 * round), Term(1)}, .rows = {{"key", "old"}}, .whole = true});
    pass();
    store_.fail_next(1);
    commit({Index(10 * round + 1), Term(1)}, "new");
    store_.crash();
    ASSERT_TRUE(store_.open(*this).ok());
    EXPECT_FALSE(store_.in_doubt());
    seen.insert(shown());
  }
  EXPECT_EQ(seen, (std::set<std::string>{"old", "new"}));
}

// Covers: FLT_D08
TEST_F(StateRotTest, AnOpenReadsEverything) {
  ASSERT_TRUE(store_.disk().rot());
  store_.crash();
  EXPECT_TRUE(absl::IsDataLoss(store_.open(*this).status()));
  store_.disk().lose();
  EXPECT_EQ(store_.open(*this).value(), Position());
}

TEST_F(StateRotTest, ARowThatIsWrittenAgainIsWhole) {
  ASSERT_TRUE(store_.disk().rot());
  commit(kSecond, "new");
  EXPECT_TRUE(store_.disk().intact());
  EXPECT_EQ(shown(), "new");
}

// Covers: FLT_D08
TEST_F(StateRotTest, WhatRottedWhenStagedIsNotInstalledAndMayBeFetchedAgain) {
  for (uint64_t attempt = 1; refused_ == 0; ++attempt) {  // whether the row or what is staged rots is drawn
    ASSERT_LT(attempt, 100u);
    stage(Ticket(attempt));
    ASSERT_TRUE(store_.disk().rot());
    install();
  }
  const int before = installed_;
  stage(Ticket(1000));
  install();
  EXPECT_EQ(installed_, before + 1);
  EXPECT_TRUE(store_.disk().intact()) << "other rows have taken the place of those that were rotten";
  EXPECT_EQ(shown(), "peers");
}

}  // namespace
}  // namespace coordkit::sim
