// The log store of example 14 against the suite for all adapters, and what SQLite adds to it.
#include "examples/14_own_log_store/sqlite_log_store.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "coordkit/testing/log_store_suite.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

class SqliteLogHarness final : public LogStoreHarness {
 public:
  LogStore& restart() override {
    store_.reset();
    store_ = std::make_unique<example::SqliteLogStore>(directory_ / "log.db");
    return *store_;
  }
  bool rot(const raft::Entry& entry) override {
    std::fstream stream(directory_ / "log.db", std::ios::binary | std::ios::in | std::ios::out);
    std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const size_t at = bytes.find(entry.payload.view());
    if (at == std::string::npos) return false;
    stream.clear();
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(static_cast<char>(bytes[at] ^ 1));
    return true;
  }

  bool exchange(const raft::Entry& one, const raft::Entry& other) override {
    example::Database database(directory_ / "log.db");
    const auto number = [](Index index) { return std::to_string(index.value()); };
    database.run("UPDATE entry SET place = 0 WHERE place = " + number(one.index));
    database.run("UPDATE entry SET place = " + number(one.index) + " WHERE place = " + number(other.index));
    database.run("UPDATE entry SET place = " + number(other.index) + " WHERE place = 0");
    return true;
  }
  std::optional<absl::Status> open_twice() override {
    LogSinkProbe probe;
    return example::SqliteLogStore(directory_ / "log.db").open(probe).status();
  }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<example::SqliteLogStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Sqlite, LogStoreSuite, ::testing::Values([] { return std::make_unique<SqliteLogHarness>(); }));

class SqliteLogStoreTest : public ::testing::Test {
 protected:
  absl::Status open_status(example::SqliteLogStore& store) { return store.open(probe_).status(); }
  void write_ten() {
    example::SqliteLogStore store(file_);
    ASSERT_TRUE(open_status(store).ok());
    store.submit(
        {.number = WriteNumber(1), .hard_state = raft::HardState{Term(1), ReplicaId(2)}, .entries = entries(1, 10, 1)});
    ASSERT_TRUE(probe_.wait_written(WriteNumber(1)));
  }

  TemporaryDirectory directory_;
  const std::string file_ = directory_ / "log.db";
  LogSinkProbe probe_;
};

TEST_F(SqliteLogStoreTest, ASecondOpenOfTheSameDatabaseIsRefused) {
  example::SqliteLogStore first(file_), second(file_);
  ASSERT_TRUE(open_status(first).ok());
  EXPECT_EQ(reason_of(open_status(second)), Reason::InUse);
  EXPECT_EQ(reason_of(open_status(first)), Reason::InUse) << "nor is it opened twice itself";
  first.close();
  example::SqliteLogStore third(file_);
  EXPECT_TRUE(open_status(third).ok()) << "a refusal leaves nothing behind";
}

TEST_F(SqliteLogStoreTest, ADatabaseOfSomethingElseIsRefusedAndNotTouched) {
  {
    example::Database other(file_);
    other.run("CREATE TABLE entry (name TEXT)");
  }
  example::SqliteLogStore store(file_);
  EXPECT_EQ(reason_of(open_status(store)), Reason::ForeignData);
  store.close();
  example::Database other(file_);
  EXPECT_EQ(other.run("SELECT count(*) FROM sqlite_schema"), 1u);
}

TEST_F(SqliteLogStoreTest, AHardStateThatDoesNotVerifyIsDataLossAndNeverGuessed) {
  write_ten();
  {
    example::Database database(file_);
    database.run("UPDATE facts SET sum = sum + 1");
  }
  example::SqliteLogStore store(file_);
  EXPECT_EQ(open_status(store).code(), absl::StatusCode::kDataLoss);
}

TEST_F(SqliteLogStoreTest, AnEntryThatIsGoneIsDataLoss) {
  write_ten();
  {
    example::Database database(file_);
    database.run("DELETE FROM entry WHERE place = 5");
  }
  example::SqliteLogStore store(file_);
  EXPECT_EQ(open_status(store).code(), absl::StatusCode::kDataLoss);
}

TEST_F(SqliteLogStoreTest, AnEntryInThePlaceOfAnotherIsDamaged) {
  write_ten();
  {
    example::Database database(file_);
    database.run("UPDATE entry SET payload = (SELECT payload FROM entry WHERE place = 6) WHERE place = 5");
  }
  example::SqliteLogStore store(file_);
  const absl::StatusOr<RecoveredLog> opened = store.open(probe_);
  ASSERT_TRUE(opened.ok());
  ASSERT_EQ(opened->damaged.size(), 1u);
  EXPECT_EQ(opened->damaged[0].index, Index(5));
  EXPECT_EQ(opened->entries.size(), 9u);
}

// An existing entry cannot be appended again: SQLite refuses, and that is a failure like any other.
TEST_F(SqliteLogStoreTest, AfterTheFirstFailureNothingIsWrittenAndItIsToldOnce) {
  write_ten();
  {
    example::SqliteLogStore store(file_);
    ASSERT_TRUE(open_status(store).ok());
    store.submit({.number = WriteNumber(2), .entries = entries(10, 1, 1)});
    ASSERT_TRUE(probe_.wait_failed());
    store.submit({.number = WriteNumber(3), .entries = entries(11, 1, 1)});
    store.close();
  }
  EXPECT_EQ(probe_.failures().size(), 1u);
  EXPECT_EQ(probe_.written(), WriteNumber(1));
  example::SqliteLogStore again(file_);
  EXPECT_EQ(again.open(probe_)->entries, entries(1, 10, 1));
}

}  // namespace
}  // namespace coordkit::testkit
