// Acquire, cancel and release against a scripted engine: what is posted when, and what happens to late answers.
#include "tests/unit/client/bench.h"

namespace coordkit::test {
namespace {

using LockTest = ClientBench;
using machine::ResultCode;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
constexpr auto kQueued = ApplyOutput::Stage::Queued;

// Covers: S-36
TEST_F(LockTest, AGrantCarriesItsTokenAndTheEntryThatGaveIt) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  client.acquire(session, "billing", {.wait = LockWait::timed(2s), .owner_tag = "t", .texts = {.value = "v"}},
                 answer.callback());
  turn();
  const auto [submit, request] = engine.take_commands<machine::Acquire>().at(0);
  EXPECT_EQ(std::get<machine::Acquire>(request.body), (machine::Acquire{.session = session->id(),
                                                                        .owner_tag = "t",
                                                                        .name = "billing",
                                                                        .wait = machine::Wait::timed(2s),
                                                                        .texts = {.value = "v"}}));
  engine.complete(submit.ticket, {.code = ResultCode::Queued}, kQueued);
  turn();
  EXPECT_EQ(answer.times(), 0);
  engine.complete(submit.ticket, {.code = ResultCode::Granted, .token = Token(77), .since = Index(9)});
  turn();
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)->token(), Token(77));
  EXPECT_EQ((*answer)->since(), Index(9));
  EXPECT_EQ((*answer)->name(), "billing");
  EXPECT_EQ((*answer)->owner_tag(), "t");
  EXPECT_TRUE((*answer)->valid(now.leading));
  EXPECT_EQ(client.status().holds, 1u);
}

// Covers: S-59
TEST_F(LockTest, TheDefaultDeadlineIsTheWaitAndTwoElectionTimeoutsOrTenSeconds) {
  const SessionRef session = open();
  Answer<HoldRef> timed, tried, forever;
  client.acquire(session, "a", {.wait = LockWait::timed(2s)}, timed.callback());
  client.acquire(session, "b", {}, tried.callback());
  client.acquire(session, "c", {.wait = LockWait::endless()}, forever.callback());
  turn();
  const auto sent = engine.take_commands<machine::Acquire>();
  ASSERT_THAT(sent, SizeIs(3));
  EXPECT_EQ(sent[0].first.deadline, now.lagging + 2s + 600ms);
  EXPECT_EQ(sent[1].first.deadline, now.lagging + 10s);
  EXPECT_EQ(sent[2].first.deadline, LaggingTime::max());
}

// Covers: S-36
TEST_F(LockTest, DefiniteRefusalsReachTheCallerWithTheirReason) {
  const SessionRef session = open();
  const std::pair<ResultCode, Reason> table[] = {{ResultCode::Held, Reason::Held},
                                                 {ResultCode::WaitTimeout, Reason::WaitTimeout},
                                                 {ResultCode::Cancelled, Reason::Cancelled},
                                                 {ResultCode::AlreadyHeld, Reason::AlreadyHeld},
                                                 {ResultCode::AlreadyWaiting, Reason::AlreadyWaiting},
                                                 {ResultCode::LimitExceeded, Reason::LimitExceeded},
                                                 {ResultCode::SessionNotFound, Reason::SessionNotFound}};
  for (const auto& [code, reason] : table) {
    Answer<HoldRef> answer;
    client.acquire(session, "a", {.wait = LockWait::endless()}, answer.callback());
    turn();
    engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket, {.code = code});
    turn();
    EXPECT_EQ(answer.reason(), reason);
    EXPECT_NE(answer.outcome(), Outcome::Unknown);
  }
  EXPECT_EQ(session->phase(), SessionPhase::Lost);  // the last one answered SessionNotFound
}

// Covers: S-59
TEST_F(LockTest, AGrantThatArrivesAfterTheCallTimedOutIsReleased) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  client.acquire(session, "a", {.wait = LockWait::endless(), .deadline = now.lagging + 1s}, answer.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::Acquire>().at(0).first.ticket;
  run(1s);  // this engine does not answer at the deadline: the client ends the call itself
  EXPECT_EQ(answer.reason(), Reason::CallTimeout);
  EXPECT_EQ(answer.outcome(), Outcome::Unknown);
  engine.complete(ticket, {.code = ResultCode::Granted, .token = Token(77)});
  turn();
  turn();
  const auto releases = engine.take_commands<machine::Release>();
  ASSERT_THAT(releases, SizeIs(1));
  EXPECT_EQ(std::get<machine::Release>(releases[0].second.body).token, Token(77));
  EXPECT_EQ(releases[0].first.urgency, Urgency::Reserved);
  engine.complete(releases[0].first.ticket, {});
  turn();
  EXPECT_EQ(answer.times(), 1);
  EXPECT_EQ(client.status().releases, 0u);
  EXPECT_EQ(client.status().holds, 0u);
}

// Covers: S-59
TEST_F(LockTest, AWaitThatOutlivesItsCallIsCancelledByItsRequest) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  client.acquire(session, "a", {.wait = LockWait::endless(), .deadline = now.lagging + 1s}, answer.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::Acquire>().at(0).first.ticket;
  engine.complete(ticket, {.code = ResultCode::Queued}, kQueued);
  run(1s);
  EXPECT_EQ(answer.reason(), Reason::CallTimeout);
  const auto cancels = engine.take_commands<machine::CancelAcquire>();
  ASSERT_THAT(cancels, SizeIs(1));
  EXPECT_EQ(std::get<machine::CancelAcquire>(cancels[0].second.body).acquire, engine.request_of(ticket));
  EXPECT_EQ(cancels[0].first.urgency, Urgency::Reserved);
  engine.complete(ticket, {.code = ResultCode::Cancelled});
  engine.complete(cancels[0].first.ticket, {.code = ResultCode::Cancelled});
  turn();
  EXPECT_EQ(client.status().tickets, 0u);
}

// Covers: S-59
TEST_F(LockTest, AWaitQueuedAfterItsCallEndedIsCancelledThen) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  const CallId call = client.acquire(session, "a", {.wait = LockWait::endless()}, answer.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::Acquire>().at(0).first.ticket;
  client.abandon(call);
  turn();
  EXPECT_EQ(answer.reason(), Reason::CancelPending);
  EXPECT_THAT(engine.take_commands<machine::CancelAcquire>(), IsEmpty());  // its request is not known yet
  engine.complete(ticket, {.code = ResultCode::Queued}, kQueued);
  turn();
  EXPECT_THAT(engine.take_commands<machine::CancelAcquire>(), SizeIs(1));
}

// The engine gave up with an unknown outcome; the cancel finds that the lock was granted.
// Covers: S-59
TEST_F(LockTest, AGrantFoundByTheCancelOfAnUnknownAcquireIsReleased) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  client.acquire(session, "a", {.wait = LockWait::timed(1s)}, answer.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::Acquire>().at(0).first.ticket;
  engine.fail(ticket, make_error(Reason::CallTimeout, "late"), FakeEngine::Sent::Yes);
  turn();
  EXPECT_EQ(answer.reason(), Reason::CallTimeout);
  const auto cancels = engine.take_commands<machine::CancelAcquire>();
  ASSERT_THAT(cancels, SizeIs(1));
  engine.complete(cancels[0].first.ticket, {.code = ResultCode::Granted, .token = Token(88)});
  turn();
  turn();
  EXPECT_THAT(engine.take_commands<machine::Release>(), SizeIs(1));
}

// This replica's own state of the session counts: it is the caller's, ends soon, is over, or belongs to another
// process. A state that a step left half done, as that of a halted replica may be, does not.
// Covers: S-45 S-59
TEST_F(LockTest, AnUnknownAcquireOfASessionThatIsGoneIsLost) {
  struct Case {
    const char* what;
    std::optional<machine::SessionInfo> known;
    bool halted = false;
    bool lost = false;
  };
  const machine::SessionInfo ours{{.ttl = kTtl, .node = engine.self(), .boot = engine.boot()}, /*incarnation=*/70};
  machine::SessionInfo ending = ours, anothers = ours;
  ending.ending = true;
  anothers.boot = BootCounter(8);
  const Case cases[] = {{.what = "ours", .known = ours},
                        {.what = "ending", .known = ending},
                        {.what = "gone", .known = {}, .lost = true},
                        {.what = "another's", .known = anothers, .lost = true},
                        {.what = "halted", .known = {}, .halted = true}};
  uint64_t id = 1000;
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const SessionRef session = open(++id);
    Answer<HoldRef> answer;
    client.acquire(session, "a", {.wait = LockWait::endless()}, answer.callback());
    turn();
    const Ticket ticket = engine.take_commands<machine::Acquire>().at(0).first.ticket;
    engine.complete(ticket, {.code = ResultCode::Queued}, kQueued);
    turn();
    FakeReads state;
    state.one_session = each.known;
    engine.state = &state;
    if (each.halted) engine.next.halted = absl::DataLossError("half done");
    engine.fail(ticket, make_error(Reason::SequenceRetired, Outcome::Unknown, "skipped"), FakeEngine::Sent::Yes);
    turn();
    engine.state = nullptr;
    EXPECT_EQ(answer.times(), 1);
    EXPECT_EQ(answer.reason(), each.lost ? Reason::Lost : Reason::SequenceRetired);
    EXPECT_EQ(session->phase() == SessionPhase::Lost, each.lost);
    EXPECT_THAT(engine.take_commands<machine::CancelAcquire>(), SizeIs(each.lost ? 0 : 1));
  }
}

// Covers: S-59
TEST_F(LockTest, AnAcquireThatNeverReachedTheLogNeedsNoCancelAndSaysNone) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  client.acquire(session, "a", {.wait = LockWait::timed(1s)}, answer.callback());
  turn();
  engine.fail(engine.take_commands<machine::Acquire>().at(0).first.ticket,
              make_error(Reason::CallTimeout, Outcome::NoEffect, "held back"));
  turn();
  EXPECT_EQ(answer.outcome(), Outcome::NoEffect);
  EXPECT_THAT(engine.take_commands<machine::CancelAcquire>(), IsEmpty());
}

// Covers: S-59
TEST_F(LockTest, AnUnansweredCancelIsRepeated) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  client.acquire(session, "a", {.wait = LockWait::timed(1s)}, answer.callback());
  turn();
  engine.fail(engine.take_commands<machine::Acquire>().at(0).first.ticket, make_error(Reason::CallTimeout, "late"),
              FakeEngine::Sent::Yes);
  turn();
  for (int i = 0; i < 3; ++i) {
    const auto cancels = engine.take_commands<machine::CancelAcquire>();
    ASSERT_THAT(cancels, SizeIs(1));
    engine.fail(cancels[0].first.ticket, make_error(Reason::NotReady, "not now"));
    turn();
    run(300ms);
  }
}

// F-08 in all orders: exactly one of granted and cancelled, and the client's records agree.
// Covers: REG_F08
TEST_F(LockTest, ACancelAgainstAGrantEndsAsExactlyOneOfThem) {
  const SessionRef session = open();
  for (const bool granted : {false, true}) {
    for (const bool answered_before_acquire : {false, true}) {
      Answer<HoldRef> answer;
      const CallId call = client.acquire(session, "a", {.wait = LockWait::endless()}, answer.callback());
      turn();
      const Ticket ticket = engine.take_commands<machine::Acquire>().at(0).first.ticket;
      engine.complete(ticket, {.code = ResultCode::Queued}, kQueued);
      turn();
      client.cancel(call);
      client.cancel(call);  // a repeat changes nothing
      turn();
      const auto cancels = engine.take_commands<machine::CancelAcquire>();
      ASSERT_THAT(cancels, SizeIs(1));
      const machine::Result decided = granted ? machine::Result{.code = ResultCode::Granted, .token = Token(5)}
                                              : machine::Result{.code = ResultCode::Cancelled};
      if (answered_before_acquire) engine.complete(cancels[0].first.ticket, decided);
      engine.complete(ticket, decided);
      if (!answered_before_acquire) engine.complete(cancels[0].first.ticket, decided);
      turn();
      EXPECT_EQ(answer.times(), 1);
      EXPECT_EQ(answer.ok(), granted);
      EXPECT_EQ(answer.reason(), granted ? std::nullopt : std::optional(Reason::Cancelled));
      EXPECT_EQ(client.status().holds, granted ? 1u : 0u);
      turn();
      EXPECT_THAT(engine.take_commands<machine::Release>(), IsEmpty());  // what the caller got is not taken away
      if (granted) client.release_later(*answer);
      turn();
      for (const auto& [submit, request] : engine.take_commands<machine::Release>()) engine.complete(submit.ticket, {});
      turn();
    }
  }
}

// Covers: S-59
TEST_F(LockTest, ACancelUndecidedAtTheDeadlineIsCancelPending) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  const CallId call =
      client.acquire(session, "a", {.wait = LockWait::endless(), .deadline = now.lagging + 1s}, answer.callback());
  turn();
  client.cancel(call);
  run(1s);
  EXPECT_EQ(answer.reason(), Reason::CancelPending);
  EXPECT_EQ(answer.outcome(), Outcome::Unknown);
}

// No deadline has passed: a whole state took the place of the entries that decided it.
// Covers: S-59
TEST_F(LockTest, ACancelThatIsNotDecidedHereSaysWhy) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  const CallId call = client.acquire(session, "a", {.wait = LockWait::endless()}, answer.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::Acquire>().at(0).first.ticket;
  engine.complete(ticket, {.code = ResultCode::Queued}, kQueued);
  turn();
  client.cancel(call);
  turn();
  engine.fail(ticket, make_error(Reason::SequenceRetired, Outcome::Unknown, "this replica was sent a whole state"),
              FakeEngine::Sent::Yes);
  turn();
  EXPECT_EQ(answer.reason(), Reason::CancelPending);
  EXPECT_EQ(sentence_of(answer.status()), "the result of the cancellation is not known: this replica was sent a whole state");
}

// Covers: S-59
TEST_F(LockTest, ACancelBeforeAnythingWasSentIsDefinite) {
  const SessionRef session = open();
  engine.posted.clear();
  Answer<HoldRef> answer;
  const CallId call = client.acquire(session, "a", {}, answer.callback());
  client.cancel(call);
  turn();
  EXPECT_EQ(answer.reason(), Reason::Cancelled);
  EXPECT_EQ(answer.outcome(), Outcome::NoEffect);
  EXPECT_THAT(engine.take_commands<machine::Acquire>(), IsEmpty());
}

// ---- sessions that end

// Covers: REG_F51
TEST_F(LockTest, AnAcquireUnderWayWhenItsSessionIsClosedEndsLostAndLeavesNothing) {
  for (const bool queued : {false, true}) {
    const SessionRef session = open(queued ? 2000 : 1000);
    Answer<HoldRef> answer;
    client.acquire(session, "a", {.wait = LockWait::endless()}, answer.callback());
    turn();
    const Ticket ticket = engine.take_commands<machine::Acquire>().at(0).first.ticket;
    if (queued) engine.complete(ticket, {.code = ResultCode::Queued}, kQueued);
    turn();
    client.close(session, [](absl::Status) {});
    turn();
    EXPECT_EQ(answer.reason(), Reason::Lost);
    EXPECT_EQ(answer.outcome(), Outcome::Done);
    engine.complete(ticket, {.code = ResultCode::Granted, .token = Token(9)});  // the close takes it
    engine.complete(engine.take_commands<machine::CloseSession>().at(0).first.ticket, {});
    turn();
    turn();
    EXPECT_EQ(answer.times(), 1);
    EXPECT_EQ(client.status().holds, 0u);
    EXPECT_EQ(client.status().sessions, 0u);
    EXPECT_THAT(engine.take_commands<machine::Release>(), IsEmpty());
  }
}

// Covers: T9
TEST_F(LockTest, ASessionInJeopardyMayAcquireButTheHoldIsNotValidYet) {
  const SessionRef session = open();
  run(v);
  ASSERT_EQ(session->phase(), SessionPhase::Jeopardy);
  const HoldRef grant = hold(session);
  EXPECT_FALSE(grant->valid(now.leading));
  EXPECT_TRUE(grant->lost_token().stop_requested());
  engine.confirm(next_renewal());
  turn();
  EXPECT_TRUE(grant->valid(now.leading));
}

// Covers: S-45
TEST_F(LockTest, ALostSessionGetsLostWithoutALogEntry) {
  const SessionRef session = open();
  engine.end_session(session->id());
  turn();
  engine.posted.clear();
  Answer<HoldRef> answer;
  client.acquire(session, "a", {}, answer.callback());
  EXPECT_EQ(answer.times(), 0);  // never inside the call
  turn();
  EXPECT_EQ(answer.reason(), Reason::Lost);
  EXPECT_THAT(engine.posted, IsEmpty());
}

// ---- releases

// Covers: T8
TEST_F(LockTest, AHoldIsInvalidBeforeItsReleaseIsPosted) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  engine.posted.clear();
  Answer<void> released;
  client.release(grant, released.callback());
  EXPECT_FALSE(grant->valid(now.leading));
  EXPECT_THAT(engine.posted, IsEmpty());
  EXPECT_FALSE(grant->lost_token().stop_requested());  // its owner knows
  turn();
  const auto sent = engine.take_commands<machine::Release>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(std::get<machine::Release>(sent[0].second.body),
            (machine::Release{.session = session->id(), .name = "a", .token = Token(5000)}));
  engine.complete(sent[0].first.ticket, {});
  turn();
  EXPECT_TRUE(released.ok());
}

// Covers: T10
TEST_F(LockTest, AnUnansweredReleaseIsRepeatedUntilAcknowledgedAlsoPastTheCallsDeadline) {
  const SessionRef session = open(1000, 100s);
  const HoldRef grant = hold(session);
  Answer<void> released;
  client.release(grant, released.callback(), now.lagging + 500ms);
  turn();
  for (int i = 0; i < 10; ++i) {
    const auto sent = engine.take_commands<machine::Release>();
    ASSERT_THAT(sent, SizeIs(1)) << i;
    EXPECT_EQ(sent[0].first.deadline, LaggingTime::max());
    engine.fail(sent[0].first.ticket, make_error(Reason::LeadershipLost, "again"));
    turn();
    run(300ms);
    turn();
  }
  EXPECT_EQ(released.reason(), Reason::CallTimeout);
  engine.complete(engine.take_commands<machine::Release>().at(0).first.ticket, {.code = ResultCode::NotOwner});
  turn();  // an earlier turn sent it
  EXPECT_EQ(client.status().releases, 0u);
  EXPECT_EQ(released.times(), 1);
}

// Covers: S-43
TEST_F(LockTest, EveryLaterCommandOfTheSessionCarriesItsUnansweredReleases) {
  const SessionRef session = open();
  const HoldRef a = hold(session, "a", 5000);
  const HoldRef b = hold(session, "b", 5001);
  client.release_later(a);
  client.release_later(b);
  turn();
  Answer<HoldRef> answer;
  const CallId call = client.acquire(session, "a", {.wait = LockWait::endless()}, answer.callback());
  turn();
  const auto acquires = engine.take_commands<machine::Acquire>();
  ASSERT_THAT(acquires, SizeIs(1));
  EXPECT_THAT(acquires[0].second.prior_releases,
              ElementsAre(machine::PriorRelease{"a", Token(5000)}, machine::PriorRelease{"b", Token(5001)}));
  engine.take_commands<machine::Release>();
  engine.complete(acquires[0].first.ticket, {.code = ResultCode::Queued}, kQueued);
  turn();
  EXPECT_EQ(client.status().releases, 0u);  // performed by the acquire's apply
  client.cancel(call);
  turn();
  EXPECT_THAT(engine.take_commands<machine::CancelAcquire>().at(0).second.prior_releases, IsEmpty());
}

// Covers: S-43
TEST_F(LockTest, ARefusedCarrierLeavesTheReleasesUnanswered) {
  const SessionRef session = open();
  client.release_later(hold(session, "a", 5000));
  turn();
  Answer<HoldRef> answer;
  client.acquire(session, "a", {.wait = LockWait::endless()}, answer.callback());
  turn();
  engine.fail(engine.take_commands<machine::Acquire>().at(0).first.ticket, make_error(Reason::TooManyRequests, "full"));
  turn();
  EXPECT_EQ(answer.reason(), Reason::TooManyRequests);
  EXPECT_EQ(client.status().releases, 1u);
}

// Covers: S-45 S-43
TEST_F(LockTest, ACarrierOfASessionThatWentElsewhereHasReleasedNothing) {
  const SessionRef session = open();
  Answer<void> released;
  Answer<HoldRef> acquired;
  client.release(hold(session, "a", 5000), released.callback());
  turn();
  client.acquire(session, "b", {.wait = LockWait::endless()}, acquired.callback());
  turn();
  const auto carrier = engine.take_commands<machine::Acquire>();
  ASSERT_THAT(carrier.at(0).second.prior_releases, SizeIs(1));
  engine.complete(carrier[0].first.ticket, {.code = ResultCode::Lost});
  turn();
  EXPECT_EQ(acquired.reason(), Reason::Lost);
  EXPECT_EQ(released.reason(), Reason::Lost) << "the session's new process has the lock";
}

// Covers: S-43
TEST_F(LockTest, ReleasesOfOneTurnGoInOneCommand) {
  const SessionRef session = open();
  std::vector<HoldRef> holds;
  for (uint64_t i = 0; i < 5; ++i) holds.push_back(hold(session, "n" + std::to_string(i), 5000 + i));
  std::vector<Answer<void>> answers(5);
  for (size_t i = 0; i < 5; ++i) client.release(holds[i], answers[i].callback());
  turn();
  const auto sent = engine.take_commands<machine::Release>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].second.prior_releases, SizeIs(4));
  engine.complete(sent[0].first.ticket, {});
  turn();
  for (const auto& answer : answers) EXPECT_TRUE(answer.ok());
}

// Covers: S-43
TEST_F(LockTest, AFailedBatchOfReleasesIsRepeatedWhole) {
  const SessionRef session = open();
  const HoldRef a = hold(session, "a", 5000);
  const HoldRef b = hold(session, "b", 5001);
  client.release_later(a);
  client.release_later(b);
  turn();
  engine.fail(engine.take_commands<machine::Release>().at(0).first.ticket, make_error(Reason::NotReady, "not now"));
  turn();
  run(300ms);
  turn();
  const auto again = engine.take_commands<machine::Release>();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_THAT(again[0].second.prior_releases, SizeIs(1));
}

// Covers: S-38
TEST_F(LockTest, ARepeatedReleaseJoinsTheFirstAndIsNotOwnerAfterwards) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  Answer<void> first, second, third;
  client.release(grant, first.callback());
  client.release(grant, second.callback());
  turn();
  const auto sent = engine.take_commands<machine::Release>();
  ASSERT_THAT(sent, SizeIs(1));
  engine.complete(sent[0].first.ticket, {});
  turn();
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(second.ok());
  client.release(grant, third.callback());
  turn();
  EXPECT_EQ(third.reason(), Reason::NotOwner);
}

// Covers: S-38
TEST_F(LockTest, AReleaseAfterTheSessionEndedIsLost) {
  const SessionRef session = open();
  const HoldRef early = hold(session, "a", 5000);
  const HoldRef late = hold(session, "b", 5001);
  Answer<void> under_way, after;
  client.release(early, under_way.callback());
  turn();
  engine.end_session(session->id());
  turn();
  client.release(late, after.callback());
  turn();
  EXPECT_EQ(under_way.reason(), Reason::Lost);
  EXPECT_EQ(after.reason(), Reason::Lost);
  EXPECT_EQ(client.status().releases, 0u);
}

// Covers: S-52
TEST_F(LockTest, ACheckThatFindsAnotherHolderMarksTheHoldLost) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  for (const bool held : {true, false}) {
    Answer<bool> answer;
    client.check(grant, answer.callback());
    turn();
    const auto asks = engine.take<Ask>();
    ASSERT_THAT(asks, SizeIs(1));
    EXPECT_EQ(asks[0].consistency, Consistency::Linearizable);
    FakeReads state;
    state.held = held;
    engine.let_read(asks[0].ticket, state);
    turn();
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(*answer, held);
    EXPECT_EQ(grant->valid(now.leading), held);
    EXPECT_EQ(grant->lost_token().stop_requested(), !held);
  }
  EXPECT_EQ(session->phase(), SessionPhase::Valid);
  Answer<void> released;
  client.release(grant, released.callback());
  turn();
  EXPECT_EQ(released.reason(), Reason::Lost) << "and not released before";
}

// Covers: S-51
TEST_F(LockTest, AHoldEndsAtItsLongestTimeAloneAndIsReleased) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  client.acquire(session, "a", {.wait = LockWait::endless(), .max_hold = 400ms}, answer.callback());
  client.before_turn(now);
  engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                  {.code = machine::ResultCode::Granted, .token = Token(5000), .since = Index(1)});
  engine.turn(now, effects);
  client.after_turn(now, effects);
  const HoldRef grant = *answer;
  const HoldRef other = hold(session, "b", 5001);
  const LeadingTime known = now.leading;
  EXPECT_EQ(grant->until(), known + 400ms);
  EXPECT_TRUE(grant->valid(known + 400ms - 1ns));
  EXPECT_FALSE(grant->valid(known + 400ms)) << "by its own clock, whether a turn runs or not";
  run(399ms);
  EXPECT_TRUE(engine.take_commands<machine::Release>().empty());
  EXPECT_FALSE(grant->lost_token().stop_requested());
  run(1ms);
  EXPECT_TRUE(grant->lost());
  EXPECT_TRUE(grant->lost_token().stop_requested());
  const auto releases = engine.take_commands<machine::Release>();
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_EQ(std::get<machine::Release>(releases[0].second.body).token, Token(5000));
  EXPECT_TRUE(other->valid(now.leading)) << "that hold only";
  EXPECT_TRUE(session->valid(now.leading));
  Answer<void> released;
  client.release(grant, released.callback());
  turn();
  EXPECT_EQ(released.reason(), Reason::Lost) << "and not released before";
}

class MaxHoldTest : public ClientBench {
 public:
  // Granted in this very turn, so that the maximum time counts from now.
  HoldRef hold_for(const SessionRef& session, Duration longest) {
    Answer<HoldRef> answer;
    client.acquire(session, "a", {.max_hold = longest}, answer.callback());
    client.before_turn(now);
    engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                    {.code = machine::ResultCode::Granted, .token = Token(5000), .since = Index(1)});
    engine.turn(now, effects);
    client.after_turn(now, effects);
    return *answer;
  }
};

// Covers: S-51
TEST_F(MaxHoldTest, AReleasedHoldLeavesNoTimerBehind) {
  const SessionRef session = open();
  const HoldRef hold = hold_for(session, 1h);
  client.release_later(hold);
  turn();
  engine.complete(engine.take_commands<machine::Release>().at(0).first.ticket, {});
  client.close(session, [](absl::Status) {});
  turn();
  turn();
  engine.end_session(session->id());
  run(5s);  // past the deadline that the session had
  EXPECT_EQ(client.next_turn(now), Duration::max());
}

// Covers: S-51
TEST_F(LockTest, ANegativeLongestTimeIsRefused) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  client.acquire(session, "a", {.max_hold = -1ns}, answer.callback());
  turn();
  EXPECT_EQ(answer.reason(), Reason::InvalidArgument);
}

// It cannot be known how much of the time is over.
// Covers: S-51 FLT_P08
TEST_F(MaxHoldTest, AStepBackOfTheClockEndsHoldsWithALongestTime) {
  const SessionRef session = open();
  const HoldRef hold = hold_for(session, 1h);
  now.leading -= 1ms;
  turn();
  EXPECT_TRUE(hold->lost());
}

// Covers: REG_R75
TEST_F(LockTest, ManyTimedOutCallsLeaveNothingBehind) {
  const SessionRef session = open(1000, 1h);
  size_t answers = 0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 100; ++i) {
      client.acquire(session, "a", {.deadline = now.lagging + 1ms}, [&](auto) { ++answers; });
      if (i % 10 == 0)
        client.get(
            "k", [&](auto) { ++answers; }, now.lagging + 1ms);
    }
    turn();
    for (const auto& [submit, request] : engine.take_commands<machine::Acquire>()) {
      engine.fail(submit.ticket, make_error(Reason::CallTimeout, Outcome::NoEffect, "held back"));
    }
    run(1ms);
    engine.posted.clear();
  }
  EXPECT_EQ(answers, 22'000u);
  EXPECT_EQ(client.status().calls, 0u);
  EXPECT_EQ(client.status().tickets, 0u);
}

// An acquire about which nothing is known any more outlives its session here: the session goes to another process and comes
// back. All that it holds then, including the grant of that very acquire, belongs to the process that resumed it.
class PreviousFlightTest : public LockTest {
 public:
  // Its acquire has ended with an unknown outcome; returns the ticket of the pending cancel.
  Ticket give_up(const SessionRef& session) {
    Answer<HoldRef> answer;
    client.acquire(session, "a", {.wait = LockWait::endless(), .deadline = now.lagging + 1s}, answer.callback());
    turn();
    engine.fail(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                make_error(Reason::CallTimeout, Outcome::Unknown, "late"), FakeEngine::Sent::Yes);
    turn();
    EXPECT_EQ(answer.outcome(), Outcome::Unknown);
    turn();
    return engine.take_commands<machine::CancelAcquire>().at(0).first.ticket;
  }
  SessionRef lose_and_resume(const SessionRef& session) {
    engine.next.events.push_back(
        {kCoordination, Index(++engine.index),
         machine::encode(machine::Event(machine::SessionResumed{session->id(), ReplicaId(9), BootCounter(1), 1}))});
    turn();
    EXPECT_EQ(session->phase(), SessionPhase::Lost);
    Answer<ResumedSession> answer;
    client.resume_session(session->id(), "secret", {.previous_is_gone = true}, answer.callback());
    turn();
    engine.complete(engine.take_commands<machine::ResumeSession>().at(0).first.ticket,
                    {.session = session->id(), .ttl = kTtl, .previous_gone = true});
    turn();
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? (*answer).session : nullptr;
  }
};

// Covers: S-45 INV_L02
TEST_F(PreviousFlightTest, AGrantFoundForAPreviousLifeIsNotGivenBackInTheNewOne) {
  const SessionRef session = open();
  const Ticket cancel = give_up(session);
  const SessionRef again = lose_and_resume(session);
  engine.complete(cancel, {.code = machine::ResultCode::Granted, .token = Token(5000), .since = Index(1)});
  turn();
  turn();
  EXPECT_EQ(client.status().releases, 0u);
  EXPECT_TRUE(engine.take_commands<machine::Release>().empty());
}

// Covers: S-45 INV_L02
TEST_F(PreviousFlightTest, ACancelForAPreviousLifeIsNotRepeatedInTheNewOne) {
  const SessionRef session = open();
  const Ticket cancel = give_up(session);
  const SessionRef again = lose_and_resume(session);
  engine.fail(cancel, make_error(Reason::LeadershipLost, Outcome::Unknown, "skipped"), FakeEngine::Sent::Yes);
  turn();
  run(2s);
  EXPECT_TRUE(engine.take_commands<machine::CancelAcquire>().empty());
}

// Covers: S-43
TEST_F(LockTest, AnAcquireWaitsRatherThanOvertakeMoreReleasesThanItCanName) {
  const SessionRef session = open();
  std::vector<HoldRef> holds;
  for (uint64_t i = 0; i < machine::kPriorReleasesMax + 100; ++i)
    holds.push_back(hold(session, "lock " + std::to_string(i), 5000 + i));
  for (const HoldRef& each : holds) client.release_later(each);
  Answer<HoldRef> again, permits;
  client.acquire(session, "lock 1024", {.wait = LockWait::endless()}, again.callback());
  client.coordination().acquire_permits(session, "s", 1, {.wait = LockWait::endless()}, permits.callback());
  turn();
  const auto batches = engine.take_commands<machine::Release>();
  ASSERT_THAT(batches, SizeIs(2));
  run(1s);
  EXPECT_THAT(engine.take_commands<machine::Acquire>(), IsEmpty());
  EXPECT_THAT(engine.take_commands<machine::CoordinationCommand>(), IsEmpty());
  engine.complete(batches[0].first.ticket, {.code = ResultCode::Ok});
  run(1s);
  const auto sent = engine.take_commands<machine::Acquire>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].second.prior_releases, SizeIs(99))
      << "all that are not answered: that command named 1,024 besides its own";
  EXPECT_THAT(engine.take_commands<machine::CoordinationCommand>(), SizeIs(1));
}

}  // namespace
}  // namespace coordkit::test
