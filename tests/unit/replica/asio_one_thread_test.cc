// A replica whose turns run on the host's only thread, with the host's own tasks: nothing there may wait for it.
#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <future>
#include <map>
#include <thread>
#include <vector>

#include "coordkit/asio/asio.h"
#include "coordkit/asio/asio_executor.h"
#include "coordkit/coordkit.h"
#include "coordkit/operate/backup.h"
#include "coordkit/transport/loopback_transport.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

namespace asio = boost::asio;
using ::testing::AllOf;
using ::testing::HasSubstr;

class OneThreadTest : public ::testing::Test {
 protected:
  ReplicaOptions options(std::shared_ptr<Executor> executor) {
    ReplicaOptions options{.id = 1, .cluster = "test", .members = {{1, "here"}}, .parts = in_memory(hub_)};
    options.parts.executor = std::move(executor);
    return options;
  }
  std::unique_ptr<Replica> open(std::shared_ptr<Executor> executor) { return open(options(std::move(executor))); }
  static std::unique_ptr<Replica> open(ReplicaOptions options) {
    absl::StatusOr<std::unique_ptr<Replica>> replica = Replica::open(std::move(options));
    EXPECT_THAT(replica.status(), IsOk());
    return *std::move(replica);
  }
  // Runs a coroutine on this thread, and all else that the context has to do, until nothing is left.
  template <typename Body>
  void run(Body body) {
    asio::co_spawn(io_, std::move(body), [](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
    });
    io_.run();
    io_.restart();
  }

  LoopbackHub hub_;
  asio::io_context io_;
};

// Threads that run the context while this lives.
class Runs {
 public:
  explicit Runs(asio::io_context& io, size_t threads = 1) : work_(asio::make_work_guard(io)) {
    for (size_t i = 0; i < threads; ++i) threads_.emplace_back([&io] { io.run(); });
  }
  ~Runs() {
    work_.reset();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
};

// The answer of `call`, or what it threw, made on a thread of the context.
template <typename Call>
auto made_on(asio::io_context& io, Call call) {
  std::packaged_task<decltype(call())()> task(call);
  asio::post(io, [&] { task(); });
  return task.get_future().get();
}

// Covers: FLT_A17
TEST_F(OneThreadTest, EveryBlockingCallOnTheOnlyThreadIsRefused) {
  const Runs runs(io_);
  std::unique_ptr<Replica> replica = open(asio_executor(io_.get_executor()));
  ASSERT_THAT(replica->wait_ready(kPatience), IsOk()) << "another thread may wait";
  Session me = *replica->open_session({.timeout = kPatience});
  absl::StatusOr<Grant> grant = me.acquire("lock", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  Mutex mutex(me, "mutex");
  Watch watch(*replica, {.key = "k"});
  Mirror mirror(*replica, {.key = "k", .end = "l"}, {});
  IdAllocator ids(*replica, "ids");
  const std::map<std::string, std::function<absl::Status()>> calls = {
      {"put", [&] { return replica->put("k", "v", {.timeout = 1ms}).status(); }},
      {"Kv::get", [&] { return Kv(*replica).get("k").status(); }},
      {"acquire", [&] { return me.acquire("other").status(); }},
      {"release", [&] { return grant->release(); }},
      {"check", [&] { return grant->check().status(); }},
      {"Session::close", [&] { return me.close(); }},
      {"Semaphore", [&] { return Semaphore(me, "s").acquire().status(); }},
      {"transfer_leadership", [&] { return replica->transfer_leadership(); }},
      {"wait_ready", [&] { return replica->wait_ready(1ms); }},
      {"scrub_now", [&] { return replica->scrub_now(); }},
      {"backup", [&] { return replica->backup(::testing::TempDir() + "/never-made").status(); }},
      {"Watch::next", [&] { return watch.next(1ms).status(); }},
      {"Mirror::wait_ready", [&] { return mirror.wait_ready(1ms); }},
      {"IdAllocator", [&] { return ids.next().status(); }},
      {"Service::close", [&] { return replica->close(); }},
  };
  for (const auto& [name, call] : calls) {
    const absl::Status refused = made_on(io_, call);
    EXPECT_THAT(refused, Is(Reason::InCallback)) << name;
    EXPECT_EQ(outcome_of(refused), Outcome::NoEffect) << name;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("the only thread of the executor")) << name;
  }
  EXPECT_TRUE(grant->valid()) << "a refused release changes nothing";
  EXPECT_THROW(made_on(io_,
                       [&] {
                         mutex.lock();
                         return 0;
                       }),
               std::system_error);
}

// Covers: FLT_A17
TEST_F(OneThreadTest, HealthAndMetricsAreReadThereWithoutWaiting) {
  const Runs runs(io_);
  std::unique_ptr<Replica> replica = open(asio_executor(io_.get_executor()));
  ASSERT_THAT(replica->put("key", "value", {.timeout = kPatience}).status(), IsOk());
  // Each look sees what was published for the look before.
  EXPECT_TRUE(eventually([&] {
    const Health health = made_on(io_, [&] { return replica->health(); });
    return health.state == ReplicaState::Ready && health.applied > Index(1);
  }));
  EXPECT_TRUE(eventually([&] { return made_on(io_, [&] { return replica->metrics()->commands.submitted; }) > 0; }));
}

TEST_F(OneThreadTest, OneThreadDoesItAll) {
  std::unique_ptr<Replica> replica = open(asio_executor(io_.get_executor()));
  bool over = false;
  run([&]() -> asio::awaitable<void> {
    EXPECT_THAT(co_await async_wait_ready(*replica, kPatience), IsOk());
    const absl::StatusOr<Health> health = co_await async_health(*replica);
    EXPECT_THAT(health.status(), IsOk());
    EXPECT_EQ(health->state, ReplicaState::Ready);
    absl::StatusOr<Session> me = co_await async_open_session(*replica);
    EXPECT_THAT(me.status(), IsOk());
    absl::StatusOr<Grant> grant = co_await async_acquire(*me, "lock");
    EXPECT_THAT(grant.status(), IsOk());
    EXPECT_THAT(co_await async_release(*grant), IsOk());
    EXPECT_THAT(co_await async_close(*replica), IsOk());
    EXPECT_THAT((co_await async_health(*replica)).status(), IsOk()) << "the last one";
    EXPECT_THAT(co_await async_wait_ready(*replica, kPatience), Is(Reason::Closed));
    over = true;
  });
  EXPECT_TRUE(over);
}

// Covers: FLT_A17
TEST_F(OneThreadTest, AReplicaIsDestroyedOnTheOnlyThread) {
  for (int i = 0; i < 3; ++i) {
    std::unique_ptr<Replica> replica = open(asio_executor(io_.get_executor()));  // again at the same address
    absl::Status ended;
    run([&]() -> asio::awaitable<void> {
      EXPECT_THAT(co_await async_wait_ready(*replica, kPatience), IsOk());
      replica->put_async("key", "value", {}, [&](const absl::StatusOr<PutResult>& put) { ended = put.status(); });
      replica.reset();
      EXPECT_THAT(ended, Is(Reason::Stopped)) << "every call has been answered";
    });
    EXPECT_EQ(replica, nullptr);
  }
}

// Covers: FLT_A17
TEST_F(OneThreadTest, AReplicaIsDestroyedAfterItsExecutorWasStopped) {
  std::unique_ptr<Replica> replica = open(asio_executor(io_.get_executor()));
  run([&]() -> asio::awaitable<void> {
    EXPECT_THAT(co_await async_wait_ready(*replica, kPatience), IsOk());
    io_.stop();
  });
  replica.reset();
  EXPECT_EQ(replica, nullptr);
}

TEST_F(OneThreadTest, AWaitForAReplicaThatIsNotReadyEndsAtItsTimeoutByItsCancelOrWithTheReplica) {
  ReplicaOptions lonely = options(nullptr);
  lonely.members.push_back({2, "never there"});
  std::unique_ptr<Replica> replica = open(std::move(lonely));
  const auto wait = [&](Duration timeout, std::promise<absl::Status>& answer) {
    return replica->wait_ready_async(timeout, [&answer](const absl::Status& ready) { answer.set_value(ready); });
  };
  std::promise<absl::Status> timed, cancelled, stopped;
  wait(1ms, timed);
  const absl::Status late = timed.get_future().get();
  EXPECT_THAT(late, Is(Reason::CallTimeout));
  EXPECT_EQ(outcome_of(late), Outcome::NoEffect);
  EXPECT_THAT(std::string(late.message()), AllOf(HasSubstr("not ready yet"), HasSubstr("replica 2 at never there")));
  wait(kForever, cancelled).cancel();
  EXPECT_THAT(cancelled.get_future().get(), Is(Reason::Cancelled));
  wait(kForever, stopped);
  std::promise<absl::Status> closed;
  replica->close_async([&](const absl::Status& status) { closed.set_value(status); });
  EXPECT_THAT(closed.get_future().get(), IsOk());
  EXPECT_THAT(stopped.get_future().get(), Is(Reason::Stopped));
}

TEST_F(OneThreadTest, ACloseThatIsUnderWayOutlivesItsReplica) {
  std::unique_ptr<Replica> replica = open(options(nullptr));
  std::promise<absl::Status> closed;
  replica->close_async([&](const absl::Status& status) { closed.set_value(status); });
  replica.reset();
  EXPECT_THAT(closed.get_future().get(), IsOk());
}

TEST_F(OneThreadTest, HealthIsAnsweredInACallbackToo) {
  std::unique_ptr<Replica> replica = open(options(nullptr));
  ASSERT_THAT(replica->wait_ready(kPatience), IsOk());
  std::promise<absl::StatusOr<Health>> answer;
  replica->get_async("key", {}, [&](const absl::StatusOr<GetResult>&) {
    bool inside = true;
    replica->health_async([&](const absl::StatusOr<Health>& health) {
      EXPECT_FALSE(inside) << "a callback never runs inside the call that was given it";
      answer.set_value(health);
    });
    inside = false;
  });
  EXPECT_EQ(answer.get_future().get()->state, ReplicaState::Ready);
}

TEST_F(OneThreadTest, StrandsAreKnownAndOtherThreadsAreNot) {
  const Runs runs(io_);
  const auto known = [&](const std::shared_ptr<Executor>& executor) {
    return made_on(io_, [&] { return executor->runs_in_this_thread(); });
  };
  EXPECT_TRUE(known(asio_executor(io_.get_executor())));
  EXPECT_TRUE(known(asio_executor(asio::make_strand(io_)))) << "one thread runs the strand too";
  EXPECT_TRUE(known(asio_executor(asio::make_strand(asio::any_io_executor(io_.get_executor())))));
  EXPECT_FALSE(known(asio_executor(io_.get_executor(), 2)));
  EXPECT_FALSE(asio_executor(io_.get_executor())->runs_in_this_thread());
}

TEST_F(OneThreadTest, OneOfSeveralThreadsMayBlock) {
  const Runs runs(io_, 2);
  std::unique_ptr<Replica> replica = open(asio_executor(asio::make_strand(io_), 2));
  EXPECT_THAT(made_on(io_, [&] { return replica->put("key", "value", {.timeout = kPatience}).status(); }), IsOk());
}

}  // namespace
}  // namespace coordkit::testkit
