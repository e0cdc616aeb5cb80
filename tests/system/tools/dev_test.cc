// ./dev where there is little to do, or not what it takes: it says so and does the rest.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/command.h"
#include "tests/support/tree.h"

namespace coordkit {
namespace {

namespace fs = std::filesystem;

// A tree with nothing but the script, and a path on which its tools are stand-ins; clang-format fails for what is not there.
class DevTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(top_ / "bin");
    fs::create_directories(top_ / "out/dev/tests/house");
    copy_dev(top_);
    program("bin/dpkg-query", "printf installed");
    for (const char* name : {"bin/cmake", "bin/shellcheck", "bin/ninja", "out/dev/tests/house/test_house"})
      program(name, "exit 0");
    program("bin/clang-format-14",
            "[ \"$1\" != --version ] || { echo version 14.0.6; exit; }\nshift; for file in \"$@\"; do [ -f \"$file\" ] || exit "
            "1; done");
  }
  void TearDown() override { fs::remove_all(top_); }

  void program(const std::string& name, const std::string& body) const {
    std::ofstream(top_ / name) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(top_ / name, fs::perms::owner_all);
  }
  Ran dev(const std::string& arguments) const {
    const std::string top = shell_word(top_);
    return run_command("GIT_CEILING_DIRECTORIES=" + shell_word(top_.parent_path()) + " PATH=" + top + "/bin:\"$PATH\" " + top +
                       "/dev " + arguments + " 2>&1");
  }
  void commit() const {
    const std::string git = "git -C " + shell_word(top_) + " -c user.name=a -c user.email=a@b ";
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

class DevPackagesTest : public DevTest {
 protected:
  void SetUp() override {
    DevTest::SetUp();
    program("bin/apt-get", "printf '%s\\n' \"$*\" >>\"$(dirname \"$0\")/asked\"");
    program("bin/sudo", "exit 1");
  }
  // All packages but these are installed, and that user asks for a command that needs the group [build].
  Ran with_all_but(const std::string& missing, const std::string& user) const {
    program("bin/dpkg-query", "case \"$*\" in " + missing + ") printf not-installed ;; *) printf installed ;; esac");
    program("bin/id", "echo " + user);
    return dev("coordctl --help");
  }
  std::string asked() const {
    std::ifstream in(top_ / "bin/asked");
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(DevPackagesTest, ASuiteIsAskedForThePackageThatItHas) {
  with_all_but("*libboost*|*ninja*", "0");
  EXPECT_EQ(
      asked(),
      "satisfy --yes --no-install-recommends --no-remove libboost1.81-dev | libboost-dev | libboost1.74-dev, ninja-build\n");
}

TEST_F(DevPackagesTest, OneOfSeveralThatIsInstalledIsEnough) {
  with_all_but("*libboost1*", "0");
  EXPECT_EQ(asked(), "") << "libboost-dev is there, and another one could not be installed beside it";
}

TEST_F(DevPackagesTest, AUserWithoutRightsGetsALineToPaste) {
  const Ran refused = with_all_but("*libboost*|*ninja*", "1000");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.text.find("\n  sudo apt-get update && sudo apt-get satisfy --yes --no-install-recommends --no-remove "
                              "'libboost1.81-dev | libboost-dev | libboost1.74-dev, ninja-build'\n"),
            std::string::npos)
      << refused.text;
  EXPECT_EQ(asked(), "");
}

TEST_F(DevTest, AnotherVersionOfTheFormatterChangesNothing) {
  commit();
  for (const char* name : {"bin/clang-format-14", "bin/clang-format"}) program(name, "echo Debian clang-format version 19.1.7");
  const Ran refused = dev("fmt");
  EXPECT_NE(refused.status, 0);
  EXPECT_NE(refused.text.find("needs clang-format 14"), std::string::npos) << refused.text;
  EXPECT_NE(refused.text.find("version 19.1.7"), std::string::npos) << refused.text;
  const Ran lint = dev("lint --changed");
  EXPECT_EQ(lint.status, 0) << lint.text;
  EXPECT_NE(lint.text.find("format: not looked at"), std::string::npos) << lint.text;
}

}  // namespace
}  // namespace coordkit
