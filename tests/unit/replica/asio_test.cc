// Every kind of completion token, and cancellation through its slot.
#include "coordkit/asio/asio.h"

#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "coordkit/asio/asio_coordination.h"
#include "coordkit/coordkit.h"
#include "tests/unit/replica/asio_fixture.h"

namespace coordkit::testkit {
namespace {

namespace asio = boost::asio;

TEST_F(AsioTest, ACoroutineOpensLocksWritesAndReads) {
  bool done = false;
  run([&]() -> asio::awaitable<void> {
    absl::StatusOr<Session> me = co_await async_open_session(replica(), "coroutine", {.ttl = 30s}, asio::use_awaitable);
    EXPECT_THAT(me.status(), IsOk());
    EXPECT_EQ(me->metadata(), "coroutine");
    absl::StatusOr<Grant> grant = co_await async_acquire(*me, "jobs", {.timeout = kPatience}, asio::use_awaitable);
    EXPECT_THAT(grant.status(), IsOk());
    EXPECT_TRUE(grant->valid());
    const std::thread::id here = std::this_thread::get_id();
    absl::StatusOr<bool> held = co_await async_check(*grant, asio::use_awaitable);
    EXPECT_TRUE(held.ok() && *held);
    EXPECT_EQ(std::this_thread::get_id(), here) << "completed on the coroutine's own executor";
    EXPECT_THAT((co_await async_put(replica(), "k", "v", {}, asio::use_awaitable)).status(), IsOk());
    absl::StatusOr<GetResult> got = co_await async_get(replica(), "k", asio::use_awaitable);
    EXPECT_TRUE(got.ok() && got->entry && got->entry->value == "v");
    EXPECT_THAT(co_await async_release(*grant, asio::use_awaitable), IsOk());
    EXPECT_THAT(co_await async_close(*me, asio::use_awaitable), IsOk());
    done = true;
  });
  EXPECT_TRUE(done);
}

TEST_F(AsioTest, ACoroutineCommitsATransactionReadsARangeAndErasesIt) {
  bool done = false;
  run([&]() -> asio::awaitable<void> {
    const Kv kv(replica());
    const Transaction both{{Compare::missing("a")}, {PutOperation{.key = "a"}, PutOperation{.key = "b"}}, {}};
    const absl::StatusOr<TransactionResult> first = co_await async_commit(kv, both, {}, asio::use_awaitable);
    const absl::StatusOr<TransactionResult> second = co_await async_commit(kv, both, {}, asio::use_awaitable);
    EXPECT_TRUE(first.ok() && first->succeeded && second.ok() && !second->succeeded);
    const RangeOperation all = RangeOperation::all();
    const absl::StatusOr<RangeResult> found = co_await async_range(kv, all, {}, asio::use_awaitable);
    EXPECT_TRUE(found.ok() && found->count == 2);
    const DeleteOperation erase{.key = "a", .end = "c"};
    const absl::StatusOr<EraseResult> erased = co_await async_erase(kv, erase, {}, asio::use_awaitable);
    EXPECT_TRUE(erased.ok() && erased->deleted == 2);
    done = true;
  });
  EXPECT_TRUE(done);
}

TEST_F(AsioTest, AFutureAndABoundCallbackAreAnsweredAndNeverInsideOfTheCall) {
  Session me = async_open_session(replica(), "", {}, asio::use_future).get().value();
  Grant grant = async_acquire(me, "jobs", "owner", "value", {}, asio::use_future).get().value();
  EXPECT_TRUE(grant.valid());
  EXPECT_EQ(replica().holders("jobs")->holders.at(0).texts.value, "value");

  std::optional<absl::Status> answered;
  const std::thread::id here = std::this_thread::get_id();
  async_release(grant, asio::bind_executor(io_, [&](absl::Status status) {
                  EXPECT_EQ(std::this_thread::get_id(), here);
                  answered = std::move(status);
                }));
  EXPECT_FALSE(answered) << "never inside of the call";
  io_.run();  // the operation counts as work until it ends
  ASSERT_TRUE(answered);
  EXPECT_THAT(*answered, IsOk());
}

TEST_F(AsioTest, ADeferredOperationStartsWhenItIsLaunched) {
  Session me = cluster_.session(1);
  auto later = async_acquire(me, "jobs", {}, asio::deferred);
  EXPECT_TRUE(replica().holders("jobs")->holders.empty());
  Grant grant = std::move(later)(asio::use_future).get().value();
  EXPECT_TRUE(grant.valid());
}

// Covers: S-59
TEST_F(AsioTest, ASlotCancelsOneAcquireAndNothingElse) {
  Session me = cluster_.session(1), other = cluster_.session(1);
  absl::StatusOr<Grant> held = other.acquire("jobs");
  ASSERT_THAT(held.status(), IsOk());
  asio::cancellation_signal signal;
  std::optional<absl::Status> cancelled, granted;
  async_acquire(me, "jobs", "one", "", {},
                asio::bind_cancellation_slot(
                    signal.slot(), asio::bind_executor(io_, [&](absl::StatusOr<Grant> grant) { cancelled = grant.status(); })));
  async_acquire(me, "jobs", "two", "", {},
                asio::bind_executor(io_, [&](absl::StatusOr<Grant> grant) { granted = grant.status(); }));
  signal.emit(asio::cancellation_type::total);
  while (!cancelled) io_.run_one();
  EXPECT_THAT(*cancelled, Is(Reason::Cancelled));
  EXPECT_FALSE(granted);
  EXPECT_THAT(held->release(), IsOk());
  io_.run();
  ASSERT_TRUE(granted);
  EXPECT_THAT(*granted, IsOk());
}

// Covers: S-59
TEST_F(AsioTest, WhatMayTakeEffectIsNotCancelledByATotalCancellation) {
  asio::cancellation_signal signal;
  std::optional<absl::Status> written;
  async_put(replica(), "k", "v", {},
            asio::bind_cancellation_slot(
                signal.slot(), asio::bind_executor(io_, [&](absl::StatusOr<PutResult> put) { written = put.status(); })));
  signal.emit(asio::cancellation_type::total);
  io_.run();
  ASSERT_TRUE(written);
  EXPECT_THAT(*written, IsOk());
}

// Covers: S-59
TEST_F(AsioTest, TheLoserOfARaceOfCoroutinesIsCancelled) {
  using namespace asio::experimental::awaitable_operators;
  Session me = cluster_.session(1), other = cluster_.session(1);
  absl::StatusOr<Grant> held = other.acquire("jobs");
  ASSERT_THAT(held.status(), IsOk());
  size_t winner = 9;
  run([&]() -> asio::awaitable<void> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 1ms);
    const auto first = co_await (async_acquire(me, "jobs", {}, asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    winner = first.index();
  });
  EXPECT_EQ(winner, 1u);
  EXPECT_TRUE(replica().queue("jobs")->waiters.empty()) << "its wait has ended, too";
}

TEST_F(AsioTest, ACoroutineUsesEveryKindOfPrimitive) {
  bool done = false;
  run([&]() -> asio::awaitable<void> {
    Session me = cluster_.session(1);
    Semaphore semaphore(me, "s");
    absl::StatusOr<Grant> permits =
        co_await async_acquire(semaphore, {.permits = 2, .timeout = kPatience, .initial_limit = 2}, asio::use_awaitable);
    EXPECT_THAT(permits.status(), IsOk());
    Latch latch(me, "l");
    EXPECT_THAT(latch.create(1), IsOk());
    EXPECT_EQ((co_await async_count_down(latch, 1, asio::use_awaitable)).value(), 0u);
    EXPECT_THAT(co_await async_wait(latch, kPatience, asio::use_awaitable), IsOk());
    EXPECT_THAT(co_await async_wait(Barrier(me, "open"), kPatience, asio::use_awaitable), IsOk());
    DoubleBarrier pair(me, "d", 1);
    absl::StatusOr<Grant> place = co_await async_enter(pair, kPatience, asio::use_awaitable);
    EXPECT_THAT(place.status(), IsOk());
    EXPECT_THAT(co_await async_leave(pair, *place, kPatience, asio::use_awaitable), IsOk());
    ClaimQueue queue(me, "q");
    EXPECT_THAT((co_await async_enqueue(queue, "work", 0, asio::use_awaitable)).status(), IsOk());
    absl::StatusOr<WorkItem> item = co_await async_claim(queue, {.timeout = kPatience}, asio::use_awaitable);
    EXPECT_EQ(item->value, "work");
    EXPECT_THAT(co_await async_acknowledge(queue, *item, asio::use_awaitable), IsOk());
    Election election(me, "e");
    absl::StatusOr<Grant> leads = co_await async_campaign(election, "first", kPatience, asio::use_awaitable);
    EXPECT_THAT(co_await async_proclaim(election, *leads, "second", asio::use_awaitable), IsOk());
    EXPECT_THAT((co_await async_join(Group(me, "g"), "here", asio::use_awaitable)).status(), IsOk());
    EXPECT_EQ((co_await async_allocate(Counter(replica(), "n"), 3, asio::use_awaitable)).value(), 1);
    std::vector<NamedLock> two{{"x"}, {"y", LockMode::Shared}};
    absl::StatusOr<Grant> both = co_await async_acquire_all(me, two, "", {.timeout = kPatience}, asio::use_awaitable);
    EXPECT_THAT(both.status(), IsOk());
    absl::StatusOr<Grant> shared = co_await async_acquire(me, "z", {.mode = LockMode::Shared}, asio::use_awaitable);
    EXPECT_EQ(shared->mode(), LockMode::Shared);
    EXPECT_THAT(co_await async_clear_delay(replica(), "z", {}, asio::use_awaitable), Is(Reason::NotFound));
    EXPECT_THAT((co_await async_force_release(replica(), "z", shared->token(), {}, asio::use_awaitable)).status(), IsOk());
    done = true;
  });
  EXPECT_TRUE(done);
}

// Covers: S-59
TEST_F(AsioTest, ASlotCancelsAWaitForPermits) {
  Session me = cluster_.session(1), other = cluster_.session(1);
  absl::StatusOr<Grant> all = Semaphore(other, "s").acquire({.initial_limit = 1});
  ASSERT_THAT(all.status(), IsOk());
  asio::cancellation_signal signal;
  std::optional<absl::Status> cancelled;
  async_acquire(Semaphore(me, "s"), {},
                asio::bind_cancellation_slot(
                    signal.slot(), asio::bind_executor(io_, [&](absl::StatusOr<Grant> grant) { cancelled = grant.status(); })));
  signal.emit(asio::cancellation_type::total);
  io_.run();
  ASSERT_TRUE(cancelled);
  EXPECT_THAT(*cancelled, Is(Reason::Cancelled));
  EXPECT_EQ(Semaphore(me, "s").info()->waiters, 0u);
}

// An executor that is still inside of execute() when the task it was given runs elsewhere, like a thread preempted there.
class Lingering {
 public:
  template <typename Function>
  void execute(Function function) const {
    place_->runner = std::thread([place = place_, function = std::move(function)]() mutable {
      place->begun = true;
      std::move(function)();
      place->ended = true;
    });
    while (!place_->begun) std::this_thread::yield();
    for (int i = 0; i < 100 && !place_->ended; ++i) std::this_thread::yield();
    place_->left = true;
  }
  bool left() const { return place_->left; }
  void join() const { place_->runner.join(); }

  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t /*property*/) {
    return asio::execution::blocking.never;
  }
  [[maybe_unused]] friend bool operator==(const Lingering& a, const Lingering& b) noexcept { return a.place_ == b.place_; }
  [[maybe_unused]] friend bool operator!=(const Lingering& a, const Lingering& b) noexcept { return a.place_ != b.place_; }

 private:
  struct Place {
    std::thread runner;
    std::atomic<bool> begun = false, ended = false, left = false;
  };
  std::shared_ptr<Place> place_ = std::make_shared<Place>();
};

TEST_F(AsioTest, AHandlerIsCalledWhenTheReplicasThreadHasLeftItsExecutor) {
  const Lingering executor;
  std::promise<bool> called;
  async_get(replica(), "k", asio::bind_executor(executor, [&](const absl::StatusOr<GetResult>& got) {
              EXPECT_THAT(got.status(), IsOk());
              called.set_value(executor.left());
            }));
  EXPECT_TRUE(called.get_future().get());
  executor.join();
}

// Checked by the sanitizers: a thread that is late in post(), and an executor released after its context has gone.
TEST_F(AsioTest, AContextMayGoAsSoonAsItHasNothingToRun) {
  int answered = 0;
  const auto count = [&](const absl::StatusOr<GetResult>& got) { answered += got.ok() ? 1 : 0; };
  for (int i = 0; i < 200; ++i) {
    asio::io_context io;
    async_get(replica(), "k", Consistency::Local, asio::bind_executor(io, count));
    async_get(replica(), "k", asio::bind_executor(asio::make_strand(io), count));
    io.run();
  }
  EXPECT_EQ(answered, 400);
}

TEST_F(AsioTest, AClosedReplicaEndsOperations) {
  Session me = cluster_.session(1);
  std::unique_ptr<Replica> gone = cluster_.take(1);
  ASSERT_THAT(gone->close(), IsOk());
  EXPECT_THAT(async_acquire(me, "jobs", {}, asio::use_future).get().status(), Is(Reason::Closed));
}

}  // namespace
}  // namespace coordkit::testkit
