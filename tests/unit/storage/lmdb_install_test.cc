// A peer's state installed by the LMDB store while its disk fails, loses power, rots or fills up.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/random.h"
#include "base/row_map.h"
#include "coordkit/storage/lmdb_state_store.h"
#include "coordkit/testing/state_store_fixture.h"
#include "storage/state/lmdb_table.h"
#include "tests/unit/storage/lmdb_calls.h"
#include "tests/unit/storage/page_sizes.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

using storage::LmdbTable;

constexpr StoreId kInstalledStore{5};
constexpr Position kOld{Index(10), Term(2)};
constexpr Position kNew{Index(50), Term(3)};

std::vector<CheckpointBatch::Row> as_chunk(const Rows& rows) {
  std::vector<CheckpointBatch::Row> chunk;
  for (const auto& [key, value] : rows) chunk.push_back({key, value});
  return chunk;
}

Rows numbered(const std::string& text, int count, size_t bytes) {
  Rows rows;
  for (int i = 0; i < count; ++i) rows["key" + std::to_string(1000 + i)] = text + std::to_string(i) + std::string(bytes, '.');
  return rows;
}

const Rows kOldRows = numbered("old", 12, 900);
const Rows kNewRows = numbered("new", 20, 700);

class LmdbInstallTest : public ::testing::Test {
 protected:
  LmdbInstallTest() {
    std::filesystem::create_directory(path_);
    const auto table = open();
    EXPECT_TRUE(table.ok() && (*table)->write({kOld, as_chunk(kOldRows)}).ok());
  }
  // Small steps: every chunk takes several transactions.
  absl::StatusOr<std::shared_ptr<LmdbTable>> open(uint64_t map_bytes_max = 64 << 20) {
    return LmdbTable::open(
        {.path = path_, .store = kInstalledStore, .map_bytes_max = map_bytes_max, .views_max = 4, .step_bytes = 4 << 10});
  }
  static bool fits(const LmdbTable& table) {
    const absl::StatusOr<LmdbTable::Fit> fit = table.verify_staged(digest_of(kNewRows));
    return fit.ok() && *fit == LmdbTable::Fit::Fits;
  }
  // Stages in two ranges, one of them twice, installs, and empties the spare table.
  static absl::Status take_in(LmdbTable& table) {
    const KeyRange low{"", "key1009"};
    const KeyRange high{"key1009", ""};
    const Rows below(kNewRows.begin(), kNewRows.upper_bound("key1009"));
    const Rows above(kNewRows.upper_bound("key1009"), kNewRows.end());
    absl::Status status = table.stage(low, as_chunk(below));
    if (status.ok()) status = table.stage(high, as_chunk(kNewRows.empty() ? Rows() : Rows{{"key1010", "a torn chunk"}}));
    if (status.ok()) status = table.stage(high, as_chunk(above));
    if (status.ok() && !fits(table)) status = absl::InternalError("the staged rows are refused");
    if (status.ok()) status = table.install(kNew);
    while (status.ok() && table.stale()) status = table.erase_stale();
    return status;
  }
  // After an open there is one of the two states, all of it, and a state can be installed once more.
  void expect_whole(const std::string& where) {
    const auto table = open();
    ASSERT_TRUE(table.ok()) << where << table.status().ToString();
    {
      const auto view = (*table)->view();
      ASSERT_TRUE(view.ok()) << where << view.status().ToString();
      const Rows& expected = (*view)->applied() == kNew ? kNewRows : kOldRows;
      EXPECT_TRUE((*view)->applied() == kNew || (*view)->applied() == kOld) << where;
      ASSERT_EQ(rows_of(**view), expected) << where;
      ASSERT_EQ((*view)->digest(), digest_of(expected)) << where;
    }
    while ((*table)->stale()) ASSERT_TRUE((*table)->erase_stale().ok()) << where;
    ASSERT_TRUE(take_in(**table).ok()) << where;
  }
  std::string data() const {
    std::ifstream file(path_ + "/data.mdb", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void set_data(const std::string& bytes) const {
    std::ofstream(path_ + "/data.mdb", std::ios::binary | std::ios::trunc) << bytes;
  }
  // Flips a bit of every copy of this text in the file, under any process that has it open.
  void rot(const std::string& text) const {
    const std::string bytes = data();
    const int fd = ::open((path_ + "/data.mdb").c_str(), O_WRONLY);
    ASSERT_GE(fd, 0);
    for (size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) {
      const char flipped = static_cast<char>(bytes[at] ^ 1);
      ASSERT_EQ(::pwrite(fd, &flipped, 1, static_cast<off_t>(at)), 1);
    }
    ::close(fd);
  }

  TemporaryDirectory parent_;
  const std::string path_ = parent_ / "state";
};

// Covers: FLT_D03 FLT_D16
TEST_F(LmdbInstallTest, AnyCallThatFailsIsReportedAndLeavesOneState) {
  const std::string start = data();
  uint64_t installed = 0;
  uint64_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    set_data(start);
    {
      const auto table = open();
      ASSERT_TRUE(table.ok()) << table.status().ToString();
      const LmdbCalls calls(failing);
      const absl::Status status = take_in(**table);
      failed = calls.made() >= failing;
      EXPECT_EQ(status.ok(), !failed) << failing;
    }
    const auto table = open();
    ASSERT_TRUE(table.ok()) << failing << table.status().ToString();
    if ((*table)->applied() == kNew) ++installed;
    expect_whole("call " + std::to_string(failing) + " failed: ");
  }
  EXPECT_GT(failing, 40u) << "the calls are not seen";
  EXPECT_GT(installed, 5u) << "erasing what was before can fail too";
}

// Power is lost after every change: what was synced is there, and any part of the rest.
// Covers: FLT_D16 REG_F34 INV_S03
TEST_F(LmdbInstallTest, ACrashAnywhereLeavesTheOldOrTheNewState) {
  const std::string start = data();
  std::vector<LmdbCalls::Change> changes;
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    const LmdbCalls calls;
    ASSERT_TRUE(take_in(**table).ok());
    changes = calls.changes();
  }
  Random random(7);
  std::string durable = start;
  std::vector<const LmdbCalls::Change*> unsynced;
  const auto apply = [](std::string& image, const LmdbCalls::Change& change) {
    image.resize(std::max(image.size(), change.offset + change.bytes.size()));
    image.replace(change.offset, change.bytes.size(), change.bytes);
  };
  bool was_new = false;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].bytes.empty()) {
      for (const LmdbCalls::Change* change : unsynced) apply(durable, *change);
      unsynced.clear();
    } else if (changes[i].durable) {
      apply(durable, changes[i]);
    } else {
      unsynced.push_back(&changes[i]);
    }
    for (int variant = 0; variant < 3; ++variant) {
      std::string image = durable;
      for (const LmdbCalls::Change* change : unsynced) {
        if (variant == 1 || (variant == 2 && random.chance(0.5))) apply(image, *change);
      }
      set_data(image);
      const std::string where = "crash after change " + std::to_string(i) + ", variant " + std::to_string(variant) + ": ";
      expect_whole(where);
      if (variant != 0) continue;
      set_data(image);
      const auto table = open();
      ASSERT_TRUE(table.ok());
      const bool is_new = (*table)->applied() == kNew;
      EXPECT_TRUE(is_new || !was_new) << where << "an installed state is gone";
      was_new = is_new;
    }
  }
  EXPECT_TRUE(was_new);
  EXPECT_GT(changes.size(), 40u);
}

// Covers: FLT_D08
TEST_F(LmdbInstallTest, RotUnderAnOpenViewIsNeverVisited) {
  const auto table = open();
  ASSERT_TRUE(table.ok());
  const auto view = (*table)->view();
  ASSERT_TRUE(view.ok());
  rot("old7");
  Rows seen;
  const auto visit = [&](std::string_view key, std::string_view value) {
    seen.emplace(key, value);
    return absl::OkStatus();
  };
  EXPECT_TRUE(absl::IsDataLoss((*view)->scan("", visit)));
  EXPECT_TRUE(absl::IsDataLoss((*view)->scan_range({"key1005", "key1008"}, visit)));
  EXPECT_EQ(seen, Rows(kOldRows.begin(), kOldRows.find("key1007")));
  EXPECT_TRUE((*view)->scan_range({"key1007", ""}, visit).ok()) << "the other ranges can be sent";
}

// Covers: FLT_D08
TEST_F(LmdbInstallTest, RotInStagedRowsIsNotInstalled) {
  const auto table = open();
  ASSERT_TRUE(table.ok());
  ASSERT_TRUE((*table)->stage({}, as_chunk(kNewRows)).ok());
  rot("new7");
  EXPECT_FALSE(fits(**table));
  (*table)->unstage();
  while ((*table)->stale()) ASSERT_TRUE((*table)->erase_stale().ok());
  EXPECT_TRUE(take_in(**table).ok()) << "rows sent again are good again";
}

// Covers: FLT_D08
TEST_F(LmdbInstallTest, RotInTheSpareTableAtOpenIsErasedNotFeared) {
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    ASSERT_TRUE((*table)->stage({}, as_chunk(kNewRows)).ok());
  }
  rot("new7");
  const auto table = open();
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ((*table)->applied(), kOld);
  EXPECT_TRUE((*table)->stale());
  while ((*table)->stale()) ASSERT_TRUE((*table)->erase_stale().ok());
  EXPECT_TRUE(take_in(**table).ok());
}

// Covers: FLT_D04
TEST_F(LmdbInstallTest, AMapTooSmallForBothStatesFailsTheStageAndKeepsTheState) {
  {
    const auto table = open(1 << 20);
    ASSERT_TRUE(table.ok());
    const absl::Status status = (*table)->stage({}, as_chunk(numbered("big", 40, 100'000)));
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status.ToString();
  }
  expect_whole("with a larger map: ");
}

// A view pins every page that was live when it began.
// Covers: FLT_D04
TEST_F(LmdbInstallTest, AnOldViewCanFillTheMapAndItsEndMakesRoomAgain) {
  absl::Status status;
  {
    const auto table = open(1 << 20);
    ASSERT_TRUE(table.ok());
    const auto view = (*table)->view();
    for (int i = 0; status.ok() && i < 1000; ++i) status = (*table)->write({kOld, as_chunk(kOldRows)});
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status.ToString();
    EXPECT_EQ(rows_of(**view), kOldRows);
  }
  const auto table = open(1 << 20);
  ASSERT_TRUE(table.ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE((*table)->write({kOld, as_chunk(kOldRows)}).ok()) << i;
}

// Covers: FLT_P25
TEST_F(LmdbInstallTest, AMapThatIsFullGrowsWhileViewsReadTheStateBefore) {
  const auto table = open(uint64_t{1} << 30);
  ASSERT_TRUE(table.ok());
  const auto before = (*table)->view();
  ASSERT_TRUE(before.ok());
  const Rows large = numbered("large", 40, 400'000);
  ASSERT_TRUE((*table)->write({kNew, as_chunk(large)}).ok());
  EXPECT_EQ(rows_of(**before), kOldRows);
  const auto after = (*table)->view();
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(rows_of(**after), large);
  EXPECT_EQ((*after)->digest(), digest_of(large));
  EXPECT_TRUE((*table)->scrub([](size_t) { return true; }).ok());
}

// Covers: FLT_P25
TEST_F(LmdbInstallTest, StagedRowsMakeTheMapGrowAndAreCountedOnce) {
  const Rows large = numbered("large", 40, 400'000);
  {
    const auto table = open(uint64_t{1} << 30);
    ASSERT_TRUE(table.ok());
    ASSERT_TRUE((*table)->stage({}, as_chunk(large)).ok());
    const absl::StatusOr<LmdbTable::Fit> fit = (*table)->verify_staged(digest_of(large));
    ASSERT_TRUE(fit.ok());
    EXPECT_EQ(*fit, LmdbTable::Fit::Fits);
    ASSERT_TRUE((*table)->install(kNew).ok());
    while ((*table)->stale()) ASSERT_TRUE((*table)->erase_stale().ok());
  }
  const auto table = open(1 << 20);  // what there is may be more than the limit
  ASSERT_TRUE(table.ok());
  const auto view = (*table)->view();
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(rows_of(**view), large);
}

// LMDB's pages are as large as those of the machine that made the file, 32 KiB at most.
// Covers: FLT_V04
TEST_F(LmdbInstallTest, ACheckpointThatWasMadeWithPagesOfAnotherSizeIsReadAndWritten) {
  for (const size_t made : {size_t{4} << 10, size_t{16} << 10, size_t{64} << 10}) {
    for (const size_t moved : {size_t{4} << 10, size_t{16} << 10, size_t{64} << 10}) {
      const std::string where = std::to_string(made) + " to " + std::to_string(moved) + ": ";
      std::filesystem::remove_all(path_);
      std::filesystem::create_directory(path_);
      {
        const PagesOf pages(made);
        const auto table = open();
        ASSERT_TRUE(table.ok()) << where << table.status();
        ASSERT_TRUE((*table)->write({kOld, as_chunk(kOldRows)}).ok()) << where;
      }
      const PagesOf pages(moved);
      expect_whole(where);
      expect_whole(where);
    }
  }
}

// So much of it is mapped from here on.
void touch_stack() {
  volatile char bytes[1 << 20];
  for (size_t i = 0; i < sizeof bytes; i += 4096) bytes[i] = 0;
}

// In a process of its own, whose heap and stack have room, so that only what is mapped is refused.
// Covers: FLT_P25
TEST_F(LmdbInstallTest, WithoutAddressSpaceAWriteWaitsAndIsDoneOnceThereIsSome) {
  const Rows large = numbered("large", 40, 400'000);
  const pid_t child = ::fork();
  if (child == 0) {
    ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
    ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
    std::free(std::malloc(200 << 20));
    touch_stack();
    const auto table = open(uint64_t{1} << 30);
    if (!table.ok()) ::_exit(2);
    const CheckpointBatch batch{kNew, as_chunk(large)};
    rlimit limit = {1, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);
    const absl::Status waits = (*table)->write(batch);
    limit.rlim_cur = RLIM_INFINITY;
    ::setrlimit(RLIMIT_AS, &limit);
    if (!absl::IsUnavailable(waits) || waits.message().find("address space") == std::string_view::npos) ::_exit(3);
    ::_exit((*table)->write(batch).ok() ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const auto table = open();
  ASSERT_TRUE(table.ok());
  const auto view = (*table)->view();
  ASSERT_TRUE(view.ok());
  EXPECT_EQ((*view)->digest(), digest_of(large));
}

const StateSinkProbe::Report kInstalled = StateSinkProbe::Installed{kNew};

// Covers: FLT_D03
TEST(LmdbStateStoreTest, AStageOrInstallThatFailsIsReportedOnceAndNothingIsInstalled) {
  for (uint64_t failing = 1; failing <= 12; ++failing) {
    TemporaryDirectory parent;
    const auto directory = DataDirectory::open({.path = parent / "data", .cluster = "orders"});
    ASSERT_TRUE(directory.ok());
    StateSinkProbe probe;
    LmdbStateStore store(*directory, {.map_bytes_max = 64 << 20});
    ASSERT_TRUE(store.open(probe).ok());
    const LmdbCalls calls(failing);
    store.stage(Ticket(1), {"", "a"}, {{"a", "1"}});
    store.stage(Ticket(2), {"a", ""}, {{"b", "2"}});
    store.install(kNew, digest_of({{"a", "1"}, {"b", "2"}}));
    const auto installed = [&probe] { return !probe.reports().empty() && probe.reports().back() == kInstalled; };
    while (!installed() && probe.damages().empty()) std::this_thread::yield();
    const bool was_installed = installed();  // the next stage reports, too
    store.stage(Ticket(3), {}, {});
    store.close();
    const bool failed = !probe.damages().empty();
    EXPECT_TRUE(failed ? calls.made() >= failing : was_installed) << failing;
    EXPECT_LE(probe.damages().size(), 1u) << failing;
    EXPECT_TRUE(probe.failures().empty()) << "the state in memory is the truth";
  }
}

// Commits as soon as an install is over, before the store can turn to anything else.
class EagerSink final : public StateSink {
 public:
  void checkpointed(Position applied) override {
    calls_at_commit_ = calls_.made();
    probe.checkpointed(applied);
  }
  void staged(Ticket ticket) override { probe.staged(ticket); }
  void installed(Position applied) override {
    calls_at_install_ = calls_.made();
    store->commit({{applied.index.next(), applied.term}, {{"b", "2"}}});
  }
  void install_refused(Position, absl::Status why) override { ADD_FAILURE() << why; }
  void checkpoint_failed(absl::Status why) override { ADD_FAILURE() << why; }

  uint64_t calls_of_commit() const { return calls_at_commit_ - calls_at_install_; }
  uint64_t calls_since_commit() const { return calls_.made() - calls_at_commit_; }

  StateSinkProbe probe;
  StateStore* store = nullptr;

 private:
  const LmdbCalls calls_;
  std::atomic<uint64_t> calls_at_install_{0};
  std::atomic<uint64_t> calls_at_commit_{0};
};

TEST(LmdbStateStoreTest, ACommitGoesBeforeTheErasingOfTheStateBefore) {
  TemporaryDirectory parent;
  const auto directory = DataDirectory::open({.path = parent / "data", .cluster = "orders"});
  ASSERT_TRUE(directory.ok());
  EagerSink sink;
  LmdbStateStore store(*directory, {.map_bytes_max = 256 << 20});
  sink.store = &store;
  ASSERT_TRUE(store.open(sink).ok());
  store.stage(Ticket(1), {}, as_chunk(numbered("old", 40, 1 << 20)));
  store.install(kOld, digest_of(numbered("old", 40, 1 << 20)));
  ASSERT_TRUE(sink.probe.wait_applied({kOld.index.next(), kOld.term}));
  store.stage(Ticket(2), {}, {{"a", "1"}});
  ASSERT_TRUE(sink.probe.wait_for(StateSinkProbe::Staged{Ticket(2)}));
  store.install(kNew, digest_of({{"a", "1"}}));
  ASSERT_TRUE(sink.probe.wait_applied({kNew.index.next(), kNew.term}));
  store.stage(Ticket(3), {}, {});
  ASSERT_TRUE(sink.probe.wait_for(StateSinkProbe::Staged{Ticket(3)}));
  EXPECT_LT(sink.calls_of_commit(), 12u);
  EXPECT_GT(sink.calls_since_commit(), 40u) << "the erasing came later, in steps";
  store.close();
}

}  // namespace
}  // namespace coordkit::testkit
