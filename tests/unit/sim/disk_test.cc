// The simulated log store: real recovery over a hostile disk, and the model that checks what it finds.
#include "sim/world/disk.h"

#include <gtest/gtest.h>

#include <set>

#include "coordkit/testing/entries.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

using testkit::entries;

class Sink final : public LogSink {
 public:
  void written(WriteNumber number) override { durable = number; }
  void log_read(Index, absl::StatusOr<std::vector<raft::Entry>> entries) override { read = std::move(entries); }
  void log_failed(absl::Status why) override { failures.push_back(std::move(why)); }
  void log_space(LogSpace now) override { space = now; }
  void log_waits(absl::Status why) override { waits.push_back(std::move(why)); }
  void log_spare_fails(absl::Status why) override { spare_fails.push_back(std::move(why)); }

  WriteNumber durable;
  std::vector<absl::Status> failures, waits, spare_fails;
  LogSpace space = LogSpace::Ample;
  absl::StatusOr<std::vector<raft::Entry>> read = absl::UnknownError("not yet");
};

class SimLogStoreTest : public ::testing::Test {
 protected:
  SimLogStoreTest() { prepare(store_); }

  static void prepare(SimLogStore& store) {
    store.disk().set_history([](Position) { return 0; });
    store.disk().bytes().set_options({.segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10});
  }
  RecoveredLog open() {
    sink_ = {};
    number_ = 0;
    last_ = store_.durable().last();
    absl::StatusOr<RecoveredLog> recovered = store_.open(sink_);
    EXPECT_TRUE(recovered.ok()) << recovered.status().ToString();
    if (recovered.ok() && !recovered->entries.empty()) last_ = recovered->entries.back().index;
    return recovered.ok() ? *recovered : RecoveredLog{};
  }
  void append(uint64_t count) {
    store_.submit({.number = WriteNumber(++number_), .entries = entries(last_.value() + 1, count, 1, 100)});
    last_ = last_ + count;
  }
  void pass(Duration time = std::chrono::milliseconds(50)) {
    for (const TrueTime end = world_.now() + time; !world_.empty() && world_.next_time() <= end;) {
      const Event event = world_.pop();
      if (event.kind == EventKind::LogSynced) store_.synced(event);
      if (event.kind == EventKind::LogReadDone) store_.read_done(event);
      if (event.kind == EventKind::LogIdle) store_.idle(event);
    }
  }
  void acknowledged(uint64_t writes) {
    for (uint64_t i = 0; i < writes; ++i) {
      append(1);
      pass();
    }
    ASSERT_EQ(sink_.durable, WriteNumber(number_));
  }

  World world_{1};
  SimLogStore store_{world_, 0, StoreId(7), Random(3)};
  Sink sink_;
  uint64_t number_ = 0;
  Index last_;
};

// Covers: FLT_P01 FLT_P02 INV_S01
TEST_F(SimLogStoreTest, WhatWasAcknowledgedIsThereAfterAnyCrashAndAPrefixOfTheRest) {
  open();
  std::set<uint64_t> more;
  for (int round = 0; round < 60; ++round) {
    acknowledged(2);
    const uint64_t sure = last_.value();
    for (int i = 0; i < 3; ++i) append(1);
    store_.crash(round % 2 == 0 ? CrashKind::Power : CrashKind::Process);
    const RecoveredLog found = open();
    ASSERT_EQ(found.entries.size(), last_.value());
    ASSERT_GE(last_.value(), sure);
    more.insert(last_.value() - sure);
  }
  EXPECT_GE(more.size(), 3u) << "every length of the tail";
}

// The next open finds in the cache what the disk does not have, and must write it again before it is relied on.
// Covers: FLT_D03
TEST_F(SimLogStoreTest, AFailedSyncIsFinalAndWhatTheCacheStillShowsIsWrittenAgain) {
  size_t shown = 0;
  for (int round = 0; round < 30; ++round) {
    open();
    acknowledged(1);
    const uint64_t sure = last_.value();
    append(1);
    store_.disk().damage().set_faults({.sync_errors = 1'000'000});
    pass();
    ASSERT_EQ(sink_.failures.size(), 1u);
    append(1);
    pass();
    ASSERT_EQ(sink_.failures.size(), 1u) << "once";
    ASSERT_EQ(sink_.durable, WriteNumber(1));
    store_.disk().damage().set_faults({});
    store_.crash(CrashKind::Process);
    open();
    const uint64_t found = last_.value();
    ASSERT_GE(found, sure);
    shown += found > sure ? 1 : 0;
    store_.crash(CrashKind::Power);
    open();
    ASSERT_EQ(last_.value(), found) << "shown once, gone with the power";
    store_.crash(CrashKind::Power);
  }
  EXPECT_GT(shown, 10u);
}

// Covers: FLT_D04
TEST_F(SimLogStoreTest, WritesWaitForSpaceAndGoOnWhenThereIsSome) {
  open();
  acknowledged(1);
  store_.disk().damage().set_faults({.bytes_max = store_.disk().bytes().files().bytes()});
  for (int i = 0; i < 40; ++i) {
    append(1);
    pass();
  }
  EXPECT_EQ(sink_.space, LogSpace::Full);
  EXPECT_LT(sink_.durable, WriteNumber(number_));
  EXPECT_FALSE(store_.failed());
  store_.disk().damage().set_faults({});
  pass(std::chrono::seconds(1));
  EXPECT_EQ(sink_.durable, WriteNumber(number_));
  EXPECT_EQ(sink_.space, LogSpace::Ample);
}

// Covers: FLT_D22
TEST_F(SimLogStoreTest, ASpareThatFailsIsMadeAgainAndNothingWaits) {
  for (uint64_t after = 0; after < 12; ++after) {
    open();
    store_.disk().bytes().fail_spares(after, 1);
    acknowledged(600);  // some segments
    EXPECT_EQ(sink_.failures.size(), 0u);
    ASSERT_EQ(sink_.spare_fails.size(), 2u) << "after " << after << " other calls";
    EXPECT_TRUE(absl::IsDataLoss(sink_.spare_fails[0])) << sink_.spare_fails[0];
    EXPECT_TRUE(sink_.spare_fails[1].ok()) << sink_.spare_fails[1];
    store_.crash(CrashKind::Power);
    open();
    store_.crash(CrashKind::Power);
  }
}

// Covers: FLT_D22
TEST_F(SimLogStoreTest, WritesWaitWhereNoFileCanBeMadeAndGoOnOnceThereIsOne) {
  open();
  store_.disk().bytes().fail_spares(0, 40);
  acknowledged(600);
  EXPECT_EQ(sink_.failures.size(), 0u);
  ASSERT_GE(sink_.waits.size(), 2u);
  EXPECT_TRUE(absl::IsUnavailable(sink_.waits.front())) << sink_.waits.front();
  EXPECT_TRUE(sink_.waits.back().ok());
}

// The checker can fail: nothing explains the end of this log.
// Covers: INV_S10
TEST_F(SimLogStoreTest, ALogThatErrorsOfSparesEndIsReported) {
  open();
  store_.disk().bytes().fail_spares(0, 1'000'000);
  EXPECT_THROW(acknowledged(1'000), Violation) << "it took the disk to be lost, after as many tries as it has";
}

// Covers: FLT_D04
TEST_F(SimLogStoreTest, CompactionFreesSpaceForWhatWaits) {
  open();
  acknowledged(30);
  store_.disk().damage().set_faults({.bytes_max = store_.disk().bytes().files().bytes()});
  for (int i = 0; i < 40; ++i) {
    append(1);
    pass();
  }
  ASSERT_EQ(sink_.space, LogSpace::Full);
  store_.compact({store_.durable().last(), Term(1)});
  pass(std::chrono::seconds(1));
  EXPECT_EQ(sink_.durable, WriteNumber(number_));
}

// Covers: FLT_D02 FLT_D06 INV_S04
TEST_F(SimLogStoreTest, RotBelowTheMarkIsNamedAndNeverServed) {
  uint64_t holes = 0;
  for (int round = 0; round < 40; ++round) {
    prepare(store_);
    open();
    acknowledged(20);
    ASSERT_TRUE(store_.disk().damage().rot());
    EXPECT_FALSE(store_.disk().damage().intact());
    store_.read(Index(1), last_, 1 << 20);
    pass();
    ASSERT_NE(sink_.read.status().code(), absl::StatusCode::kUnknown) << "answered, with what was written or an error";
    store_.crash(CrashKind::Power);
    const RecoveredLog found = open();
    EXPECT_EQ(store_.disk().damage().intact(), found.damaged.empty());
    holes += found.damaged.size();
    store_.crash(CrashKind::Power);
    store_.lose(StoreId(8));
    EXPECT_TRUE(store_.disk().damage().intact());
  }
  EXPECT_GT(holes, 10u);
}

// Covers: FLT_D10
TEST_F(SimLogStoreTest, ADiskThatLiedAndLostSomethingWithoutATraceIsOneThatWasSetBack) {
  open();
  acknowledged(3);
  store_.disk().damage().set_faults({.lying_syncs = true});
  acknowledged(3);
  EXPECT_FALSE(store_.disk().damage().intact());
  store_.crash(CrashKind::Power);
  store_.disk().damage().set_faults({});
  size_t calls = 0;
  store_.disk().set_forgetful([&](const LogDisk::Image& now) {
    ++calls;
    EXPECT_EQ(now.log.last(), Index(3));
    EXPECT_EQ(store_.durable().last(), Index(6)) << "what it was to have";
  });
  EXPECT_EQ(open().entries.size(), 3u);
  EXPECT_EQ(calls, 1u);
  EXPECT_FALSE(store_.disk().damage().intact());
  EXPECT_FALSE(store_.stands_for(store_.id()));
  EXPECT_EQ(store_.durable().last(), Index(3));
}

// Covers: FLT_D21
TEST_F(SimLogStoreTest, FilesThatAreGoneLeaveAnEmptyLogOrHolesOrAShorterOne) {
  using Files = LogDamage::Files;
  EXPECT_FALSE(store_.disk().damage().lose_files(Files::All)) << "there are none yet";
  open();
  acknowledged(3);
  store_.crash(CrashKind::Process);
  ASSERT_TRUE(store_.disk().damage().lose_files(Files::All));
  EXPECT_FALSE(store_.disk().damage().intact());
  const RecoveredLog found = open();
  EXPECT_TRUE(found.entries.empty());
  EXPECT_EQ(found.hard_state, raft::HardState());
  EXPECT_FALSE(store_.stands_for(store_.id()));
}

// Covers: FLT_D10
TEST_F(SimLogStoreTest, ADiskThatLiedAndLostNothingIsSoundAgain) {
  open();
  acknowledged(3);
  store_.disk().damage().set_faults({.lying_syncs = true});
  pass();
  store_.disk().damage().set_faults({});
  store_.crash(CrashKind::Power);
  EXPECT_EQ(open().entries.size(), 3u);
  EXPECT_TRUE(store_.disk().damage().intact());
}

// Covers: FLT_D05
TEST_F(SimLogStoreTest, AReadErrorIsAnAnswerAndTheLogLivesOn) {
  open();
  acknowledged(3);
  store_.disk().damage().set_faults({.read_errors = 1'000'000});
  store_.read(Index(1), Index(3), 1 << 20);
  pass();
  EXPECT_TRUE(absl::IsDataLoss(sink_.read.status()));
  store_.disk().damage().set_faults({});
  store_.read(Index(1), Index(3), 1 << 20);
  pass();
  ASSERT_TRUE(sink_.read.ok());
  EXPECT_EQ(sink_.read->size(), 3u);
}

// Covers: FLT_D05
TEST_F(SimLogStoreTest, ADiskThatCannotBeReadDoesNotOpenAndOpensLater) {
  open();
  acknowledged(3);
  store_.crash(CrashKind::Process);
  store_.disk().damage().set_faults({.read_errors = 1'000'000});
  EXPECT_FALSE(store_.open(sink_).ok());
  EXPECT_TRUE(store_.disk().damage().intact());
  store_.disk().damage().set_faults({});
  EXPECT_EQ(open().entries.size(), 3u);
}

// Covers: FLT_P15 FLT_P18
TEST_F(SimLogStoreTest, AnImageIsTheWholeDiskAndOpensElsewhere) {
  open();
  acknowledged(5);
  const LogDisk::Image image = store_.disk().image();
  acknowledged(5);
  store_.crash(CrashKind::Power);
  store_.restore(image);
  EXPECT_EQ(open().entries.size(), 5u);

  SimLogStore other(world_, 1, StoreId(9), Random(4));
  prepare(other);
  other.restore(image);
  const absl::StatusOr<RecoveredLog> copied = other.open(sink_);
  ASSERT_TRUE(copied.ok());
  EXPECT_EQ(copied->store, StoreId(7));
  EXPECT_EQ(copied->entries.size(), 5u);
}

// The checker can fail: bytes that go missing behind its back are a violation.
// Covers: INV_S01
TEST_F(SimLogStoreTest, RecoveryThatFindsLessThanWasAcknowledgedIsReported) {
  open();
  acknowledged(5);
  store_.crash(CrashKind::Power);
  LogDisk::Image image = store_.disk().image();
  for (auto& [name, bytes] : image.files) {
    for (size_t at = 2 * kPageBytes; at < bytes.size(); ++at) bytes[at] = '\0';
  }
  store_.restore(image);
  EXPECT_THROW(static_cast<void>(store_.open(sink_)), Violation);
}

}  // namespace
}  // namespace coordkit::sim
