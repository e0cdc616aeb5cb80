#include "coordkit/storage/segmented_log_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "base/random.h"
#include "coordkit/error.h"
#include "coordkit/testing/entries.h"
#include "coordkit/testing/sink_probes.h"
#include "log/log.h"
#include "tests/unit/log/recording_fs.h"
#include "tests/unit/log/shared_disk.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

constexpr StoreId kLogStore{77};
constexpr SegmentedLogOptions kSmall{.segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10};

TEST(SegmentedLogStoreTest, BadOptionsAreASentence) {
  for (const SegmentedLogOptions& options :
       {SegmentedLogOptions{.segment_bytes = 1000}, SegmentedLogOptions{.small_segment_bytes = 128 << 20},
        SegmentedLogOptions{.batch_bytes_max = 0}, SegmentedLogOptions{.idle_before_mark = std::chrono::milliseconds(-1)}}) {
    SharedDisk disk;
    LogSinkProbe probe;
    SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), options);
    EXPECT_TRUE(absl::IsInvalidArgument(store.open(probe).status()));
  }
}

// Covers: FLT_D03
TEST(SegmentedLogStoreTest, AFailedSyncIsReportedOnceAndNothingLaterIsAttempted) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  ASSERT_TRUE(store.open(probe).ok());
  store.submit({.number = WriteNumber(1), .entries = entries(1, 1, 1)});
  ASSERT_TRUE(probe.wait_written(WriteNumber(1)));
  // From here on every call fails: whichever comes first is final.
  disk.with([](RecordingFs& fs) { fs.fail_all_calls(absl::DataLossError("EIO")); });
  for (uint64_t i = 2; i < 50; ++i) store.submit({.number = WriteNumber(i), .entries = entries(i, 1, 1)});
  ASSERT_TRUE(probe.wait_failed());
  for (uint64_t i = 50; i < 60; ++i) store.submit({.number = WriteNumber(i), .entries = entries(i, 1, 1)});
  store.close();
  EXPECT_EQ(probe.written(), WriteNumber(1));
  EXPECT_EQ(probe.failures().size(), 1u);
}

// Covers: FLT_D06
TEST(SegmentedLogStoreTest, AScrubNamesWhatIsRottenAndAFailedStoreAnswersToo) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  ASSERT_TRUE(store.open(probe).ok());
  for (uint64_t i = 1; i <= 30; ++i) store.submit({.number = WriteNumber(i), .entries = entries(i, 1, 1)});
  ASSERT_TRUE(probe.wait_written(WriteNumber(30)));
  const auto scrub = [&store](Index from) {
    std::promise<LogScrub> answer;
    store.scrub(from, [&answer](LogScrub found) { answer.set_value(std::move(found)); });
    return answer.get_future().get();
  };
  const LogScrub intact = scrub(Index(1));
  EXPECT_FALSE(intact.first_bad);
  EXPECT_FALSE(intact.next) << "it was short";
  EXPECT_GT(intact.bytes, 0u);
  disk.with([](RecordingFs& fs) { fs.fail_all_calls(absl::DataLossError("EIO")); });
  const LogScrub rotten = scrub(Index(10));
  EXPECT_EQ(rotten.first_bad, Index(10));
  EXPECT_EQ(rotten.last_bad, Index(30));
  EXPECT_TRUE(absl::IsDataLoss(rotten.why));
  store.submit({.number = WriteNumber(31), .entries = entries(31, 1, 1)});
  ASSERT_TRUE(probe.wait_failed());
  EXPECT_FALSE(scrub(Index(1)).next);
  store.close();
}

// Covers: FLT_A18
TEST(SegmentedLogStoreTest, AnAllocationThatFailsOnItsThreadFailsTheStoreAndEndsNoProcess) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  ASSERT_TRUE(store.open(probe).ok());
  store.submit({.number = WriteNumber(1), .entries = entries(1, 1, 1)});
  ASSERT_TRUE(probe.wait_written(WriteNumber(1)));
  store.scrub(Index(1), [](const LogScrub&) { throw std::bad_alloc(); });  // runs on that thread
  ASSERT_TRUE(probe.wait_failed());
  store.submit({.number = WriteNumber(2), .entries = entries(2, 1, 1)});
  store.close();
  ASSERT_EQ(probe.failures().size(), 1u);
  EXPECT_EQ(reason_of(probe.failures().front()), Reason::OutOfMemory);
  EXPECT_EQ(probe.written(), WriteNumber(1));
}

// Covers: FLT_D04
TEST(SegmentedLogStoreTest, WritesWaitForSpaceAndGoOnAfterCompactionOrRelief) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  disk.with([](RecordingFs& fs) { fs.limit_space(100 << 10); });
  ASSERT_TRUE(store.open(probe).ok());
  uint64_t index = 0;
  while (store.space() != LogSpace::Full && index < 1000) {
    ++index;
    store.submit({.number = WriteNumber(index), .entries = entries(index, 1, 1)});
    while (store.space() != LogSpace::Full && probe.written() < WriteNumber(index)) std::this_thread::yield();
  }
  ASSERT_EQ(store.space(), LogSpace::Full);
  EXPECT_EQ(probe.written(), WriteNumber(index - 1));
  EXPECT_TRUE(probe.failures().empty()) << "no space is not a failure";
  EXPECT_TRUE(probe.wait_space(LogSpace::Full)) << "the sink is notified";
  disk.with([](RecordingFs& fs) { fs.limit_space(10 << 20); });
  EXPECT_TRUE(probe.wait_written(WriteNumber(index)));
  EXPECT_TRUE(probe.wait_space(LogSpace::Ample));
  store.close();
  EXPECT_TRUE(probe.failures().empty());
}

// The disk stays as full as it is: two segments, and no room for a third one.
// Covers: FLT_D04
TEST(SegmentedLogStoreTest, ASegmentThatCompactionFreesIsRoomAsWell) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  disk.with([](RecordingFs& fs) { fs.limit_space(140 << 10); });
  ASSERT_TRUE(store.open(probe).ok());
  const auto has_spare = [&disk] {
    const auto names = disk.with([](RecordingFs& fs) { return fs.list(); });
    return std::ranges::any_of(*names, [](const std::string& name) { return name.ends_with(".spare"); });
  };
  uint64_t index = 0;
  const auto write = [&] {
    ++index;
    store.submit({.number = WriteNumber(index), .entries = entries(index, 1, 1, 4000)});
    return probe.wait_written(WriteNumber(index));
  };
  while (!has_spare()) std::this_thread::yield();
  for (int round = 0; round < 3; ++round) {
    while (has_spare()) ASSERT_TRUE(write());
    ASSERT_TRUE(probe.wait_space(LogSpace::Low)) << "the second segment is in use";
    store.compact({Index(index - 1), Term(1)});
    ASSERT_TRUE(write() && write());
    EXPECT_TRUE(has_spare()) << "it was the first one";
    ASSERT_TRUE(probe.wait_space(LogSpace::Ample));
  }
  store.close();
  EXPECT_TRUE(probe.failures().empty());
}

// One of two takes the room first: the write that waits, or the thread that makes segments for later.
// Covers: FLT_D04
TEST(SegmentedLogStoreTest, RoomForOneSegmentIsEnoughForAWriteThatWaits) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  size_t room = 140 << 10;
  disk.with([&](RecordingFs& fs) { fs.limit_space(room); });
  ASSERT_TRUE(store.open(probe).ok());
  uint64_t index = 0;
  for (int round = 0; round < 8; ++round) {
    while (store.space() != LogSpace::Full) {
      ++index;
      store.submit({.number = WriteNumber(index), .entries = entries(index, 1, 1, 4000)});
      while (store.space() != LogSpace::Full && probe.written() < WriteNumber(index)) std::this_thread::yield();
    }
    room += 64 << 10;
    disk.with([&](RecordingFs& fs) { fs.limit_space(room); });
    ASSERT_TRUE(probe.wait_written(WriteNumber(index))) << "in round " << round;
    while (store.space() == LogSpace::Full) std::this_thread::yield();
  }
  store.close();
  EXPECT_TRUE(probe.failures().empty());
}

// Covers: FLT_P14
TEST(SegmentedLogStoreTest, WritesWaitForADescriptorAndNothingIsSaidOfTheDisk) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  ASSERT_TRUE(store.open(probe).ok());
  disk.with([](RecordingFs& fs) { fs.fail_calls("open", make_error(Reason::LimitExceeded, "injected")); });
  constexpr uint64_t kWrites = 100;
  for (uint64_t i = 1; i <= kWrites; ++i) store.submit({.number = WriteNumber(i), .entries = entries(i, 1, 1, 4000)});
  while (disk.with([](RecordingFs& fs) { return fs.calls_failed(); }) < 8 && probe.failures().empty()) {
    std::this_thread::yield();
  }
  EXPECT_EQ(store.space(), LogSpace::Ample);
  EXPECT_LT(probe.written(), WriteNumber(kWrites));
  disk.with([](RecordingFs& fs) { fs.fail_calls("", absl::OkStatus()); });
  EXPECT_TRUE(probe.wait_written(WriteNumber(kWrites)));
  store.close();
  EXPECT_TRUE(probe.failures().empty());
  EXPECT_EQ(store.space(), LogSpace::Ample);
  const std::vector<absl::Status> waits = probe.waits();
  ASSERT_EQ(waits.size(), 2u) << "the first of all the tries, and the end";
  EXPECT_EQ(reason_of(waits[0]), Reason::LimitExceeded);
  EXPECT_TRUE(waits[1].ok());
}

// Covers: FLT_D04
TEST(SegmentedLogStoreTest, NoSpaceAtOpenIsResourceExhausted) {
  SharedDisk disk;
  LogSinkProbe probe;
  disk.with([](RecordingFs& fs) { fs.limit_space(1000); });
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  EXPECT_TRUE(absl::IsResourceExhausted(store.open(probe).status()));
}

// It holds nothing yet: another one is created.
// Covers: FLT_D11
TEST(SegmentedLogStoreTest, ASpareThatIsRemovedOrCutShortIsThrownAway) {
  const auto spoilings = {+[](const std::filesystem::path& spare) { std::filesystem::remove(spare); },
                          +[](const std::filesystem::path& spare) { std::filesystem::resize_file(spare, 100); }};
  for (const auto spoil : spoilings) {
    TemporaryDirectory parent;
    const auto directory = DataDirectory::open({.path = parent / "data", .cluster = "orders"});
    ASSERT_TRUE(directory.ok());
    LogSinkProbe probe;
    SegmentedLogStore store(*directory, kSmall);
    ASSERT_TRUE(store.open(probe).ok());
    uint64_t spoiled = 0;
    for (uint64_t index = 1; index <= 3000 && (spoiled < 3 || index % 500 != 0); ++index) {
      for (const auto& file : std::filesystem::directory_iterator(parent / "data/log")) {
        if (file.path().extension() != ".spare" || spoiled >= 3) continue;
        spoil(file.path());
        ++spoiled;
      }
      store.submit({.number = WriteNumber(index), .entries = entries(index, 1, 1)});
      ASSERT_TRUE(probe.wait_written(WriteNumber(index))) << index;
    }
    store.close();
    EXPECT_TRUE(probe.failures().empty());
    EXPECT_EQ(spoiled, 3u);
  }
}

// Covers: FLT_D22
TEST(SegmentedLogStoreTest, ErrorsOfASpareCostTheSpareAndAreSaid) {
  RecordingFs empty;
  empty.fail_spares(0, 0, absl::OkStatus());
  ASSERT_TRUE(log::Log::open(empty, {.store = kLogStore, .segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10}).ok());
  for (uint64_t failing = 1; failing <= 4; ++failing) {  // its creation, a write, a sync, its name
    SharedDisk disk;
    LogSinkProbe probe;
    SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
    disk.with([&](RecordingFs& fs) { fs.fail_spares(empty.spare_calls() + failing, 3, absl::DataLossError("EIO")); });
    ASSERT_TRUE(store.open(probe).ok());
    ASSERT_TRUE(probe.wait_spare(false)) << failing;
    ASSERT_TRUE(probe.wait_spare(true)) << "it is made again";
    for (uint64_t i = 1; i <= 40; ++i) store.submit({.number = WriteNumber(i), .entries = entries(i, 1, 1, 4000)});
    EXPECT_TRUE(probe.wait_written(WriteNumber(40)));
    store.close();
    EXPECT_TRUE(probe.failures().empty()) << probe.failures().front();
  }
}

// Covers: FLT_D22
TEST(SegmentedLogStoreTest, WithoutASpareSegmentsAreMadeOnTheSpotOrWritesWaitAndSayWhy) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  ASSERT_TRUE(store.open(probe).ok());
  disk.with([](RecordingFs& fs) { fs.fail_spares(1, 1'000'000, absl::DataLossError("EIO")); });
  for (uint64_t i = 1; i <= 60; ++i) store.submit({.number = WriteNumber(i), .entries = entries(i, 1, 1, 4000)});
  ASSERT_TRUE(probe.wait_spare(false));
  while (probe.waits().empty() && probe.failures().empty()) std::this_thread::yield();
  ASSERT_TRUE(probe.failures().empty()) << probe.failures().front();
  EXPECT_NE(probe.waits().front().message().find("check this disk"), std::string_view::npos);
  EXPECT_EQ(store.space(), LogSpace::Ample) << "it is not a matter of room";
  disk.with([](RecordingFs& fs) { fs.fail_spares(0, 0, absl::OkStatus()); });
  EXPECT_TRUE(probe.wait_written(WriteNumber(60)));
  EXPECT_TRUE(probe.wait_spare(true));
  store.close();
  EXPECT_TRUE(probe.failures().empty());
}

// Its writes would continue in files that have no name, and be gone with the process.
// Covers: FLT_D23
TEST(SegmentedLogStoreTest, FilesRemovedMovedOrReplacedUnderARunningLogAreNoticedWithoutAWrite) {
  const auto each_segment = [](const std::filesystem::path& log, auto act) {
    std::vector<std::filesystem::path> segments;
    for (const auto& file : std::filesystem::directory_iterator(log)) {
      if (file.path().extension() == ".seg") segments.push_back(file.path());
    }
    for (const auto& segment : segments) act(segment);
  };
  const std::vector<std::function<void(const std::filesystem::path&)>> spoilings = {
      [](const std::filesystem::path& log) { std::filesystem::remove_all(log); },
      [](const std::filesystem::path& log) { std::filesystem::rename(log, log.string() + ".away"); },
      [&](const std::filesystem::path& log) { each_segment(log, [](const auto& file) { std::filesystem::remove(file); }); },
      [&](const std::filesystem::path& log) {
        each_segment(log, [](const auto& file) { std::filesystem::rename(file, file.string() + ".away"); });
      },
      [&](const std::filesystem::path& log) {
        each_segment(log, [](const auto& file) {
          std::filesystem::copy(file, file.string() + ".copy");
          std::filesystem::rename(file.string() + ".copy", file);
        });
      }};
  for (const auto& spoil : spoilings) {
    TemporaryDirectory parent;
    const auto directory = DataDirectory::open({.path = parent / "data", .cluster = "orders"});
    ASSERT_TRUE(directory.ok());
    LogSinkProbe probe;
    SegmentedLogStore store(*directory, kSmall);
    ASSERT_TRUE(store.open(probe).ok());
    store.submit({.number = WriteNumber(1), .entries = entries(1, 1, 1)});
    ASSERT_TRUE(probe.wait_written(WriteNumber(1)));
    spoil(std::filesystem::path(parent / "data/log"));
    ASSERT_TRUE(probe.wait_failed());
    EXPECT_NE(probe.failures().front().message().find("replace this member"), std::string_view::npos)
        << probe.failures().front();
    store.close();
  }
}

// Covers: REG_F32 INV_S01
TEST(SegmentedLogStoreTest, EveryAcknowledgedWriteSurvivesAPowerCutAtThatMoment) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  ASSERT_TRUE(store.open(probe).ok());
  Random random(5);
  uint64_t index = 0;
  for (uint64_t number = 1; number <= 60; ++number) {
    const uint64_t count = random.between(1, 3);
    store.submit({.number = WriteNumber(number), .entries = entries(index + 1, count, 1)});
    index += count;
    ASSERT_TRUE(probe.wait_written(WriteNumber(number)));
    RecordingFs after(disk.with([](RecordingFs& fs) { return fs.crash(fs.changes().size(), [] { return false; }); }));
    const auto opened = log::Log::open(after, {.store = kLogStore, .segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10});
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    ASSERT_EQ(opened->entries, entries(1, index, 1));
  }
  store.close();
}

TEST(SegmentedLogStoreTest, WhatTheIndexTakesIsKnownFromTheOpenOn) {
  SharedDisk disk;
  LogSinkProbe probe;
  {
    SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
    ASSERT_TRUE(store.open(probe).ok());
    store.submit({.number = WriteNumber(1), .entries = entries(1, 500, 1)});
    ASSERT_TRUE(probe.wait_written(WriteNumber(1)));
    store.close();
  }
  SegmentedLogStore again(kLogStore, BootCounter(2), disk.factory(), kSmall);
  ASSERT_TRUE(again.open(probe).ok());
  EXPECT_GT(again.index_bytes(), 500u);  // at least some for each entry, and nothing has been written yet
  again.close();
}

// After the idle time a mark is written, so that rot in the last acknowledged batch is not taken for a torn tail.
// Covers: FLT_D02
TEST(SegmentedLogStoreTest, AnIdleStorePutsItsLastBatchBelowAMark) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  ASSERT_TRUE(store.open(probe).ok());
  store.submit({.number = WriteNumber(1), .entries = entries(1, 1, 1, 500)});
  ASSERT_TRUE(probe.wait_written(WriteNumber(1)));
  store.close();  // the mark is written now at the latest
  Image image = disk.with([](RecordingFs& fs) { return fs.now(); });
  for (auto& [file, bytes] : image.files) {
    const size_t payload = bytes.find(entries(1, 1, 1, 500)[0].payload.view());
    if (payload != std::string::npos) bytes[payload] ^= 1;
  }
  RecordingFs rotten(image);
  const auto opened = log::Log::open(rotten, {.store = kLogStore, .segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10});
  ASSERT_TRUE(opened.ok());
  ASSERT_EQ(opened->damaged.size(), 1u);
  const raft::Entry lost = entries(1, 1, 1, 500)[0];
  EXPECT_EQ(opened->damaged[0], (DamagedEntry{lost.index, lost.term, lost.content_sum}));
}

// A store whose caller lends its thread, and whose own threads do nothing of their own accord. No mark is due for an hour. The
// preparer, whose file system is the second that is made, has no space for the next segment.
struct DeferredWriteTest : ::testing::Test {
  static constexpr SegmentedLogOptions kQuiet{
      .segment_bytes = 1 << 20, .small_segment_bytes = 1 << 20, .idle_before_mark = std::chrono::hours(1)};
  SharedDisk disk;
  SharedDisk full;
  LogSinkProbe probe;
  std::optional<SegmentedLogStore> store;
  uint64_t last = 0;

  void open(SegmentedLogOptions options = kQuiet) {
    full.with([](RecordingFs& fs) { fs.limit_space(0); });
    const auto files = [this, made = 0]() mutable { return (made++ == 0 ? disk : full).factory()(); };
    store.emplace(kLogStore, BootCounter(1), files, options);
    ASSERT_TRUE(store->open(probe).ok());
  }
  LogWrite next(size_t bytes = 10) {
    ++last;
    return {.number = WriteNumber(last), .entries = entries(last, 1, 1, bytes)};
  }
  // The disk thread may still be about to fall asleep; it writes what is not deferred.
  void defer_one() {
    while (!store->defer(next())) ASSERT_TRUE(probe.wait_written(WriteNumber(last)));
  }
};

TEST_F(DeferredWriteTest, IsDurableOnceItIsPerformedAndNotBefore) {
  open();
  for (int i = 0; i < 20; ++i) {
    defer_one();
    const uint64_t calls = disk.with([](RecordingFs& fs) { return fs.calls(); });
    EXPECT_LT(probe.written(), WriteNumber(last));
    store->perform_deferred();
    EXPECT_EQ(probe.written(), WriteNumber(last)) << "and reported from here";
    EXPECT_EQ(disk.with([](RecordingFs& fs) { return fs.calls(); }), calls + 2) << "written and synced";
    store->perform_deferred();  // not owed
  }
  EXPECT_TRUE(probe.in_order());
}

TEST_F(DeferredWriteTest, IsTakenAlongByWhatComesBeforeItIsPerformed) {
  open();
  defer_one();
  EXPECT_FALSE(store->defer(next())) << "one is owed";
  EXPECT_TRUE(probe.wait_written(WriteNumber(last)));
  store->perform_deferred();
  defer_one();
  store->read(Index(1), Index(1), 1 << 20);
  EXPECT_TRUE(probe.wait_read(Index(1)).ok());
  EXPECT_TRUE(probe.wait_written(WriteNumber(last)));
  store->perform_deferred();
  EXPECT_EQ(probe.written(), WriteNumber(last));
  EXPECT_TRUE(probe.in_order());
}

TEST_F(DeferredWriteTest, IsFinishedByClose) {
  open();
  defer_one();
  store->close();
  EXPECT_EQ(probe.written(), WriteNumber(last));
  store->perform_deferred();
  EXPECT_FALSE(store->defer(next()));
  EXPECT_EQ(probe.written(), WriteNumber(last - 1));
}

// Covers: FLT_D03
TEST_F(DeferredWriteTest, ThatFailsIsFinalAsAnyOther) {
  open();
  defer_one();
  disk.with([](RecordingFs& fs) { fs.fail_all_calls(absl::DataLossError("EIO")); });
  store->perform_deferred();
  EXPECT_TRUE(probe.wait_failed());
  EXPECT_FALSE(store->defer(next()));
  store->close();
  EXPECT_EQ(probe.written(), WriteNumber(last - 2));
  EXPECT_EQ(probe.failures().size(), 1u);
}

TEST_F(DeferredWriteTest, IsNoneThatNeedsAnotherSegment) {
  open();
  defer_one();
  store->perform_deferred();
  EXPECT_FALSE(store->defer(next(1 << 20)));
  EXPECT_TRUE(probe.wait_written(WriteNumber(last)));
}

TEST_F(DeferredWriteTest, IsNoneWhereNoSyncIsQuickEnough) {
  SegmentedLogOptions options = kQuiet;
  options.quick_sync = std::chrono::microseconds(0);
  open(options);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(store->defer(next()));
    EXPECT_TRUE(probe.wait_written(WriteNumber(last)));
  }
}

// Covers: INV_S07
TEST(SegmentedLogStoreTest, CompactionKeepsTheDiskBounded) {
  SharedDisk disk;
  LogSinkProbe probe;
  SegmentedLogStore store(kLogStore, BootCounter(1), disk.factory(), kSmall);
  ASSERT_TRUE(store.open(probe).ok());
  for (uint64_t index = 1; index <= 400; ++index) {
    store.submit({.number = WriteNumber(index), .entries = entries(index, 1, 1)});
    ASSERT_TRUE(probe.wait_written(WriteNumber(index)));
    if (index % 10 == 0) store.compact({Index(index - 5), Term(1)});
  }
  store.close();
  EXPECT_LE(disk.with([](RecordingFs& fs) { return fs.now().names.size(); }), 6u);
}

}  // namespace
}  // namespace coordkit::testkit
