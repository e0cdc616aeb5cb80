// The life of a call, as an object of its own.
#include "client/calls/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coordkit/error.h"
#include "tests/unit/client/fake_engine.h"

namespace coordkit::client {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct CallsTest : testing::Test, CallOwner {
  DoneCallback note(std::string name) {
    return [this, name = std::move(name)](absl::Status status) {
      delivered.push_back(name + (status.ok() ? "" : " " + std::string(name_of(*reason_of(status)))));
    };
  }
  CallId enter(std::string name, OnAbandon on_abandon = OnAbandon::Forget, CallDeadline deadline = {}) {
    return calls.enter(note(std::move(name)), on_abandon, deadline, [this](CallId id, Now) {
      Call& call = *calls.find(id);
      call.ticket = requests.ask(Ask(), [](const Completion&, Now) {});
      call.submitted = call.on_abandon != OnAbandon::Forget;
    });
  }
  std::vector<std::string> take() {
    deliveries.flush();
    return std::exchange(delivered, {});
  }
  // ---- CallOwner
  bool cancel(Call&) override { return decided_elsewhere; }
  bool pursues(const Call&) override { return decided_elsewhere; }
  void ended(CallId id, const Call&) override { gone.push_back(id); }

  ClientOptions options{.call_timeout = 10s, .calls_max = 3};
  test::FakeEngine engine;
  Deliveries deliveries{{}};
  Requests requests{engine, 300ms};
  Calls calls{options, deliveries, requests};
  Now now{LaggingTime(1h), LeadingTime(2h)};
  std::vector<std::string> delivered;
  std::vector<CallId> gone;
  bool decided_elsewhere = false;
};

TEST_F(CallsTest, ACallIsAnsweredOnceAndItsPlaceIsUsedAgainUnderAnotherId) {
  const CallId first = enter("first");
  EXPECT_TRUE(calls.answer_done(first, absl::OkStatus()));
  EXPECT_FALSE(calls.answer_done(first, absl::OkStatus()));
  EXPECT_FALSE(calls.fail(first, make_error(Reason::Held, "late")));
  const CallId second = enter("second");
  EXPECT_NE(first, second);
  EXPECT_EQ(calls.find(first), nullptr);
  EXPECT_NE(calls.find(second), nullptr);
  EXPECT_THAT(take(), ElementsAre("first"));
}

TEST_F(CallsTest, ACallStaysWhereItIsWhileOthersCome) {
  options.calls_max = 1000;
  const CallId first = enter("first");
  const Call* place = calls.find(first);
  for (int i = 0; i < 500; ++i) enter("another");
  EXPECT_EQ(calls.find(first), place);
}

// Covers: S-59
TEST_F(CallsTest, TheDeadlineCountsFromTheTakeUpAndEndsTheReadInTheEngine) {
  const CallId id = enter("read");
  now.lagging += 5s;
  calls.start_new(now);
  EXPECT_EQ(calls.next_deadline(), now.lagging + 10s);
  now.lagging += 10s;
  calls.expire(now);
  EXPECT_THAT(take(), ElementsAre("read CallTimeout"));
  EXPECT_THAT(engine.take<Forget>(), SizeIs(1));
  EXPECT_EQ(calls.find(id), nullptr);
}

// Covers: FLT_O01
TEST_F(CallsTest, OfCallsWhoseTimeIsOverATurnEndsNoMoreThanItsShare) {
  options.calls_max = 2 * Calls::kExpiredOfATurn + 1;
  for (size_t call = 0; call < options.calls_max; ++call) enter("read");
  calls.start_new(now);
  now.lagging += 10s;
  for (const size_t ended : {Calls::kExpiredOfATurn, Calls::kExpiredOfATurn, size_t{1}}) {
    EXPECT_LE(calls.next_deadline(), now.lagging) << "the next turn comes at once";
    calls.expire(now);
    EXPECT_THAT(take(), SizeIs(ended));
  }
  EXPECT_EQ(calls.next_deadline(), LaggingTime::max());
}

// Covers: S-59
TEST_F(CallsTest, WhatMayBringSomethingAboutIsPursuedWhenItsCallerIsGone) {
  const CallId pursued = enter("open", OnAbandon::Pursue);
  const CallId persists = enter("close", OnAbandon::Persist);
  const CallId unsent = enter("later", OnAbandon::Pursue, now.lagging);
  calls.start_new(now);
  EXPECT_THAT(take(), ElementsAre("later CallTimeout"));
  calls.abandon(pursued);
  calls.abandon(persists);
  calls.abandon(unsent);
  EXPECT_THAT(take(), ElementsAre("open CancelPending", "close CancelPending"));
  EXPECT_THAT(engine.take<Forget>(), IsEmpty());
}

TEST_F(CallsTest, ItsOwnerDecidesWhatACancellationMeansAndHearsOfTheEnd) {
  const CallId id = enter("acquire");
  calls.find(id)->owner = this;
  calls.start_new(now);
  decided_elsewhere = true;
  calls.cancel(id);
  EXPECT_THAT(take(), IsEmpty());
  calls.abandon(id);
  EXPECT_THAT(take(), ElementsAre("acquire Cancelled"));
  EXPECT_THAT(engine.take<Forget>(), IsEmpty()) << "its owner sees to it";
  EXPECT_THAT(gone, ElementsAre(id));
}

TEST_F(CallsTest, BeyondTheLimitOnlyWhatGivesRoomBackIsTaken) {
  for (const char* name : {"1", "2", "3", "4"}) enter(name);
  enter("release", OnAbandon::Persist);
  EXPECT_THAT(take(), ElementsAre("4 TooManyRequests"));
  EXPECT_EQ(calls.size(), 4u);
}

TEST_F(CallsTest, AStopEndsAllInTheOrderOfTheirEntryAndWhatComesLaterAtOnce) {
  options.calls_max = 100;
  std::vector<std::string> all;
  calls.abandon(enter("gone"));  // so that a slot is reused
  take();
  for (int i = 0; i < 20; ++i) {
    enter(std::to_string(i));
    all.push_back(std::to_string(i) + " Stopped");
  }
  calls.stop(absl::OkStatus());
  EXPECT_EQ(take(), all);
  enter("late");
  EXPECT_THAT(std::exchange(delivered, {}), ElementsAre("late Closed"));
}

}  // namespace
}  // namespace coordkit::client
