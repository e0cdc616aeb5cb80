// Every runbook of docs/operations.md, step by step: real processes, killed and started again, and coordctl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/source_dir.h"
#include "tests/system/deployment/deployment.h"

namespace coordkit::testkit {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RunbookTest : public ::testing::Test {
 protected:
  void start_three() {
    for (const int id : {1, 2, 3}) ASSERT_EQ(machines_.start(id, {1, 2, 3}), "opened");
    for (const int id : {1, 2, 3}) ASSERT_TRUE(machines_.wait_ready(id)) << machines_.coordctl(id, "status").text;
    put(1, 150);  // a checkpoint or two
  }
  // The next `count` keys, through machine `id`; each must be acknowledged.
  void put(int id, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(++written_);
      ASSERT_EQ(machines_.ask(id, "put key-" + number + " value-" + number), "done") << "by machine " << id;
    }
  }
  void expect_all_keys(int id) {
    for (int key = 1; key <= written_; ++key) {
      ASSERT_EQ(machines_.ask(id, "get key-" + std::to_string(key)), "value value-" + std::to_string(key));
    }
  }
  std::string replace(int old, int id) {
    return "replace " + std::to_string(old) + " " + std::to_string(id) + " " + machines_.address(id);
  }
  void expect_done(int id, const std::string& words) {
    const Ran ran = machines_.coordctl(id, words);
    EXPECT_EQ(ran.status, 0) << words << ": " << ran.text;
  }
  // Damages the middle of the file; its size stays.
  static void spoil(const fs::path& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto size = static_cast<std::streamoff>(fs::file_size(path));
    for (std::streamoff at = 0; at < size; at += 4096) {
      file.seekp(at + 100);
      file << "spoiled";
    }
    ASSERT_TRUE(file.good());
  }

  Deployment machines_{5};
  int written_ = 0;
};

TEST_F(RunbookTest, ADiskIsLost) {
  start_three();
  machines_.kill(3);
  machines_.lose_disk(3);
  put(1, 20);
  ASSERT_EQ(machines_.start(3, {1, 2, 3}), "opened");
  EXPECT_TRUE(machines_.wait_for(3, "state", "Uninvited"));
  EXPECT_THAT(machines_.status_of(3, "reason"), HasSubstr("replace"));
  expect_done(1, replace(3, 3));
  EXPECT_TRUE(machines_.wait_ready(3));
  expect_all_keys(3);
}

TEST_F(RunbookTest, AMachineIsExchanged) {
  start_three();
  ASSERT_EQ(machines_.start(4, {1, 2, 3, 4}), "opened");
  expect_done(2, replace(3, 4));
  EXPECT_TRUE(machines_.wait_ready(4));
  EXPECT_TRUE(machines_.wait_for(3, "state", "Removed"));
  machines_.stop(3);
  put(4, 20);
  expect_all_keys(4);
  EXPECT_THAT(machines_.coordctl(1, "members").text, Not(HasSubstr(machines_.address(3))));
}

TEST_F(RunbookTest, TheClusterGrowsAndShrinks) {
  start_three();
  for (const int id : {4, 5}) {
    ASSERT_EQ(machines_.start(id, {1, 2, 3, 4, 5}), "opened");
    expect_done(1, "add " + std::to_string(id) + " " + machines_.address(id));
    EXPECT_TRUE(machines_.wait_ready(id));
  }
  for (const int id : {1, 2}) machines_.kill(id);  // five survive two
  put(5, 20);
  for (const int id : {1, 2}) ASSERT_EQ(machines_.start(id), "opened");
  for (const int id : {1, 2}) ASSERT_TRUE(machines_.wait_ready(id));
  for (const int id : {4, 5}) {
    expect_done(3, "remove " + std::to_string(id));
    EXPECT_TRUE(machines_.wait_for(id, "state", "Removed"));
    machines_.stop(id);
  }
  put(1, 20);
  expect_all_keys(2);
}

TEST_F(RunbookTest, EveryMachineIsRestartedInTurn) {
  start_three();
  for (const int id : {1, 2, 3}) {
    const int other = id % 3 + 1;
    if (machines_.leader() == id) expect_done(id, "transfer " + std::to_string(other));
    machines_.stop(id);
    put(other, 10);
    ASSERT_EQ(machines_.start(id), "opened");
    ASSERT_TRUE(machines_.wait_ready(id));
  }
  expect_all_keys(1);
}

TEST_F(RunbookTest, ACheckpointIsRottenAtTheStart) {
  start_three();
  machines_.stop(3);
  spoil(machines_.directory(3) / "state/data.mdb");
  const std::string refused = machines_.start(3);
  EXPECT_THAT(refused, StartsWith("refused Corrupt: "));
  EXPECT_THAT(refused, HasSubstr("replace this member"));
  machines_.lose_disk(3);
  ASSERT_EQ(machines_.start(3), "opened");
  expect_done(2, replace(3, 3));
  EXPECT_TRUE(machines_.wait_ready(3));
  expect_all_keys(3);
}

TEST_F(RunbookTest, ACheckpointRotsUnderARunningMachine) {
  start_three();
  spoil(machines_.directory(2) / "state/data.mdb");
  const Ran scrub = machines_.coordctl(2, "scrub");
  EXPECT_EQ(scrub.status, 1) << scrub.text;
  EXPECT_THAT(scrub.text, HasSubstr("rotten"));
  while (machines_.coordctl(2, "scrub").status != 0) {
  }
  machines_.stop(2);
  ASSERT_EQ(machines_.start(2), "opened");
  ASSERT_TRUE(machines_.wait_ready(2));
  expect_all_keys(2);
}

TEST_F(RunbookTest, AnOldCopyOfADiskIsInQuarantine) {
  start_three();
  machines_.stop(3);
  const fs::path copy = machines_.directory(3).string() + ".copy";
  fs::copy(machines_.directory(3), copy, fs::copy_options::recursive);
  ASSERT_EQ(machines_.start(3), "opened");
  ASSERT_TRUE(machines_.wait_ready(3));
  machines_.kill(machines_.leader() == 1 ? 2 : 1);  // now machine 3 is needed for every acknowledgement
  put(3, 20);
  machines_.kill(3);
  machines_.lose_disk(3);
  fs::rename(copy, machines_.directory(3));
  for (const int id : {1, 2, 3}) {
    const bool runs = !machines_.status_of(id, "state").empty();
    if (!runs) {
      ASSERT_EQ(machines_.start(id), "opened");
    }
  }
  ASSERT_TRUE(machines_.wait_for(3, "state", "Quarantine"));
  EXPECT_THAT(machines_.status_of(3, "reason"), HasSubstr("set back"));
  machines_.stop(3);
  machines_.lose_disk(3);
  ASSERT_EQ(machines_.start(3), "opened");
  ASSERT_TRUE(machines_.wait_ready(1));
  expect_done(1, replace(3, 3));
  EXPECT_TRUE(machines_.wait_ready(3));
  expect_all_keys(3);
}

TEST_F(RunbookTest, AHolderHangs) {
  start_three();
  const std::string held = machines_.ask(1, "hold ledger");
  ASSERT_THAT(held, StartsWith("holds "));
  EXPECT_THAT(machines_.coordctl(2, "locks").text, HasSubstr("ledger"));
  expect_done(2, "force-release ledger " + held.substr(6));
  EXPECT_THAT(machines_.ask(2, "hold ledger"), StartsWith("holds "));
}

TEST_F(RunbookTest, TheMajorityIsDownAndComesBack) {
  start_three();
  machines_.kill(2);
  machines_.kill(3);
  EXPECT_TRUE(machines_.wait_for(1, "leader", "none"));
  EXPECT_THAT(machines_.coordctl(1, "status").text, HasSubstr("missing"));
  ASSERT_EQ(machines_.start(3), "opened");
  EXPECT_TRUE(machines_.wait_ready(1));
  put(1, 10);
  expect_all_keys(3);
}

// The page names a test for each runbook, and no other.
TEST(OperationsPageTest, EveryRunbookIsOneOfTheseTests) {
  std::ifstream in(source_dir() + "/docs/operations.md");
  std::stringstream page;
  page << in.rdbuf();
  const std::string text = page.str();
  std::set<std::string> named;
  const std::regex name("RunbookTest\\.(\\w+)");
  for (std::sregex_iterator one(text.begin(), text.end(), name), end; one != end; ++one) named.insert((*one)[1]);
  std::set<std::string> tests;
  const ::testing::TestSuite* suite = nullptr;
  for (int i = 0; i < ::testing::UnitTest::GetInstance()->total_test_suite_count(); ++i) {
    const ::testing::TestSuite* one = ::testing::UnitTest::GetInstance()->GetTestSuite(i);
    if (std::string(one->name()) == "RunbookTest") suite = one;
  }
  ASSERT_NE(suite, nullptr);
  for (int i = 0; i < suite->total_test_count(); ++i) tests.insert(suite->GetTestInfo(i)->name());
  EXPECT_EQ(named, tests);
}

}  // namespace
}  // namespace coordkit::testkit
