// The script of a test for the cluster behind a fake service: late calls, changes of leader, outages. And the matchers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coordkit/testing/fake_session.h"
#include "coordkit/testing/matchers.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Not;

TEST(FakeClusterTest, ASlowClusterAnswersLateAndLosesNothing) {
  FakeService service;
  Session session = service.open_session({.ttl = 10s});
  service.slow(700ms);
  const Duration start = service.now();
  const absl::StatusOr<Grant> grant = session.acquire("billing", {.timeout = 5s});
  EXPECT_THAT(grant, IsHeld());
  EXPECT_EQ(service.now() - start, 700ms);
  service.advance(1min);
  EXPECT_THAT(grant, IsHeld()) << "renewals are late, not lost";
  service.slow(0s);
  service.advance(1s);  // for pending calls
  const Duration later = service.now();
  EXPECT_THAT(session.acquire("other"), IsHeld());
  EXPECT_EQ(service.now(), later);
}

TEST(FakeClusterTest, WhatIsSaidFasterDoesNotOvertakeWhatIsUnderWay) {
  FakeService service;
  Session session = service.open_session({.ttl = 10s});
  service.slow(1s);
  std::vector<std::string> granted;
  const auto note = [&](const char* name) {
    return [&granted, name](const absl::StatusOr<Grant>&) { granted.emplace_back(name); };
  };
  session.acquire_async("first", {}, note("first"));
  service.advance(10ms);
  service.slow(0s);
  session.acquire_async("second", {}, note("second"));
  service.advance(100ms);
  EXPECT_TRUE(granted.empty());
  service.advance(1s);
  EXPECT_EQ(granted, (std::vector<std::string>{"first", "second"}));
}

TEST(FakeClusterTest, ASessionWhoseRenewalsComeTooLateIsLostToTheNextInLine) {
  FakeService service;
  Session session = service.open_session({.ttl = 2s});
  const absl::StatusOr<Grant> grant = session.acquire("billing");
  service.take("billing");
  service.slow(3s);
  service.advance(4s);
  EXPECT_THAT(grant, Not(IsHeld()));
  EXPECT_TRUE(service.has("billing"));
}

TEST(FakeClusterTest, AChangeOfLeaderDelaysWhatIsAskedAndLosesNothing) {
  FakeService service;
  Session session = service.open_session({.ttl = 2s});
  const Grant before = session.acquire("billing").value();
  service.change_leader();
  const Duration start = service.now();
  const absl::StatusOr<Grant> during = session.acquire("other", {.timeout = 5s});
  EXPECT_THAT(during, IsHeld());
  EXPECT_EQ(service.now() - start, 500ms);
  EXPECT_THAT(before, IsHeld());
  EXPECT_GT(during->token(), before.token());
  EXPECT_THAT(session.try_acquire("third"), IsHeld()) << "there is a leader again";
}

TEST(FakeClusterTest, ACallThatWaitsThroughAnOutageIsDoneWhenItIsOver) {
  FakeService service;
  Session session = service.open_session({.ttl = 20s});
  service.outage();
  service.at(service.now() + 3s, [&] { service.recover(); });
  const Duration start = service.now();
  EXPECT_THAT(session.acquire("billing", {.timeout = 10s}), IsHeld());
  EXPECT_EQ(service.now() - start, 3s);
}

TEST(FakeClusterTest, ACallWhoseTimeIsUpInAnOutageIsRefusedAndHadNoEffect) {
  FakeService service;
  Session session = service.open_session({.ttl = 60s});
  service.outage();
  EXPECT_THAT(session.acquire("billing", {.timeout = 1s}), AllOf(Refuses(Reason::NoLeader), HasOutcome(Outcome::NoEffect)));
  service.recover();
  service.advance(1s);
  service.take("billing");
  EXPECT_TRUE(service.has("billing")) << "nothing of it is left";
}

// Covers: S-45
TEST(FakeClusterTest, AnOutageBringsSessionsIntoJeopardyAndExpiresNone) {
  FakeService service;
  Session session = service.open_session({.ttl = 2s});
  const absl::StatusOr<Grant> grant = session.acquire("billing");
  const Token token = grant->token();
  service.take("billing");
  service.outage();
  service.advance(5s);  // beyond the TTL, before the session is given up
  EXPECT_THAT(grant, Not(IsHeld()));
  EXPECT_EQ(session.phase(), SessionPhase::Jeopardy);
  EXPECT_FALSE(service.has("billing"));
  service.recover();
  service.advance(1s);
  EXPECT_EQ(session.phase(), SessionPhase::Valid);
  EXPECT_THAT(grant, IsHeld());
  EXPECT_EQ(grant->token(), token);
  EXPECT_FALSE(service.has("billing")) << "it is still in line";
}

TEST(FakeClusterTest, AnotherHolderLosesALockInAnOutageToo) {
  FakeService service;
  service.outage();
  service.take("billing");
  service.advance(1min);
  EXPECT_FALSE(service.has("billing"));
  service.recover();
  EXPECT_TRUE(service.has("billing"));
}

TEST(FakeClusterTest, AnOutageDuringAnElectionLastsUntilItIsEnded) {
  FakeService service;
  Session session = service.open_session({.ttl = 60s});
  service.change_leader();
  service.advance(100ms);
  service.outage();
  service.advance(1s);
  EXPECT_THAT(session.acquire("billing", {.timeout = 1s}), Refuses(Reason::NoLeader));
  service.recover();
  EXPECT_THAT(session.acquire("billing", {.timeout = 1s}), IsHeld());
}

// Covers: S-45
TEST(FakeClusterTest, AProcessThatRestartsInAnOutageFindsItsSessionAfterIt) {
  FakeService service;
  Session session = service.open_session({.ttl = 60s});
  const SessionId id = session.id();
  const std::string& secret = session.secret();
  service.outage();
  service.restart();
  EXPECT_THAT(service.resume_session(id, secret, {.timeout = 1s}), Not(Succeeds()));
  service.recover();
  EXPECT_THAT(service.resume_session(id, secret), Succeeds());
}

// ---- matchers

template <typename Value, typename Matcher>
std::string explanation(const Value& value, const Matcher& matcher) {
  ::testing::StringMatchResultListener listener;
  ::testing::ExplainMatchResult(matcher, value, &listener);
  return listener.str();
}

TEST(MatchersTest, TheyTellStatusesApartAndSayWhatTheySaw) {
  const absl::Status held = make_error(Reason::Held, "somebody else has it");
  EXPECT_THAT(held, AllOf(Refuses(Reason::Held), HasOutcome(Outcome::NoEffect), Not(Succeeds())));
  EXPECT_THAT(held, Not(Refuses(Reason::Delayed)));
  EXPECT_THAT(absl::OkStatus(), AllOf(Succeeds(), Not(Refuses(Reason::Held))));
  EXPECT_THAT(absl::InternalError("not one of coordkit's"), Not(Refuses(Reason::Held)));
  EXPECT_THAT(absl::StatusOr<int>(held), Refuses(Reason::Held));
  EXPECT_THAT(explanation(held, Succeeds()), ::testing::HasSubstr("somebody else has it"));
}

TEST(MatchersTest, AGrantIsHeldAsLongAsItIsValid) {
  FakeService service;
  absl::StatusOr<Grant> grant = service.open_session().acquire("billing");
  EXPECT_THAT(grant, IsHeld());
  EXPECT_THAT(*grant, IsHeld());
  EXPECT_THAT(grant->release(), Succeeds());
  EXPECT_THAT(grant, Not(IsHeld()));
  EXPECT_THAT(explanation(grant, IsHeld()), ::testing::HasSubstr("not valid any more"));
  const absl::StatusOr<Grant> none = make_error(Reason::Held, "somebody else has it");
  EXPECT_THAT(none, Not(IsHeld()));
  EXPECT_THAT(explanation(none, IsHeld()), ::testing::HasSubstr("somebody else"));
}

}  // namespace
}  // namespace coordkit::testkit
