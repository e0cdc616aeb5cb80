// A replica and an execution context that are destroyed in any order, with operations of one on the other.
#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <thread>

#include "coordkit/asio/asio.h"
#include "coordkit/asio/asio_stream.h"
#include "coordkit/coordkit.h"
#include "coordkit/transport/loopback_transport.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

namespace asio = boost::asio;

// Says when the last copy of a handler that has it was destroyed, and whether it was called.
struct Fate {
  std::atomic<int> destroyed{0};
  std::atomic<int> called{0};
};
class Handler {
 public:
  explicit Handler(Fate& fate) : fate_(&fate, [](Fate* of) { ++of->destroyed; }) {}
  template <typename Answer>
  void operator()(const Answer&) {
    ++fate_->called;
  }

 private:
  std::shared_ptr<Fate> fate_;
};

class AsioLifetimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Replica>> opened =
        Replica::open({.id = 1, .cluster = "test", .members = {{1, "one"}}, .parts = in_memory(hub_)});
    ASSERT_THAT(opened.status(), IsOk());
    replica_ = *std::move(opened);
    ASSERT_THAT(replica_->wait_ready(kPatience), IsOk());
    session_ = replica_->open_session({.ttl = 60s}).value();
  }
  // Nothing grants it while this lives.
  Grant held() { return session_.acquire("held", {.owner = "other"}).value(); }

  Fate fate_;
  LoopbackHub hub_;
  std::unique_ptr<Replica> replica_;
  Session session_;
};

// Covers: FLT_A03
TEST_F(AsioLifetimeTest, AContextThatGoesFirstDestroysTheHandlersOfItsOperations) {
  const Grant held_by_another = held();
  {
    asio::io_context io;
    async_acquire(session_, "held", {}, asio::bind_executor(io, Handler(fate_)));
    io.poll();
    io.stop();
  }
  EXPECT_EQ(fate_.destroyed, 1);
  ASSERT_THAT(replica_->close(), IsOk());
  EXPECT_EQ(fate_.called, 0);
}

TEST_F(AsioLifetimeTest, ACoroutineThatWaitsForAReplicaGoesWithItsContext) {
  const Grant held_by_another = held();
  const auto waits = [](Session session, Handler handler) -> asio::awaitable<void> {
    handler(co_await async_acquire(std::move(session), "held", {}, asio::use_awaitable));
  };
  {
    asio::io_context io;
    asio::co_spawn(io, waits(session_, Handler(fate_)), asio::detached);
    io.poll();
  }
  EXPECT_EQ(fate_.destroyed, 1);
  ASSERT_THAT(replica_->close(), IsOk());
  EXPECT_EQ(fate_.called, 0);
}

TEST_F(AsioLifetimeTest, AReplicaThatGoesFirstLeavesItsAnswersToTheContext) {
  const Grant held_by_another = held();
  asio::io_context io;
  async_acquire(session_, "held", {}, asio::bind_executor(io, Handler(fate_)));
  replica_.reset();
  EXPECT_EQ(fate_.called, 0);
  io.run();
  EXPECT_EQ(fate_.called, 1);
  EXPECT_EQ(fate_.destroyed, 1);
}

TEST_F(AsioLifetimeTest, AnAnswerThatIsNotRunGoesWithItsContext) {
  {
    asio::io_context io;
    async_put(*replica_, "k", "v", {}, asio::bind_executor(io, Handler(fate_)));
    io.stop();
    ASSERT_THAT(replica_->put("later", "v").status(), IsOk());  // by now the first one is answered
    replica_.reset();
  }
  EXPECT_EQ(fate_.destroyed, 1);
  EXPECT_EQ(fate_.called, 0);
}

// Covers: FLT_A03
TEST_F(AsioLifetimeTest, AnswersRaceWithTheEndOfTheContext) {
  for (int round = 0; round < 300; ++round) {
    Fate fate;
    constexpr int kCalls = 8;
    {
      asio::io_context io;
      for (int i = 0; i < kCalls; ++i) async_put(*replica_, "k", "v", {}, asio::bind_executor(io, Handler(fate)));
      for (int i = 0; i < round % 20; ++i) io.poll_one(), std::this_thread::yield();
    }
    EXPECT_EQ(fate.destroyed, kCalls) << round;
  }
}

TEST_F(AsioLifetimeTest, StrandsAndThreadPoolsAreContextsToo) {
  const Grant held_by_another = held();
  {
    asio::thread_pool pool(2);
    async_acquire(session_, "held", {}, asio::bind_executor(asio::make_strand(pool), Handler(fate_)));
    for (int i = 0; i < 100; ++i) async_put(*replica_, "k", "v", {}, asio::bind_executor(pool, Handler(fate_)));
    pool.stop();
  }
  EXPECT_EQ(fate_.destroyed, 101);
  ASSERT_THAT(replica_->close(), IsOk());
}

TEST_F(AsioLifetimeTest, AReadOfAStreamGoesWithItsContextAndTakesNoEvent) {
  WatchStream watch(*replica_, WatchOptions::of("k"));
  ASSERT_EQ(async_next(watch, asio::use_future).get()->what, WatchBatch::What::Created);
  {
    asio::io_context io;
    async_next(watch, asio::bind_executor(io, Handler(fate_)));
  }
  EXPECT_EQ(fate_.destroyed, 1);
  ASSERT_THAT(replica_->put("k", "v").status(), IsOk());
  EXPECT_EQ(async_next(watch, asio::use_future).get()->what, WatchBatch::What::Events) << "the next reader has it";
  EXPECT_EQ(fate_.called, 0);
}

// A later answer to the call is given back: nobody holds or awaits it.
TEST_F(AsioLifetimeTest, AnAcquireWhoseContextIsGoneLeavesTheLine) {
  Grant held_by_another = held();
  {
    asio::io_context io;
    async_acquire(session_, "held", {}, asio::bind_executor(io, Handler(fate_)));
    ASSERT_TRUE(eventually([&] { return !replica_->queue("held")->waiters.empty(); }));
  }
  EXPECT_TRUE(eventually([&] { return replica_->queue("held")->waiters.empty(); }));
  EXPECT_EQ(fate_.called, 0);
}

TEST_F(AsioLifetimeTest, AnOperationOfAContextThatIsBeingDestroyedDestroysItsHandler) {
  {
    asio::io_context io;
    const auto begin = [&](void*) { async_put(*replica_, "k", "v", {}, asio::bind_executor(io, Handler(fate_))); };
    asio::post(io, [destroyed = std::shared_ptr<void>(static_cast<void*>(this), begin)] {});
  }
  EXPECT_EQ(fate_.destroyed, 1);
  ASSERT_THAT(replica_->close(), IsOk());
  EXPECT_EQ(fate_.called, 0);
}

TEST_F(AsioLifetimeTest, AStreamThatWasMovedFromHasEnded) {
  EventStream<CounterSeen> from;
  EventStream<CounterSeen> to = std::move(from);
  EXPECT_THAT(async_next(from, asio::use_future).get().status(), Is(Reason::Closed));  // NOLINT(bugprone-use-after-move)
  from.end(absl::CancelledError());
  from.observer()(CounterSeen());
}

// The handler has no executor, so it runs on the callback thread, inside the watch's own callback.
TEST_F(AsioLifetimeTest, AHandlerWithoutAnExecutorMayDestroyItsStream) {
  auto watch = std::make_unique<WatchStream>(*replica_, WatchOptions::of("k"));
  ASSERT_EQ(async_next(*watch, asio::use_future).get()->what, WatchBatch::What::Created);
  std::promise<void> gone;
  async_next(*watch, [&](const absl::StatusOr<WatchBatch>&) {
    watch.reset();
    gone.set_value();
  });
  ASSERT_THAT(replica_->put("k", "v").status(), IsOk());
  gone.get_future().wait();
}

TEST_F(AsioLifetimeTest, TheEndOfAWatchStreamAnswersItsReaders) {
  WatchStream watch(*replica_, WatchOptions::of("k"));
  ASSERT_EQ(async_next(watch, asio::use_future).get()->what, WatchBatch::What::Created);
  auto read = async_next(watch, asio::use_future);
  watch.end();
  EXPECT_THAT(read.get().status(), Is(Reason::Closed));
  EXPECT_THAT(async_next(watch, asio::use_future).get().status(), Is(Reason::Closed));
}

}  // namespace
}  // namespace coordkit::testkit
