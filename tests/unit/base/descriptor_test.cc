#include "base/descriptor.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <vector>

namespace coordkit {
namespace {

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

// Closes standard streams and gives them back at the end.
class StreamsClosed {
 public:
  explicit StreamsClosed(std::vector<int> streams) {
    for (const int stream : streams) {
      saved_.push_back({stream, ::fcntl(stream, F_DUPFD_CLOEXEC, 100)});
      ::close(stream);
    }
  }
  ~StreamsClosed() {
    for (const auto& [stream, copy] : saved_) {
      ::dup2(copy, stream);
      ::close(copy);
    }
  }

 private:
  std::vector<std::pair<int, int>> saved_;
};

// Covers: FLT_A16
TEST(DescriptorTest, WhatIsOpenedGetsANumberFromThreeOnWhicheverStreamsAreClosed) {
  for (const std::vector<int>& closed : std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 2}, {0, 1, 2}, {}}) {
    std::vector<Descriptor> made;
    std::vector<bool> free_again;
    {
      const StreamsClosed streams(closed);
      made.push_back(open_at(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY));
      made.push_back(open_socket(AF_UNIX, SOCK_STREAM, 0));
      made.push_back(open_timer(CLOCK_MONOTONIC));
      made.push_back(open_event());
      for (const int stream : closed) free_again.push_back(!is_open(stream));
    }
    for (const Descriptor& one : made) {
      EXPECT_GE(one.get(), 3);
      EXPECT_EQ(::fcntl(one.get(), F_GETFD), FD_CLOEXEC);
    }
    EXPECT_EQ(free_again, std::vector<bool>(closed.size(), true));
  }
}

// Covers: FLT_A16
TEST(DescriptorTest, AStreamThatIsKeptCannotBeWrittenToAndIsFreedWithItsLastUser) {
  int other = -1, written = 0, error = 0;
  bool kept_by_one = false, freed = false;
  {
    const StreamsClosed streams({1});
    auto* const first = new StandardStreamsKept;
    {
      const StandardStreamsKept second;
      delete first;
      other = ::open("/", O_PATH | O_CLOEXEC);
      errno = 0;
      written = static_cast<int>(::write(1, "x", 1));
      error = errno;
      kept_by_one = is_open(1);
    }
    freed = !is_open(1);
  }
  ::close(other);
  EXPECT_GE(other, 3);
  EXPECT_EQ(written, -1);
  EXPECT_EQ(error, EBADF);
  EXPECT_TRUE(kept_by_one);
  EXPECT_TRUE(freed);
}

// Covers: FLT_A16
TEST(DescriptorTest, AStreamThatTheHostOpensMeanwhileStaysOpen) {
  bool open = false;
  {
    const StreamsClosed streams({0});
    {
      const StandardStreamsKept kept;
      const Descriptor null = open_at(AT_FDCWD, "/dev/null", O_RDONLY);
      ::dup2(null.get(), 0);
    }
    open = is_open(0);
  }
  EXPECT_TRUE(open);
}

TEST(DescriptorTest, WhatFailsLeavesItsErrno) {
  const StreamsClosed streams({0});
  EXPECT_FALSE(open_at(AT_FDCWD, "/no/such/file", O_RDONLY));
  EXPECT_EQ(errno, ENOENT);
}

TEST(DescriptorTest, ACallThatASignalInterruptsIsRepeated) {
  int calls = 0;
  const int result = uninterrupted([&] {
    errno = ++calls < 3 ? EINTR : EIO;
    return calls < 3 ? -1 : 7;
  });
  EXPECT_EQ(result, 7);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(uninterrupted([&] { return errno = ENOSPC, -1; }), -1);
}

}  // namespace
}  // namespace coordkit
