// The dedicated timer that notifies holders of their deadline (docs/semantics.md S-52, INV_L16).
#include "replica/deadline_timer.h"

#include <condition_variable>
#include <future>
#include <latch>

#include "client/lifecycle.h"
#include "coordkit/coordkit.h"
#include "tests/replica/cluster.h"

namespace coordkit::testing {
namespace {

using ::testing::ElementsAre;

class DeadlineTimerTest : public ::testing::Test {
 protected:
  static LeadingTime now() { return system_clock().now().leading; }
  SessionRef session(Duration left) {
    auto state = std::make_shared<SessionState>(SessionId(++sessions_), 10s);
    SessionWriter::set(*state, SessionPhase::Valid, now() + left);
    return state;
  }
  // Runs what was posted to the callback thread, up to here.
  void drain() {
    std::promise<void> done;
    callbacks_.post([&] { done.set_value(); });
    done.get_future().get();
  }

  CallbackThread callbacks_;
  DeadlineTimer deadlines_{system_clock(), callbacks_};
  uint64_t sessions_ = 0;
};

TEST_F(DeadlineTimerTest, S52_INV_L16_TheHolderIsToldAtTheDeadlineOfItsSessionAndNotBefore) {
  const SessionRef held = session(30ms);
  const HoldRef hold = std::make_shared<HoldState>(held, "a", "", Token(5), Index(1));
  std::promise<std::pair<SessionPhase, bool>> notified;
  deadlines_.granted(hold);
  deadlines_.valid(held, std::make_shared<absl::AnyInvocable<void(SessionPhase)>>([&](SessionPhase phase) {
                     notified.set_value({phase, now() >= held->validity_deadline()});
                   }));
  const auto [phase, in_time] = notified.get_future().get();
  EXPECT_EQ(phase, SessionPhase::Jeopardy);
  EXPECT_TRUE(in_time);
  EXPECT_TRUE(hold->lost_token().stop_requested());
  EXPECT_EQ(held->phase(), SessionPhase::Jeopardy);
}

TEST_F(DeadlineTimerTest, S52_ARenewalMovesTheDeadlineAndNobodyIsTold) {
  const SessionRef renewed = session(20ms), other = session(60ms);
  int notified = 0;
  std::promise<void> other_notified;
  deadlines_.valid(renewed, std::make_shared<absl::AnyInvocable<void(SessionPhase)>>([&](SessionPhase) { ++notified; }));
  deadlines_.valid(other,
                   std::make_shared<absl::AnyInvocable<void(SessionPhase)>>([&](SessionPhase) { other_notified.set_value(); }));
  SessionWriter::set(*renewed, SessionPhase::Valid, now() + 5s);
  other_notified.get_future().get();  // the first deadline of the other is past as well
  drain();
  EXPECT_EQ(notified, 0);
  EXPECT_EQ(renewed->phase(), SessionPhase::Valid);
}

TEST_F(DeadlineTimerTest, S52_WhatIsLostReleasedOrToldByTheClientIsNotToldAgain) {
  const SessionRef lost = session(20ms), first = session(20ms), last = session(60ms);
  const HoldRef released = std::make_shared<HoldState>(last, "a", "", Token(5), Index(1));
  int notified = 0;
  const auto count = std::make_shared<absl::AnyInvocable<void(SessionPhase)>>([&](SessionPhase) { ++notified; });
  deadlines_.valid(lost, count);
  deadlines_.valid(first, count);
  deadlines_.granted(released);
  deadlines_.gone(*released);
  deadlines_.lost(lost->id());
  SessionWriter::set(*first, SessionPhase::Jeopardy, LeadingTime::min());  // the client was faster
  std::promise<void> end;
  deadlines_.valid(last, std::make_shared<absl::AnyInvocable<void(SessionPhase)>>([&](SessionPhase) { end.set_value(); }));
  end.get_future().get();
  drain();
  EXPECT_EQ(notified, 0);
  EXPECT_FALSE(released->lost_token().stop_requested());
}

TEST_F(DeadlineTimerTest, S52_EveryHoldThatASessionStillHasIsToldAndNoOther) {
  const SessionRef held = session(30ms);
  std::vector<HoldRef> holds;
  for (uint64_t i = 0; i < 7; ++i) {
    holds.push_back(
        std::make_shared<HoldState>(held, "a", "", Token(i + 1), Index(1), i == 4 ? now() + 1h : LeadingTime::max()));
    deadlines_.granted(holds.back());
  }
  const HoldRef stranger = std::make_shared<HoldState>(held, "a", "", Token(9), Index(1));
  for (const size_t gone : {0, 6, 3, 3, 4}) deadlines_.gone(*holds[gone]);
  deadlines_.gone(*stranger);
  std::promise<void> end;
  deadlines_.valid(held, std::make_shared<absl::AnyInvocable<void(SessionPhase)>>([&](SessionPhase) { end.set_value(); }));
  end.get_future().get();
  std::vector<uint64_t> told;
  for (const HoldRef& hold : holds) {
    if (hold->reported_invalid()) told.push_back(hold->token().value());
  }
  EXPECT_THAT(told, ElementsAre(2, 3, 6));
}

TEST_F(DeadlineTimerTest, S51_AHoldWithALongestTimeIsToldAlone) {
  const SessionRef held = session(5s);
  const HoldRef brief = std::make_shared<HoldState>(held, "a", "", Token(5), Index(1), now() + 20ms);
  const HoldRef other = std::make_shared<HoldState>(held, "b", "", Token(6), Index(1));
  std::promise<void> notified;
  const std::stop_callback on_stop(brief->lost_token(), [&] { notified.set_value(); });
  deadlines_.valid(held, nullptr);
  deadlines_.granted(brief);
  deadlines_.granted(other);
  notified.get_future().get();
  drain();
  EXPECT_FALSE(brief->valid(now()));
  EXPECT_FALSE(other->lost_token().stop_requested());
  EXPECT_EQ(held->phase(), SessionPhase::Valid);
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

TEST(DeadlineTimerReplicaTest, S52_INV_L16_REG_F45_TheHolderIsToldInTimeAlsoWhileTheEnginesThreadIsStuck) {
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
}  // namespace coordkit::testing
