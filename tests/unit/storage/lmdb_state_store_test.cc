#include "coordkit/storage/lmdb_state_store.h"

#include <gtest/gtest.h>
#include <lmdb.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "coordkit/testing/sink_probes.h"
#include "storage/state/lmdb_table.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

constexpr StoreId kTableStore{5};
constexpr Position kApplied{Index(10), Term(2)};

class LmdbTableTest : public ::testing::Test {
 protected:
  LmdbTableTest() { std::filesystem::create_directory(path_); }

  absl::StatusOr<std::shared_ptr<storage::LmdbTable>> open(StoreId store = kTableStore, uint64_t map_bytes_max = 64 << 20) {
    return storage::LmdbTable::open({.path = path_, .store = store, .map_bytes_max = map_bytes_max, .views_max = 4});
  }
  void fill(int rows = 50) {
    const auto table = open();
    ASSERT_TRUE(table.ok()) << table.status().ToString();
    CheckpointBatch batch{.applied = kApplied};
    for (int i = 0; i < rows; ++i) batch.put("key" + std::to_string(i), "value number " + std::to_string(i));
    ASSERT_TRUE((*table)->write(batch).ok());
  }
  // Changes a table behind the store's back, as rot would, but in pages that LMDB itself accepts.
  void tamper(const char* table, std::string key, const std::string* value) {
    MDB_env* environment = nullptr;
    ASSERT_EQ(mdb_env_create(&environment), 0);
    mdb_env_set_maxdbs(environment, 3);
    ASSERT_EQ(mdb_env_open(environment, path_.c_str(), 0, 0640), 0);
    MDB_txn* txn = nullptr;
    MDB_dbi dbi = 0;
    ASSERT_EQ(mdb_txn_begin(environment, nullptr, 0, &txn), 0);
    ASSERT_EQ(mdb_dbi_open(txn, table, 0, &dbi), 0);
    MDB_val k{key.size(), key.data()};
    if (value != nullptr) {
      MDB_val v{value->size(), const_cast<char*>(value->data())};
      ASSERT_EQ(mdb_put(txn, dbi, &k, &v, 0), 0);
    } else {
      ASSERT_EQ(mdb_del(txn, dbi, &k, nullptr), 0);
    }
    ASSERT_EQ(mdb_txn_commit(txn), 0);
    mdb_env_close(environment);
  }
  std::string data() const {
    std::ifstream file(path_ + "/data.mdb", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void set_data(const std::string& bytes) const {
    std::ofstream(path_ + "/data.mdb", std::ios::binary | std::ios::trunc) << bytes;
  }

  TemporaryDirectory parent_;
  const std::string path_ = parent_ / "state";
};

// Covers: FLT_D08 INV_S04
TEST_F(LmdbTableTest, AChangedAddedOrMissingRowIsNoticedAtOpen) {
  fill();
  const std::string good = data();
  const std::string garbage = "eightbyt and more";
  tamper("rows-a", "key7", &garbage);
  EXPECT_TRUE(absl::IsDataLoss(open().status()));
  set_data(good);
  EXPECT_TRUE(open().ok());
  tamper("rows-a", "key7", nullptr);
  EXPECT_TRUE(absl::IsDataLoss(open().status())) << "a row is missing";
  set_data(good);
  std::string value(8, '\0');
  const uint64_t sum = value_sum("extra", "row");
  std::memcpy(value.data(), &sum, 8);
  value += "row";
  tamper("rows-a", "extra", &value);
  EXPECT_TRUE(absl::IsDataLoss(open().status())) << "a row with a good sum, but not in the digest";
  set_data(good);
  tamper("meta", "checkpoint", nullptr);
  EXPECT_TRUE(absl::IsDataLoss(open().status()));
}

// Covers: FLT_D08
TEST_F(LmdbTableTest, AFlippedBitInAnyValueIsNoticed) {
  fill();
  const std::string good = data();
  for (int i = 0; i < 50; i += 7) {
    std::string bytes = good;
    const std::string value = "value number " + std::to_string(i);
    for (size_t at = bytes.find(value); at != std::string::npos; at = bytes.find(value, at + 1)) bytes[at + 3] ^= 1;
    set_data(bytes);
    EXPECT_TRUE(absl::IsDataLoss(open().status())) << i;
  }
}

// Covers: INV_S02
TEST_F(LmdbTableTest, OpeningTwiceIsOpeningOnce) {
  fill();
  ASSERT_TRUE(open().ok());
  const std::string once = data();
  const auto again = open();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->applied(), kApplied);
  EXPECT_EQ(data(), once);
}

// Covers: FLT_D13
TEST_F(LmdbTableTest, TheStateOfAnotherStoreIsRefused) {
  fill();
  const std::string before = data();
  EXPECT_TRUE(absl::IsFailedPrecondition(open(StoreId(6)).status()));
  EXPECT_EQ(data(), before);
}

// Covers: FLT_D13
TEST_F(LmdbTableTest, AForeignDatabaseOrFileIsRefusedUntouched) {
  MDB_env* environment = nullptr;
  ASSERT_EQ(mdb_env_create(&environment), 0);
  ASSERT_EQ(mdb_env_open(environment, path_.c_str(), 0, 0640), 0);
  MDB_txn* txn = nullptr;
  MDB_dbi dbi = 0;
  ASSERT_EQ(mdb_txn_begin(environment, nullptr, 0, &txn), 0);
  ASSERT_EQ(mdb_dbi_open(txn, nullptr, 0, &dbi), 0);
  MDB_val bytes{4, const_cast<char*>("mine")};
  ASSERT_EQ(mdb_put(txn, dbi, &bytes, &bytes, 0), 0);
  ASSERT_EQ(mdb_txn_commit(txn), 0);
  mdb_env_close(environment);
  const std::string before = data();
  EXPECT_TRUE(absl::IsFailedPrecondition(open().status()));
  EXPECT_EQ(data(), before);
  std::ofstream(path_ + "/notes.txt") << "mine";
  EXPECT_TRUE(absl::IsFailedPrecondition(open().status()));
  EXPECT_EQ(data(), before);
}

// Covers: FLT_D14
TEST_F(LmdbTableTest, ANewerFormatIsRefused) {
  fill();
  std::string newer(64, '\0');
  newer[0] = 9;
  tamper("meta", "checkpoint", &newer);
  EXPECT_TRUE(absl::IsFailedPrecondition(open().status()));
}

// Covers: FLT_D11
TEST_F(LmdbTableTest, AShortOrOverwrittenFileIsNotTakenForAnEmptyCheckpoint) {
  fill();
  const std::string good = data();
  set_data(std::string(good.size(), 'x'));
  EXPECT_FALSE(open().ok());
  set_data(good.substr(0, 100));
  EXPECT_FALSE(open().ok());
}

TEST_F(LmdbTableTest, BadKeysAreRefusedAndNothingOfTheBatchIsWritten) {
  fill();
  for (const std::string& key : {std::string(), std::string(65, 'k')}) {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    CheckpointBatch batch{.applied = {Index(11), Term(2)}};
    batch.put("good", "1");
    batch.put(key, "2");
    EXPECT_TRUE(absl::IsInvalidArgument((*table)->write(batch)));
  }
  const auto table = open();
  ASSERT_TRUE(table.ok());
  EXPECT_EQ((*table)->applied(), kApplied);
}

// Covers: FLT_D04
TEST_F(LmdbTableTest, AFullMapIsResourceExhaustedAndTheCheckpointBeforeStays) {
  fill();
  {
    const auto table = open(kTableStore, 1 << 20);
    ASSERT_TRUE(table.ok());
    CheckpointBatch batch{.applied = {Index(11), Term(2)}};
    for (int i = 0; i < 40; ++i) batch.put("big" + std::to_string(i), std::string(100'000, 'x'));
    const absl::Status status = (*table)->write(batch);
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status.ToString();
  }
  const auto table = open();
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ((*table)->applied(), kApplied);
}

// A process dies with a read transaction open; its slot must not pin pages forever.
// Covers: FLT_D12
TEST_F(LmdbTableTest, DeadReadersAreClearedAtOpen) {
  fill();
  for (int round = 0; round < 6; ++round) {  // more than views_max
    const pid_t child = ::fork();
    if (child == 0) {
      const auto table = open();
      if (!table.ok() || !(*table)->view().ok()) ::_exit(1);
      const auto view = (*table)->view();
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  const auto table = open();
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_TRUE((*table)->view().ok());
}

// Covers: FLT_D12
TEST_F(LmdbTableTest, FilesCopiedWithTheirLockFileCanBeOpened) {
  fill();
  std::filesystem::copy(path_, parent_ / "copy", std::filesystem::copy_options::recursive);
  const auto copy =
      storage::LmdbTable::open({.path = parent_ / "copy", .store = kTableStore, .map_bytes_max = 64 << 20, .views_max = 4});
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  EXPECT_EQ((*copy)->applied(), kApplied);
}

// The copy's lock file names a reader, of a live process that has nothing to do with the copy.
// Covers: FLT_D12
TEST_F(LmdbTableTest, FilesCopiedUnderAnOpenViewPinNoPages) {
  fill();
  const auto table = open();
  ASSERT_TRUE(table.ok());
  const auto view = (*table)->view();
  ASSERT_TRUE(view.ok());
  std::filesystem::copy(path_, parent_ / "copy", std::filesystem::copy_options::recursive);
  const auto copy =
      storage::LmdbTable::open({.path = parent_ / "copy", .store = kTableStore, .map_bytes_max = 1 << 20, .views_max = 4});
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  CheckpointBatch batch{.applied = {Index(11), Term(2)}};
  for (int i = 0; i < 50; ++i) batch.put("key" + std::to_string(i), std::string(1000, 'x'));
  for (int i = 0; i < 60; ++i) ASSERT_TRUE((*copy)->write(batch).ok()) << i;
}

// A child commits forever and is killed; whatever is there belongs to one position.
// Covers: REG_F34 FLT_D16 INV_S03
TEST_F(LmdbTableTest, AKilledWriterLeavesTheOldOrTheNewCheckpoint) {
  fill(0);
  for (int round = 0; round < 5; ++round) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto table = open();
      if (!table.ok()) ::_exit(1);
      for (uint64_t i = (*table)->applied().index.value() + 1;; ++i) {
        CheckpointBatch batch{.applied = {Index(i), Term(2)}};
        for (int row = 0; row < 20; ++row) batch.put("row" + std::to_string(row), std::to_string(i));
        if (!(*table)->write(batch).ok() || ::write(ready[1], "x", 1) != 1) ::_exit(1);
      }
    }
    char byte = 0;
    for (int i = 0; i < 3 + round; ++i) ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    const auto table = open();
    ASSERT_TRUE(table.ok()) << table.status().ToString();
    const auto view = (*table)->view();
    ASSERT_TRUE(view.ok());
    ASSERT_TRUE((*view)
                    ->scan("row",
                           [&](std::string_view, std::string_view value) {
                             EXPECT_EQ(value, std::to_string((*view)->applied().index.value()));
                             return absl::OkStatus();
                           })
                    .ok());
  }
}

// Covers: FLT_D04
TEST(LmdbStateStoreTest, AFailedCommitIsReportedOnceAndFinal) {
  TemporaryDirectory parent;
  const auto directory = DataDirectory::open({.path = parent / "data", .cluster = "orders"});
  ASSERT_TRUE(directory.ok());
  StateSinkProbe probe;
  LmdbStateStore store(*directory, {.map_bytes_max = 1 << 20});
  ASSERT_TRUE(store.open(probe).ok());
  CheckpointBatch batch{.applied = kApplied};
  batch.put("big", std::string(4 << 20, 'x'));
  store.commit(std::move(batch));
  ASSERT_TRUE(probe.wait_failed());
  store.commit({.applied = {Index(11), Term(2)}});
  store.close();
  EXPECT_EQ(probe.failures().size(), 1u);
  EXPECT_TRUE(absl::IsResourceExhausted(probe.failures()[0])) << probe.failures()[0].ToString();
}

TEST(LmdbStateStoreTest, AViewMayOutliveTheStore) {
  TemporaryDirectory parent;
  auto directory = DataDirectory::open({.path = parent / "data", .cluster = "orders"});
  ASSERT_TRUE(directory.ok());
  StateSinkProbe probe;
  auto store = std::make_unique<LmdbStateStore>(*std::move(directory), LmdbStateOptions{.map_bytes_max = 1 << 20});
  ASSERT_TRUE(store->open(probe).ok());
  store->commit({.applied = kApplied, .rows = {{"a", "1"}}});
  ASSERT_TRUE(probe.wait_applied(kApplied));
  const auto view = store->view();
  store.reset();
  EXPECT_EQ((*view)->applied(), kApplied);
  EXPECT_TRUE((*view)->scan("", [](std::string_view, std::string_view) { return absl::OkStatus(); }).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(DataDirectory::open({.path = parent / "data", .cluster = "orders"}).status()))
      << "and keeps the directory locked";
}

}  // namespace
}  // namespace coordkit::testkit
