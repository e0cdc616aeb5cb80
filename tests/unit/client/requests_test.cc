// A client's pending requests to its engine, as an object of its own.
#include "client/calls/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "coordkit/error.h"
#include "machine/machine.h"
#include "tests/unit/client/fake_engine.h"

namespace coordkit::client {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

struct RequestsTest : testing::Test {
  Requests::OnCompletion note(std::string name) {
    return [this, name = std::move(name)](const Completion&, Now) { delivered.push_back(name); };
  }
  void complete(Ticket ticket, ApplyOutput::Stage stage = ApplyOutput::Stage::Final) {
    const auto ended = requests.complete({.ticket = ticket, .stage = stage}, now);
    if (ended) delivered.push_back("end of " + std::to_string(ended->call.value()));
  }
  test::FakeEngine engine;
  Requests requests{engine, 300ms};
  Now now{LaggingTime(1h), LeadingTime(2h)};
  std::vector<std::string> delivered;
};

TEST_F(RequestsTest, EachIsCompletedOnceAndTwiceIfTheMachineQueuesIt) {
  const Ticket first = requests.submit({.body = machine::Put{"k", "v"}}, now.lagging, Urgency::Normal, note("put"));
  const Ticket second = requests.ask({}, note("read"));
  EXPECT_NE(first, second);
  EXPECT_TRUE(requests.posted());
  EXPECT_THAT(engine.posted, SizeIs(2));
  complete(first, ApplyOutput::Stage::Queued);
  complete(second);
  complete(second);
  complete(first);
  complete(first);
  EXPECT_THAT(delivered, ElementsAre("put", "read", "put"));
  EXPECT_EQ(requests.tickets(), 0u);
}

// Covers: S-43
TEST_F(RequestsTest, OnlyACommandThatMayAnswerEntriesOfKeysCountsAsOneWithALargeAnswer) {
  const auto most = [this](machine::Request::Body body) -> uint32_t {
    requests.submit({.body = std::move(body)}, now.lagging, Urgency::Normal, note("one"));
    const std::vector<Submit> posted = engine.take<Submit>();
    return posted.size() == 1 ? posted[0].answer_bytes_max : 0;
  };
  const Transaction reads{{}, {RangeOperation::of("k")}, {}};
  for (const machine::Request::Body& large : std::vector<machine::Request::Body>{
           machine::Put{.key = "k", .previous = true}, machine::Delete{.key = "k", .previous = true}, reads}) {
    EXPECT_EQ(most(large), kResultBytesMax);
  }
  for (const machine::Request::Body& small : std::vector<machine::Request::Body>{
           machine::Put{"k", "v"}, machine::Acquire{}, Transaction{{}, {machine::Put{"k", "v"}}, {}},
           machine::CoordinationCommand{machine::ClaimItem{}}}) {
    EXPECT_EQ(most(small), 2 * machine::kItemBytesMax);
  }
}

TEST_F(RequestsTest, TheSecondCompletionOfAnAcquireGoesToWhoeverAwaitsItsEnd) {
  Pool<PendingAcquire> acquires;
  const PoolRef<PendingAcquire> acquire = acquires.make({.call = CallId(7)});
  const auto kept = std::make_shared<int>(0);
  const auto submit = [&](const std::string& name) {
    return requests.submit({.body = machine::Put{"k", "v"}}, now.lagging, Urgency::Normal,
                           [this, name, acquire, kept](const Completion& completion, Now) {
                             delivered.push_back(name);
                             requests.await_end(completion.ticket, acquire);
                           });
  };
  const Ticket first = submit("first"), second = submit("second");
  EXPECT_EQ(requests.unanswered(), 2u);
  complete(first, ApplyOutput::Stage::Queued);
  complete(second, ApplyOutput::Stage::Queued);
  EXPECT_EQ(requests.unanswered(), 0u);
  EXPECT_EQ(kept.use_count(), 1) << "what was submitted with it is let go";
  complete(first);
  complete(first);
  requests.forget(second);
  complete(second);
  EXPECT_THAT(delivered, ElementsAre("first", "second", "end of 7"));
  EXPECT_EQ(requests.tickets(), 0u);
  EXPECT_EQ(requests.statistics().refused, 0u);
  requests.await_end(first, acquire);  // it has ended: no effect
  EXPECT_EQ(requests.tickets(), 0u);
}

TEST_F(RequestsTest, AForgottenOneIsNotCompletedAndTheEngineKnows) {
  const Ticket ticket = requests.ask({}, note("read"));
  requests.forget(ticket);
  complete(ticket);
  EXPECT_TRUE(delivered.empty());
  EXPECT_THAT(engine.take<Forget>(), SizeIs(1));
}

TEST_F(RequestsTest, ACompletionMaySubmitAndMayClearEverything) {
  const Ticket submits = requests.ask({}, [this](const Completion&, Now) {
    for (int i = 0; i < 100; ++i) requests.ask({}, note("nested"));
  });
  complete(submits, ApplyOutput::Stage::Queued);
  EXPECT_EQ(requests.tickets(), 101u);
  const Ticket clears = requests.ask({}, [this](const Completion&, Now) { requests.clear(); });
  complete(clears);
  EXPECT_EQ(requests.tickets(), 0u);
}

TEST_F(RequestsTest, OneThatForgetsItselfWhileItIsQueuedIsCompletedNoMore) {
  Ticket ticket;
  ticket = requests.submit({.body = machine::Put{"k", "v"}}, now.lagging, Urgency::Normal, [&](const Completion&, Now) {
    delivered.emplace_back("queued");
    requests.forget(ticket);
  });
  complete(ticket, ApplyOutput::Stage::Queued);
  complete(ticket);
  EXPECT_THAT(delivered, ElementsAre("queued"));
  EXPECT_EQ(requests.tickets(), 0u);
}

TEST_F(RequestsTest, TimersRunByTheirTimeAndThenInTheirOrder) {
  const auto run = [this](std::string name) { return [this, name](Now) { delivered.push_back(name); }; };
  requests.run_at(now.lagging + 2ms, run("later"));
  requests.run_at(now.lagging + 1ms, run("first"));
  requests.run_at(now.lagging + 1ms, run("second"));
  requests.retry(now, run("retry"));
  EXPECT_EQ(requests.next_timer(), now.lagging + 1ms);
  now.lagging += 2ms;
  requests.run_due(now);
  EXPECT_THAT(delivered, ElementsAre("first", "second", "later"));
  now.lagging += 298ms;
  requests.run_due(now);
  EXPECT_THAT(delivered, ElementsAre("first", "second", "later", "retry"));
  EXPECT_EQ(requests.next_timer(), LaggingTime::max());
}

TEST_F(RequestsTest, AStateIsReadOnlyOnceTheEngineSaysSo) {
  const test::FakeReads state;
  const auto ask = [this](Completion completion) {
    absl::Status status = absl::UnknownError("no answer");
    completion.ticket = requests.ask(
        Ask(), machine::SpaceOf{},
        [&status](const machine::SpaceOf&, const auto& space, const Completion&, Now) { status = space.status(); });
    EXPECT_FALSE(requests.complete(completion, now));
    return status;
  };
  EXPECT_EQ(reason_of(ask({})), Reason::Unsupported) << "no machine of coordkit's";
  engine.state = &state;
  EXPECT_TRUE(ask({}).ok());
  EXPECT_EQ(ask({.status = absl::AbortedError("late")}), absl::AbortedError("late"));
}

TEST_F(RequestsTest, AStateThatIsElsewhereIsAskedInBytes) {
  engine.state_elsewhere = true;
  machine::Machine machine("m1");
  machine.bootstrap(ClusterId(5), 0);
  std::vector<uint64_t> keys;
  const auto ask = [&](machine::SpaceOf question) {
    return requests.ask(Ask(), question, [&](const machine::SpaceOf&, const auto& space, const Completion&, Now) {
      keys.push_back(space.ok() ? space->quota : 0);
    });
  };
  const Ticket first = ask({});
  const std::string question = *std::get<Ask>(engine.posted.front()).question;
  EXPECT_FALSE(requests.complete({.ticket = first, .bytes = SharedBytes(*machine.query(question))}, now));
  EXPECT_FALSE(requests.complete({.ticket = ask({}), .bytes = SharedBytes("\xff")}, now)) << "spoiled on the way";
  EXPECT_THAT(keys, ElementsAre(machine.reads()->key_space().quota, 0));
}

}  // namespace
}  // namespace coordkit::client
