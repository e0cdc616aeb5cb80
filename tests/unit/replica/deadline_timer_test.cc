// The dedicated timer that notifies holders of their deadline (docs/semantics.md S-52, INV_L16).
#include "service/locks/deadline_timer.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <latch>

#include "client/sessions/lifecycle.h"
#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::ElementsAre;

class DeadlineTimerTest : public ::testing::Test {
 protected:
  using Tell = absl::AnyInvocable<void(SessionPhase)>;
  ~DeadlineTimerTest() override {
    for (WatchedSession& session : sessions_) deadlines_.lost(session);
  }
  static LeadingTime now() { return system_clock().now().leading; }
  WatchedSession& session(Duration left, Duration ttl = 10s) {
    WatchedSession& session = sessions_.emplace_back();
    session.state = make_ref<SessionState>(SessionId(sessions_.size()), ttl);
    SessionWriter::set(*session.state, SessionPhase::Valid, now() + left);
    return session;
  }
  void valid(WatchedSession& session, Tell tell) {
    session.on_phase = make_ref<PhaseCallback>(std::move(tell));
    deadlines_.valid(session);
  }
  HoldRef granted(WatchedSession& session, uint64_t token, LeadingTime until = LeadingTime::max()) {
    const HoldRef hold = make_ref<HoldState>(session.state, "a", "", Token(token), Index(1), until);
    {
      const auto guard = deadlines_.guard();
      session.holds.add(hold);
    }
    if (until != LeadingTime::max()) deadlines_.limited(hold);
    return hold;
  }
  void gone(WatchedSession& session, const HoldRef& hold) {
    {
      const auto guard = deadlines_.guard();
      session.holds.remove(hold);
    }
    deadlines_.limit_over(hold);
  }
  // Runs what was posted to the callback thread, up to here.
  void drain() {
    std::promise<void> done;
    callbacks_.post([&] { done.set_value(); });
    done.get_future().get();
  }

  std::deque<WatchedSession> sessions_;
  CallbackThread callbacks_{"coordkit/test"};
  DeadlineTimer deadlines_{system_clock(), callbacks_};
};

// Covers: S-52 INV_L16
TEST_F(DeadlineTimerTest, TheHolderIsToldAtTheDeadlineOfItsSessionAndNotBefore) {
  WatchedSession& held = session(30ms);
  std::promise<std::pair<SessionPhase, bool>> notified;
  const HoldRef hold = granted(held, 5);
  valid(held, [&](SessionPhase phase) { notified.set_value({phase, now() >= held.state->validity_deadline()}); });
  const auto [phase, in_time] = notified.get_future().get();
  EXPECT_EQ(phase, SessionPhase::Jeopardy);
  EXPECT_TRUE(in_time);
  EXPECT_TRUE(hold->lost_token().stop_requested());
  EXPECT_EQ(held.state->phase(), SessionPhase::Jeopardy);
}

// Covers: S-52
TEST_F(DeadlineTimerTest, ARenewalMovesTheDeadlineAndNobodyIsTold) {
  WatchedSession &renewed = session(20ms), &other = session(60ms);
  int notified = 0;
  std::promise<void> other_notified;
  valid(renewed, [&](SessionPhase) { ++notified; });
  valid(other, [&](SessionPhase) { other_notified.set_value(); });
  SessionWriter::set(*renewed.state, SessionPhase::Valid, now() + 5s);
  other_notified.get_future().get();  // the first deadline of the other is past as well
  drain();
  EXPECT_EQ(notified, 0);
  EXPECT_EQ(renewed.state->phase(), SessionPhase::Valid);
}

// Covers: S-52
TEST_F(DeadlineTimerTest, EachOfManySessionsIsToldAtItsOwnDeadlineWhateverTheirTimesToLive) {
  std::mutex mutex;
  std::vector<SessionId> early, told;
  std::promise<void> all;
  for (int i = 0; i < 40; ++i) {
    WatchedSession& one = session((40 - i) * 2ms, (5 + i % 3) * 1s);  // each earlier than those before it
    valid(one, [&](SessionPhase) {
      const std::lock_guard lock(mutex);
      if (now() < one.state->validity_deadline()) early.push_back(one.state->id());
      told.push_back(one.state->id());
      if (told.size() == 40) all.set_value();
    });
  }
  all.get_future().get();
  drain();
  const std::lock_guard lock(mutex);
  EXPECT_THAT(early, ::testing::IsEmpty());
  std::ranges::sort(told);
  EXPECT_EQ(std::ranges::adjacent_find(told), told.end()) << "told twice";
  EXPECT_EQ(told.size(), 40u);
}

// Covers: S-52
TEST_F(DeadlineTimerTest, OneThatIsValidAgainIsToldAgain) {
  WatchedSession& held = session(10ms);
  std::promise<void> once, twice;
  int notified = 0;
  valid(held, [&](SessionPhase) { (++notified == 1 ? once : twice).set_value(); });
  once.get_future().get();
  SessionWriter::set(*held.state, SessionPhase::Valid, now() + 10ms);
  deadlines_.valid(held);
  twice.get_future().get();
  drain();
  EXPECT_EQ(notified, 2);
}

// Covers: S-52
TEST_F(DeadlineTimerTest, WhatIsLostReleasedOrToldByTheClientIsNotToldAgain) {
  WatchedSession &lost = session(20ms), &first = session(20ms), &last = session(60ms);
  int notified = 0;
  const auto count = [&](SessionPhase) { ++notified; };
  valid(lost, count);
  valid(first, count);
  const HoldRef released = granted(last, 5);
  gone(last, released);
  deadlines_.lost(lost);
  SessionWriter::set(*first.state, SessionPhase::Jeopardy, LeadingTime::min());  // the client was faster
  std::promise<void> end;
  valid(last, [&](SessionPhase) { end.set_value(); });
  end.get_future().get();
  drain();
  EXPECT_EQ(notified, 0);
  EXPECT_FALSE(released->lost_token().stop_requested());
}

// Covers: S-52
TEST_F(DeadlineTimerTest, EveryHoldThatASessionStillHasIsToldAndNoOther) {
  WatchedSession& held = session(30ms);
  std::vector<HoldRef> holds;
  for (uint64_t i = 0; i < 7; ++i) holds.push_back(granted(held, i + 1, i == 4 ? now() + 1h : LeadingTime::max()));
  const HoldRef stranger = make_ref<HoldState>(held.state, "a", "", Token(9), Index(1));
  for (const size_t over : {0, 6, 3, 3, 4}) gone(held, holds[over]);
  gone(held, stranger);
  std::promise<void> end;
  valid(held, [&](SessionPhase) { end.set_value(); });
  end.get_future().get();
  std::vector<uint64_t> told;
  for (const HoldRef& hold : holds) {
    if (hold->reported_invalid()) told.push_back(hold->token().value());
  }
  EXPECT_THAT(told, ElementsAre(2, 3, 6));
}

// Covers: S-51
TEST_F(DeadlineTimerTest, AHoldWithALongestTimeIsToldAlone) {
  WatchedSession& held = session(5s);
  deadlines_.valid(held);
  const HoldRef other = granted(held, 6);
  const HoldRef ended = granted(held, 7, now() + 10ms);
  gone(held, ended);
  const HoldRef brief = granted(held, 5, now() + 20ms);
  std::promise<void> notified;
  const std::stop_callback on_stop(brief->lost_token(), [&] { notified.set_value(); });
  notified.get_future().get();
  drain();
  EXPECT_FALSE(brief->valid(now()));
  EXPECT_FALSE(other->lost_token().stop_requested());
  EXPECT_FALSE(ended->lost_token().stop_requested());
  EXPECT_EQ(held.state->phase(), SessionPhase::Valid);
}

// ---- with a replica whose engine's thread is stuck

std::latch* stuck_until = nullptr;  // set by the one test that uses it

// Answers every command; "stick" blocks the turn that applies it.
class Sticky final : public StateMachine {
 public:
  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    for (const Command& command : commands) {
      if (command.payload == "stick") stuck_until->wait();
      output.answer(command, "done");
    }
  }
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
  absl::StatusOr<std::string> query(std::string_view) const override { return ""; }
  void checkpoint(CheckpointBatch&) override {}
  absl::Status restore(const CheckpointView&) override { return absl::OkStatus(); }
  void timers(std::vector<TimerOp>&) const override {}
  uint64_t digest() const override { return 0; }
};

// Covers: S-52 INV_L16 REG_F45
TEST(DeadlineTimerReplicaTest, TheHolderIsToldInTimeAlsoWhileTheEnginesThreadIsStuck) {
  constexpr MachineId kSticky{20};
  std::mutex mutex;
  std::vector<SessionPhase> phases;
  std::promise<void> recovered, stopped;
  std::latch notified(1);
  stuck_until = &notified;
  Cluster cluster(1);  // declared after what its callbacks use, so that it is destroyed first
  ReplicaOptions options = cluster.options(1);
  options.machines.push_back({.id = kSticky, .make = [] { return std::make_unique<Sticky>(); }});
  ASSERT_NO_FATAL_FAILURE(cluster.open(std::move(options)));
  ASSERT_THAT(cluster[1].wait_ready(kPatience), IsOk());

  absl::StatusOr<Session> me = cluster[1].open_session({.ttl = 1s, .on_phase = [&](SessionPhase phase) {
                                                          const std::lock_guard lock(mutex);
                                                          phases.push_back(phase);
                                                          if (phase == SessionPhase::Jeopardy && phases.size() == 2)
                                                            notified.count_down();
                                                          if (phase == SessionPhase::Valid && phases.size() == 3)
                                                            recovered.set_value();
                                                        }});
  ASSERT_THAT(me.status(), IsOk());
  absl::StatusOr<Grant> grant = me->acquire("jobs");
  ASSERT_THAT(grant.status(), IsOk());
  const std::stop_callback on_stop(grant->lost(), [&] { stopped.set_value(); });

  // The engine's thread continues only once the holder has been notified: without its own timer this would never end.
  EXPECT_THAT(cluster[1].propose(kSticky, "stick", {.timeout = kPatience}).status(), IsOk());
  stopped.get_future().get();
  EXPECT_EQ(recovered.get_future().wait_for(kPatience), std::future_status::ready) << "and again when it is valid again";
  const std::lock_guard lock(mutex);
  phases.resize(std::min<size_t>(phases.size(), 3));  // a slow machine may lose it again
  EXPECT_THAT(phases, ElementsAre(SessionPhase::Valid, SessionPhase::Jeopardy, SessionPhase::Valid));
}

}  // namespace
}  // namespace coordkit::testkit
