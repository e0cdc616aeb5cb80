// A host closes its standard streams: no descriptor of three replicas ever has one of their numbers, in a life with all that
// opens files and sockets.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "coordkit/operate/backup.h"
#include "coordkit/testing/child_process.h"
#include "replica/operate/local_stream.h"
#include "tests/unit/replica/tls_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// The output for this process's reports, in place of the standard streams.
class Report {
 public:
  Report() : copy_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100)) {}
  void close_streams() {
    for (const int stream : {0, 1, 2}) ::close(stream);
  }
  // Once each is free: for moments a number may be kept from being given away.
  void streams_after(const std::string& what) {
    const bool free = eventually([] {
      for (const int stream : {0, 1, 2}) {
        if (::fcntl(stream, F_GETFD) >= 0) return false;
      }
      return true;
    });
    std::string line = what + (free ? ": free" : ": taken");
    for (const int stream : {0, 1, 2}) {
      std::error_code none;
      const fs::path open = fs::read_symlink("/proc/self/fd/" + std::to_string(stream), none);
      if (!none) line += " by " + open.filename().string();
    }
    say(line);
  }
  void say(std::string line) {
    line += "\n";
    EXPECT_EQ(::write(copy_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }

 private:
  const int copy_;
};

class Host {
 public:
  explicit Host(Report& report) : report_(report) {}

  void open() {
    for (uint64_t id = 1; id <= 3; ++id) tls_.cluster.open(options(id));
    for (uint64_t id = 1; id <= 3; ++id) EXPECT_THAT(tls_.cluster[id].wait_ready(kPatience), IsOk());
  }

  void live() {
    write();
    report_.streams_after("segments and checkpoints");
    LocalStream visitor = LocalStream::connect(options(1).admin_socket);
    const std::string command[] = {"status"};
    EXPECT_TRUE(visitor.say(command));
    EXPECT_TRUE(visitor.next().ok());
    report_.streams_after("a visitor");
    EXPECT_THAT(tls_.cluster[1].backup(options(1).data_dir + ".backup").status(), IsOk());
    report_.streams_after("a backup");
    tls_.rotate();
    report_.streams_after("new certificates");
    tls_.cluster.close(2);
    write();
    tls_.cluster.open(options(2));
    EXPECT_THAT(tls_.cluster[2].wait_ready(kPatience), IsOk());
    report_.streams_after("a restart");
    for (uint64_t id = 1; id <= 3; ++id) EXPECT_THAT(tls_.cluster[id].scrub_now(), IsOk());
    report_.streams_after("scrubs");
  }

 private:
  ReplicaOptions options(uint64_t id) const {
    ReplicaOptions options = tls_.options(id);
    options.segment_bytes = 64 << 10;
    options.checkpoint_entries = 50;
    options.admin_socket = options.data_dir + ".admin";
    for (MemberAddress& member : options.members) {
      member.address.replace(0, member.address.find(':'), "localhost");  // names are looked up
    }
    return options;
  }
  void write() {
    for (int i = 0; i < 200; ++i) {
      EXPECT_THAT(tls_.cluster[3].put("k" + std::to_string(i), std::string(2000, 'v'), {.timeout = kPatience}).status(),
                  IsOk());
    }
  }

  Report& report_;
  TlsCluster tls_;
};

enum class Closes { BeforeTheOpening, AfterIt };

void run_host(Closes closes) {
  Report report;
  {
    Host host(report);
    if (closes == Closes::BeforeTheOpening) report.close_streams();
    host.open();
    if (closes == Closes::AfterIt) report.close_streams();
    report.streams_after("the opening");
    host.live();
  }
  report.streams_after("the end");
  report.say(::testing::Test::HasFailure() ? "failures" : "no failures");
}

void expect_streams_untouched(Closes closes) {
  constexpr char kHost[] = "COORDKIT_TEST_HOST";
  if (std::getenv(kHost) != nullptr) return run_host(closes);
  const std::string printed = printed_by_another_run(kHost);
  EXPECT_THAT(printed, HasSubstr("the opening: free\n"
                                 "segments and checkpoints: free\n"
                                 "a visitor: free\n"
                                 "a backup: free\n"
                                 "new certificates: free\n"
                                 "a restart: free\n"
                                 "scrubs: free\n"
                                 "the end: free\n"
                                 "no failures\n"));
}

// Covers: FLT_A16
TEST(GuestTest, NothingGetsTheNumberOfAStandardStreamThatWasClosedBeforeTheOpening) {
  expect_streams_untouched(Closes::BeforeTheOpening);
}

// Covers: FLT_A16
TEST(GuestTest, NothingGetsTheNumberOfAStandardStreamThatIsClosedAfterTheOpening) { expect_streams_untouched(Closes::AfterIt); }

}  // namespace
}  // namespace coordkit::testkit
