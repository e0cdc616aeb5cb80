// ./dev leaves nothing running: a signal to the script reaches the compiler below the build tool that it started.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/tree.h"

namespace coordkit {
namespace {

namespace fs = std::filesystem;

// A tree with nothing but the script, and a path on which build tools are stand-ins that work forever in a process of their
// own.
class DevSignalTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    top_ = fs::path(::testing::TempDir()) / ("dev-" + std::to_string(::getpid()) + "-" + std::to_string(GetParam()));
    fs::create_directories(top_ / "bin");
    copy_dev(top_);
    program("dpkg-query", "printf installed");
    program("cmake", "(printf 'at work' >&9; exec sleep 3600) & wait");
  }
  void TearDown() override { fs::remove_all(top_); }

  void program(const std::string& name, const std::string& body) const {
    const fs::path file = top_ / "bin" / name;
    std::ofstream(file) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(file, fs::perms::owner_all);
  }

  // The script with the writing end of a pipe as descriptor 9, which everything it starts inherits: the pipe ends when the last
  // of them has.
  pid_t start_dev(int writing) const {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::dup2(writing, 9);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int stream : {0, 1, 2}) ::dup2(nothing, stream);
    ::setenv("PATH", ((top_ / "bin").string() + ":" + std::getenv("PATH")).c_str(), 1);
    ::execl((top_ / "dev").c_str(), "dev", "coordctl", nullptr);
    ::_exit(127);
  }

  fs::path top_;
};

std::string read_some(int reading) {
  std::array<char, 64> bytes{};
  const ssize_t got = ::read(reading, bytes.data(), bytes.size());
  return {bytes.data(), got > 0 ? static_cast<size_t>(got) : 0};
}

TEST_P(DevSignalTest, EndsAllThatItStarted) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t dev = start_dev(ends[1]);
  ASSERT_GT(dev, 0);
  ::close(ends[1]);
  ASSERT_EQ(read_some(ends[0]), "at work");
  ASSERT_EQ(::kill(dev, GetParam()), 0);
  EXPECT_EQ(read_some(ends[0]), "") << "something still holds the pipe";
  int status = 0;
  ASSERT_EQ(::waitpid(dev, &status, 0), dev);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == GetParam()) << "a caller must see what ended it: " << status;
  ::close(ends[0]);
}

INSTANTIATE_TEST_SUITE_P(Each, DevSignalTest, ::testing::Values(SIGTERM, SIGHUP));  // an interactive SIGINT takes the same path

}  // namespace
}  // namespace coordkit
