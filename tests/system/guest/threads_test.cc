// The threads of a replica are guests: no signal of the host's is delivered to one of them, and their names say whose they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include "coordkit/testing/child_process.h"
#include "replica/operate/local_stream.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr int kSignals = 20;

// A service that blocks its signals after open() and reads them one by one.
void read_signals_after_open() {
  Cluster cluster(1);
  cluster.open_all();
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGRTMIN}) ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int descriptor = ::signalfd(-1, &set, SFD_CLOEXEC);
  int read = 0;
  for (int i = 0; i < kSignals; ++i) {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGRTMIN}) {
      ::kill(::getpid(), signal);
      pollfd ready{descriptor, POLLIN, 0};
      signalfd_siginfo info = {};
      if (::poll(&ready, 1, static_cast<int>(patience().count())) != 1) return;
      if (::read(descriptor, &info, sizeof info) == sizeof info && static_cast<int>(info.ssi_signo) == signal) ++read;
    }
  }
  std::cout << "read " << read << " signals, closed: " << cluster[1].close() << std::endl;
}

// Covers: FLT_A15
TEST(GuestTest, AHostThatBlocksSignalsAfterOpenReadsEachOfThem) {
  constexpr char kHost[] = "COORDKIT_TEST_HOST";
  if (std::getenv(kHost) != nullptr) return read_signals_after_open();
  EXPECT_THAT(printed_by_another_run(kHost), HasSubstr("read 100 signals, closed: OK"));
}

// One of /proc/self/task.
struct Task {
  std::string name;
  uint64_t blocked = 0;  // a bit for each signal, from 1
};

std::map<std::string, Task> tasks() {
  std::map<std::string, Task> all;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) {
    std::ifstream status(entry.path() / "status");
    Task& task = all[entry.path().filename()];
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Name:\t")) task.name = line.substr(6);
      if (line.starts_with("SigBlk:\t")) task.blocked = std::stoull(line.substr(8), nullptr, 16);
    }
  }
  return all;
}

// Of those that were not there before, once each of them has its name.
std::map<std::string, Task> tasks_beside(const std::map<std::string, Task>& before) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::map<std::string, Task> more;
  bool named = false;
  while (!named && std::chrono::steady_clock::now() < deadline) {
    more = tasks();
    std::erase_if(more, [&](const auto& task) { return before.contains(task.first) || task.second.name.empty(); });
    named = std::ranges::all_of(more, [](const auto& task) { return task.second.name.starts_with("coordkit/"); });
    std::this_thread::yield();
  }
  return more;
}

std::multiset<std::string> names_of(const std::map<std::string, Task>& tasks) {
  std::multiset<std::string> names;
  for (const auto& [number, task] : tasks) names.insert(task.name.substr(std::strlen("coordkit/")));
  return names;
}

// As replica.h says.
const std::multiset<std::string> kAlways = {"loop", "loop", "log", "spare", "state", "views", "notify", "timer", "scrub"};

TEST(GuestTest, TheThreadsOfAReplicaAreThoseThatItsHeaderNames) {
  const std::map<std::string, Task> before = tasks();
  Cluster cluster(1);
  ASSERT_NO_FATAL_FAILURE(cluster.open_all());
  EXPECT_EQ(names_of(tasks_beside(before)), kAlways);
  cluster.close(1);
  EXPECT_EQ(names_of(tasks_beside(before)), std::multiset<std::string>{});
}

TEST(GuestTest, AnAdminSocketHasAThreadAndOneForEachVisitor) {
  const std::map<std::string, Task> before = tasks();
  Cluster cluster(1);
  ReplicaOptions options = cluster.options(1);
  options.admin_socket = options.data_dir + ".admin";
  ASSERT_NO_FATAL_FAILURE(cluster.open(options));
  std::multiset<std::string> expected = kAlways;
  expected.insert("admin");
  EXPECT_EQ(names_of(tasks_beside(before)), expected);
  LocalStream visitor = LocalStream::connect(options.admin_socket);
  const std::string command[] = {"status"};
  ASSERT_TRUE(visitor.say(command));
  ASSERT_TRUE(visitor.next(64 << 10).ok());
  expected.insert("admin");
  EXPECT_EQ(names_of(tasks_beside(before)), expected);
}

// Covers: FLT_A15
TEST(GuestTest, EachThreadBlocksEverySignalButTheSynchronousOnesAndTheProfilers) {
  const std::map<std::string, Task> before = tasks();
  Cluster cluster(1);
  ReplicaOptions options = cluster.options(1);
  options.admin_socket = options.data_dir + ".admin";
  ASSERT_NO_FATAL_FAILURE(cluster.open(options));
  uint64_t expected = ~uint64_t{0};
  // The kernel lets no thread block the first two; the C library keeps the next two, from 32 on, for itself.
  for (const int other : {SIGKILL, SIGSTOP, 32, 33, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF}) {
    expected &= ~(uint64_t{1} << (other - 1));
  }
  const std::map<std::string, Task> ours = tasks_beside(before);
  EXPECT_EQ(ours.size(), kAlways.size() + 1);
  for (const auto& [number, task] : ours) EXPECT_EQ(task.blocked, expected) << task.name;
}

}  // namespace
}  // namespace coordkit::testkit
