// Operations that end with an error code or an exception, operations without a token, and streams.
#include "coordkit/asio/asio_tokens.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <future>
#include <optional>
#include <thread>
#include <tuple>

#include "coordkit/asio/asio.h"
#include "coordkit/asio/asio_stream.h"
#include "coordkit/objects/election.h"
#include "tests/unit/replica/asio_fixture.h"

namespace coordkit::testkit {
namespace {

using asio::use_awaitable;
using namespace asio::experimental::awaitable_operators;

class AsioTokensTest : public AsioTest {
 protected:
  // Another owner holds "jobs" from here on.
  void SetUp() override {
    AsioTest::SetUp();
    other_ = cluster_.session(1);
    me_ = cluster_.session(1);
    held_ = other_.acquire("jobs").value();
  }

  Session other_, me_;
  Grant held_;
};
constexpr LockTimes kAtOnce{.timeout = Duration::zero()};

TEST_F(AsioTokensTest, ARefusalIsAnErrorCodeOfCoordkitsCategory) {
  std::optional<boost::system::error_code> result;
  async_acquire(me_, "jobs", kAtOnce, as_error_code(asio::bind_executor(io_, [&](boost::system::error_code error, Grant grant) {
                  result = error;
                  EXPECT_FALSE(grant.valid());
                })));
  io_.run();
  ASSERT_TRUE(result);
  EXPECT_TRUE(*result == Reason::Held) << *result;
  EXPECT_EQ(std::error_code(*result), make_error_code(Reason::Held));
}

TEST_F(AsioTokensTest, ATimeoutIsTheStandardsToo) {
  const auto future = [&] { return async_acquire(me_, "jobs", {.timeout = 1ms}, as_error_code(asio::use_future)); };
  try {
    future().get();
    FAIL() << "it has the lock";
  } catch (const boost::system::system_error& error) {
    EXPECT_TRUE(error.code() == Reason::WaitTimeout) << error.what();
    EXPECT_TRUE(error.code() == std::errc::timed_out);
  }
}

TEST_F(AsioTokensTest, AnAwaitableThrowsASentenceWithTheReason) {
  bool thrown = false;
  run([&]() -> asio::awaitable<void> {
    try {
      co_await async_acquire(me_, "jobs", kAtOnce, as_exception(use_awaitable));
    } catch (const std::system_error& error) {
      thrown = error.code() == Reason::Held && std::string(error.what()).find("jobs") != std::string::npos;
      EXPECT_TRUE(thrown) << error.what();
    }
  });
  EXPECT_TRUE(thrown);
}

TEST_F(AsioTokensTest, ASuccessGivesTheValueAlone) {
  bool done = false;
  run([&]() -> asio::awaitable<void> {
    Grant grant = co_await async_acquire(me_, "free", {}, as_error_code(use_awaitable));
    EXPECT_TRUE(grant.valid());
    co_await async_release(grant, as_exception(use_awaitable));  // void
    EXPECT_FALSE(grant.valid());
    done = true;
  });
  EXPECT_TRUE(done);
}

TEST_F(AsioTokensTest, AdaptersOfAsioGoInsideAndOutside) {
  const std::thread::id here = std::this_thread::get_id();
  bool done = false;
  run([&]() -> asio::awaitable<void> {
    auto [error, grant] = co_await async_acquire(me_, "jobs", kAtOnce, as_error_code(asio::as_tuple(use_awaitable)));
    EXPECT_TRUE(error == Reason::Held);
    async_acquire(me_, "jobs", kAtOnce, asio::bind_executor(io_, as_exception([&](std::exception_ptr failure, Grant) {
                                                              done = failure != nullptr && std::this_thread::get_id() == here;
                                                            })));
  });
  EXPECT_TRUE(done);
}

// Covers: S-59
TEST_F(AsioTokensTest, TheSlotOfTheHandlerInsideCancels) {
  asio::cancellation_signal signal;
  std::optional<boost::system::error_code> result;
  async_acquire(me_, "jobs", {},
                as_error_code(asio::bind_cancellation_slot(
                    signal.slot(), asio::bind_executor(io_, [&](boost::system::error_code error, Grant) { result = error; }))));
  signal.emit(asio::cancellation_type::total);
  io_.run();
  ASSERT_TRUE(result);
  EXPECT_TRUE(*result == Reason::Cancelled) << *result;
  EXPECT_TRUE(*result == std::errc::operation_canceled);
}

TEST_F(AsioTokensTest, ARefusalWinsNoRaceIfItIsAnErrorForAsio) {
  size_t as_answer = 9, as_error = 9;
  run([&]() -> asio::awaitable<void> {
    asio::steady_timer timer(io_, 20ms);
    as_answer = (co_await (async_acquire(me_, "jobs", kAtOnce) || timer.async_wait(use_awaitable))).index();
    timer.expires_after(20ms);
    as_error = (co_await (async_acquire(me_, "jobs", kAtOnce, as_exception(use_awaitable)) || timer.async_wait(use_awaitable)))
                   .index();
  });
  EXPECT_EQ(as_answer, 0u) << "a StatusOr is an answer, whatever it says";
  EXPECT_EQ(as_error, 1u);
}

TEST_F(AsioTokensTest, WithoutATokenAnOperationIsAwaitable) {
  bool done = false;
  run([&]() -> asio::awaitable<void> {
    absl::StatusOr<Session> me = co_await async_open_session(replica());
    absl::StatusOr<Grant> grant = co_await async_acquire(*me, "free");
    EXPECT_TRUE(grant.ok() && grant->valid());
    EXPECT_THAT((co_await async_put(replica(), "k", "v")).status(), IsOk());
    absl::StatusOr<GetResult> local = co_await async_get(replica(), "k", Consistency::Local);
    absl::StatusOr<GetResult> latest = co_await async_get(replica(), "k");
    EXPECT_TRUE(local.ok() && latest.ok() && latest->entry->value == "v");
    EXPECT_TRUE(local->age.has_value()) << "the options are the call's";
    absl::StatusOr<Grant> other = co_await async_acquire(*me, "other", use_awaitable);
    EXPECT_TRUE(other.ok());
    EXPECT_THAT(co_await async_release(*grant), IsOk());
    EXPECT_THAT(co_await async_close(*me), IsOk());
    done = true;
  });
  EXPECT_TRUE(done);
}

// ---- streams

class EventStreamTest : public ::testing::Test {
 protected:
  // The answer to a read, once the loop has run.
  absl::StatusOr<int> next() {
    std::optional<absl::StatusOr<int>> answer;
    async_next(stream_, asio::bind_executor(io_, [&](absl::StatusOr<int> event) { answer = std::move(event); }));
    EXPECT_FALSE(answer) << "never inside of the call";
    io_.run();
    io_.restart();
    return answer.value();
  }

  asio::io_context io_;
  EventStream<int> stream_{3};
};

TEST_F(EventStreamTest, EventsAreReadInOrderBeforeAndAfterTheyAreAwaited) {
  auto observer = stream_.observer();
  observer(1);
  observer(2);
  EXPECT_EQ(next().value(), 1);
  EXPECT_EQ(next().value(), 2);
  std::vector<int> seen;
  for (int i = 0; i < 2; ++i) {
    async_next(stream_, asio::bind_executor(io_, [&](absl::StatusOr<int> event) { seen.push_back(event.value()); }));
  }
  observer(3);
  observer(4);
  io_.run();
  EXPECT_EQ(seen, (std::vector{3, 4}));
}

TEST_F(EventStreamTest, ABareCallbackIsNotCalledInsideOfTheCallEither) {
  stream_.observer()(1);
  std::promise<std::thread::id> called;
  async_next(stream_, [&](absl::StatusOr<int>) { called.set_value(std::this_thread::get_id()); });
  EXPECT_NE(called.get_future().get(), std::this_thread::get_id());
}

// Covers: S-59
TEST_F(EventStreamTest, ACancelledReadTakesNoEvent) {
  asio::cancellation_signal signal;
  std::optional<absl::Status> cancelled;
  async_next(stream_, asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(io_, [&](absl::StatusOr<int> event) {
                                                     cancelled = event.status();
                                                   })));
  signal.emit(asio::cancellation_type::total);
  stream_.observer()(1);
  EXPECT_EQ(next().value(), 1);
  ASSERT_TRUE(cancelled);
  EXPECT_THAT(*cancelled, Is(Reason::Cancelled));
}

TEST_F(EventStreamTest, AFullStreamGivesWhatItHoldsAndThenSaysSo) {
  auto observer = stream_.observer();
  for (int i = 1; i <= 5; ++i) observer(i);
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(next().value(), i);
  EXPECT_THAT(next().status(), Is(Reason::LimitExceeded));
  observer(6);
  EXPECT_THAT(next().status(), Is(Reason::LimitExceeded)) << "nothing is delivered after a gap";
}

TEST_F(EventStreamTest, WhoWaitsWhenTheStreamGoesIsTold) {
  std::optional<absl::Status> result;
  auto stream = std::make_unique<EventStream<int>>();
  auto observer = stream->observer();
  async_next(*stream, asio::bind_executor(io_, [&](absl::StatusOr<int> event) { result = event.status(); }));
  stream.reset();
  observer(1);  // without a listener
  io_.run();
  ASSERT_TRUE(result);
  EXPECT_THAT(*result, Is(Reason::Closed));
}

TEST_F(EventStreamTest, AReaderThatIsToldOfTheEndMayDestroyTheStream) {
  auto stream = std::make_unique<EventStream<int>>();
  std::vector<absl::Status> ends;
  for (int i = 0; i < 2; ++i) {
    async_next(*stream, [&](absl::StatusOr<int> event) {
      ends.push_back(event.status());
      stream.reset();
    });
  }
  stream->end(make_error(Reason::Stopped, "there is nothing left to observe"));
  ASSERT_EQ(ends.size(), 2U);
  for (const absl::Status& end : ends) EXPECT_THAT(end, Is(Reason::Stopped));
}

// Covers: S-22
TEST_F(AsioTokensTest, AWatchIsAStreamOfItsBatchesToItsEnd) {
  std::vector<std::string> seen;
  std::optional<absl::Status> ended;
  WatchStream watch(replica(), WatchOptions::prefix("config/"));
  run([&]() -> asio::awaitable<void> {
    const absl::StatusOr<WatchBatch> created = co_await async_next(watch);
    EXPECT_TRUE(created.ok() && created->what == WatchBatch::What::Created);
    for (const char* key : {"config/a", "other", "config/b"}) {
      EXPECT_THAT((co_await async_put(replica(), key, "v")).status(), IsOk());
    }
    while (seen.size() < 2) {
      const absl::StatusOr<WatchBatch> batch = co_await async_next(watch);
      EXPECT_THAT(batch.status(), IsOk());
      if (!batch.ok()) co_return;
      for (const WatchEvent& event : batch->events) seen.push_back(event.entry.key);
    }
    EXPECT_THAT(replica().close(), IsOk());
    ended = (co_await async_next(watch)).status();
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"config/a", "config/b"}));
  ASSERT_TRUE(ended);
  EXPECT_THAT(*ended, Is(Reason::Stopped));
}

TEST_F(AsioTokensTest, AnElectionIsAStreamOfItsLeaders) {
  EventStream<LeaderSeen> leaders;
  Election election(me_, "primary");
  const Observation observation = election.observe(leaders.observer());
  std::vector<std::string> seen;
  run([&]() -> asio::awaitable<void> {
    const LeaderSeen vacant = co_await async_next(leaders, as_exception(use_awaitable));
    EXPECT_FALSE(vacant.leader);
    Grant leads = election.campaign("ann").value();
    EXPECT_THAT(election.proclaim(leads, "ben"), IsOk());
    while (seen.size() < 2) {
      const LeaderSeen change = co_await async_next(leaders, as_exception(use_awaitable));
      if (change.leader) seen.push_back(change.leader->value);
    }
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"ann", "ben"}));
}

}  // namespace
}  // namespace coordkit::testkit
