// Child processes of a test: one that is killed in the middle of its work, and one that runs the
// same test once more.
//
// fork() copies only the calling thread: close everything that has threads before. POSIX.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill()
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "coordkit/testing/patience.h"

namespace coordkit::testkit {

// A pipe of numbers, between a process and its child.
class NumberPipe {
 public:
  NumberPipe() { EXPECT_EQ(::pipe(ends_), 0); }
  ~NumberPipe() {
    close_end(0);
    close_end(1);
  }
  NumberPipe(const NumberPipe&) = delete;
  NumberPipe& operator=(const NumberPipe&) = delete;

  // 0: the end that hears, 1: the end that says. A child closes the first, its parent the second.
  void close_end(size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }
  // False: it could not be written. Blocks while the pipe is full.
  bool say(uint64_t number) { return ::write(ends_[1], &number, sizeof number) == static_cast<ssize_t>(sizeof number); }
  // False: no writer is left, or none wrote within the patience.
  bool hear(uint64_t& number) {
    pollfd ready{ends_[0], POLLIN, 0};
    const auto wait = static_cast<int>(patience().count());
    return ::poll(&ready, 1, wait) == 1 && ::read(ends_[0], &number, sizeof number) == static_cast<ssize_t>(sizeof number);
  }

 private:
  int ends_[2] = {-1, -1};
};

// Runs `work` in a child process and passes it a function to report numbers with. Kills the child
// with SIGKILL once it has reported `count` numbers, wherever it is then. Returns all reported
// numbers; fewer than `count`: the child came to its end.
inline std::vector<uint64_t> killed_after(size_t count, const std::function<void(const std::function<void(uint64_t)>&)>& work) {
  NumberPipe pipe;
  const pid_t child = ::fork();
  if (child == 0) {
    pipe.close_end(0);
    work([&pipe](uint64_t number) {
      if (!pipe.say(number)) ::_exit(1);
    });
    ::_exit(1);
  }
  EXPECT_GT(child, 0) << "no child process could be made";
  if (child < 0) return {};
  pipe.close_end(1);
  std::vector<uint64_t> reported;
  uint64_t number = 0;
  while (reported.size() < count && pipe.hear(number)) reported.push_back(number);
  ::kill(child, SIGKILL);
  while (pipe.hear(number)) reported.push_back(number);
  ::waitpid(child, nullptr, 0);
  return reported;
}

// The output of the running test in another process of this program, in which the environment
// variable `name` is "1".
inline std::string printed_by_another_run(const std::string& name) {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string filter = std::string(test.test_suite_name()) + "." + test.name();
  const std::string command = name + "=1 '" + program + "' --gtest_filter='" + filter + "' 2>&1";
  FILE* out = ::popen(command.c_str(), "r");
  if (out == nullptr) return "";
  std::string printed;
  char piece[4096];
  while (const size_t size = std::fread(piece, 1, sizeof piece, out)) printed.append(piece, size);
  ::pclose(out);
  return printed;
}

}  // namespace coordkit::testkit
