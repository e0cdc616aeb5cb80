// Whatever happens to the file of a checkpoint, this process lives: it is read with plain reads and trusted only where it
// verifies, before LMDB sees it (docs/decisions/0020). A test that fails here mostly does so by ending the program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "base/random.h"
#include "coordkit/error.h"
#include "coordkit/storage/lmdb_state_store.h"
#include "coordkit/testing/sink_probes.h"
#include "storage/state/lmdb_table.h"
#include "tests/unit/storage/directory_syncs.h"
#include "tests/unit/storage/lmdb_calls.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

constexpr size_t kPage = 4096;
constexpr StoreId kStore{5};
using Rows = std::map<std::string, std::string>;

absl::StatusOr<Rows> rows_in(storage::LmdbTable& table) {
  const auto view = table.view();
  if (!view.ok()) return view.status();
  Rows rows;
  absl::Status status = (*view)->scan("", [&](std::string_view key, std::string_view value) {
    rows.emplace(key, value);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return rows;
}

// Sparse up to a length that no disk has.
class LongFile final : public File {
 public:
  explicit LongFile(std::string bytes) : bytes_(std::move(bytes)) {}
  absl::Status pwrite(uint64_t, std::string_view) override { return absl::UnimplementedError("read only"); }
  absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override {
    std::string read = offset < bytes_.size() ? bytes_.substr(offset, length) : std::string();
    read.resize(length);
    return read;
  }
  absl::Status sync() override { return absl::OkStatus(); }
  absl::StatusOr<uint64_t> size() const override { return uint64_t{1} << 62; }

 private:
  const std::string bytes_;
};

class LmdbDamageTest : public ::testing::Test {
 protected:
  LmdbDamageTest() { std::filesystem::create_directory(path_); }

  storage::LmdbTable::Options options() const {
    return {.path = path_, .store = kStore, .map_bytes_max = 64 << 20, .views_max = 8, .step_bytes = 16 << 10};
  }
  absl::StatusOr<std::shared_ptr<storage::LmdbTable>> open() const { return storage::LmdbTable::open(options()); }

  // Branch pages, large values, free pages and staged rows: everything that LMDB may stumble over.
  void fill(storage::LmdbTable& table, int rounds = 6) {
    for (int round = 0; round < rounds; ++round) ASSERT_TRUE(table.write(next_batch(120)).ok());
    ASSERT_TRUE(table.stage({"", ""}, staged_).ok());
  }
  CheckpointBatch next_batch(int rows) {
    CheckpointBatch batch{.applied = {Index(++index_), Term(2)}};
    std::set<std::string> keys;
    for (int i = 0; i < rows; ++i) {
      std::string key = "key " + std::to_string(random_.below(2000));
      key.resize(20 + random_.below(40), '.');
      if (!keys.insert(key).second) continue;
      if (random_.chance(0.3)) {
        batch.erase(key);
        rows_.erase(key);
      } else {
        const size_t size = random_.chance(0.05) ? 3000 + random_.below(20'000) : random_.below(300);
        rows_[key] = std::string(size, static_cast<char>('a' + random_.below(26)));
        batch.put(key, rows_[key]);
      }
    }
    return batch;
  }
  CheckpointBatch whole() const {
    CheckpointBatch batch{.applied = {Index(index_), Term(2)}};
    for (const auto& [key, value] : rows_) batch.put(key, value);
    batch.whole = true;
    return batch;
  }

  std::string file() const { return path_ + "/data.mdb"; }
  std::string data() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void set_data(const std::string& bytes) const { std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes; }
  // Into the file in place, under any process that has it open.
  void overwrite(uint64_t at, const std::string& bytes) const {
    const int fd = ::open(file().c_str(), O_WRONLY);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)), static_cast<ssize_t>(bytes.size()));
    ::close(fd);
  }
  std::string noise(size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_.below(256));
    return bytes;
  }

  // A damaged file is refused with a sentence, or it is as good as new: the same rows, and writable.
  void expect_refused_or_intact(const std::string& spoiled, const std::string& what) {
    set_data(spoiled);
    const auto table = open();
    if (!table.ok()) {
      EXPECT_FALSE(table.status().message().empty()) << what;
      ++refused_;
      return;
    }
    if ((*table)->applied().index.value() == index_) {
      const absl::StatusOr<Rows> rows = rows_in(**table);
      ASSERT_TRUE(rows.ok()) << what << rows.status().ToString();
      ASSERT_EQ(*rows, rows_) << what;
    }
    CheckpointBatch batch{.applied = {Index(index_ + 1), Term(2)}};
    for (const auto& [key, value] : rows_) {
      if (key.size() % 3 == 0) batch.erase(key);
    }
    batch.put("new", std::string(9000, 'n'));
    for (int step = 0; step < 50 && (*table)->stale(); ++step) ASSERT_TRUE((*table)->erase_stale().ok()) << what;
    ASSERT_TRUE((*table)->write(batch).ok()) << what;
    ++intact_;
  }

  TemporaryDirectory parent_;
  const std::string path_ = parent_ / "state";
  Random random_{7};
  uint64_t index_ = 0;
  Rows rows_;
  const std::vector<CheckpointBatch::Row> staged_{{"staged 1", "value"}, {"staged 2", std::string(9000, 's')}};
  int refused_ = 0;
  int intact_ = 0;
};

// Covers: FLT_D08
TEST_F(LmdbDamageTest, AnyPageThatIsZeroOrNoiseAtOpenIsRefusedOrNeedless) {
  {
    const auto table = open();
    ASSERT_TRUE(table.ok()) << table.status().ToString();
    fill(**table);
  }
  const std::string good = data();
  for (size_t page = 0; page < good.size() / kPage; ++page) {
    std::string bytes = good;
    expect_refused_or_intact(bytes.replace(page * kPage, kPage, kPage, '\0'), "zero page " + std::to_string(page));
    bytes = good;
    expect_refused_or_intact(bytes.replace(page * kPage, kPage, noise(kPage)), "noise in page " + std::to_string(page));
  }
  EXPECT_GT(refused_, 100);
  EXPECT_GT(intact_, 10) << "free pages are needless";
}

// Covers: FLT_D08 FLT_D11
TEST_F(LmdbDamageTest, AFileCutAnywhereIsRefusedOrNeedless) {
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    fill(**table);
  }
  const std::string good = data();
  for (size_t size = 1; size < good.size(); size += 1 + random_.below(2 * kPage)) {
    expect_refused_or_intact(good.substr(0, size), "cut to " + std::to_string(size));
  }
  EXPECT_GT(refused_, 50);
}

// Covers: FLT_D11
TEST_F(LmdbDamageTest, AFileThatWasMadeVeryLongTakesNoMemoryForItsLength) {
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    fill(**table);
  }
  const storage::LmdbReader reader(std::make_unique<LongFile>(data()));
  const auto snapshot = storage::read_snapshot(reader, *reader.newest());
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_EQ(storage::verify_snapshot(reader, *snapshot, kStore, [](size_t) { return true; }), absl::OkStatus());
}

// Header fields and node offsets are few among many bytes of values, so most flips are aimed at them.
// Covers: FLT_D08
TEST_F(LmdbDamageTest, FlippedBitsAtOpenAreRefusedOrNeedless) {
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    fill(**table);
  }
  const std::string good = data();
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    const uint64_t page = random_.below(good.size() / kPage);
    const uint64_t within = random_.chance(0.6) ? random_.below(150) : random_.below(kPage);
    bytes[page * kPage + within] ^= static_cast<char>(1 << random_.below(8));
    expect_refused_or_intact(bytes, "bit in page " + std::to_string(page) + " at " + std::to_string(within));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(refused_, 500);
  EXPECT_GT(intact_, 100);
}

// LMDB takes new pages from behind the last one that its newest meta page claims.
// Covers: FLT_D08
TEST_F(LmdbDamageTest, PagesThatAFileClaimsAndDoesNotHaveAreRot) {
  constexpr size_t kLastPage = 136;
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    fill(**table);
  }
  const std::string good = data();
  const auto reader = storage::LmdbReader(std::make_unique<LongFile>(good));
  const size_t at = reader.newest()->transaction % 2 * kPage + kLastPage;
  for (int bit = 11; bit < 63; ++bit) {  // the file has less than 2048 pages
    std::string claimed = good.substr(at, 1 + bit / 8);
    claimed.back() = static_cast<char>(claimed.back() ^ (1 << bit % 8));
    set_data(good);
    {
      const auto table = open();
      ASSERT_TRUE(table.ok()) << table.status();
      overwrite(at, claimed);
      const bool mapped = bit < 14;  // in 64 MiB
      EXPECT_EQ(reason_of((*table)->scrub([](size_t) { return true; })), Reason::Corrupt) << bit;
      EXPECT_TRUE(mapped || reason_of((*table)->write({.applied = {Index(99), Term(2)}})) == Reason::Corrupt) << bit;
    }
    set_data(std::string(good).replace(at, claimed.size(), claimed));
    EXPECT_EQ(reason_of(open().status()), Reason::Corrupt) << bit;
  }
}

// Pages rot under a table in use: whatever it does next succeeds or is refused, and a new file repairs everything.
// Covers: FLT_D08
TEST_F(LmdbDamageTest, PagesThatRotUnderAnOpenTableNeverEndTheProcess) {
  std::string good;
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    fill(**table);
    good = data();
  }
  int noticed = 0;
  for (size_t page = 0; page < good.size() / kPage; ++page) {
    set_data(good);
    auto table = open();
    ASSERT_TRUE(table.ok()) << table.status().ToString();
    std::string bytes = page % 2 == 0 ? std::string(kPage, '\0') : noise(kPage);
    if (page % 3 == 0) {  // one field of it
      bytes = good.substr(page * kPage, kPage);
      for (int i = 0; i < 4; ++i) bytes[random_.below(64)] = static_cast<char>(random_.below(256));
    }
    overwrite(page * kPage, bytes);
    const Rows before = rows_;
    const uint64_t index = index_;
    bool damaged = !rows_in(**table).ok();
    damaged = !(*table)->scrub([](size_t) { return true; }).ok() || damaged;
    for (int i = 0; i < 20 && (*table)->stale(); ++i) damaged = !(*table)->erase_stale().ok() || damaged;
    damaged = !(*table)->write(next_batch(100)).ok() || damaged;
    damaged = !(*table)->stage({"", ""}, staged_).ok() || damaged;
    noticed += damaged ? 1 : 0;
    auto replaced = storage::LmdbTable::replace_with(options(), whole());
    ASSERT_TRUE(replaced.ok()) << replaced.status().ToString();
    EXPECT_EQ(*rows_in(**replaced), rows_);
    EXPECT_TRUE((*replaced)->scrub([](size_t) { return true; }).ok());
    rows_ = before;
    index_ = index;
  }
  EXPECT_GT(noticed, 50);
}

// LMDB halves a page to find a row. One that is out of order would lead it elsewhere than the reader, to what nobody checked.
// Covers: FLT_D08
TEST_F(LmdbDamageTest, PagesThatGetOutOfOrderUnderAnOpenTableAreRot) {
  constexpr size_t kFlags = 10, kSecondNode = 18;  // in a page: its kind, where its nodes are
  constexpr char kBranch = 1, kLeaf = 2;
  std::string good;
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    fill(**table, 12);
    good = data();
  }
  CheckpointBatch all{.applied = {Index(++index_), Term(2)}};
  for (const auto& [key, value] : rows_) all.put(key, "new");
  int branches = 0, leaves = 0;
  for (size_t page = 2; page < good.size() / kPage; ++page) {
    const char kind = good[page * kPage + kFlags];
    std::string twisted = good.substr(page * kPage + kSecondNode, 4);
    if ((kind != kBranch && kind != kLeaf) || twisted.substr(2) == std::string(2, '\0')) continue;
    std::swap_ranges(twisted.begin(), twisted.begin() + 2, twisted.begin() + 2);
    set_data(good);
    auto table = open();
    ASSERT_TRUE(table.ok()) << table.status();
    overwrite(page * kPage + kSecondNode, twisted);
    const absl::Status status = (*table)->write(all);
    if (status.ok()) continue;  // of a page that is free, or of other rows
    EXPECT_EQ(reason_of(status), Reason::Corrupt) << page << status;
    ++(kind == kBranch ? branches : leaves);
  }
  EXPECT_GT(branches, 0);
  EXPECT_GT(leaves, 20);
}

// A branch that rots into its own parent is known already when it is met where the rows should be.
// Covers: FLT_D08
TEST_F(LmdbDamageTest, APageThatIsItsOwnChildUnderAnOpenTableIsRot) {
  constexpr size_t kFlags = 10, kFirstNode = 16;  // in a page: its kind, where its nodes are
  constexpr char kBranch = 1;
  std::string good;
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    fill(**table, 12);
    good = data();
  }
  CheckpointBatch all{.applied = {Index(++index_), Term(2)}};
  for (const auto& [key, value] : rows_) all.put(key, "new");
  int rotten = 0;
  for (size_t page = 2; page < good.size() / kPage; ++page) {
    const size_t at = page * kPage;
    if (good[at + kFlags] != kBranch) continue;
    const auto number = [&](size_t offset) {
      return static_cast<uint8_t>(good[offset]) + 256u * static_cast<uint8_t>(good[offset + 1]);
    };
    for (size_t node = at + kFirstNode; node < at + number(at + 12); node += 2) {  // up to where its free room begins
      set_data(good);
      auto table = open();
      ASSERT_TRUE(table.ok()) << table.status();
      overwrite(at + number(node), {static_cast<char>(page % 256), static_cast<char>(page / 256)});
      const absl::Status status = (*table)->write(all);
      if (status.ok()) continue;  // of a page that is free, or of other rows
      EXPECT_EQ(reason_of(status), Reason::Corrupt) << page << status;
      ++rotten;
    }
  }
  EXPECT_GT(rotten, 0);
}

// Covers: FLT_D11 FLT_D15
TEST_F(LmdbDamageTest, AFileCutRemovedOrReplacedUnderAnOpenTableIsNoticed) {
  const auto spoilings = {
      +[](const std::string& file) { std::filesystem::resize_file(file, 0); },
      +[](const std::string& file) { std::filesystem::resize_file(file, 5000); },
      +[](const std::string& file) { std::filesystem::remove(file); },
      +[](const std::string& file) { std::filesystem::remove_all(std::filesystem::path(file).parent_path()); },
      +[](const std::string& file) {
        std::filesystem::copy_file(file, file + ".copy");
        std::filesystem::rename(file + ".copy", file);
      },
  };
  for (const auto spoil : spoilings) {
    auto table = open();
    ASSERT_TRUE(table.ok()) << table.status().ToString();
    fill(**table, 2);
    auto view = (*table)->view();
    ASSERT_TRUE(view.ok());
    spoil(file());
    EXPECT_TRUE(absl::IsDataLoss((*table)->still_there()));
    EXPECT_TRUE(absl::IsDataLoss((*table)->write(next_batch(10))));
    EXPECT_TRUE(absl::IsDataLoss((*table)->view().status()));
    EXPECT_TRUE(absl::IsDataLoss((*table)->scrub([](size_t) { return true; })));
    (*view)->scan("", [](std::string_view, std::string_view) { return absl::OkStatus(); }).IgnoreError();
    view->reset();
    auto replaced = storage::LmdbTable::replace_with(options(), whole());
    ASSERT_TRUE(replaced.ok()) << replaced.status().ToString();
    table->reset();
    EXPECT_EQ(*rows_in(**replaced), rows_);
    replaced->reset();
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
    rows_.clear();
  }
}

// The log before a checkpoint goes once that is durable, and the name of its directory is a part of it.
// Covers: FLT_D15
TEST_F(LmdbDamageTest, ADirectoryThatIsMadeAnewHasItsNameMadeDurable) {
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    fill(**table, 2);
  }
  std::filesystem::remove_all(path_);
  const DirectorySyncs syncs;
  const auto replaced = storage::LmdbTable::replace_with(options(), whole());
  ASSERT_TRUE(replaced.ok()) << replaced.status();
  EXPECT_TRUE(syncs.has(std::filesystem::path(path_).parent_path()));
}

// LMDB waits on mutexes in its lock file: changing a byte of it once blocked a running replica's scrub forever.
// Covers: FLT_D12
TEST_F(LmdbDamageTest, ALockFileInUseHasNoNameThatCouldBeSpoiled) {
  const auto names = [this] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) found.push_back(entry.path().filename());
    return found;
  };
  std::ofstream(file() + "-lock") << noise(9000);  // what a crash at open may leave
  auto table = open();
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  fill(**table, 2);
  EXPECT_EQ(names(), std::vector<std::string>{"data.mdb"});
  const auto view = (*table)->view();
  ASSERT_TRUE(view.ok());
  auto replaced = storage::LmdbTable::replace_with(options(), whole());
  ASSERT_TRUE(replaced.ok()) << replaced.status().ToString();
  EXPECT_EQ(names(), std::vector<std::string>{"data.mdb"});
  EXPECT_TRUE((*replaced)->write(next_batch(10)).ok());
  EXPECT_EQ(*rows_in(**replaced), rows_);
}

// Covers: FLT_D13
TEST_F(LmdbDamageTest, WhatIsNoFileIsRefused) {
  std::filesystem::create_directory(file() + "-lock");
  EXPECT_TRUE(absl::IsFailedPrecondition(open().status()));
  std::filesystem::remove(file() + "-lock");
  std::filesystem::create_directory(file());
  EXPECT_TRUE(absl::IsFailedPrecondition(open().status()));
  std::filesystem::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(open().status())) << "and it does not wait for a writer";
}

// The replaced table serves its views to their end.
TEST_F(LmdbDamageTest, AViewOfAReplacedFileGoesOn) {
  auto table = open();
  ASSERT_TRUE(table.ok());
  fill(**table);
  const Rows before = rows_;
  const auto view = (*table)->view();
  const auto replaced = storage::LmdbTable::replace_with(options(), {.applied = {Index(1000), Term(3)}, .rows = {{"a", "1"}}});
  ASSERT_TRUE(replaced.ok()) << replaced.status().ToString();
  table->reset();
  Rows seen;
  ASSERT_TRUE((*view)
                  ->scan("",
                         [&](std::string_view key, std::string_view value) {
                           seen.emplace(key, value);
                           return absl::OkStatus();
                         })
                  .ok());
  EXPECT_EQ(seen, before);
}

// A commit is never torn by the replacement: an open finds the old file, if it still verifies, or the new one.
// Covers: FLT_D16
TEST_F(LmdbDamageTest, WhatAnInterruptedReplacementLeftIsForgotten) {
  {
    const auto table = open();
    ASSERT_TRUE(table.ok());
    fill(**table);
  }
  std::ofstream(path_ + "/data.new") << "half of a file";
  std::ofstream(path_ + "/data.new-lock") << "lock";
  const auto table = open();
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ(*rows_in(**table), rows_);
  EXPECT_FALSE(std::filesystem::exists(path_ + "/data.new"));
}

class LmdbStoreDamageTest : public ::testing::Test {
 protected:
  LmdbStoreDamageTest() {
    EXPECT_TRUE(directory_.ok());
    store_ = std::make_unique<LmdbStateStore>(*directory_);
    EXPECT_TRUE(store_->open(probe_).ok());
    store_->commit({.applied = {Index(1), Term(1)}, .rows = {{"a", "1"}, {"b", "2"}}});
    EXPECT_TRUE(probe_.wait_applied({Index(1), Term(1)}));
  }
  TemporaryDirectory parent_;
  absl::StatusOr<std::shared_ptr<DataDirectory>> directory_ =
      DataDirectory::open({.path = parent_ / "data", .cluster = "orders"});
  StateSinkProbe probe_;
  std::unique_ptr<LmdbStateStore> store_;
};

// Covers: FLT_D15
TEST_F(LmdbStoreDamageTest, ARemovedStateIsToldWithoutBeingAskedAndAWholeBatchMendsIt) {
  std::filesystem::remove_all(parent_ / "data/state");
  ASSERT_TRUE(probe_.wait_damaged());
  store_->commit({.applied = {Index(2), Term(1)}, .rows = {{"a", "2"}}});  // dropped: not whole
  store_->commit({.applied = {Index(3), Term(1)}, .rows = {{"a", "3"}, {"b", "3"}}, .whole = true});
  ASSERT_TRUE(probe_.wait_applied({Index(3), Term(1)}));
  store_->commit({.applied = {Index(4), Term(1)}, .rows = {{"b", std::nullopt}}});
  ASSERT_TRUE(probe_.wait_applied({Index(4), Term(1)}));
  EXPECT_TRUE(store_->scrub([](size_t) { return true; }).ok());
  store_->close();
  EXPECT_TRUE(probe_.failures().empty());
  EXPECT_EQ(probe_.damages().size(), 1u);
  store_.reset();
  LmdbStateStore again(*directory_);
  StateSinkProbe probe;
  EXPECT_EQ(*again.open(probe), (Position{Index(4), Term(1)}));
  again.close();
}

// Covers: FLT_D13 FLT_D15
TEST_F(LmdbStoreDamageTest, TheCheckpointOfAnotherDirectoryThatTookItsPlaceIsNeverReplaced) {
  std::filesystem::rename(parent_ / "data", parent_ / "away");
  StoreId others;
  {
    const auto other = DataDirectory::open({.path = parent_ / "data", .cluster = "orders"});
    ASSERT_TRUE(other.ok()) << other.status();
    others = (*other)->store();
    LmdbStateStore store(*other);
    StateSinkProbe probe;
    ASSERT_TRUE(store.open(probe).ok());
    store.commit({.applied = {Index(9), Term(1)}, .rows = {{"a", "9"}}});
    ASSERT_TRUE(probe.wait_applied({Index(9), Term(1)}));
    store.close();
  }
  ASSERT_TRUE(probe_.wait_damaged());
  store_->commit({.applied = {Index(3), Term(1)}, .rows = {{"a", "3"}}, .whole = true});
  ASSERT_TRUE(probe_.wait_failed());
  EXPECT_NE(probe_.failures().front().message().find("moved away"), std::string_view::npos);
  const auto other =
      storage::LmdbTable::open({.path = parent_ / "data/state", .store = others, .map_bytes_max = 64 << 20, .views_max = 4});
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ((*other)->applied(), (Position{Index(9), Term(1)}));
}

// The file that a failed write or sync left is never trusted again: the whole state goes to a file of its own.
// Covers: FLT_D22 INV_S10
TEST_F(LmdbStoreDamageTest, AnyCallThatFailsIsMendedByAWholeBatchInAFreshFile) {
  uint64_t index = 1;
  Position good{Index(1), Term(1)};
  for (uint64_t failing = 1; failing <= 4; ++failing) {
    struct stat before = {};
    ASSERT_EQ(::stat((parent_ / "data/state/data.mdb").c_str(), &before), 0);
    const size_t damages = probe_.damages().size();
    const Position incremental{Index(++index), Term(1)}, whole{Index(++index), Term(1)};
    {
      const LmdbCalls calls(failing);
      store_->commit({.applied = incremental, .rows = {{"a", "new"}}});
      const auto reported = [&] {
        return probe_.reports().back() == StateSinkProbe::Report(StateSinkProbe::Checkpointed{incremental});
      };
      while (probe_.damages().size() == damages && !reported()) std::this_thread::yield();
      if (reported()) {  // it makes fewer calls
        good = incremental;
        continue;
      }
    }
    if (const auto view = store_->view(); view.ok()) {
      EXPECT_EQ((*view)->applied(), good) << "the last good one is shown, or none";
    }
    store_->stage(Ticket(failing), {}, {{"p", "staged"}});  // waits for the whole one
    store_->commit({.applied = whole, .rows = {{"a", "whole"}}, .whole = true});
    ASSERT_TRUE(probe_.wait_applied(whole)) << failing;
    good = whole;
    ASSERT_TRUE(probe_.wait_for(StateSinkProbe::Staged{Ticket(failing)})) << "what is staged meanwhile is not forgotten";
    struct stat after = {};
    ASSERT_EQ(::stat((parent_ / "data/state/data.mdb").c_str(), &after), 0);
    EXPECT_NE(before.st_ino, after.st_ino) << "another file";
  }
  EXPECT_GE(probe_.damages().size(), 2u);
  EXPECT_TRUE(probe_.failures().empty());
}

// Covers: FLT_D22
TEST_F(LmdbStoreDamageTest, AWholeBatchThatFailsIsAskedForAgainAndSaid) {
  LmdbCalls::set_failing(true);
  store_->commit({.applied = {Index(2), Term(1)}, .rows = {{"a", "2"}}});
  ASSERT_TRUE(probe_.wait_damaged(1));
  EXPECT_TRUE(probe_.waits().empty());
  for (uint64_t i = 3; i < 6; ++i) {
    store_->commit({.applied = {Index(i), Term(1)}, .rows = {{"a", "2"}}, .whole = true});
    ASSERT_TRUE(probe_.wait_damaged(i - 1)) << i;
    EXPECT_TRUE(absl::IsDataLoss(probe_.waits().back())) << "said at once, before the pause";
  }
  LmdbCalls::set_failing(false);
  const Position whole{Index(9), Term(1)};
  store_->commit({.applied = whole, .rows = {{"a", "9"}}, .whole = true});
  ASSERT_TRUE(probe_.wait_applied(whole));
  EXPECT_TRUE(probe_.wait_waiting(false));
  store_->commit({.applied = {Index(10), Term(1)}, .rows = {{"a", "10"}}});
  ASSERT_TRUE(probe_.wait_applied({Index(10), Term(1)})) << "and from then on as ever";
  EXPECT_TRUE(probe_.failures().empty());
  store_->close();
  store_.reset();
  LmdbStateStore again(*directory_);
  StateSinkProbe probe;
  EXPECT_EQ(*again.open(probe), (Position{Index(10), Term(1)}));
  again.close();
}

// Covers: FLT_D22
TEST_F(LmdbStoreDamageTest, AStoreThatPausesCloses) {
  LmdbCalls::set_failing(true);
  store_->commit({.applied = {Index(2), Term(1)}, .rows = {{"a", "2"}}, .whole = true});
  ASSERT_TRUE(probe_.wait_waiting(true));
  store_->close();
  LmdbCalls::set_failing(false);
  store_.reset();
  LmdbStateStore again(*directory_);
  StateSinkProbe probe;
  EXPECT_EQ(*again.open(probe), (Position{Index(1), Term(1)})) << "the last good one";
  again.close();
}

// Covers: FLT_D04
TEST_F(LmdbStoreDamageTest, CheckpointsWaitForRoomAndGoOn) {
  uint64_t index = 1;
  const std::string full = "No space left on device";
  const std::vector<std::pair<LmdbCalls::Room, std::string>> rooms = {
      {LmdbCalls::Room::None, full}, {LmdbCalls::Room::Short, full}, {LmdbCalls::Room::Quota, "raise the quota"}};
  for (const auto& [room, said] : rooms) {
    LmdbCalls::set_room(room);
    const Position at{Index(++index), Term(1)};
    store_->commit({.applied = at, .rows = {{"a", std::string(100'000, 'x')}}});
    ASSERT_TRUE(probe_.wait_waiting(true));
    const std::string why(probe_.waits().back().message());
    EXPECT_NE(why.find(said), std::string::npos) << why;
    EXPECT_EQ((*store_->view())->applied(), (Position{Index(index - 1), Term(1)})) << "what is stored can be read";
    LmdbCalls::set_room(LmdbCalls::Room::Enough);
    ASSERT_TRUE(probe_.wait_applied(at));
    EXPECT_TRUE(probe_.wait_waiting(false));
  }
  EXPECT_TRUE(probe_.failures().empty());
  EXPECT_TRUE(probe_.damages().empty());
}

// Covers: FLT_D04
TEST_F(LmdbStoreDamageTest, WhatIsStagedWaitsForRoomToo) {
  LmdbCalls::set_room(LmdbCalls::Room::None);
  store_->stage(Ticket(1), {"", ""}, {{"p", "1"}, {"q", "2"}});
  ASSERT_TRUE(probe_.wait_waiting(true));
  LmdbCalls::set_room(LmdbCalls::Room::Enough);
  ASSERT_TRUE(probe_.wait_for(StateSinkProbe::Staged{Ticket(1)}));
  ASSERT_TRUE(probe_.wait_waiting(false));
  RowDigest digest;
  digest.add("p", value_sum("p", "1"));
  digest.add("q", value_sum("q", "2"));
  LmdbCalls::set_room(LmdbCalls::Room::None);
  const Position installed{Index(5), Term(2)};
  store_->install(installed, digest.value());
  ASSERT_TRUE(probe_.wait_waiting(true));
  LmdbCalls::set_room(LmdbCalls::Room::Enough);
  ASSERT_TRUE(probe_.wait_for(StateSinkProbe::Installed{installed})) << "what was staged is still what the digest says";
  EXPECT_TRUE(probe_.failures().empty());
}

// Covers: FLT_D04
TEST_F(LmdbStoreDamageTest, AWholeCheckpointWaitsForRoomToo) {
  LmdbCalls::set_room(LmdbCalls::Room::None);
  const Position whole{Index(6), Term(2)};
  store_->commit({.applied = whole, .rows = {{"p", "3"}}, .whole = true});
  ASSERT_TRUE(probe_.wait_waiting(true));
  LmdbCalls::set_room(LmdbCalls::Room::Enough);
  ASSERT_TRUE(probe_.wait_applied(whole));
  EXPECT_TRUE(probe_.failures().empty());
  EXPECT_TRUE(probe_.damages().empty());
}

// Covers: FLT_D04
TEST_F(LmdbStoreDamageTest, AStoreThatWaitsForRoomCloses) {
  LmdbCalls::set_room(LmdbCalls::Room::None);
  store_->commit({.applied = {Index(2), Term(1)}, .rows = {{"a", "2"}}});
  ASSERT_TRUE(probe_.wait_waiting(true));
  store_->close();
  LmdbCalls::set_room(LmdbCalls::Room::Enough);
  store_.reset();
  LmdbStateStore again(*directory_);
  StateSinkProbe probe;
  EXPECT_EQ(*again.open(probe), (Position{Index(1), Term(1)}));
  again.close();
}

}  // namespace
}  // namespace coordkit::testkit
