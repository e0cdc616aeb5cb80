// The events that three running replicas report.
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "coordkit/operate/log_to_stderr.h"
#include "service/loop/event_feed.h"
#include "tests/support/source_dir.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;

class EventsTest : public ::testing::Test {
 protected:
  void open(uint64_t id, Duration election_timeout = 300ms) {
    ReplicaOptions options = cluster_.options(id);
    options.election_timeout = election_timeout;
    options.on_event = [this](const ReplicaEvent& event) {
      const std::scoped_lock lock(mutex_);
      events_[event.replica.value()].push_back(event);
      changed_.notify_all();
    };
    cluster_.open(std::move(options));
  }
  bool wait_for(uint64_t id, ReplicaEventKind kind, uint64_t peer = 0) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] {
      return std::ranges::any_of(
          events_[id], [&](const ReplicaEvent& one) { return one.kind == kind && (peer == 0 || one.peer == ReplicaId(peer)); });
    });
  }
  void forget() {
    const std::scoped_lock lock(mutex_);
    events_.clear();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, std::vector<ReplicaEvent>> events_;
  Cluster cluster_;  // its replicas use what is above
};

TEST_F(EventsTest, ThreeReplicasTellWhoLeadsWhoIsThereAndWhoIsGone) {
  for (uint64_t id = 1; id <= 3; ++id) open(id);
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  const uint64_t leader = cluster_[1].health().leader.value();
  for (uint64_t id = 1; id <= 3; ++id) {
    EXPECT_TRUE(wait_for(id, ReplicaEventKind::Opened));
    EXPECT_TRUE(wait_for(id, ReplicaEventKind::LeaderChanged, leader));
    EXPECT_TRUE(wait_for(id, ReplicaEventKind::StateChanged));
  }
  const uint64_t other = leader % 3 + 1;
  EXPECT_TRUE(wait_for(leader, ReplicaEventKind::PeerConnected, other));
  {
    const std::scoped_lock lock(mutex_);
    EXPECT_THAT(events_[leader], Each(Field(&ReplicaEvent::severity, ::testing::Lt(Severity::Error))));
  }
  forget();
  cluster_.close(leader);
  EXPECT_TRUE(wait_for(other, ReplicaEventKind::PeerLost, leader));
  EXPECT_TRUE(wait_for(other, ReplicaEventKind::MemberSilent, leader));
  EXPECT_TRUE(wait_for(other, ReplicaEventKind::LeaderChanged));
  open(leader);
  EXPECT_TRUE(wait_for(other, ReplicaEventKind::MemberResponding, leader));
}

// More time than any start takes on a busy machine, so that nothing here is late.
TEST_F(EventsTest, AStartThatGoesWellIsSilentAtWarningAndTellsEachPeerOnce) {
  for (uint64_t id = 1; id <= 3; ++id) open(id, 3s);
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  for (uint64_t id = 1; id <= 3; ++id) {
    for (const uint64_t peer : {id % 3 + 1, (id + 1) % 3 + 1}) EXPECT_TRUE(wait_for(id, ReplicaEventKind::PeerConnected, peer));
  }
  for (uint64_t id = 1; id <= 3; ++id) {
    EXPECT_TRUE(eventually([&] { return cluster_[id].metrics()->peers.tcp->opened >= 4; })) << "two members dial each other";
    ASSERT_THAT(cluster_[id].put("k", "v", {.timeout = kPatience}).status(), IsOk());
  }
  for (uint64_t id = 1; id <= 3; ++id) cluster_.close(id);
  const std::scoped_lock lock(mutex_);
  for (uint64_t id = 1; id <= 3; ++id) {
    EXPECT_THAT(events_[id], Each(Field(&ReplicaEvent::severity, ::testing::Lt(Severity::Warning))));
    for (const uint64_t peer : {id % 3 + 1, (id + 1) % 3 + 1}) {
      EXPECT_EQ(std::ranges::count_if(events_[id],
                                      [&](const ReplicaEvent& one) {
                                        return one.kind == ReplicaEventKind::PeerConnected && one.peer == ReplicaId(peer);
                                      }),
                1)
          << "replica " << id << " about " << peer;
    }
  }
}

TEST_F(EventsTest, WhatCodeOfTheHostThrewIsAnEventButNotWhatOnEventItselfThrows) {
  ReplicaOptions options = cluster_.options(1);
  std::atomic<int> errors{0}, events{0}, threw{0};
  options.on_event = [&](const ReplicaEvent& event) {
    ++events;
    if (event.kind == ReplicaEventKind::HostThrew) ++threw;
    throw std::runtime_error("no disk for logs");
  };
  options.on_leadership = [](const raft::Leadership&) { throw std::runtime_error("not now"); };
  options.on_error = [&](const absl::Status&) { ++errors; };
  cluster_.open(std::move(options));
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (threw == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  EXPECT_GT(threw, 0);
  const std::vector<std::string> warnings = cluster_[1].health().warnings;
  EXPECT_THAT(warnings, Contains(HasSubstr("on_event threw: no disk for logs")));
  cluster_.close(1);
  EXPECT_LE(errors, 2 * events + 10) << "what on_event throws is reported to on_error only";
}

TEST(EventFeedTest, ASlowCallbackLosesEventsAndIsToldHowMany) {
  std::mutex stop;
  stop.lock();
  std::atomic<bool> at_work{false};
  std::vector<uint64_t> missed;
  CallbackThread callbacks{"coordkit/test"};
  EventFeed feed(
      [&](const ReplicaEvent& event) {
        at_work = true;
        const std::scoped_lock lock(stop);
        missed.push_back(event.missed);
      },
      callbacks, 3);
  feed.tell({});
  while (!at_work) std::this_thread::yield();
  for (int i = 0; i < 9; ++i) feed.tell({});  // three wait behind the one being delivered
  stop.unlock();
  for (size_t delivered = 0; delivered < 4;) {
    std::this_thread::yield();
    const std::scoped_lock lock(stop);
    delivered = missed.size();
  }
  feed.tell({});
  callbacks.stop();
  EXPECT_THAT(missed, ::testing::ElementsAre(0, 0, 0, 0, 6));
}

TEST(LogToStderrTest, LinesAreWholeAndBeginWithTheTime) {
  ::testing::internal::CaptureStderr();
  const OnReplicaEvent log = log_to_stderr(Severity::Warning);
  log({.kind = ReplicaEventKind::DiskFull,
       .severity = Severity::Warning,
       .replica = ReplicaId(2),
       .term = Term(7),
       .sentence = "the disk of the log is full"});
  log({.kind = ReplicaEventKind::Checkpointed, .severity = Severity::Debug});
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, ::testing::MatchesRegex("[0-9]+-[0-9][0-9]-[0-9][0-9] [0-9:]+\\.[0-9][0-9][0-9] "
                                            "Warning DiskFull replica 2 term 7: the disk of the log is full\n"));
}

// Every line tells its reader what to do.
TEST(EventsPageTest, HasARowForEachKind) {
  std::ifstream in(source_dir() + "/docs/events.md");
  std::stringstream page;
  page << in.rdbuf();
  for (size_t kind = 0; kind <= static_cast<size_t>(ReplicaEventKind::Halted); ++kind) {
    const std::string row = "| `" + std::string(name_of(static_cast<ReplicaEventKind>(kind))) + "` |";
    EXPECT_NE(page.str().find(row), std::string::npos) << "docs/events.md has no row that begins " << row;
  }
}

}  // namespace
}  // namespace coordkit::testkit
