// A session that is opened again whenever it was lost: what is prepared, how long the pauses are, and what ends it.
#include "coordkit/sessions/kept_session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <vector>

#include "coordkit/coordkit.h"
#include "coordkit/testing/fake_session.h"
#include "coordkit/testing/matchers.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

// Loses it, and lets pass what another one takes.
Session next_after(FakeService& service, const KeptSession& kept, const Session& lost) {
  service.lose(lost);
  service.advance(1s);
  return kept.wait(1min).value_or(Session());
}

// Covers: S-45
TEST(KeptSessionTest, ALostSessionIsOpenedAgainAndRegisteredAgain) {
  FakeService service;
  Registry registry(service.replica(), "services/");
  std::vector<absl::Status> failures;
  KeptSession kept(service.replica(), {.ttl = 2s,
                                       .metadata = "web",
                                       .prepare = [&](Session& fresh) { return registry.join(fresh, "10.0.0.1:80").status(); },
                                       .on_failure = [&](const absl::Status& why) { failures.push_back(why); }});
  const absl::StatusOr<Session> first = kept.wait();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->metadata(), "web");
  EXPECT_EQ(registry.members()->entries.size(), 1u);
  EXPECT_EQ(kept.current().id(), first->id());

  const Session second = next_after(service, kept, *first);
  EXPECT_TRUE(second.valid());
  EXPECT_NE(second.id(), first->id());
  EXPECT_TRUE(first->lost().stop_requested());
  EXPECT_FALSE(second.lost().stop_requested());
  EXPECT_EQ(registry.members()->entries.size(), 1u) << "the entry of the first session went with it";
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(reason_of(failures[0]), Reason::Lost);
}

TEST(KeptSessionTest, NothingIsThereUntilItIsPrepared) {
  FakeService service;
  std::optional<KeptSession> kept;
  std::vector<bool> there;
  kept.emplace(service.replica(), KeptSessionOptions{.prepare = [&](Session& fresh) -> absl::Status {
                 EXPECT_TRUE(fresh.valid());
                 if (!kept) return absl::UnavailableError("later");  // callbacks run where time passes: in the constructor too
                 there.push_back(kept->current().valid());
                 return absl::OkStatus();
               }});
  EXPECT_TRUE(kept->wait().ok());
  EXPECT_EQ(there, std::vector{false});
}

// Without pauses a service that cannot register asks as fast as it can.
TEST(KeptSessionTest, PausesDoubleFromTheShortestToTheLongest) {
  FakeService service;
  std::vector<Duration> tries;
  KeptSession kept(service.replica(), {.prepare =
                                           [&](Session&) {
                                             tries.push_back(service.now());
                                             return absl::UnavailableError("the registry is full");
                                           },
                                       .backoff_min = 1s,
                                       .backoff_max = 8s});
  const absl::Status none = kept.wait(1h).status();
  EXPECT_EQ(reason_of(none), Reason::CallTimeout);
  EXPECT_EQ(outcome_of(none), Outcome::NoEffect);
  EXPECT_NE(none.ToString().find("the registry is full"), std::string::npos) << none;
  EXPECT_EQ(service.now(), 1h) << "not a moment longer";
  ASSERT_GT(tries.size(), 10u);
  Duration pause = 1s;
  for (size_t i = 1; i < tries.size(); ++i, pause = std::min<Duration>(2 * pause, 8s)) {
    EXPECT_GE(tries[i] - tries[i - 1], pause / 2) << i;
    EXPECT_LE(tries[i] - tries[i - 1], pause + 100ms) << i;
  }
  EXPECT_LE(service.replica().sessions()->sessions.size(), 1u) << "what could not be prepared is closed";
}

TEST(KeptSessionTest, ASessionThatLivedForLongBeginsAgainWithTheShortestPause) {
  FakeService service;
  std::vector<Duration> opened;
  KeptSession kept(service.replica(), {.prepare =
                                           [&](Session&) {
                                             opened.push_back(service.now());
                                             return absl::OkStatus();
                                           },
                                       .backoff_min = 1s,
                                       .backoff_max = 1min});
  std::vector<Duration> pauses;
  for (const Duration lives : {1s, 1s, 1s, 1s, 2 * 60s}) {
    Session now = kept.wait(2min).value();
    service.advance(lives);
    const Duration at = service.now();
    service.lose(now);
    now = Session();
    EXPECT_TRUE(kept.wait(2min).ok());
    pauses.push_back(opened.back() - at);
  }
  EXPECT_LE(pauses[0], 1s + 100ms);
  EXPECT_GE(pauses[3], 4s) << "they live for a second: the pauses grow";
  EXPECT_LE(pauses[4], 1s + 100ms);
}

TEST(KeptSessionTest, ACutOffProcessGetsAnotherSessionWhenItIsConnectedAgain) {
  FakeService service;
  KeptSession kept(service.replica(), {.ttl = 1s, .timeout = 2s, .give_up = 3s, .backoff_max = 1s});
  const Session first = kept.wait().value();
  service.cut_off();
  service.advance(10s);
  EXPECT_EQ(first.phase(), SessionPhase::Lost);
  EXPECT_FALSE(kept.current().valid());
  EXPECT_EQ(kept.current().acquire("x").status().code(), absl::StatusCode::kFailedPrecondition) << "no session";
  service.mend();
  const absl::StatusOr<Session> second = kept.wait(10s);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(second->valid());
}

TEST(KeptSessionTest, WhatCanNeverBeEndsIt) {
  FakeService service;
  const KeptSession endless(service.replica(), {.ttl = Duration::max()});
  EXPECT_EQ(reason_of(endless.wait(1h).status()), Reason::TtlTooLarge);
  EXPECT_LT(service.now(), 1s);
  const KeptSession hasty(service.replica(), {.backoff_min = Duration::zero()});
  EXPECT_EQ(reason_of(hasty.wait().status()), Reason::InvalidArgument);
  const KeptSession backwards(service.replica(), {.backoff_min = 2s, .backoff_max = 1s});
  EXPECT_EQ(reason_of(backwards.wait().status()), Reason::InvalidArgument);
  const KeptSession patient(service.replica(), {.backoff_max = Duration::max()});
  EXPECT_EQ(reason_of(patient.wait().status()), Reason::InvalidArgument);
  const KeptSession kept(service.replica());
  EXPECT_TRUE(kept.wait().ok());
  EXPECT_TRUE(service.replica().close().ok());
  const absl::Status closed = kept.wait(1h).status();
  EXPECT_TRUE(reason_of(closed) == Reason::Closed || reason_of(closed) == Reason::Stopped) << closed;
}

// Covers: S-66
TEST(KeptSessionTest, EndedItOpensNothingAndItsSessionGoesWithItsLastCopy) {
  FakeService service;
  int prepared = 0;
  KeptSession kept(service.replica(), {.prepare = [&](Session&) {
                     ++prepared;
                     return absl::OkStatus();
                   }});
  std::optional<Session> mine = kept.wait().value();
  kept.end();
  kept.end();
  EXPECT_EQ(reason_of(kept.wait().status()), Reason::Closed);
  EXPECT_TRUE(mine->valid()) << "somebody has it still";
  const SessionId id = mine->id();
  mine.reset();
  service.advance(1s);
  EXPECT_EQ(reason_of(service.replica().session_info(id).status()), Reason::SessionNotFound);
  service.advance(1min);
  EXPECT_EQ(prepared, 1);
}

// Covers: S-66
TEST(KeptSessionTest, ItMayEndInsideOfItsCallback) {
  FakeService service;
  std::optional<KeptSession> kept;
  kept.emplace(service.replica(), KeptSessionOptions{.prepare = [&](Session&) -> absl::Status {
                 if (!kept) return absl::UnavailableError("later");
                 kept->end();
                 return absl::OkStatus();
               }});
  EXPECT_EQ(reason_of(kept->wait(1min).status()), Reason::Closed);
  service.advance(1s);
  EXPECT_LE(service.replica().sessions()->sessions.size(), 1u) << "the session that came of it is closed";
}

TEST(KeptSessionTest, APreparationThatThrowsIsAFailedAttempt) {
  FakeService service;
  int tries = 0;
  const KeptSession kept(service.replica(), {.prepare = [&](Session&) -> absl::Status {
                           if (++tries == 1) return absl::UnavailableError("later");
                           if (tries == 2) throw std::runtime_error("not now");
                           return absl::OkStatus();
                         }});
  EXPECT_THROW(kept.wait().IgnoreError(), std::runtime_error) << "here callbacks run on the caller's thread";
  EXPECT_TRUE(kept.wait().ok());
  EXPECT_EQ(tries, 3);
}

}  // namespace
}  // namespace coordkit::testkit
