// Acquire, release, cancel and timeout, as the log sees them (docs/semantics.md, Locks).
#include <gtest/gtest.h>

#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using Code = ResultCode;
using Stage = ApplyOutput::Stage;

// Covers: S-36
TEST(LockCommandsTest, FreeLockIsGrantedAtOnceWithTokenAndSince) {
  Driver d;
  const SessionId a = d.open();
  const Result granted = d.acquire(a, "n");
  EXPECT_EQ(granted.code, Code::Granted);
  EXPECT_EQ(granted.token, Token(kBase + 2));  // the session took the number before
  EXPECT_EQ(granted.since, d.index);
  EXPECT_EQ(granted.revision, Revision(1)) << "S-03: locks burn no revisions";
  EXPECT_EQ(d.holder("n"), granted.token);
}

// Covers: S-36
TEST(LockCommandsTest, TryOnAHeldLockAnswersHeldAndLeavesNoTrace) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  d.acquire(a, "n");
  const uint64_t before = d.machine.digest();
  EXPECT_EQ(d.acquire(b, "n").code, Code::Held);
  EXPECT_EQ(d.machine.digest(), before);
  EXPECT_TRUE(d.last.timer_ops.empty());
}

// Covers: S-48
TEST(LockCommandsTest, TryNeverOvertakesAWaiter) {
  Driver d;
  const SessionId a = d.open(), b = d.open(), c = d.open();
  const Token token = d.acquire(a, "n").token;
  d.acquire(b, "n", Wait::forever());
  EXPECT_EQ(d.submit(Acquire{c, "", "n", Wait::none(), {}, 0}, {{"n", token}}).code, Code::Held);
}

// Covers: S-36
TEST(LockCommandsTest, WaiterIsQueuedNowAndGrantedUnderItsOwnRequestLater) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token token = d.acquire(a, "n").token;
  EXPECT_EQ(d.acquire(b, "n", Wait::timed(2s)).code, Code::Queued);
  const Sequence waiting = d.last_sequence;
  const Index queued = d.index;
  EXPECT_EQ(d.last.answers.front().stage, Stage::Queued);
  EXPECT_EQ(d.last.timer_ops, (std::vector<TimerOp>{{TimerOp::Kind::Arm, wait_timer(queued), Generation(0), 2s, {}}}));

  EXPECT_EQ(d.release(a, "n", token).code, Code::Ok);
  const Result granted = d.last.of(waiting);
  EXPECT_EQ(granted.code, Code::Granted);
  EXPECT_EQ(granted.since, d.index);
  EXPECT_GT(granted.token, token);
  EXPECT_EQ(d.last.timer_ops, (std::vector<TimerOp>{{TimerOp::Kind::Disarm, wait_timer(queued), Generation(0), {}, {}}}));
}

// Covers: S-48
TEST(LockCommandsTest, WaitersAreServedInTheOrderOfTheirEntries) {
  Driver d;
  const SessionId a = d.open();
  Token token = d.acquire(a, "n").token;
  std::vector<SessionId> waiters;
  for (int i = 0; i < 5; ++i) {
    waiters.push_back(d.open());
    EXPECT_EQ(d.acquire(waiters.back(), "n", Wait::forever()).position, static_cast<uint64_t>(i));
  }
  EXPECT_EQ(d.queue("n"), waiters);
  SessionId holder = a;
  for (const SessionId next : waiters) {
    EXPECT_EQ(d.release(holder, "n", token).code, Code::Ok);
    EXPECT_EQ(d.last.answers.size(), 2u) << "one wake-up per release";
    EXPECT_GT(d.holder("n"), token) << "S-47";
    token = d.holder("n");
    holder = next;
  }
  EXPECT_EQ(d.release(holder, "n", token).code, Code::Ok);
  EXPECT_EQ(d.machine.lock_names(), 0u);
}

// Covers: S-38
TEST(LockCommandsTest, ReacquireByTheSameOwnerIsAlreadyHeldOrAlreadyWaiting) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Result held = d.acquire(a, "n");
  const Result again = d.acquire(a, "n", Wait::forever());
  EXPECT_EQ(again.code, Code::AlreadyHeld);
  EXPECT_EQ(again.token, held.token);
  EXPECT_EQ(again.since, held.since);
  d.acquire(b, "n", Wait::forever());
  const Sequence waiting = d.last_sequence;
  EXPECT_EQ(d.acquire(b, "n", Wait::forever()).code, Code::AlreadyWaiting);
  EXPECT_EQ(d.acquire(b, "n").code, Code::AlreadyWaiting);
  d.release(a, "n", held.token);
  EXPECT_EQ(d.last.of(waiting).code, Code::Granted) << "the first wait is unaffected";
}

// Covers: S-38
TEST(LockCommandsTest, OwnerTagsOfOneSessionExcludeEachOther) {
  Driver d;
  const SessionId a = d.open();
  const Token token = d.acquire(a, "n", Wait::none(), "t1").token;
  EXPECT_EQ(d.acquire(a, "n", Wait::none(), "t2").code, Code::Held);
  EXPECT_EQ(d.acquire(a, "n", Wait::forever(), "t2").code, Code::Queued);
  EXPECT_EQ(d.submit(Release{a, "t2", "n", token}).code, Code::NotOwner);
  EXPECT_EQ(d.submit(Release{a, "t1", "n", token}).code, Code::Ok);
  EXPECT_GT(d.holder("n"), token);
}

// Covers: S-38 REG_F67 FLT_A11
TEST(LockCommandsTest, ReleaseNeedsTheCurrentTokenOfTheOwner) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token token = d.acquire(a, "n").token;
  d.acquire(b, "n", Wait::forever());
  const uint64_t before = d.machine.digest();
  EXPECT_EQ(d.release(b, "n", token).code, Code::NotOwner) << "other session";
  EXPECT_EQ(d.release(a, "n", Token(token.value() + 1)).code, Code::NotOwner) << "wrong token";
  EXPECT_EQ(d.release(a, "n", Token(token.value() - 1)).code, Code::NotOwner) << "old token";
  EXPECT_EQ(d.release(a, "free", token).code, Code::NotOwner) << "free lock";
  EXPECT_EQ(d.machine.digest(), before);
  EXPECT_EQ(d.holder("n"), token) << "token fixed per hold";
}

// Covers: S-48
TEST(LockCommandsTest, TimeoutIsDecidedByTheEntryAndOnlyOnce) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token token = d.acquire(a, "n").token;
  d.acquire(b, "n", Wait::timed(1s));
  const Sequence waiting = d.last_sequence;
  const FiredTimer timer{wait_timer(d.index), Generation(0)};
  EXPECT_TRUE(d.fire({{timer.id, Generation(1)}}).answers.empty()) << "another generation";
  EXPECT_EQ(d.fire({timer, timer}).of(waiting).code, Code::WaitTimeout);
  EXPECT_EQ(d.last.answers.size(), 1u);
  EXPECT_EQ(d.last.timer_ops.size(), 1u);
  EXPECT_TRUE(d.fire({timer}).answers.empty()) << "stale";
  d.release(a, "n", token);
  EXPECT_EQ(d.last.answers.size(), 1u) << "no one is granted";
  EXPECT_EQ(d.machine.lock_names(), 0u);
}

// Covers: S-48
TEST(LockCommandsTest, TimerOfAGrantedWaitIsStale) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token token = d.acquire(a, "n").token;
  d.acquire(b, "n", Wait::timed(1s));
  const FiredTimer timer{wait_timer(d.index), Generation(0)};
  d.release(a, "n", token);
  const Token granted = d.holder("n");
  EXPECT_TRUE(d.fire({timer}).answers.empty());
  EXPECT_EQ(d.holder("n"), granted);
}

// Covers: S-48
TEST(LockCommandsTest, ForeverWaitHasNoTimerThatCouldEndIt) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  d.acquire(a, "n");
  d.acquire(b, "n", Wait::forever());
  EXPECT_TRUE(d.last.timer_ops.empty());
  EXPECT_TRUE(d.fire({{wait_timer(d.index), Generation(0)}}).answers.empty());
  EXPECT_EQ(d.queue("n").size(), 1u);
}

// Covers: REG_F08
TEST(LockCommandsTest, CancelBeforeTheGrantEndsTheWaitForGood) {
  Driver d;
  const SessionId a = d.open(), b = d.open(), c = d.open();
  const Token token = d.acquire(a, "n").token;
  d.acquire(b, "n", Wait::timed(9s), "tag");
  const Sequence waiting = d.last_sequence;
  d.acquire(c, "n", Wait::forever());
  const Sequence behind = d.last_sequence;
  EXPECT_EQ(d.submit(CancelAcquire{b, "tag", "n", {kOrigin, waiting}}).code, Code::Cancelled);
  EXPECT_EQ(d.last.of(waiting).code, Code::Cancelled);
  EXPECT_EQ(d.last.timer_ops.size(), 1u);
  d.release(a, "n", token);
  EXPECT_EQ(d.last.of(waiting).code, Code::Unsupported) << "no second answer";
  EXPECT_EQ(d.last.of(behind).code, Code::Granted);
}

// Covers: REG_F08
TEST(LockCommandsTest, CancelAfterTheGrantReportsTheToken) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token token = d.acquire(a, "n").token;
  d.acquire(b, "n", Wait::forever());
  const Sequence waiting = d.last_sequence;
  d.release(a, "n", token);
  const Result granted = d.last.of(waiting);
  const Result cancel = d.submit(CancelAcquire{b, "", "n", {kOrigin, waiting}});
  EXPECT_EQ(cancel.code, Code::Granted);
  EXPECT_EQ(cancel.token, granted.token);
  EXPECT_EQ(cancel.since, granted.since);
  EXPECT_EQ(d.holder("n"), granted.token) << "the cancel has no effect";
}

// Covers: REG_F08
TEST(LockCommandsTest, CancelOfAnotherRequestOfTheSameOwnerTouchesNothing) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  d.acquire(a, "n");
  const Sequence first = d.last_sequence;
  d.acquire(b, "n", Wait::forever());
  EXPECT_EQ(d.submit(CancelAcquire{b, "", "n", {kOrigin, first}}).code, Code::Cancelled) << "that one is not b's";
  EXPECT_EQ(d.queue("n").size(), 1u);
}

// Covers: REG_F51
TEST(LockCommandsTest, CancelBeforeTheAcquireArrivesCancelsItOnArrival) {
  Driver d;
  const SessionId a = d.open();
  const Sequence late(100), cancel(101);
  EXPECT_EQ(d.submit(Request{CancelAcquire{a, "", "n", {kOrigin, late}}, {}}, cancel).of(cancel).code, Code::Cancelled);
  EXPECT_EQ(d.machine.cancel_marks(), 1u);
  EXPECT_EQ(d.submit(Request{Acquire{a, "", "n", Wait::forever(), {}, 0}, {}}, late).of(late).code, Code::Cancelled);
  EXPECT_EQ(d.machine.cancel_marks(), 0u);
  EXPECT_EQ(d.machine.lock_names(), 0u);
}

// Covers: REG_F51
TEST(LockCommandsTest, CancelMarksAreBoundedAndEndWithTheirOrigin) {
  Driver d;
  const SessionId a = d.open();
  for (uint64_t i = 0; i < 3 * CancelMarks::kSequenceSpan; ++i) {
    const Sequence cancel(1000 + 2 * i);
    d.submit(Request{CancelAcquire{a, "", "n", {kOrigin, cancel.previous()}}, {}}, cancel);
    ASSERT_LE(d.machine.cancel_marks(), CancelMarks::kSequenceSpan);
  }
  EXPECT_GT(d.machine.cancel_marks(), 1000u);
  Origin reborn = kOrigin;
  reborn.boot = reborn.boot.next();
  d.apply(encode(Request{Put{"k", "v"}, {}}), {reborn, Sequence(1)});
  EXPECT_EQ(d.machine.cancel_marks(), 0u);
  d.machine.verify();
}

TEST(LockCommandsTest, CancelOfAFutureOrForeignRequestLeavesNoMark) {
  Driver d;
  const SessionId a = d.open();
  Origin other = kOrigin;
  other.replica = ReplicaId(9);
  EXPECT_EQ(d.submit(CancelAcquire{a, "", "n", {other, Sequence(1)}}).code, Code::NotFound);
  EXPECT_EQ(d.submit(CancelAcquire{a, "", "n", {kOrigin, Sequence(999)}}).code, Code::NotFound);
  EXPECT_EQ(d.machine.cancel_marks(), 0u);
}

// Covers: S-43
TEST(LockCommandsTest, UnansweredReleasesArePerformedBeforeTheNextCommandOfTheSession) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token first = d.acquire(a, "n").token;
  const Token other = d.acquire(a, "m").token;
  const Result again = d.submit(Acquire{a, "", "n", Wait::none(), {}, 0}, {{"n", first}, {"m", other}, {"x", Token(1)}});
  EXPECT_EQ(again.code, Code::Granted) << "the release came first";
  EXPECT_GT(again.token, first);
  EXPECT_EQ(d.holder("m"), Token());
  EXPECT_EQ(d.release(a, "n", first).code, Code::NotOwner) << "the overtaken release finds nothing and harms nothing";
  EXPECT_EQ(d.holder("n"), again.token);
  EXPECT_EQ(d.submit(Acquire{b, "", "q", Wait::none(), {}, 0}, {{"n", again.token}}).code, Code::Granted);
  EXPECT_EQ(d.holder("n"), again.token) << "never another session's hold";
}

// Covers: S-43
TEST(LockCommandsTest, PriorReleaseGrantsTheNextWaiterBeforeTheSessionQueuesAgain) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token token = d.acquire(a, "n").token;
  d.acquire(b, "n", Wait::forever());
  const Sequence waiting = d.last_sequence;
  EXPECT_EQ(d.submit(Acquire{a, "", "n", Wait::forever(), {}, 0}, {{"n", token}}).code, Code::Queued);
  EXPECT_EQ(d.last.of(waiting).code, Code::Granted) << "nothing is overtaken";
}

// Covers: S-47
TEST(LockCommandsTest, TokensGrowOverAllLocksAndNeverReturnAfterALockIsGone) {
  Driver d;
  const SessionId a = d.open();
  Token highest;
  for (int i = 0; i < 50; ++i) {
    const std::string name = std::to_string(i % 7);
    const Token token = d.acquire(a, name).token;
    EXPECT_GT(token, highest);
    highest = token;
    d.release(a, name, token);
  }
  EXPECT_EQ(d.machine.lock_names(), 0u);
}

// Covers: S-47
TEST(LockCommandsTest, GrantsOfOneEntryTakeTokensInTheOrderTheirWaitsBegan) {
  Driver d;
  const SessionId dying = d.open();
  for (const char* name : {"a", "b", "c"}) d.acquire(dying, name);
  std::vector<Sequence> waits;
  for (const char* name : {"c", "a", "b"}) {
    d.acquire(d.open(), name, Wait::forever());
    waits.push_back(d.last_sequence);
  }
  d.expire({dying});
  EXPECT_LT(d.last.of(waits[0]).token, d.last.of(waits[1]).token);
  EXPECT_LT(d.last.of(waits[1]).token, d.last.of(waits[2]).token);
}

// Covers: S-47
TEST(LockCommandsTest, CounterAtItsEndStopsTheReplicaInsteadOfWrapping) {
  Driver d(lock::TokenCounter::kMax - 2);
  const SessionId a = d.open();
  EXPECT_EQ(d.acquire(a, "n").token.value(), lock::TokenCounter::kMax);
  EXPECT_THROW(d.acquire(a, "m"), CheckFailure);
}

TEST(LockCommandsTest, TimersOfWaitsAndSessionsNeverMeetEvenWithATinyTokenBase) {
  Driver d(/*token_base=*/0);
  std::vector<SessionId> sessions;
  for (int i = 0; i < 8; ++i) sessions.push_back(d.open());  // ids 1 to 8, like the indexes
  d.acquire(sessions[0], "n");
  for (int i = 1; i < 8; ++i) d.acquire(sessions[i], "n", Wait::timed(1s));
  std::vector<TimerOp> timers = d.timers();
  ASSERT_EQ(timers.size(), 8u + 7u);
  for (size_t i = 1; i < timers.size(); ++i) EXPECT_LT(timers[i - 1].id, timers[i].id);
}

TEST(LockCommandsTest, NamesAreBytesAndUpTo1024OfThem) {
  Driver d;
  const SessionId a = d.open();
  const std::string zero(1, '\0'), longest(kNameBytesMax, '\xff');
  for (const std::string& name : {zero, zero + zero, longest}) EXPECT_EQ(d.acquire(a, name).code, Code::Granted);
  EXPECT_EQ(d.acquire(a, longest + "x").code, Code::LimitExceeded);
  EXPECT_EQ(d.acquire(a, "").code, Code::InvalidArgument);
}

// Covers: S-56
TEST(LockCommandsTest, ReadsShowHoldersQueueSessionsAndLocks) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Result held = d.submit(Acquire{a, "tag", "n", Wait::none(), {"host:1"}, 0});
  const Sequence held_by = d.last_sequence;
  d.acquire(b, "n", Wait::forever());
  const HolderInfo expected{a, "tag", held.token, held.since, {kOrigin, held_by}, {"host:1"}};
  EXPECT_EQ(d.machine.reads()->holders_of("n"), (Holders{{{{expected, ""}}}, 1}));
  EXPECT_EQ(d.machine.reads()->queue_of("n", 0), (LockQueue{{{0, b, "", d.index, {kOrigin, d.last_sequence}}}, false}));
  EXPECT_EQ(d.machine.reads()->locks_of(a, {}), (HeldLocks{{{{expected, "n"}}}, false}));
  EXPECT_TRUE(d.machine.reads()->still_held("n", held.token));
  EXPECT_FALSE(d.machine.reads()->still_held("n", Token(1)));
  EXPECT_EQ(d.machine.reads()->session(b)->waiters, 1u);
  EXPECT_EQ(d.machine.reads()->session(SessionId(1)), std::nullopt);
  EXPECT_EQ(d.machine.reads()->sessions_after({}, 1).sessions.front().session, a);
  EXPECT_TRUE(d.machine.reads()->sessions_after({}, 1).more);
  EXPECT_EQ(d.machine.reads()->sessions_after(a, 0).sessions.size(), 1u);
  EXPECT_EQ(d.machine.query("n").status().code(), absl::StatusCode::kInvalidArgument) << "it has no bytes";
}

TEST(LockCommandsTest, MalformedAndUnknownRequestsAreAnsweredWithoutEffect) {
  Driver d;
  const uint64_t before = d.machine.digest();
  EXPECT_EQ(d.apply("\xff\xff", {kOrigin, Sequence(5)}).of(Sequence(5)).code, Code::InvalidArgument);
  EXPECT_EQ(d.apply("", {kOrigin, Sequence(6)}).of(Sequence(6)).code, Code::Unsupported);
  EXPECT_EQ(d.machine.digest(), before);
}

}  // namespace
}  // namespace coordkit::machine
