// Sessions that change hands, and sessions that another client ends (docs/semantics.md S-45, S-57).
#include <gtest/gtest.h>

#include "coordkit/locks/fence.h"
#include "machine/guard.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using Code = ResultCode;

constexpr const char* kSecret = "correct horse battery staple";

// The same node after a restart, another node, and the first node with another disk.
const Origin kRestarted{kOrigin.replica, kOrigin.store, BootCounter(2)};
const Origin kElsewhere{ReplicaId(2), StoreId(78), BootCounter(1)};
const Origin kNewDisk{kOrigin.replica, StoreId(99), BootCounter(2)};

TimerGroup group_of(const Origin& origin, Duration ttl = 5s) {
  return {origin.replica, origin.boot, origin.store.value(), ttl};
}

struct SessionResumeTest : ::testing::Test {
  Driver d;
  uint64_t sequences = 1000;

  Result from(const Origin& origin, Request::Body body) {
    const RequestId id{origin, Sequence(++sequences)};
    return d.apply(encode(Request{std::move(body), {}}), id).of(id.sequence);
  }
  SessionId open() {
    const Origin& o = kOrigin;
    return d.submit(OpenSession{5s, "meta", o.replica, o.boot, o.store.value(), lease::hash_of_secret(kSecret)}).session;
  }
  Result resume(SessionId id, const Origin& origin, bool previous_is_gone = false, std::string secret = kSecret) {
    const auto known = d.machine.reads()->session(id);
    return from(origin, ResumeSession{id, std::move(secret), previous_is_gone, known ? known->generation : Generation()});
  }
  std::vector<OwnedObject> owned_by(SessionId id) const { return d.machine.reads()->objects_of(id, {}).rows; }
  std::vector<HeldLock> locks_of(SessionId id) const { return d.machine.reads()->locks_of(id, {}).locks; }
  bool guarded(const std::string& name, Token token) { return d.machine.holds(encode(Guard(LockHeld{name, token}))); }
  SessionInfo info(SessionId id) const { return d.machine.reads()->session(id).value(); }
};

// Covers: S-45
TEST_F(SessionResumeTest, TheSecretDecidesAndOnlyItsHashIsState) {
  const SessionId a = open();
  EXPECT_EQ(resume(a, kRestarted, false, "guessed").code, Code::PermissionDenied);
  EXPECT_EQ(d.last.timer_ops.size(), 0u);
  EXPECT_EQ(resume(SessionId(5), kRestarted).code, Code::SessionNotFound);
  EXPECT_EQ(resume(a, kRestarted).code, Code::Ok);
  const SessionId without = d.open();
  EXPECT_EQ(resume(without, kRestarted, false, std::string(1, '\0')).code, Code::PermissionDenied)
      << "a session opened without a secret cannot be resumed";

  CheckpointBatch batch;
  d.machine.checkpoint(batch);
  for (const auto& row : batch.rows) EXPECT_EQ(row.value->find(kSecret), std::string::npos);
  d.expire({without});
  EXPECT_EQ(resume(without, kRestarted).code, Code::SessionNotFound);
}

// Covers: S-45 LT-4
TEST_F(SessionResumeTest, AResumeBindsAnewRaisesTheGenerationAndKeepsHolds) {
  const SessionId a = open();
  const Token token = d.acquire(a, "n").token;
  const Result resumed = resume(a, kElsewhere);
  EXPECT_EQ(resumed.code, Code::Ok);
  EXPECT_EQ(resumed.session, a);
  EXPECT_EQ(resumed.ttl, 5s);
  EXPECT_FALSE(resumed.previous_gone);
  EXPECT_EQ(d.last.timer_ops,
            (std::vector<TimerOp>{{TimerOp::Kind::Arm, session_timer(a), Generation(1), 5s, group_of(kElsewhere)}}));
  EXPECT_EQ(
      d.last.events,
      (std::vector<Event>{SessionResumed{a, kElsewhere.replica, kElsewhere.boot, kElsewhere.store.value(), kOrigin.replica}}));
  EXPECT_GT(d.holder("n"), token) << "the hold goes on under a token of its own";
  EXPECT_EQ(info(a).metadata, "meta");

  // An expiry in flight for the previous binding ends nothing.
  d.fire({{session_timer(a), Generation(0)}});
  EXPECT_EQ(d.machine.sessions(), 1u);
  d.fire({{session_timer(a), Generation(1)}});
  EXPECT_EQ(d.machine.sessions(), 0u);
  EXPECT_EQ(d.holder("n"), Token());
}

// The previous process asked valid() and was paused; the new one waited, wrote under its token, and the previous one wakes. So
// every kind of hold, at rest or not, has another token from the resume on, and nothing accepts the previous ones any more.
// Covers: S-45 S-60
TEST_F(SessionResumeTest, TheTokensOfThePreviousProcessAreWorthNothing) {
  const SessionId a = open(), other = d.open();
  d.acquire(a, "plain");
  d.acquire(a, "tagged", Wait::none(), "tag");
  d.submit(AcquireAll{.session = a, .locks = {{"x"}, {"y", LockMode::Shared}}, .wait = Wait::none()});
  for (int i = 0; i < 2; ++i) d.submit(Acquire{.session = a, .name = "counted", .wait = Wait::none(), .flags = kReentrant});
  d.submit(Acquire{.session = a, .name = "shared", .wait = Wait::none(), .mode = LockMode::Shared});
  d.submit(Acquire{.session = other, .name = "shared", .wait = Wait::none(), .mode = LockMode::Shared});
  const std::vector<HeldLock> previous = locks_of(a);
  ASSERT_EQ(previous.size(), 6u);
  for (const HeldLock& lock : previous) EXPECT_TRUE(guarded(lock.name, lock.token)) << lock.name;
  FenceGate gate;
  EXPECT_TRUE(gate.admit(previous[0].token).ok());

  const uint64_t newest = d.machine.last_token();
  resume(a, kElsewhere);
  const Index resumed = d.index;
  const std::vector<HeldLock> now = locks_of(a);
  ASSERT_EQ(now.size(), previous.size());
  for (size_t i = 0; i < now.size(); ++i) {
    EXPECT_EQ(now[i].name, previous[i].name) << "in the order of the previous grants";
    EXPECT_EQ(now[i].owner_tag, previous[i].owner_tag);
    EXPECT_EQ(now[i].count, previous[i].count);
    EXPECT_EQ(now[i].since, resumed);
    EXPECT_GT(now[i].token.value(), newest) << now[i].name;
    EXPECT_FALSE(guarded(previous[i].name, previous[i].token)) << "S-60: " << previous[i].name;
    EXPECT_TRUE(guarded(now[i].name, now[i].token)) << now[i].name;
    EXPECT_EQ(d.submit(ForceRelease{previous[i].name, previous[i].token}).code, Code::NotOwner);
  }
  EXPECT_EQ(now[2].token, now[3].token) << "several locks at once have one token";
  EXPECT_TRUE(gate.admit(now[0].token).ok());
  EXPECT_FALSE(gate.admit(previous[0].token).ok());
  const auto sharing = d.machine.reads()->holders_of("shared").holders;
  ASSERT_EQ(sharing.size(), 2u);
  EXPECT_EQ(sharing[1].session, a) << "it is the newest of those who share";
  d.machine.verify();
}

// Covers: S-45 REG_F80 FLT_P24
TEST_F(SessionResumeTest, PermitsPlacesAndClaimsHaveNewTokensAndMembersKeepTheirNumbers) {
  const SessionId a = open();
  d.submit(AcquirePermits{a, "s", Wait::none(), 2, 3});
  d.submit(EnterBarrier{a, "d", Wait::none(), 1, AtPartyEnd::Breaks});
  d.submit(Enqueue{"q", 0, "item"});
  d.submit(ClaimItem{.session = a, .name = "q", .wait = Wait::none(), .term = 3s});
  const Index claimed = d.index;
  d.submit(JoinGroup{a, "tag", "g", "v"});
  const std::vector<OwnedObject> previous = owned_by(a);
  const uint64_t newest = d.machine.last_token();
  resume(a, kElsewhere);
  const std::vector<TimerOp> timers = d.last.timer_ops;
  const std::vector<OwnedObject> now = owned_by(a);
  ASSERT_EQ(now.size(), 4u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(now[i].token.value(), newest + 1 + i);
    EXPECT_EQ(now[i].since, d.index);
    EXPECT_EQ(now[i].count, previous[i].count) << "a resume is no delivery";
    EXPECT_EQ(now[i].value, previous[i].value);
  }
  EXPECT_EQ(now[3], previous[3]);
  const TimerOp term{TimerOp::Kind::Arm, wait_timer(claimed), Generation(now[2].token.value()), 3s, {}};
  EXPECT_EQ(timers.back(), term) << "the term of the claim begins anew";
  d.fire({{wait_timer(claimed), Generation(previous[2].token.value())}});
  EXPECT_EQ(owned_by(a).size(), 4u) << "the end of the previous claim's term ends nothing";
  d.fire({{wait_timer(claimed), Generation(now[2].token.value())}});
  EXPECT_EQ(owned_by(a).size(), 3u);
  EXPECT_EQ(from(kElsewhere, LeaveBarrier{a, "d", Wait::none(), previous[1].token}).code, Code::NotOwner);
  EXPECT_EQ(from(kElsewhere, LeaveBarrier{a, "d", Wait::none(), now[1].token}).code, Code::Ok);
  EXPECT_EQ(from(kElsewhere, Release{a, std::nullopt, "s", now[0].token}).code, Code::Ok);
  d.machine.verify();
}

// The leader's token is what fences its actions: every observer gets the one that counts now.
// Covers: S-37 S-45
TEST_F(SessionResumeTest, WhoeverWatchesAnElectionSeesTheNewTokenOfTheLeader) {
  const SessionId a = open();
  d.submit(Acquire{.session = a, .name = "plain", .wait = Wait::none()});
  d.submit(Acquire{.session = a, .name = "e", .wait = Wait::none(), .texts = {.value = "me"}});
  for (const char* name : {"e", "plain"}) d.machine.observe(subject_of(coordination::Kind::Lock, name), true);
  resume(a, kElsewhere);
  ASSERT_EQ(d.last.led.size(), 2u);
  EXPECT_EQ(d.last.led[0].name, "e");
  EXPECT_EQ(d.last.led[0].value, "me");
  EXPECT_EQ(static_cast<uint64_t>(d.last.led[0].number), d.holder("e").value());
  EXPECT_EQ(static_cast<uint64_t>(d.last.led[1].number), d.holder("plain").value());
}

// Rows of old tokens go, those of the new ones come, also for locks at rest that a checkpoint has.
// Covers: S-45 REG_F55
TEST_F(SessionResumeTest, NewTokensAreInTheCheckpoint) {
  const SessionId a = open(), b = d.open();
  for (const char* name : {"n", "m"}) d.acquire(a, name);
  d.submit(Acquire{.session = a, .name = "s", .wait = Wait::none(), .mode = LockMode::Shared});
  d.submit(Acquire{.session = b, .name = "s", .wait = Wait::none(), .mode = LockMode::Shared});
  d.submit(AcquirePermits{a, "p", Wait::none(), 1, 1});
  RowsView stored;
  for (const bool before : {true, false}) {
    if (!before) resume(a, kElsewhere);
    CheckpointBatch batch;
    d.machine.checkpoint(batch);
    stored.add(batch);
  }
  Machine copy("m1");
  ASSERT_TRUE(copy.restore(stored).ok());
  EXPECT_EQ(copy.digest(), d.machine.digest());
  copy.verify();
  for (const char* name : {"n", "s"}) {
    EXPECT_EQ(copy.reads()->holders_of(name), d.machine.reads()->holders_of(name));
  }
}

// Covers: S-45 REG_F56
TEST_F(SessionResumeTest, ThePreviousProcessIsAnsweredLostWhateverItSends) {
  const SessionId a = open();
  const SessionId other = d.open();
  const Token token = d.acquire(a, "n").token;
  resume(a, kElsewhere);
  EXPECT_EQ(d.release(a, "n", token).code, Code::Lost);
  EXPECT_EQ(d.acquire(a, "m").code, Code::Lost);
  EXPECT_EQ(d.submit(CancelAcquire{a, "", "n", {kOrigin, Sequence(1)}}).code, Code::Lost);
  EXPECT_EQ(d.submit(Acquire{a, "", "m", Wait::none(), {}, 0}, {{"n", token}}).code, Code::Lost);
  EXPECT_EQ(d.submit(CloseSession{a}).code, Code::Lost);
  EXPECT_TRUE(d.holder("n")) << "nothing the previous process sends frees what the new one relies on";
  EXPECT_EQ(from(kElsewhere, Release{a, std::nullopt, "n", token}).code, Code::NotOwner) << "it has a hold of its own";
  EXPECT_EQ(from(kElsewhere, Release{a, std::nullopt, "n", d.holder("n")}).code, Code::Ok);
  EXPECT_EQ(d.acquire(other, "n").code, Code::Granted);
}

// The release was sent in the session's first life here and arrives in its third, and even names the present hold.
// Covers: S-45 INV_L02
TEST_F(SessionResumeTest, WhatWasSentBeforeTheSessionCameBackIsLostToo) {
  const SessionId a = open();
  d.acquire(a, "n");
  resume(a, kElsewhere);
  resume(a, kOrigin);
  const Token token = d.holder("n");
  const RequestId old{kOrigin, Sequence(sequences - 100)};
  EXPECT_EQ(d.apply(encode(Request{Release{a, std::nullopt, "n", token}, {}}), old).of(old.sequence).code, Code::Lost);
  EXPECT_EQ(d.holder("n"), token);
  EXPECT_EQ(from(kOrigin, Release{a, std::nullopt, "n", token}).code, Code::Ok);
}

// Covers: S-45
TEST_F(SessionResumeTest, OnlyTheSameDiskAtALaterBootVouchesByItself) {
  EXPECT_TRUE(resume(open(), kRestarted).previous_gone);
  EXPECT_FALSE(resume(open(), kElsewhere).previous_gone);
  EXPECT_FALSE(resume(open(), kNewDisk).previous_gone) << "a copied or replaced disk says nothing about the other";
  EXPECT_TRUE(resume(open(), kElsewhere, true).previous_gone) << "the caller vouches";
  const SessionId a = open();
  EXPECT_TRUE(resume(a, kRestarted).previous_gone);
  EXPECT_FALSE(resume(a, kOrigin).previous_gone) << "an earlier boot succeeds no one";
}

// It was sent, and then was in flight for long, while the session went to a third process.
// Covers: S-45
TEST_F(SessionResumeTest, AVoucherDoesNotCountForAProcessThatCameLater) {
  const SessionId a = open();
  const Generation then = info(a).generation;
  EXPECT_TRUE(resume(a, kRestarted).previous_gone) << "the same disk";
  EXPECT_FALSE(from(kElsewhere, ResumeSession{a, kSecret, true, then}).previous_gone);
  EXPECT_FALSE(resume(a, kRestarted).previous_gone) << "another process may still trust it";
}

// The first holder may still trust its deadline when the second one has come and gone.
// Covers: S-45
TEST_F(SessionResumeTest, ASecondRestartDoesNotSkipTheWaitThatTheFirstResumeOwed) {
  const SessionId a = open();
  EXPECT_FALSE(resume(a, kElsewhere).previous_gone);
  const Origin again{kElsewhere.replica, kElsewhere.store, BootCounter(2)};
  EXPECT_FALSE(resume(a, again).previous_gone);
  EXPECT_FALSE(resume(a, Origin{again.replica, again.store, BootCounter(3)}).previous_gone);
  EXPECT_TRUE(resume(a, Origin{again.replica, again.store, BootCounter(4)}, true).previous_gone);
  EXPECT_TRUE(resume(a, Origin{again.replica, again.store, BootCounter(5)}).previous_gone);
}

// Covers: S-45
TEST_F(SessionResumeTest, WaitsOfThePreviousProcessEndAndTheNextOneIsServed) {
  const SessionId holder = d.open(), a = open(), next = d.open();
  const Token token = d.acquire(holder, "n").token;
  d.acquire(a, "n", Wait::forever());
  const Sequence wait = d.last_sequence;
  d.acquire(next, "n", Wait::forever());
  resume(a, kElsewhere);
  EXPECT_EQ(d.last.of(wait).code, Code::Lost);
  EXPECT_EQ(d.queue("n"), std::vector<SessionId>{next});
  d.release(holder, "n", token);
  EXPECT_EQ(d.queue("n"), std::vector<SessionId>{});
  d.machine.verify();
}

// Covers: S-45
TEST_F(SessionResumeTest, WaitsOfEveryKindEndAndHoldsOfEveryKindStay) {
  const SessionId holder = d.open(), a = open();
  const auto wait = Wait::timed(1s);
  d.submit(CreateLatch{holder, "latch", 1});
  d.submit(CloseBarrier{holder, "barrier", AtSessionEnd::Stays});
  d.submit(Enqueue{"queue", 0, "item"});
  const Token permits = d.submit(AcquirePermits{a, "s", wait, 1, 2}).token;
  const Token claim = d.submit(ClaimItem{a, "queue", wait, {}}).token;
  d.submit(JoinGroup{a, "tag", "group", ""});
  const size_t held = d.machine.coordination_records();
  std::vector<Sequence> waits;
  for (const CoordinationCommand& each : std::vector<CoordinationCommand>{
           AcquirePermits{a, "s", wait, 2, {}}, AwaitLatch{a, "latch", wait}, AwaitBarrier{a, "barrier", wait},
           EnterBarrier{a, "double", wait, 2, AtPartyEnd::Breaks}, ClaimItem{a, "queue", wait, {}}}) {
    EXPECT_EQ(d.submit(each).code, Code::Queued);
    waits.push_back(d.last_sequence);
  }
  resume(a, kElsewhere);
  for (const Sequence each : waits) EXPECT_EQ(d.last.of(each).code, Code::Lost);
  EXPECT_EQ(d.last.timer_ops.size(), 1 + waits.size()) << "of the session, and of every wait";
  EXPECT_EQ(d.machine.coordination_records(), held);
  EXPECT_EQ(d.submit(AcknowledgeItem{a, "queue", claim}).code, Code::Lost) << "the previous process is not heard";
  EXPECT_EQ(from(kElsewhere, Release{a, std::nullopt, "s", permits}).code, Code::NotOwner);
  EXPECT_EQ(from(kElsewhere, AcknowledgeItem{a, "queue", claim}).code, Code::NotOwner);
  const std::vector<OwnedObject> owned = owned_by(a);
  ASSERT_EQ(owned.size(), 3u);
  EXPECT_EQ(from(kElsewhere, Release{a, std::nullopt, "s", owned[0].token}).code, Code::Ok);
  EXPECT_EQ(from(kElsewhere, AcknowledgeItem{a, "queue", owned[1].token}).code, Code::Ok);
  EXPECT_EQ(from(kElsewhere, LeaveGroup{a, "tag", "group"}).code, Code::Ok);
  d.machine.verify();
}

// Covers: S-45 REG_F55
TEST_F(SessionResumeTest, BindingSecretAndMarksAreInTheCheckpointAndTheDigest) {
  const SessionId a = open(), b = open();
  RowsView stored;
  const auto store = [&] {
    CheckpointBatch batch;
    d.machine.checkpoint(batch);
    stored.add(batch);
  };
  store();
  const uint64_t before = d.machine.digest();
  resume(a, kElsewhere);
  EXPECT_NE(d.machine.digest(), before);
  d.submit(KillSession{b});
  store();
  Machine copy("m1");
  ASSERT_TRUE(copy.restore(stored).ok());
  EXPECT_EQ(copy.digest(), d.machine.digest());
  copy.verify();
  std::vector<TimerOp> timers;
  copy.timers(timers);
  EXPECT_EQ(timers, d.timers());
}

TEST_F(SessionResumeTest, LocksOfIsReadInPages) {
  const SessionId a = open();
  std::vector<Token> tokens;
  for (const char* name : {"x", "y", "z"}) tokens.push_back(d.acquire(a, name, Wait::none(), "tag").token);
  const auto after = [&](Token token) { return d.machine.reads()->locks_of(a, token).locks; };
  EXPECT_EQ(after({}).size(), 3u);
  ASSERT_EQ(after(tokens[0]).size(), 2u);
  EXPECT_EQ(after(tokens[0])[0], (HeldLock{{{a, "tag", tokens[1], Index(3), {kOrigin, Sequence(3)}}, "y"}}));
  EXPECT_TRUE(after(tokens[2]).empty());
}

// Covers: S-56
TEST_F(SessionResumeTest, APageOfLocksBeginsAnywhereAmongThoseAtRestAndOthers) {
  const SessionId a = open();
  std::vector<Token> granted;
  for (int i = 0; i < 8; ++i) {
    const std::string value = i % 3 == 1 || i == 5 ? "not at rest" : "";
    granted.push_back(
        d.submit(Acquire{.session = a, .name = std::to_string(i), .wait = Wait::none(), .texts = {.value = value}}).token);
  }
  for (size_t from = 0; from <= granted.size(); ++from) {
    std::vector<Token> seen;
    for (const HeldLock& lock : d.machine.reads()->locks_of(a, from == 0 ? Token() : granted[from - 1]).locks) {
      seen.push_back(lock.token);
    }
    EXPECT_EQ(seen, std::vector<Token>(granted.begin() + static_cast<ptrdiff_t>(from), granted.end()));
  }
}

using SessionKillTest = SessionResumeTest;

// Covers: S-57
TEST_F(SessionKillTest, AKillFreesNothingBeforeTheTtlIsOver) {
  const SessionId a = open(), b = d.open();
  const Token token = d.acquire(a, "n").token;
  d.acquire(b, "n", Wait::forever());
  const Sequence wait = d.last_sequence;
  const Result killed = d.submit(KillSession{a});
  EXPECT_EQ(killed.code, Code::Ok);
  EXPECT_EQ(killed.session, a);
  EXPECT_EQ(d.last.events, (std::vector<Event>{SessionEnding{a, kOrigin.replica}}));
  EXPECT_EQ(d.holder("n"), token);
  EXPECT_TRUE(info(a).ending);

  d.fire({{session_timer(a), Generation(0)}});
  EXPECT_EQ(d.last.events, (std::vector<Event>{SessionEnded{a, SessionEnded::Reason::Killed, kOrigin.replica}}));
  EXPECT_EQ(d.last.of(wait).code, Code::Granted);
  EXPECT_EQ(d.submit(KillSession{a}).code, Code::SessionNotFound);
}

// Covers: S-57
TEST_F(SessionKillTest, AKilledSessionHasATimerOfItsOwnThatANewLeaderRestarts) {
  const SessionId a = open();
  d.submit(KillSession{a});
  const std::vector<TimerOp> alone{{TimerOp::Kind::Arm, session_timer(a), Generation(0), 5s, {}}};
  EXPECT_EQ(d.last.timer_ops, alone) << "no renewal of its process covers it";
  EXPECT_EQ(d.timers(), alone) << "what a replica that takes over counts from";
  d.submit(KillSession{a});
  EXPECT_TRUE(d.last.timer_ops.empty()) << "a second kill must not put off the end";
}

// Covers: S-57
TEST_F(SessionKillTest, ForceReleaseNeedsTheCurrentTokenAndEndsTheWholeSession) {
  const SessionId a = open();
  const Token first = d.acquire(a, "n").token;
  d.release(a, "n", first);
  const Token token = d.acquire(a, "n").token;
  d.acquire(a, "m");
  for (const Token stale : {first, Token(token.value() + 1)}) {
    EXPECT_EQ(d.submit(ForceRelease{"n", stale}).code, Code::NotOwner);
  }
  EXPECT_EQ(d.submit(ForceRelease{"unknown", token}).code, Code::NotOwner);
  EXPECT_FALSE(info(a).ending);
  EXPECT_EQ(d.submit(ForceRelease{"n", token}).session, a);
  EXPECT_TRUE(info(a).ending);
  d.expire({a});
  EXPECT_EQ(d.machine.lock_names(), 0u);
}

// Covers: S-57
TEST_F(SessionKillTest, AnEndingSessionMayOnlyLetGo) {
  const SessionId a = open(), b = d.open();
  const Token n = d.acquire(a, "n").token, m = d.acquire(a, "m").token;
  d.acquire(b, "other");
  d.acquire(a, "other", Wait::forever());
  const Sequence wait = d.last_sequence;
  d.submit(KillSession{a});
  EXPECT_EQ(d.last.of(wait).code, Code::Lost) << "nothing queues behind it";
  EXPECT_EQ(d.acquire(a, "free").code, Code::Lost);
  EXPECT_EQ(resume(a, kRestarted).code, Code::SessionNotFound);
  EXPECT_EQ(d.release(a, "n", n).code, Code::Ok);
  EXPECT_EQ(d.holder("m"), m);
  EXPECT_EQ(d.submit(CloseSession{a}).code, Code::Ok) << "its own close needs no wait";
  EXPECT_EQ(d.holder("m"), Token());
}

// Covers: S-57
TEST_F(SessionKillTest, AnEndingSessionLetsGoOfEveryKindAndTakesNothing) {
  const SessionId a = open(), b = d.open();
  for (int i = 0; i < 2; ++i) d.submit(Enqueue{"queue", 0, "item"});
  const Token permits = d.submit(AcquirePermits{a, "s", Wait::none(), 1, 1}).token;
  const Token done = d.submit(ClaimItem{a, "queue", Wait::none(), {}}).token;
  const Token back = d.submit(ClaimItem{a, "queue", Wait::none(), {}}).token;
  d.submit(JoinGroup{a, "tag", "group", ""});
  d.submit(EnterBarrier{b, "inside", Wait::forever(), 2, AtPartyEnd::Breaks});
  const Token place = d.submit(EnterBarrier{a, "inside", Wait::none(), 2, AtPartyEnd::Breaks}).token;
  d.submit(EnterBarrier{a, "double", Wait::forever(), 3, AtPartyEnd::Breaks});
  const Sequence entering = d.last_sequence;
  d.submit(EnterBarrier{b, "double", Wait::forever(), 3, AtPartyEnd::Breaks});
  const Sequence other = d.last_sequence;
  d.submit(KillSession{a});
  EXPECT_EQ(d.last.of(entering).code, Code::Lost);
  EXPECT_EQ(d.last.of(other).code, Code::Broken) << "that party never comes";
  EXPECT_EQ(d.submit(AcquirePermits{b, "s", Wait::none(), 1, {}}).code, Code::Held) << "its holder may trust it";

  EXPECT_EQ(d.submit(AcquirePermits{a, "s", Wait::forever(), 1, {}}).code, Code::Lost);
  EXPECT_EQ(d.submit(ClaimItem{a, "queue", Wait::forever(), {}}).code, Code::Lost);
  EXPECT_EQ(d.submit(JoinGroup{a, "tag", "other", ""}).code, Code::Lost);
  EXPECT_EQ(d.submit(UpdateMember{a, "tag", "group", "v"}).code, Code::Lost);
  EXPECT_EQ(d.release(a, "s", permits).code, Code::Ok);
  EXPECT_EQ(d.submit(AcknowledgeItem{a, "queue", done}).code, Code::Ok);
  EXPECT_EQ(d.release(a, "queue", back).code, Code::Ok);
  EXPECT_EQ(d.submit(LeaveGroup{a, "tag", "group"}).code, Code::Ok);
  EXPECT_EQ(d.submit(LeaveBarrier{a, "inside", Wait::none(), place}).code, Code::Ok);
  d.machine.verify();
}

// A hold of another process under the request of the previous one is not something the previous one was granted.
// Covers: S-45 REG_R73
TEST_F(SessionResumeTest, AfterAnInstallThePreviousProcessIsToldThatItHasLostTheSession) {
  const SessionId a = open(), other = d.open();
  const Token token = d.acquire(other, "n").token;
  d.acquire(a, "n", Wait::forever());
  const Sequence for_lock = d.last_sequence;
  d.release(other, "n", token);
  d.submit(AcquirePermits{a, "s", Wait::forever(), 1, 1});
  const Sequence for_permits = d.last_sequence;
  const auto queued_code = [&](Sequence sequence) { return decode_result(d.queued_result(sequence)->bytes)->code; };
  EXPECT_EQ(queued_code(for_lock), Code::Granted);
  EXPECT_EQ(queued_code(for_permits), Code::Granted);
  ASSERT_EQ(resume(a, kElsewhere).code, Code::Ok);
  EXPECT_EQ(queued_code(for_lock), Code::Lost);
  EXPECT_EQ(queued_code(for_permits), Code::Lost);
}

}  // namespace
}  // namespace coordkit::machine
