// The fake service: real handles, one thread, virtual time. Some of these tests are the examples of docs/testing.md.
#include "coordkit/testing/fake_session.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/check.h"
#include "coordkit/coordkit.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

// Code under test, as anyone might write it: pays invoices while it may, and reports how far it got.
struct Payer {
  Session session;
  int paid = 0;

  absl::Status run(int invoices, const std::function<void()>& pay_one) {
    absl::StatusOr<Grant> grant = session.acquire("billing", {.timeout = 10s});
    if (!grant.ok()) return grant.status();
    for (; paid < invoices && grant->valid(); ++paid) pay_one();
    return paid == invoices ? grant->release() : absl::AbortedError("lost the lock");
  }
};

TEST(FakeSessionTest, CodeThatUsesALockRunsToItsEnd) {
  FakeService service;
  Payer payer{service.open_session()};
  EXPECT_TRUE(payer.run(3, [] {}).ok());
  EXPECT_EQ(payer.paid, 3);
}

TEST(FakeSessionTest, CodeIsStoppedByTheLossThatTheTestScripts) {
  FakeService service;
  Payer payer{service.open_session({.ttl = 2s})};
  service.at(5s, [&] { service.lose(payer.session); });

  const absl::Status status = payer.run(10, [&] { service.advance(1s); });  // paying takes a second

  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(payer.paid, 5);
}

// Redlock calls this the validity: if there are two limits, the earlier one counts.
// Covers: S-51 S-52
TEST(FakeSessionTest, WhatRemainsOfAGrantIsUntilItsOwnEndOrThatOfItsSession) {
  FakeService service;
  Session session = service.open_session({.ttl = 10s});
  Grant plain = session.acquire("plain").value(), limited = session.acquire("limited", {.max_hold = 300ms}).value();
  EXPECT_EQ(plain.remaining(), session.remaining());
  EXPECT_GT(plain.remaining(), 9s);
  EXPECT_EQ(limited.remaining(), 300ms);
  service.advance(299ms);
  EXPECT_EQ(limited.remaining(), 1ms);
  EXPECT_GT(session.remaining(), 9s) << "which is not what is left of the grant";
  service.advance(1ms);
  EXPECT_FALSE(limited.valid());
  EXPECT_EQ(limited.remaining(), Duration::zero());

  Grant long_one = session.acquire("long", {.max_hold = 1h}).value();
  EXPECT_EQ(long_one.remaining(), session.remaining());
  service.cut_off();
  const Duration left = plain.remaining();
  service.advance(left);
  EXPECT_EQ(plain.remaining(), Duration::zero()) << "in jeopardy";
  EXPECT_EQ(Grant().remaining(), Duration::zero());
  service.mend();
  service.advance(1ms);
  EXPECT_TRUE(plain.release().ok());
  EXPECT_EQ(plain.remaining(), Duration::zero());
}

// Covers: S-45
TEST(FakeSessionTest, LostStopsWhenTheSessionIsLostAndNotBefore) {
  FakeService service;
  Session session = service.open_session({.ttl = 2s, .give_up = 1min});
  const std::stop_token lost = session.lost();
  int told = 0;
  const std::stop_callback counts(lost, [&told] { ++told; });
  service.cut_off();
  service.advance(1990ms);
  EXPECT_EQ(session.phase(), SessionPhase::Jeopardy);
  EXPECT_FALSE(lost.stop_requested()) << "that may end well";
  service.advance(5s);
  service.mend();
  service.advance(1s);
  EXPECT_EQ(session.phase(), SessionPhase::Lost);
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_TRUE(session.lost().stop_requested()) << "also of who asks later";
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(Session().lost().stop_possible());
}

// Covers: S-45
TEST(FakeSessionTest, LostStopsWithACloseAndWithTheReplica) {
  std::optional<FakeService> service(std::in_place);
  Session closed = service->open_session(), killed = service->open_session(), left = service->open_session();
  const std::stop_token of_closed = closed.lost(), of_killed = killed.lost(), of_left = left.lost();
  EXPECT_TRUE(closed.close().ok());
  service->kill(killed);
  service->advance(1ms);
  EXPECT_TRUE(of_closed.stop_requested());
  EXPECT_TRUE(of_killed.stop_requested());
  EXPECT_FALSE(of_left.stop_requested());
  service.reset();
  EXPECT_TRUE(of_left.stop_requested());
}

TEST(FakeSessionTest, WaitingInLineTakesVirtualTimeOnly) {
  FakeService service;
  service.take("billing");
  service.at(4s, [&] { service.give_back("billing"); });
  Payer payer{service.open_session()};
  EXPECT_TRUE(payer.run(1, [] {}).ok());
  EXPECT_EQ(service.now(), 4s);
}

TEST(FakeSessionTest, ACallWithoutALimitOfTimeIsNotLate) {
  FakeService service;
  const absl::StatusOr<Session> session = service.try_open_session({.timeout = kForever});
  ASSERT_TRUE(session.ok()) << session.status();
  service.restart();
  const auto resumed = service.resume_session(session->id(), session->secret(), {.timeout = kForever});
  EXPECT_TRUE(resumed.ok()) << resumed.status();
}

TEST(FakeSessionTest, AWaitThatIsTooLongEndsByItsTimeout) {
  FakeService service;
  service.take("billing");
  Session session = service.open_session();
  const absl::StatusOr<Grant> grant = session.acquire("billing", {.timeout = 3s});
  EXPECT_EQ(reason_of(grant.status()), Reason::WaitTimeout);
  EXPECT_GE(service.now(), 3s);
  EXPECT_EQ(reason_of(session.try_acquire("billing").status()), Reason::Held);
  EXPECT_TRUE(service.has("billing"));
}

TEST(FakeSessionTest, AWaitThatNothingEndsIsAFailureAndNoHang) {
  FakeService service;
  service.take("billing");
  Session session = service.open_session();
  EXPECT_THROW(session.acquire("billing").IgnoreError(), CheckFailure);
}

// Covers: S-52
TEST(FakeSessionTest, CutOffTheGrantIsInvalidAtItsDeadlineAndLaterSomebodyElseHasTheLock) {
  FakeService service;
  std::vector<SessionPhase> phases;
  Session session = service.open_session({.ttl = 2s, .on_phase = [&](SessionPhase phase) { phases.push_back(phase); }});
  Grant grant = session.acquire("billing").value();
  service.take("billing");
  const std::stop_token lost = grant.lost();

  service.cut_off();
  service.advance(1900ms);
  EXPECT_TRUE(grant.valid());
  service.advance(70ms);  // 2 s of TTL are at most 1.96 s of trust
  EXPECT_FALSE(grant.valid());
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_FALSE(service.has("billing"));
  service.advance(1s);
  EXPECT_TRUE(service.has("billing"));
  EXPECT_EQ(session.phase(), SessionPhase::Jeopardy);

  service.mend();
  service.advance(1s);
  EXPECT_EQ(session.phase(), SessionPhase::Lost);
  EXPECT_EQ(phases, (std::vector{SessionPhase::Valid, SessionPhase::Jeopardy, SessionPhase::Lost}));
}

// A process that stood still for more than a third of V trusts nothing until its next renewal is confirmed (LT-9).
// Covers: T9
TEST(FakeSessionTest, JeopardyEndsWellWithTheSameToken) {
  FakeService service;
  std::vector<SessionPhase> phases;
  Session session = service.open_session({.ttl = 2s, .on_phase = [&](SessionPhase phase) { phases.push_back(phase); }});
  Grant grant = session.acquire("billing").value();
  const Token token = grant.token();
  service.pause(1500ms);
  service.advance(100ms);
  EXPECT_EQ(phases, (std::vector{SessionPhase::Valid, SessionPhase::Jeopardy, SessionPhase::Valid}));
  EXPECT_TRUE(grant.valid());
  EXPECT_EQ(grant.token(), token);
  EXPECT_TRUE(grant.lost().stop_requested()) << "it fires once, at the first doubt";
}

TEST(FakeSessionTest, AfterAPauseTheCodeUnderTestRunsFirstAndStillKnows) {
  FakeService service;
  Session session = service.open_session({.ttl = 2s});
  Grant grant = session.acquire("billing").value();
  service.take("billing");
  service.pause(1s);
  EXPECT_TRUE(grant.valid());
  service.pause(1500ms);
  EXPECT_FALSE(grant.valid());
  EXPECT_TRUE(service.has("billing")) << "the cluster went on";
  EXPECT_EQ(session.phase(), SessionPhase::Valid) << "not noticed here yet";
  service.advance(0s);
  EXPECT_EQ(session.phase(), SessionPhase::Lost);
}

TEST(FakeSessionTest, TheScriptGoesOnDuringAPause) {
  FakeService service;
  Session session = service.open_session({.ttl = 60s});
  service.at(1s, [&] { service.take("billing"); });
  service.pause(2s);
  EXPECT_TRUE(service.has("billing"));
}

TEST(FakeSessionTest, ARefusalIsAnsweredOnce) {
  FakeService service;
  Session session = service.open_session();
  service.refuse_next_acquire(Reason::NoLeader);
  const absl::StatusOr<Grant> refused = session.acquire("billing", {.timeout = 1s});
  EXPECT_EQ(reason_of(refused.status()), Reason::NoLeader);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(session.acquire("billing", {.timeout = 1s}).ok());
}

TEST(FakeSessionTest, ACallIntoACutWireEndsAtItsDeadlineWithAnUnknownOutcome) {
  FakeService service;
  Session session = service.open_session({.ttl = 60s});
  service.cut_off();
  const absl::StatusOr<Grant> grant = session.acquire("billing", {.timeout = 5s});
  EXPECT_EQ(outcome_of(grant.status()), Outcome::Unknown);
  service.mend();
  service.advance(1s);
  service.take("billing");
  EXPECT_TRUE(service.has("billing")) << "what arrived late was given back";
}

TEST(FakeSessionTest, MutexesExcludeEachOtherAndTheirTokensGrow) {
  FakeService service;
  Session session = service.open_session();
  Mutex first(session, "billing"), second(session, "billing");
  FenceGate gate;
  Token before;
  {
    const std::unique_lock lock(first);
    EXPECT_FALSE(second.try_lock());
    EXPECT_FALSE(second.try_lock_for(2s));
    before = first.token();
    EXPECT_TRUE(gate.admit(before).ok());
  }
  const std::unique_lock lock(second);
  EXPECT_GT(second.token(), before);
  EXPECT_TRUE(gate.admit(second.token()).ok());
  EXPECT_FALSE(gate.admit(before).ok());
}

TEST(FakeSessionTest, AsynchronousCallsAreAnsweredAsTimePasses) {
  FakeService service;
  service.take("billing");
  service.at(2s, [&] { service.give_back("billing"); });
  Session session = service.open_session();
  Grant grant;
  session.acquire_async("billing", {}, [&](absl::StatusOr<Grant> answer) {
    EXPECT_FALSE(session.acquire("other").ok()) << "would wait for itself";
    grant = *std::move(answer);
  });
  EXPECT_FALSE(grant.valid());
  service.advance(2s);
  EXPECT_TRUE(grant.valid());
}

TEST(FakeSessionTest, CallbacksMayBlock) {
  FakeService service;
  Session session;
  absl::Status closed = absl::UnknownError("not called");
  session = service.open_session({.ttl = 2s, .on_phase = [&](SessionPhase phase) {
                                    if (phase == SessionPhase::Lost) closed = session.close();
                                  }});
  service.lose(session);
  service.advance(0s);
  EXPECT_TRUE(closed.ok()) << closed;
}

// Covers: S-66
TEST(FakeSessionTest, AnObservationEndsInsideItsCallbackAndWithItsHandle) {
  FakeService service;
  Session session = service.open_session();
  Counter counter(session, "n");
  const auto calls = std::make_shared<int>(0);
  Observation first, second;
  first = counter.observe([&first, calls](const CounterSeen&) {
    if (++*calls == 2) first.end();
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(counter.add().ok());
  EXPECT_EQ(*calls, 2);
  EXPECT_EQ(calls.use_count(), 1) << "what the callback captured is gone";
  second = counter.observe([calls](const CounterSeen&) { ++*calls; });
  service.advance(0s);
  EXPECT_EQ(*calls, 3);
  second = Observation();
  EXPECT_TRUE(counter.add().ok());
  EXPECT_EQ(*calls, 3);
  EXPECT_EQ(calls.use_count(), 1);
}

// Covers: S-66
TEST(FakeSessionTest, TheCloseOfASessionIsTheEndOfItsOnPhase) {
  FakeService service;
  std::vector<SessionPhase> phases;
  Session session = service.open_session({.on_phase = [&](SessionPhase phase) { phases.push_back(phase); }});
  EXPECT_TRUE(session.close().ok());
  service.advance(1s);
  EXPECT_EQ(phases, std::vector{SessionPhase::Valid});
}

// Covers: S-45
TEST(FakeSessionTest, ARestartedProcessFindsItsSessionAndWhatItHeld) {
  FakeService service;
  Session before = service.open_session({.ttl = 10s, .metadata = "payer"});
  Grant grant = before.acquire("billing").value();
  Grant permits = Semaphore(before, "workers").acquire({.permits = 2, .initial_limit = 2}).value();
  service.restart();
  EXPECT_EQ(before.phase(), SessionPhase::Lost);
  EXPECT_FALSE(grant.valid());
  EXPECT_EQ(reason_of(grant.release()), Reason::Lost);

  EXPECT_EQ(reason_of(service.resume_session(before.id(), "a guess").status()), Reason::PermissionDenied);
  absl::StatusOr<Resumed> resumed = service.resume_session(before.id(), before.secret());
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  service.advance(100ms);
  ASSERT_EQ(resumed->grants.size(), 1u);
  EXPECT_TRUE(resumed->grants[0].valid()) << "the same disk: one renewal, and no TTL, is waited for";
  EXPECT_GT(resumed->grants[0].token(), grant.token()) << "a hold of its own";
  EXPECT_EQ(resumed->session.metadata(), "payer");
  ASSERT_EQ(resumed->permits.size(), 1u);
  EXPECT_EQ(resumed->permits[0].permits, 2u);
  EXPECT_GT(resumed->permits[0].grant.token(), permits.token());
}

TEST(FakeSessionTest, ASessionThatNobodyResumesExpiresAndTheNextInLineHasItsLock) {
  FakeService service;
  Session before = service.open_session({.ttl = 2s});
  Grant grant = before.acquire("billing").value();
  service.take("billing");
  service.take("archive");
  service.restart();
  EXPECT_TRUE(service.has("archive")) << "the other client did not restart";
  EXPECT_FALSE(service.has("billing"));
  service.advance(3s);
  EXPECT_TRUE(service.has("billing"));
  EXPECT_EQ(reason_of(service.resume_session(before.id(), before.secret()).status()), Reason::SessionNotFound);
}

TEST(FakeSessionTest, ARestartMayBeScriptedWhileACallWaits) {
  FakeService service;
  service.take("billing");
  Session session = service.open_session();
  service.at(5s, [&] { service.restart(); });
  EXPECT_EQ(reason_of(session.acquire("billing").status()), Reason::Stopped);
  EXPECT_GE(service.now(), 5s);
}

// Covers: S-53
TEST(FakeSessionTest, SeveralLocksAreTakenTogetherOrNotAtAll) {
  FakeService service;
  Session session = service.open_session();
  service.take("b");
  EXPECT_EQ(reason_of(session.acquire_all({{"a"}, {"b"}}, {.timeout = 1s}).status()), Reason::WaitTimeout);
  EXPECT_TRUE(session.try_acquire("a").ok()) << "nothing of it is held";
  service.at(5s, [&] { service.give_back("b"); });
  const absl::StatusOr<Grant> both = session.acquire_all({{"a"}, {"b"}});
  ASSERT_TRUE(both.ok());
  EXPECT_TRUE(both->valid());
}

// Covers: S-46
TEST(FakeSessionTest, SomebodyElseMayShareALock) {
  FakeService service;
  service.take("report", LockMode::Shared);
  Session session = service.open_session();
  EXPECT_TRUE(session.acquire_shared("report", {.timeout = 1s}).ok());
  EXPECT_EQ(reason_of(session.try_acquire("report").status()), Reason::Held);
}

// Covers: S-58
TEST(FakeSessionTest, AStickyLockStaysUntilSomebodyElseWantsIt) {
  FakeService service;
  Session session = service.open_session();
  Token last;
  for (int i = 0; i < 3; ++i) {
    const Grant grant = session.acquire("billing", {.sticky = true}).value();
    EXPECT_GT(grant.token(), last);
    last = grant.token();
  }
  service.take("billing");
  service.advance(1ms);
  EXPECT_TRUE(service.has("billing"));
  service.give_back("billing");
  EXPECT_GT(session.acquire("billing", {.sticky = true}).value().token(), Token(last.value() + 60'000)) << "another block";
}

// Covers: S-57
TEST(FakeSessionTest, AKilledSessionIsLostAndItsLockFree) {
  FakeService service;
  Session session = service.open_session();
  Grant grant = session.acquire("billing").value();
  service.take("billing");
  service.kill(session);
  service.advance(1ms);
  EXPECT_EQ(session.phase(), SessionPhase::Lost);
  EXPECT_FALSE(grant.valid());
  EXPECT_TRUE(service.has("billing")) << "its holder was notified, and released it";
}

TEST(FakeSessionTest, EveryPrimitiveOfASessionWorks) {
  FakeService service;
  Session me = service.open_session(), other = service.open_session();
  Semaphore semaphore(me, "s");
  const absl::StatusOr<Grant> permits = semaphore.acquire({.permits = 2, .initial_limit = 2});
  ASSERT_TRUE(permits.ok());
  EXPECT_EQ(reason_of(Semaphore(other, "s").acquire({.timeout = 1s}).status()), Reason::WaitTimeout);
  ClaimQueue queue(me, "q");
  EXPECT_TRUE(queue.enqueue("work").ok());
  {
    const WorkItem item = queue.claim({.term = 5s}).value();
    EXPECT_EQ(reason_of(ClaimQueue(other, "q").claim({.timeout = 1s}).status()), Reason::WaitTimeout);
    service.advance(5s);
    EXPECT_EQ(ClaimQueue(other, "q").claim({.timeout = 1s})->deliveries, 1u) << "the term is over";
  }
  Election election(me, "e");
  const Grant leads = election.campaign("me").value();
  EXPECT_EQ((*Election(other, "e").leader())->value, "me");
  Latch latch(me, "l");
  EXPECT_TRUE(latch.create(1).ok());
  service.at(service.now() + 2s, [&] { latch.count_down_async(1, [](const absl::StatusOr<uint64_t>&) {}); });
  EXPECT_TRUE(Latch(other, "l").wait().ok());
  EXPECT_EQ(Counter(me, "n").add(3).value(), 3);
  EXPECT_EQ(Counter(Session(), "n").get().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Group(me, "g").join("here").ok());
  EXPECT_EQ(Group(other, "g").members()->members.size(), 1u);
  service.refuse_next_acquire(Reason::NoLeader);
  EXPECT_EQ(reason_of(Semaphore(other, "s").acquire({.timeout = 1s}).status()), Reason::NoLeader);
}

TEST(FakeSessionTest, HandlesOutliveTheService) {
  auto service = std::make_unique<FakeService>();
  Session session = service->open_session();
  Grant grant = session.acquire("billing").value();
  service.reset();
  EXPECT_FALSE(grant.valid());
  EXPECT_EQ(session.acquire("other").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(grant.release().ok());
}

TEST(FakeSessionTest, TheSameScriptGivesTheSameTokensAndTimes) {
  const auto run = [] {
    FakeService service;
    service.take("billing");
    service.at(1s, [&] { service.give_back("billing"); });
    Session session = service.open_session({.ttl = 1s});
    Grant grant = session.acquire("billing").value();
    return std::pair(grant.token(), service.now());
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace coordkit::testkit
