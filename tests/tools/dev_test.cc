// ./dev where there is little to do, or not what it takes: it says so and does the rest.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/command.h"
#include "tests/support/source_dir.h"

namespace coordkit {
namespace {

namespace fs = std::filesystem;

// A tree with nothing but the script, and a path on which its tools are stand-ins; clang-format fails for what is not there.
class DevTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(top_ / "bin");
    fs::create_directories(top_ / "out/dev/tests/house");
    fs::copy_file(source_dir() + "/dev", top_ / "dev", fs::copy_options::overwrite_existing);
    program("bin/dpkg-query", "printf installed");
    for (const char* name : {"bin/cmake", "bin/shellcheck", "bin/ninja", "out/dev/tests/house/test_house"})
      program(name, "exit 0");
    program("bin/clang-format-14", "shift; for file in \"$@\"; do [ -f \"$file\" ] || exit 1; done");
  }
  void TearDown() override { fs::remove_all(top_); }

  void program(const std::string& name, const std::string& body) const {
    std::ofstream(top_ / name) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(top_ / name, fs::perms::owner_all);
  }
  Ran dev(const std::string& arguments) const {
    const std::string top = "'" + top_.string() + "'";
    return run_command("GIT_CEILING_DIRECTORIES=" + (top_.parent_path()).string() + " PATH=" + top + "/bin:\"$PATH\" " + top +
                       "/dev " + arguments + " 2>&1");
  }
  void commit() const {
    const std::string git = "git -C '" + top_.string() + "' -c user.name=a -c user.email=a@b ";
    ASSERT_EQ(run_command(git + "init --quiet && " + git + "add dev && " + git + "commit --quiet -m one").status, 0);
  }

  const fs::path top_ = fs::path(::testing::TempDir()) / ("a tree " + std::to_string(::getpid()));
};

TEST_F(DevTest, LintOfAChangeWithoutSourcesReadsTheRest) {
  commit();
  const Ran lint = dev("lint --changed");
  EXPECT_EQ(lint.status, 0) << lint.text;
  EXPECT_NE(lint.text.find("lint: clean"), std::string::npos) << lint.text;
}

TEST_F(DevTest, WithoutGitFmtAndLintSayWhatTheyMiss) {
  for (const char* command : {"fmt", "fmt --check", "lint", "lint --changed"}) {
    const Ran ended = dev(command);
    EXPECT_NE(ended.status, 0) << command;
    EXPECT_NE(ended.text.find("needs a checkout of git"), std::string::npos) << command << ": " << ended.text;
  }
}

}  // namespace
}  // namespace coordkit
