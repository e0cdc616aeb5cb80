// tools/dev/commit-msg, the hook of git that CONTRIBUTING.md tells people to install, against good and bad messages.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/command.h"
#include "tests/support/source_dir.h"

namespace coordkit::house {
namespace {

// A checkout with a staged change of as many lines.
class CommitMessageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(checkout_);
    ASSERT_EQ(run_command("git -C " + shell_word(checkout_) + " init --quiet").status, 0);
    stage(1000);
  }
  void TearDown() override { std::filesystem::remove_all(checkout_); }

  void stage(int lines) const {
    std::ofstream out(checkout_ / "file");
    while (--lines >= 0) out << "line\n";
    out.close();
    ASSERT_EQ(run_command("git -C " + shell_word(checkout_) + " add file").status, 0);
  }
  Ran checked(const std::string& message) const {
    std::ofstream(checkout_ / "message") << message;
    const std::string hook = shell_word(std::string(source_dir()) + "/tools/dev/commit-msg");
    return run_command("cd " + shell_word(checkout_) + " && " + hook + " message 2>&1");
  }

  const std::filesystem::path checkout_ =
      std::filesystem::path(::testing::TempDir()) / ("a checkout " + std::to_string(::getpid()));
};

const std::string kBody = "\n\nIt grew without a bound.\n\nTried: the named test.\n";

TEST_F(CommitMessageTest, GoodMessagesPass) {
  for (const std::string subject :
       {"raft: bound how long a leadership is handed over", "tests/unit/raft, raft: add a case", "dev: process each file once",
        "docs: rename S-45; keep its id", "base: embed the version", "tools/dev: refuse \xc3\xa4", "bench: run it 3 times"}) {
    const Ran ran = checked(subject + kBody);
    EXPECT_EQ(ran.status, 0) << subject << "\n" << ran.text;
  }
  const std::string longest = "raft: " + std::string(72 - 6, 'n');
  EXPECT_EQ(checked(longest + kBody).status, 0);
  std::string wide = "raft: ";
  for (int i = 0; i < 72 - 6; ++i) wide += "\xc3\xa4";
  EXPECT_EQ(checked(wide + kBody).status, 0) << "columns were counted in bytes";
}

TEST_F(CommitMessageTest, BadSubjectsAreRefusedWithTheirReason) {
  const auto refused = [&](const std::string& subject, const std::string& reason) {
    const Ran ran = checked(subject + kBody);
    EXPECT_NE(ran.status, 0) << subject;
    EXPECT_NE(ran.text.find(reason), std::string::npos) << subject << "\n" << ran.text;
  };
  for (const char* subject : {"", "fix it", "Raft: fix it", "raft:fix it", "raft : fix it", "raft, : fix it"})
    refused(subject, "folder: imperative");
  for (const char* subject :
       {"raft: adds a case", "raft: added a case", "raft: adding a case", "replica: what an executor throws at",
        "raft: the map grows", "raft: a lock", "storage: no page is read twice"})
    refused(subject, "a verb in the imperative");
  refused("raft: Add a case", "lower case");
  refused("raft: add a case.", "full stop");
  refused("raft: " + std::string(72 - 5, 'n'), "73 columns");
}

TEST_F(CommitMessageTest, OnlyATrivialChangeNeedsNoBody) {
  EXPECT_NE(checked("raft: add a case\n").status, 0);
  EXPECT_NE(checked("raft: add a case\n\n# Please enter the commit message\n").status, 0);
  EXPECT_NE(checked("raft: add a case\n\nSigned-off-by: A <a@b>\n").status, 0);
  EXPECT_NE(checked("raft: add a case\n\n# ------------------------ >8 ------------------------\n+code\n").status, 0);
  EXPECT_NE(checked("raft: add a case\nIt was missing.\n").status, 0) << "no empty line";
  stage(10);
  EXPECT_EQ(checked("raft: add a case\n").status, 0);
  stage(11);
  EXPECT_NE(checked("raft: add a case\n").status, 0);
}

TEST_F(CommitMessageTest, WhatGitWritesPasses) {
  for (const char* message : {"Merge branch 'a'\n", "Revert \"raft: add a case\"\n", "fixup! raft: add a case\n"})
    EXPECT_EQ(checked(message).status, 0) << message;
}

}  // namespace
}  // namespace coordkit::house
