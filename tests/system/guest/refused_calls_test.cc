// Whatever the system refuses while a replica is opened is named as what it is, and nothing else is blamed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/support/sentence.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Returns the result of `work` in a child process.
std::string said_by_child(const std::function<std::string()>& work) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = work();
    ::_exit(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t size = 0; (size = ::read(ends[0], piece, sizeof piece)) > 0;) text.append(piece, static_cast<size_t>(size));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? text : "ended by signal " + std::to_string(WTERMSIG(status));
}

// From here on this call of this process, and of the threads it begins, fails with `error`.
void refuse(long call, int error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {.len = std::size(program), .filter = program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) ::_exit(2);
}

struct Refusal {
  std::vector<long> calls;
  int error;
  const char* status;                 // how it begins
  std::vector<std::string> words;     // that it has
  std::vector<std::string> no_words;  // and has not
};

// Covers: FLT_P14
TEST(GuestTest, WhatTheKernelRefusesAtTheOpeningIsNamed) {
  const std::vector<std::string> others = {"disk", "thread", "stored bytes"};
  const char* const policy = "seccomp";
  const Refusal refusals[] = {
      {{SYS_timerfd_create}, ENOSYS, "UNIMPLEMENTED", {"timerfd_create", "not implemented"}, others},
      {{SYS_timerfd_create}, EPERM, "PERMISSION_DENIED", {"timer", policy}, others},
      {{SYS_timerfd_create}, EMFILE, "RESOURCE_EXHAUSTED", {"raise the limit of open files"}, others},
      {{SYS_timerfd_create}, ENOMEM, "RESOURCE_EXHAUSTED", {"memory"}, others},
      {{SYS_eventfd2}, ENOSYS, "UNIMPLEMENTED", {"eventfd"}, others},
      {{SYS_eventfd2}, EPERM, "PERMISSION_DENIED", {"eventfd", policy}, others},
      {{SYS_epoll_create1}, EPERM, "PERMISSION_DENIED", {"epoll_create", policy}, others},
      {{SYS_epoll_create1}, ENOMEM, "RESOURCE_EXHAUSTED", {"epoll_create", "memory"}, others},
      {{SYS_flock}, ENOSYS, "UNIMPLEMENTED", {"cannot lock"}, others},
      {{SYS_flock}, EPERM, "PERMISSION_DENIED", {"cannot lock", policy}, others},
      {{SYS_flock}, ENOLCK, "UNIMPLEMENTED", {"cannot lock", "has no locks"}, others},
      {{SYS_getrandom}, ENOSYS, "UNIMPLEMENTED", {"random"}, others},
      {{SYS_getrandom}, EPERM, "PERMISSION_DENIED", {"random", policy}, others},
      {{SYS_socket}, EPERM, "PERMISSION_DENIED", {"cannot listen", policy}, others},
      {{SYS_clone, SYS_clone3}, EPERM, "PERMISSION_DENIED", {"can start no thread", policy}, {"disk", "limit"}},
      {{SYS_clone, SYS_clone3}, EAGAIN, "RESOURCE_EXHAUSTED", {"raise the limit of threads"}, {"disk"}},
      {{SYS_openat}, EMFILE, "RESOURCE_EXHAUSTED", {"raise the limit of open files"}, {"thread"}},
  };
  for (const Refusal& one : refusals) {
    const Cluster cluster(1);
    const std::string said = said_by_child([&] {
      const ReplicaOptions options = cluster.options(1);
      for (const long call : one.calls) refuse(call, one.error);
      const absl::Status status = Replica::open(options).status();
      return status.ToString() + "; " + fault_of_sentence(status);
    });
    EXPECT_THAT(said, AllOf(StartsWith(one.status), ::testing::EndsWith("; ")))
        << one.calls[0] << " " << std::strerror(one.error);
    for (const std::string& word : one.words) EXPECT_THAT(said, HasSubstr(word));
    for (const std::string& word : one.no_words) EXPECT_THAT(said, Not(HasSubstr(word)));
  }
}

// ---- address space

uint64_t address_space() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmSize:")) return std::stoull(line.substr(7)) << 10;
  }
  return 0;
}

void allow_address_space(uint64_t more) {
  const rlimit limit = {address_space() + more, RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &limit);
}

// Covers: FLT_P25
TEST(GuestTest, AReplicaWorksWhereAddressSpaceIsShort) {
  const Cluster cluster(1);
  const std::string said = said_by_child([&]() -> std::string {
    ReplicaOptions options = cluster.options(1);
    options.checkpoint_entries = 50;
    allow_address_space(uint64_t{512} << 20);
    for (int life = 0; life < 2; ++life) {
      auto replica = Replica::open(options);
      if (!replica.ok()) return replica.status().ToString();
      if (const absl::Status ready = (*replica)->wait_ready(kPatience); !ready.ok()) return ready.ToString();
      for (int i = 0; i < 200; ++i) {
        const auto put = (*replica)->put("k" + std::to_string(i), std::string(1000, 'v'));
        if (!put.ok()) return put.status().ToString();
      }
      if (const absl::Status scrubbed = (*replica)->scrub_now(); !scrubbed.ok()) return scrubbed.ToString();
    }
    return "OK";
  });
  EXPECT_EQ(said, "OK");
}

// Covers: FLT_P25
TEST(GuestTest, AReplicaThatFindsNoAddressSpaceAtTheOpeningSaysSo) {
  const Cluster cluster(1);
  const std::string said = said_by_child([&] {
    const ReplicaOptions options = cluster.options(1);
    allow_address_space(2 << 20);
    const absl::Status status = Replica::open(options).status();
    return status.ToString();
  });
  EXPECT_THAT(said, AllOf(StartsWith("RESOURCE_EXHAUSTED"), HasSubstr("memory"), Not(HasSubstr("disk"))));
}

// Covers: FLT_A06
TEST(GuestTest, AnIllegalLimitOfTheCheckpointsMapIsRefused) {
  const Cluster cluster(1);
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1000}, uint64_t{65} << 40}) {
    ReplicaOptions options = cluster.options(1);
    options.checkpoint_map_bytes_max = bytes;
    const absl::Status status = Replica::open(options).status();
    EXPECT_THAT(status, Is(Reason::InvalidArgument));
    EXPECT_THAT(std::string(status.message()), HasSubstr("checkpoint_map_bytes_max"));
  }
}

}  // namespace
}  // namespace coordkit::testkit
