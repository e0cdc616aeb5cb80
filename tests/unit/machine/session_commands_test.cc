// Sessions as the log sees them: open, close, expiry, and what goes with them (docs/semantics.md, Sessions).
#include <gtest/gtest.h>

#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using Code = ResultCode;

// Covers: S-29
TEST(SessionCommandsTest, TtlBelowTheFloorIsRaisedAndReported) {
  Driver d;
  struct Case {
    Duration asked, granted;
  };
  for (const auto& [asked, granted] :
       {Case{1ns, 50ms}, {50ms - 1ns, 50ms}, {50ms, 50ms}, {50ms + 1ns, 50ms + 1ns}, {kTtlMax, kTtlMax}}) {
    const Result opened = d.submit(OpenSession{asked, "", ReplicaId(1), BootCounter(2), 3});
    EXPECT_EQ(opened.code, Code::Ok);
    EXPECT_EQ(opened.ttl, granted);
    const TimerGroup group{ReplicaId(1), BootCounter(2), 3, granted};
    EXPECT_EQ(d.last.timer_ops,
              (std::vector<TimerOp>{{TimerOp::Kind::Arm, session_timer(opened.session), Generation(0), granted, group}}));
  }
}

// Covers: S-29 REG_F22
TEST(SessionCommandsTest, ImpossibleTtlsAreRefusedAndNothingIsOpened) {
  Driver d;
  for (const Duration ttl : {Duration(0), Duration(-1), Duration::min()}) {
    EXPECT_EQ(d.submit(OpenSession{ttl, "", ReplicaId(1), BootCounter(1), 1}).code, Code::InvalidArgument);
  }
  for (const Duration ttl : {kTtlMax + 1ns, Duration::max()}) {
    EXPECT_EQ(d.submit(OpenSession{ttl, "", ReplicaId(1), BootCounter(1), 1}).code, Code::TtlTooLarge);
  }
  EXPECT_EQ(d.machine.sessions(), 0u);
  EXPECT_EQ(d.machine.last_token(), kBase);
}

// Covers: S-45
TEST(SessionCommandsTest, SessionIdsComeFromTheTokenCounterAndAreNeverReused) {
  Driver d;
  const SessionId a = d.open();
  EXPECT_EQ(a.value(), kBase + 1);
  const Token token = d.acquire(a, "n").token;
  EXPECT_EQ(d.submit(CloseSession{a}).code, Code::Ok);
  EXPECT_EQ(d.open().value(), token.value() + 1);
}

// Covers: S-42
TEST(SessionCommandsTest, CommandsOfAnEndedSessionAnswerSessionNotFound) {
  Driver d;
  const SessionId a = d.open();
  const Token token = d.acquire(a, "n").token;
  d.expire({a});
  EXPECT_EQ(d.acquire(a, "n").code, Code::SessionNotFound);
  EXPECT_EQ(d.release(a, "n", token).code, Code::SessionNotFound);
  EXPECT_EQ(d.submit(CloseSession{a}).code, Code::SessionNotFound);
  EXPECT_EQ(d.submit(CancelAcquire{a, "", "n", {kOrigin, Sequence(1)}}).code, Code::SessionNotFound);
  EXPECT_EQ(d.machine.lock_names(), 0u);
}

// Covers: S-39
TEST(SessionCommandsTest, CloseFreesHoldsEndsWaitsAndGrantsInOneApply) {
  Driver d;
  const SessionId a = d.open(), b = d.open(), c = d.open();
  d.acquire(a, "held");
  const Token other = d.acquire(b, "waited").token;
  d.acquire(a, "waited", Wait::timed(1s));
  const Sequence lost = d.last_sequence;
  const Index lost_entry = d.index;
  d.acquire(c, "held", Wait::forever());
  const Sequence granted = d.last_sequence;
  EXPECT_EQ(d.submit(CloseSession{a}).code, Code::Ok);
  EXPECT_EQ(d.last.of(lost).code, Code::Lost);
  EXPECT_EQ(d.last.of(granted).code, Code::Granted);
  EXPECT_EQ(d.last.events, (std::vector<Event>{SessionEnded{a, SessionEnded::Reason::Closed, kOrigin.replica}}));
  EXPECT_EQ(d.last.timer_ops, (std::vector<TimerOp>{{TimerOp::Kind::Disarm, session_timer(a), Generation(0), {}, {}},
                                                    {TimerOp::Kind::Disarm, wait_timer(lost_entry), Generation(0), {}, {}}}));
  EXPECT_EQ(d.holder("waited"), other);
  EXPECT_TRUE(d.queue("waited").empty());
  d.machine.verify();
}

// Covers: REG_F01 REG_F07
TEST(SessionCommandsTest, ADeadWaiterIsSkippedAndTheNextLiveOneIsGrantedInTheSameApply) {
  Driver d;
  const SessionId a = d.open(), b = d.open(), c = d.open();
  const Token token = d.acquire(a, "n").token;
  d.acquire(b, "n", Wait::forever());
  const Sequence dead = d.last_sequence;
  d.acquire(c, "n", Wait::forever());
  const Sequence live = d.last_sequence;
  EXPECT_EQ(d.expire({b}).of(dead).code, Code::Lost);
  EXPECT_EQ(d.last.events, (std::vector<Event>{SessionEnded{b, SessionEnded::Reason::Expired, kOrigin.replica}}));
  d.release(a, "n", token);
  EXPECT_EQ(d.last.of(live).code, Code::Granted);
  EXPECT_EQ(d.last.answers.size(), 2u);
}

// Covers: S-39
TEST(SessionCommandsTest, NothingIsGrantedToASessionThatEndsInTheSameEntry) {
  for (const bool holder_first : {true, false}) {
    Driver d;
    const SessionId a = d.open(), b = d.open(), c = d.open();
    d.acquire(a, "n");
    d.acquire(b, "n", Wait::forever());
    const Sequence dead = d.last_sequence;
    d.acquire(c, "n", Wait::forever());
    const Sequence live = d.last_sequence;
    const Produced out = holder_first ? d.expire({a, b}) : d.expire({b, a});
    EXPECT_EQ(out.of(dead).code, Code::Lost);
    EXPECT_EQ(out.of(live).code, Code::Granted);
    EXPECT_EQ(out.answers.size(), 2u) << "one grant";
    EXPECT_EQ(out.events.size(), 2u);
  }
}

// Covers: S-39
TEST(SessionCommandsTest, AWaitThatTimesOutWithItsHoldersDeathIsNotGranted) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  d.acquire(a, "n");
  d.acquire(b, "n", Wait::timed(1s));
  const Sequence waiting = d.last_sequence;
  d.fire({{session_timer(a), Generation(0)}, {wait_timer(d.index), Generation(0)}});
  EXPECT_EQ(d.last.of(waiting).code, Code::WaitTimeout);
  EXPECT_EQ(d.machine.lock_names(), 0u);
}

// Covers: LT-4
TEST(SessionCommandsTest, AnotherGenerationOrARepeatExpiresNothing) {
  Driver d;
  const SessionId a = d.open();
  EXPECT_TRUE(d.fire({{session_timer(a), Generation(1)}}).events.empty());
  EXPECT_EQ(d.machine.sessions(), 1u);
  EXPECT_EQ(d.expire({a, a}).events.size(), 1u);
  EXPECT_TRUE(d.expire({a}).events.empty());
}

// Covers: REG_F04
TEST(SessionCommandsTest, ADeadCandidateLearnsItInTheEntryThatEndsItsSessionAndNeverLeads) {
  Driver d;
  const SessionId leader = d.open(), candidate = d.open();
  const Token token = d.acquire(leader, "election").token;
  d.acquire(candidate, "election", Wait::forever());
  const Sequence campaign = d.last_sequence;
  EXPECT_EQ(d.expire({candidate}).of(campaign).code, Code::Lost);
  d.release(leader, "election", token);
  EXPECT_EQ(d.last.of(campaign).code, Code::Unsupported);
  EXPECT_EQ(d.holder("election"), Token());
}

// Covers: REG_F51
TEST(SessionCommandsTest, AnAcquireThatArrivesAfterItsSessionsCloseLeavesNothing) {
  Driver d;
  const SessionId a = d.open();
  d.submit(CloseSession{a});
  EXPECT_EQ(d.acquire(a, "n", Wait::forever()).code, Code::SessionNotFound);
  EXPECT_EQ(d.machine.lock_names(), 0u);
}

// Covers: REG_F56
TEST(SessionCommandsTest, ARestartedProcessSeesItsOldHoldAsSomebodyElses) {
  Driver d;
  const SessionId before = d.open();
  d.acquire(before, "n");
  const SessionId after = d.open();
  EXPECT_EQ(d.acquire(after, "n").code, Code::Held);
  d.expire({before});
  EXPECT_EQ(d.acquire(after, "n").code, Code::Granted);
}

// Covers: REG_F65
TEST(SessionCommandsTest, DeadWaitersNeverDelayLiveOnesPastTheirSessionsEnd) {
  Driver d;
  const SessionId a = d.open(), live = d.open();
  const Token token = d.acquire(a, "n").token;
  std::vector<SessionId> dying;
  for (int i = 0; i < 100; ++i) {
    dying.push_back(d.open());
    d.acquire(dying.back(), "n", Wait::forever());
  }
  d.acquire(live, "n", Wait::forever());
  const Sequence waiting = d.last_sequence;
  EXPECT_EQ(d.expire(dying).answers.size(), 100u);
  EXPECT_EQ(d.queue("n"), std::vector<SessionId>{live});
  d.release(a, "n", token);
  EXPECT_EQ(d.last.of(waiting).code, Code::Granted);
}

// Covers: S-03
TEST(SessionCommandsTest, SessionsAndLocksBurnNoRevisionAndPutsDo) {
  Driver d;
  const SessionId a = d.open();
  const Token token = d.acquire(a, "n").token;
  d.release(a, "n", token);
  EXPECT_EQ(d.submit(CloseSession{a}).revision, Revision(1));
  EXPECT_EQ(d.submit(Put{"k", "v"}).revision, Revision(2)) << "S-01";
  EXPECT_EQ(d.submit(Put{"k", "v"}).revision, Revision(3)) << "an identical value counts";
  EXPECT_EQ(d.submit(Delete{"none"}).revision, Revision(3));
  const Result erased = d.submit(Delete{"k"});
  EXPECT_EQ(erased.deleted, 1u);
  EXPECT_EQ(erased.revision, Revision(4));
  EXPECT_EQ(d.submit(Put{"", "v"}).code, Code::EmptyKey);
}

TEST(SessionCommandsTest, GetShowsAKeyAndTheStoresRevision) {
  Driver d;
  for (const char* key : {"b", "a", "c"}) d.submit(Put{key, "1"});
  d.submit(Put{"a", "2"});
  const KeyValue a{"a", "2", Revision(3), Revision(5), 2};
  EXPECT_EQ(d.machine.reads()->entry("a"), (Entry{a, Revision(5)}));
  EXPECT_EQ(d.machine.reads()->entry("x"), (Entry{std::nullopt, Revision(5)}));
}

}  // namespace
}  // namespace coordkit::machine
