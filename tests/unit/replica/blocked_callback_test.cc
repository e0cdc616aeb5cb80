// A callback of an *_async call blocks the engine's thread, until the test lets it go. Calls that hang never get so far.
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "coordkit/asio/asio_executor.h"
#include "coordkit/coordkit.h"
#include "coordkit/operate/backup.h"
#include "coordkit/transport/loopback_transport.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The system's clock until it is stopped. Then it stands still, but for advance(); or each reading is so much after the last.
class TestClock final : public Clock {
 public:
  Now now() const noexcept override {
    const std::lock_guard lock(mutex_);
    if (!stopped_) return moved(system_clock().now());
    shift_ += step_;
    return moved(*stopped_);
  }
  void stop(Duration step = {}) {
    const std::lock_guard lock(mutex_);
    stopped_ = system_clock().now();
    step_ = step;
  }
  void advance(Duration by) {
    const std::lock_guard lock(mutex_);
    shift_ += by;
  }

 private:
  Now moved(Now now) const { return {now.lagging + shift_, now.leading + shift_}; }

  mutable std::mutex mutex_;
  std::optional<Now> stopped_;
  mutable Duration shift_{};
  Duration step_{};
};

class BlockedCallbackTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NO_FATAL_FAILURE(open({})); }
  void open(std::shared_ptr<Executor> executor) {
    replica_.reset();
    ReplicaOptions options{.id = 1, .cluster = "test", .members = {{1, "here"}}, .parts = in_memory(hub_)};
    options.parts.clock = &clock_;
    options.parts.executor = std::move(executor);
    options.on_event = [this](const ReplicaEvent& event) {
      const std::lock_guard lock(mutex_);
      if (event.kind == ReplicaEventKind::ThreadHeldUp) held_up_.push_back(event.sentence);
    };
    absl::StatusOr<std::unique_ptr<Replica>> replica = Replica::open(std::move(options));
    ASSERT_THAT(replica.status(), IsOk());
    replica_ = *std::move(replica);
    ASSERT_THAT(replica_->wait_ready(kPatience), IsOk());
  }
  // Returns once the callback of a get_async() blocks.
  void block() {
    std::promise<void> blocks;
    replica_->get_async("any", {}, [&](const absl::StatusOr<GetResult>&) {
      blocks.set_value();
      gate_.get_future().wait();
    });
    blocks.get_future().wait();
  }
  void unblock() { gate_.set_value(); }
  std::vector<std::string> held_up() {
    const std::lock_guard lock(mutex_);
    return held_up_;
  }
  Session session() { return *replica_->open_session({.ttl = 10s, .timeout = kPatience}); }

  LoopbackHub hub_;
  TestClock clock_;
  std::promise<void> gate_;
  std::mutex mutex_;
  std::vector<std::string> held_up_;
  std::unique_ptr<Replica> replica_;
};

// Covers: FLT_A17
TEST_F(BlockedCallbackTest, CallsOfOtherThreadsEndAtTheirTimeoutsAndWhatHadNotBegunHasNoEffect) {
  Session me = session();
  block();
  const absl::Status put = replica_->put("key", "value", {.timeout = 1ms}).status();
  EXPECT_THAT(put, Is(Reason::CallTimeout));
  EXPECT_EQ(outcome_of(put), Outcome::NoEffect);
  EXPECT_THAT(std::string(put.message()), HasSubstr("get_async's callback has held up the engine's thread for "));
  const absl::Status acquired = me.acquire("lock", {.timeout = 1ms}).status();
  EXPECT_THAT(acquired, Is(Reason::CallTimeout));
  EXPECT_EQ(outcome_of(acquired), Outcome::NoEffect);
  const absl::Status ready = replica_->wait_ready(1ms);
  EXPECT_THAT(ready, Is(Reason::CallTimeout));
  EXPECT_THAT(std::string(ready.message()), HasSubstr("get_async's callback has held up the engine's thread for "));
  unblock();
  ASSERT_THAT(replica_->put("another", "value", {.timeout = kPatience}).status(), IsOk());
  EXPECT_FALSE(replica_->get("key")->entry) << "its caller was told that nothing was done";
  EXPECT_THAT(replica_->holders("lock")->holders, IsEmpty());
}

// Covers: FLT_A17
TEST_F(BlockedCallbackTest, WhatALateAnswerBringsIsGivenBack) {
  Session holder = session(), waiter = session();
  absl::StatusOr<Grant> held = holder.acquire("lock", {.timeout = kPatience});
  ASSERT_THAT(held.status(), IsOk());
  clock_.stop();
  std::future<absl::Status> waits =
      std::async(std::launch::async, [&] { return waiter.acquire("lock", {.timeout = 1ms}).status(); });
  ASSERT_TRUE(eventually([&] { return replica_->queue("lock")->waiters.size() == 1; }));
  block();
  held->release_async([](const absl::Status&) {});  // so that the other one gets it, after its caller has gone
  clock_.advance(1s);
  const absl::Status late = waits.get();
  EXPECT_THAT(late, Is(Reason::CallTimeout));
  EXPECT_EQ(outcome_of(late), Outcome::Unknown) << "it stands in line";
  unblock();
  EXPECT_TRUE(eventually([&] {
    const auto info = replica_->holders("lock");
    return info.ok() && info->holders.empty() && info->waiters == 0;
  }));
}

// Covers: FLT_A17
TEST_F(BlockedCallbackTest, HealthAndMetricsSayHowOldTheyAreAndWhatBlocks) {
  ASSERT_THAT(replica_->put("key", "value", {.timeout = kPatience}).status(), IsOk());
  EXPECT_THAT(replica_->health().warnings, IsEmpty());
  const uint64_t commands = replica_->metrics()->commands.submitted;
  clock_.stop();
  block();
  clock_.advance(5s);
  const Health health = replica_->health();
  EXPECT_EQ(health.state, ReplicaState::Ready);
  EXPECT_GE(health.age, 5s);
  EXPECT_THAT(health.warnings, Contains(HasSubstr("get_async's callback has held up the engine's thread for 5000 ms")));
  for (const std::string& warning : health.warnings) EXPECT_EQ(fault_of_words(warning), "");
  const absl::StatusOr<Metrics> metrics = replica_->metrics();
  ASSERT_THAT(metrics.status(), IsOk());
  EXPECT_GE(metrics->age, 5s);
  EXPECT_EQ(metrics->commands.submitted, commands);
  EXPECT_THAT(prometheus_text(*metrics), HasSubstr("\ncoordkit_metrics_age_seconds 5"));
  EXPECT_THAT(replica_->lock_statistics().status(), IsOk());
  EXPECT_THAT(held_up(), IsEmpty()) << "an event is told when it is over";
  unblock();
  const auto all = AllOf(Contains(HasSubstr("get_async's callback held up the engine's thread for 5000 ms")),
                         Not(Contains(HasSubstr("has held up"))));
  ASSERT_TRUE(eventually([&] { return !held_up().empty(); }));
  EXPECT_THAT(held_up(), all);
  EXPECT_THAT(replica_->health().warnings, all);
  EXPECT_EQ(replica_->health().age, 0s) << "the clock stands still";
}

// Each of them returns, though it has no timeout among its arguments.
// Covers: FLT_A17
TEST_F(BlockedCallbackTest, NoKindOfBlockingCallWaitsForTheCallback) {
  Session me = session();
  absl::StatusOr<Grant> grant = me.acquire("lock", {.timeout = kPatience});
  absl::StatusOr<Grant> other = me.acquire("other", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  ASSERT_THAT(other.status(), IsOk());
  absl::StatusOr<KeyLease> lease = Leases(*replica_).keep({.ttl = 10s});
  ASSERT_THAT(lease.status(), IsOk());
  Kv kv(*replica_);
  Mutex mutex(me, "mutex");
  block();
  clock_.stop(1h);  // later than any timeout at the next look
  const std::map<std::string, std::function<absl::Status()>> calls = {
      {"put", [&] { return replica_->put("k", "v").status(); }},
      {"get", [&] { return replica_->get("k").status(); }},
      {"erase", [&] { return replica_->erase("k").status(); }},
      {"propose", [&] { return replica_->propose(MachineId(16), "").status(); }},
      {"query", [&] { return replica_->query(MachineId(16), "").status(); }},
      {"open_session", [&] { return replica_->open_session().status(); }},
      {"resume_session", [&] { return replica_->resume_session(me.id(), "x").status(); }},
      {"kill_session", [&] { return replica_->kill_session(me.id()); }},
      {"force_release", [&] { return replica_->force_release("lock", Token(1)).status(); }},
      {"clear_delay", [&] { return replica_->clear_delay("lock"); }},
      {"holders", [&] { return replica_->holders("lock").status(); }},
      {"queue", [&] { return replica_->queue("lock").status(); }},
      {"session_info", [&] { return replica_->session_info(me.id()).status(); }},
      {"sessions", [&] { return replica_->sessions().status(); }},
      {"locks_of", [&] { return replica_->locks_of(me.id()).status(); }},
      {"change_membership", [&] { return replica_->change_membership(MembershipChange().add(2, "there")).status(); }},
      {"transfer_leadership", [&] { return replica_->transfer_leadership(); }},
      {"wait_ready", [&] { return replica_->wait_ready(1ms); }},
      {"backup", [&] { return replica_->backup(::testing::TempDir() + "/never-made").status(); }},
      {"acquire_all", [&] { return me.acquire_all({{.name = "a"}}, {.timeout = 1ms}).status(); }},
      {"check", [&] { return grant->check().status(); }},
      {"update_value", [&] { return grant->update_value("v"); }},
      {"downgrade", [&] { return other->downgrade(); }},
      {"release", [&] { return grant->release(); }},
      {"Kv::get", [&] { return kv.get("k").status(); }},
      {"Kv::range", [&] { return kv.range(RangeOperation::of("k")).status(); }},
      {"Kv::commit", [&] { return kv.commit({}).status(); }},
      {"KeySpace::info", [&] { return KeySpace(*replica_).info().status(); }},
      {"KeySpace::set_quota", [&] { return KeySpace(*replica_).set_quota(0).status(); }},
      {"Leases::list", [&] { return Leases(*replica_).list().status(); }},
      {"KeyLease::revoke", [&] { return lease->revoke(); }},
      {"Counter", [&] { return Counter(*replica_, "c").add(1).status(); }},
      {"IdAllocator", [&] { return IdAllocator(*replica_, "c").next().status(); }},
      {"Semaphore", [&] { return Semaphore(me, "s").acquire({.timeout = 1ms}).status(); }},
      {"Latch", [&] { return Latch(me, "l").wait(1ms); }},
      {"Barrier", [&] { return Barrier(me, "b").wait(1ms); }},
      {"ClaimQueue", [&] { return ClaimQueue(me, "q").claim({.timeout = 1ms}).status(); }},
      {"Election", [&] { return Election(me, "e").campaign("", 1ms).status(); }},
      {"Group", [&] { return Group(me, "g").join("").status(); }},
      {"Session::close", [&] { return me.close(); }},
  };
  for (const auto& [name, call] : calls) EXPECT_THAT(call(), Is(Reason::CallTimeout)) << name;
  unblock();
}

// A task of the host's own keeps the only thread of the executor.
// Covers: FLT_A17
TEST_F(BlockedCallbackTest, AnExecutorThatIsHeldUpIsNotWaitedForEither) {
  boost::asio::io_context io;
  const auto work = boost::asio::make_work_guard(io);
  std::thread runs([&] { io.run(); });
  ASSERT_NO_FATAL_FAILURE(open(asio_executor(io.get_executor())));
  std::promise<void> blocks;
  boost::asio::post(io, [&] {
    blocks.set_value();
    gate_.get_future().wait();
  });
  blocks.get_future().wait();
  const absl::Status put = replica_->put("key", "value", {.timeout = 1ms}).status();
  EXPECT_THAT(put, Is(Reason::CallTimeout));
  EXPECT_EQ(outcome_of(put), Outcome::NoEffect);
  EXPECT_THAT(replica_->health().warnings, Contains(HasSubstr("other tasks of its executor")));
  unblock();
  EXPECT_THAT(replica_->put("key", "value", {.timeout = kPatience}).status(), IsOk());
  replica_.reset();
  io.stop();
  runs.join();
}

TEST_F(BlockedCallbackTest, AQuickCallbackIsNoEvent) {
  clock_.stop();  // so that every callback is quick, however busy the processor is
  for (int i = 0; i < 100; ++i) {
    std::promise<void> called;
    replica_->get_async("key", {}, [&](const absl::StatusOr<GetResult>&) { called.set_value(); });
    called.get_future().wait();
  }
  EXPECT_EQ(replica_->close(), absl::OkStatus());
  EXPECT_THAT(held_up(), IsEmpty());
}

}  // namespace
}  // namespace coordkit::testkit
