// Semaphores, barriers and the like through the machine: the answers of its commands, now or later, and their timers. The
// rules themselves are tested in tests/unit/coordination.
#include <gtest/gtest.h>

#include "base/random.h"
#include "machine/guard.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using Code = ResultCode;
using coordination::Kind;

class CoordinationCommandsTest : public ::testing::Test {
 protected:
  ObjectView look(Kind kind, const std::string& name) { return driver.machine.reads()->object(kind, name, 0); }
  RequestId request(Sequence sequence) const { return {kOrigin, sequence}; }
  Result acquire(SessionId session, uint64_t count, Wait wait = Wait::forever()) {
    return driver.submit(AcquirePermits{session, "s", wait, count, 2});
  }
  Driver driver;
  SessionId a = driver.open();
  SessionId b = driver.open();
};

// Covers: S-50
TEST_F(CoordinationCommandsTest, PermitsAreGrantedLaterUnderTheRequestThatWaited) {
  const Result held = acquire(a, 2);
  EXPECT_EQ(held.code, Code::Granted);
  EXPECT_GT(held.token.value(), kBase);
  EXPECT_EQ(acquire(b, 1).code, Code::Queued);
  const Sequence waiting = driver.last_sequence;
  EXPECT_EQ(driver.last.answers.front().stage, ApplyOutput::Stage::Queued);
  EXPECT_EQ(look(Kind::Semaphore, "s").waiters, 1u);
  EXPECT_EQ(driver.release(a, "s", held.token).code, Code::Ok) << "the locks' release: a token says what it is of";
  const Result granted = driver.last.of(waiting);
  EXPECT_EQ(granted.code, Code::Granted);
  EXPECT_GT(granted.token, held.token);
  EXPECT_EQ(granted.since, driver.index);
  const ObjectView now = look(Kind::Semaphore, "s");
  EXPECT_EQ(now.limit, 2u);
  EXPECT_EQ(now.taken, 1u);
  ASSERT_EQ(now.rows.size(), 1u);
  EXPECT_EQ(now.rows[0].token, granted.token);
  EXPECT_EQ(driver.release(a, "s", granted.token).code, Code::NotOwner);
}

// Covers: S-45
TEST_F(CoordinationCommandsTest, WhatASessionHasBesidesLocksIsListedByKindAndInPages) {
  const auto list = [&](SessionId session, OwnedObjects::Place after = {}) {
    return driver.machine.reads()->objects_of(session, after);
  };
  EXPECT_TRUE(list(a).rows.empty());
  const Result first = acquire(a, 1), second = acquire(a, 1);
  driver.submit(JoinGroup{a, "me", "g", "here"});
  const uint64_t number = driver.index.value();
  driver.submit(JoinGroup{b, "other", "g", "there"});
  const std::string large(64 << 10, 'x');
  for (int i = 0; i < 70; ++i) {
    driver.submit(Enqueue{"q", 0, large});
    driver.submit(ClaimItem{a, "q", Wait::none(), {}});
  }
  const OwnedObjects page = list(a);
  ASSERT_GT(page.rows.size(), 3u);
  EXPECT_EQ(page.rows[0],
            (OwnedObject{.kind = Kind::Semaphore, .name = "s", .token = first.token, .since = first.since, .count = 1}));
  EXPECT_EQ(page.rows[1].token, second.token);
  EXPECT_EQ(page.rows[2].kind, Kind::Queue);
  EXPECT_EQ(page.rows[2].value, large);
  EXPECT_TRUE(page.more) << "4 MiB are enough for one answer";
  const OwnedObjects rest = list(a, page.last());
  EXPECT_FALSE(rest.more);
  EXPECT_EQ(page.rows.size() + rest.rows.size(), 73u);
  EXPECT_EQ(rest.rows.back(),
            (OwnedObject{.kind = Kind::Group, .name = "g", .id = Index(number), .owner = "me", .value = "here"}));
  EXPECT_TRUE(list(a, rest.last()).rows.empty());
  EXPECT_EQ(list(b).rows.size(), 1u);
}

// Covers: S-43
TEST_F(CoordinationCommandsTest, PriorReleasesGiveBackPermitsToo) {
  const Token token = acquire(a, 2).token;
  EXPECT_EQ(driver.submit(AcquirePermits{a, "s", Wait::none(), 2, {}}, {{"s", token}}).code, Code::Granted);
}

// Covers: S-47
TEST_F(CoordinationCommandsTest, TokensOfAllKindsOfHoldsComeFromOneCounter) {
  const Token lock = driver.acquire(a, "s").token;
  const Token permits = acquire(a, 1).token;
  driver.submit(Enqueue{"q", 0, "v"});
  const Token claim = driver.submit(ClaimItem{a, "q", Wait::none(), {}}).token;
  const Token inside = driver.submit(EnterBarrier{a, "d", Wait::none(), 1, AtPartyEnd::Breaks}).token;
  EXPECT_LT(lock, permits);
  EXPECT_LT(permits, claim);
  EXPECT_LT(claim, inside);
  EXPECT_EQ(driver.release(a, "s", permits).code, Code::Ok);
  EXPECT_EQ(driver.holder("s"), lock) << "a lock and a semaphore of one name are two things";
}

// Covers: S-48
TEST_F(CoordinationCommandsTest, ATimedWaitHasATimerThatGoesWithIt) {
  acquire(a, 2);
  acquire(b, 1, Wait::timed(3s));
  const Index queued = driver.index;
  const Sequence waiting = driver.last_sequence;
  const TimerOp armed{TimerOp::Kind::Arm, wait_timer(queued), {}, 3s, {}};
  ASSERT_EQ(driver.last.timer_ops.size(), 1u);
  EXPECT_EQ(driver.last.timer_ops[0], armed);
  EXPECT_EQ(driver.timers().back(), armed);
  driver.fire({{wait_timer(queued), Generation(0)}});
  EXPECT_EQ(driver.last.of(waiting).code, Code::WaitTimeout);
  ASSERT_EQ(driver.last.timer_ops.size(), 1u);
  EXPECT_EQ(driver.last.timer_ops[0].kind, TimerOp::Kind::Disarm);
  driver.fire({{wait_timer(queued), Generation(0)}});
  EXPECT_TRUE(driver.last.answers.empty()) << "once";
}

// Covers: S-37
TEST_F(CoordinationCommandsTest, AClaimGoesOnWithTheTimerOfItsWaitUnderItsToken) {
  driver.submit(ClaimItem{a, "q", Wait::timed(3s), 5s});
  const Index queued = driver.index;
  const Sequence waiting = driver.last_sequence;
  driver.submit(Enqueue{"q", 0, "work"});
  const Result claimed = driver.last.of(waiting);
  EXPECT_EQ(claimed.code, Code::Granted);
  EXPECT_EQ(claimed.value, "work");
  EXPECT_EQ(claimed.id, driver.index);
  const Generation guard(claimed.token.value());
  const std::vector<TimerOp> ops{{TimerOp::Kind::Disarm, wait_timer(queued), {}, {}, {}},
                                 {TimerOp::Kind::Arm, wait_timer(queued), guard, 5s, {}}};
  EXPECT_EQ(driver.last.timer_ops, ops);
  driver.fire({{wait_timer(queued), Generation(0)}, {wait_timer(queued), Generation(guard.value() + 1)}});
  EXPECT_EQ(look(Kind::Queue, "q").taken, 1u) << "a firing of the wait or of another token does nothing";
  driver.fire({{wait_timer(queued), guard}});
  const ObjectView now = look(Kind::Queue, "q");
  EXPECT_EQ(now.number, 1);
  EXPECT_EQ(now.rows.at(0).count, 1u) << "delivered once in vain";
  EXPECT_EQ(driver.submit(AcknowledgeItem{a, "q", claimed.token}).code, Code::NotOwner);
}

// Covers: S-48
TEST_F(CoordinationCommandsTest, ACancelEndsAWaitOrFindsItsGrant) {
  const Result held = acquire(a, 2);
  const Sequence granted = driver.last_sequence;
  acquire(b, 1);
  const Sequence waiting = driver.last_sequence;
  EXPECT_EQ(driver.submit(CancelAcquire{a, "", "s", request(waiting)}).code, Code::Cancelled)
      << "another session's: noted only";
  EXPECT_EQ(look(Kind::Semaphore, "s").waiters, 1u);
  EXPECT_EQ(driver.submit(CancelAcquire{b, "", "s", request(waiting)}).code, Code::Cancelled);
  EXPECT_EQ(driver.last.of(waiting).code, Code::Cancelled);
  const Result found = driver.submit(CancelAcquire{a, "", "s", request(granted)});
  EXPECT_EQ(found.code, Code::Granted);
  EXPECT_EQ(found.token, held.token);
}

// Covers: REG_F51
TEST_F(CoordinationCommandsTest, ACancelThatComesFirstCancelsTheWaitOnArrival) {
  const Sequence late(driver.last_sequence.value() + 1);
  driver.last_sequence = late;
  EXPECT_EQ(driver.submit(CancelAcquire{a, "", "q", request(late)}).code, Code::Cancelled);
  EXPECT_EQ(driver.submit(Request{.body = ClaimItem{a, "q", Wait::forever(), {}}}, late).of(late).code, Code::Cancelled);
  EXPECT_EQ(driver.machine.coordination_records(), 0u);
}

// Covers: S-39 REG_F53
TEST_F(CoordinationCommandsTest, AllASessionHadEndsInOneEntryAndGoesToTheLiving) {
  acquire(a, 2);
  acquire(b, 2);
  const Sequence permits = driver.last_sequence;
  driver.submit(Enqueue{"q", 0, "v"});
  driver.submit(ClaimItem{a, "q", Wait::none(), 5s});
  driver.submit(ClaimItem{b, "q", Wait::forever(), {}});
  const Sequence claim = driver.last_sequence;
  driver.submit(CloseBarrier{a, "b", AtSessionEnd::Breaks});
  driver.submit(AwaitBarrier{b, "b", Wait::forever()});
  const Sequence barrier = driver.last_sequence;
  driver.submit(EnterBarrier{a, "d", Wait::forever(), 2, AtPartyEnd::Breaks});
  const Sequence lost = driver.last_sequence;
  driver.submit(JoinGroup{a, "", "g", "v"});
  driver.expire({a});
  EXPECT_EQ(driver.last.of(permits).code, Code::Granted);
  EXPECT_EQ(driver.last.of(claim).code, Code::Granted);
  EXPECT_EQ(driver.last.of(claim).number, 1);
  EXPECT_EQ(driver.last.of(barrier).code, Code::Broken);
  EXPECT_EQ(driver.last.of(lost).code, Code::Lost);
  EXPECT_FALSE(look(Kind::Group, "g").exists);
  EXPECT_EQ(driver.timers().size(), 1u) << "the other session's: the claim's timer went with it";
  driver.machine.verify();
}

// Covers: S-39
TEST_F(CoordinationCommandsTest, TwoThatEndInOneEntryGetNothingOfEachOther) {
  acquire(a, 2);
  acquire(b, 2);
  const Sequence waiting = driver.last_sequence;
  driver.expire({a, b});
  EXPECT_EQ(driver.last.of(waiting).code, Code::Lost);
  EXPECT_EQ(look(Kind::Semaphore, "s").taken, 0u);
}

// Covers: S-42
TEST_F(CoordinationCommandsTest, CommandsOfADeadSessionAreRefusedAndThoseWithoutASessionAreNot) {
  driver.submit(CloseSession{a});
  EXPECT_EQ(acquire(a, 1).code, Code::SessionNotFound);
  EXPECT_EQ(driver.submit(ChangeCounter{"c", ChangeCounter::Operation::Allocate, 10, 0}).number, 1);
  EXPECT_EQ(driver.submit(ChangeCounter{"c", ChangeCounter::Operation::Add, INT64_MAX, 0}).code, Code::CounterOverflow);
  EXPECT_EQ(look(Kind::Counter, "c").number, 10);
  EXPECT_EQ(driver.submit(Enqueue{"q", 0, "v"}).code, Code::Ok);
}

// Covers: S-54
TEST_F(CoordinationCommandsTest, AGuardMayNameAClaimOnAnItem) {
  driver.submit(Enqueue{"q", 0, "v"});
  const Token claim = driver.submit(ClaimItem{a, "q", Wait::none(), {}}).token;
  EXPECT_TRUE(driver.machine.holds(encode(Guard(LockHeld{"q", claim}))));
  EXPECT_FALSE(driver.machine.holds(encode(Guard(LockHeld{"other", claim}))));
  EXPECT_FALSE(driver.machine.holds(encode(Guard(LockHeld{"q", claim, true})))) << "an exclusive hold is a lock's";
  driver.submit(AcknowledgeItem{a, "q", claim});
  EXPECT_FALSE(driver.machine.holds(encode(Guard(LockHeld{"q", claim}))));
}

// Covers: S-37
TEST_F(CoordinationCommandsTest, AnElectionsLeaderIsAnnouncedOncePerEntry) {
  driver.machine.observe(subject_of(Kind::Lock, "e"), true);
  const Token first = driver.acquire(a, "e").token;
  ASSERT_EQ(driver.last.led.size(), 1u);
  EXPECT_EQ(driver.last.led[0].number, static_cast<int64_t>(first.value()));
  driver.acquire(b, "e", Wait::forever());
  EXPECT_TRUE(driver.last.led.empty());
  driver.submit(UpdateValue{a, std::nullopt, "e", first, "said"});
  ASSERT_EQ(driver.last.led.size(), 1u);
  EXPECT_EQ(driver.last.led[0].value, "said");
  driver.release(a, "e", first);
  ASSERT_EQ(driver.last.led.size(), 1u) << "no vacancy between";
  EXPECT_EQ(driver.last.led[0].session, b);
  driver.submit(CloseSession{b});
  ASSERT_EQ(driver.last.led.size(), 1u);
  EXPECT_EQ(driver.last.led[0].what, coordination::Change::What::Deleted);
}

// Covers: S-37
TEST_F(CoordinationCommandsTest, WhatNobodyObservesIsNotPutIntoWords) {
  driver.machine.observe(subject_of(Kind::Lock, "e"), true);
  driver.machine.observe(subject_of(Kind::Counter, "c"), true);
  driver.acquire(a, "other");
  EXPECT_TRUE(driver.last.led.empty());
  driver.submit(ChangeCounter{"e", ChangeCounter::Operation::Set, 7, 0});
  EXPECT_TRUE(driver.last.events.empty()) << "another kind of that name";
  driver.acquire(a, "e");
  EXPECT_EQ(driver.last.led.size(), 1u);
  driver.machine.observe(subject_of(Kind::Lock, "e"), false);
  driver.submit(CloseSession{a});
  EXPECT_TRUE(driver.last.led.empty());
  ASSERT_EQ(driver.last.events.size(), 1u) << "the end of a session is always announced";
  EXPECT_TRUE(std::holds_alternative<SessionEnded>(driver.last.events[0]));
}

// Covers: S-03
TEST_F(CoordinationCommandsTest, TheyChangeNoRevision) {
  const Revision before = driver.submit(Put{"k", "v"}).revision;
  EXPECT_EQ(acquire(a, 1).revision, before);
  EXPECT_EQ(driver.submit(ChangeCounter{"c", ChangeCounter::Operation::Add, 1, 0}).revision, before);
}

// Covers: S-37
TEST_F(CoordinationCommandsTest, WhatObserversSeeIsAnnouncedInTheEntryThatChangedIt) {
  driver.machine.observe(subject_of(Kind::Counter, "c"), true);
  driver.machine.observe(subject_of(Kind::Group, "g"), true);
  driver.submit(ChangeCounter{"c", ChangeCounter::Operation::Set, 7, 0});
  ASSERT_EQ(driver.last.events.size(), 1u);
  EXPECT_EQ(std::get<coordination::Change>(driver.last.events[0]).number, 7);
  const Index member = driver.submit(JoinGroup{a, "", "g", "v"}).id;
  EXPECT_EQ(member, driver.index);
  EXPECT_EQ(std::get<coordination::Change>(driver.last.events.at(0)).member, member);
  driver.expire({a});
  ASSERT_EQ(driver.last.events.size(), 2u);
  const auto* left = std::get_if<coordination::Change>(&driver.last.events[1]);
  ASSERT_NE(left, nullptr);
  EXPECT_EQ(left->what, coordination::Change::What::Left);
}

TEST_F(CoordinationCommandsTest, AfterAnInstallAQueuedCommandIsToldWhereItStands) {
  const Token token = acquire(a, 2).token;
  driver.submit(AcquirePermits{b, "s", Wait::forever(), 2, 2});
  const Sequence waiting = driver.last_sequence;
  const Index queued = driver.index;
  auto where = driver.queued_result(waiting);
  ASSERT_TRUE(where);
  EXPECT_EQ(where->stage, ApplyOutput::Stage::Queued);
  EXPECT_EQ(where->index, queued);
  driver.release(a, "s", token);
  const Result granted = driver.last.of(waiting);
  where = driver.queued_result(waiting);
  ASSERT_TRUE(where);
  EXPECT_EQ(decode_result(where->bytes).value(), granted);
  EXPECT_EQ(where->index, granted.since);
  EXPECT_FALSE(driver.queued_result(Sequence(999))) << "over, with unknown result";
  driver.submit(CloseSession{b});
  EXPECT_FALSE(driver.queued_result(waiting)) << "nothing is left of it";
}

TEST_F(CoordinationCommandsTest, RowsOfSessionsThatAreNotThereAreDataLoss) {
  acquire(a, 1);
  CheckpointBatch batch;
  driver.machine.checkpoint(batch);
  RowsView view;
  view.add(batch);
  Machine copy("m1");
  ASSERT_TRUE(copy.restore(view).ok());
  for (const char letter : std::string("sPS")) {
    RowsView spoilt = view;
    std::erase_if(spoilt.rows, [&](const auto& row) { return row.first[2] == letter; });
    EXPECT_TRUE(absl::IsDataLoss(Machine("m1").restore(spoilt)) || letter == 'P') << letter;
  }
}

// Three machines execute the same entries: one, one that never takes a checkpoint, and one rebuilt from rows each time.
// Covers: INV_R14
TEST(RandomCoordinationCommandsTest, CheckpointsDoNotShow) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    Driver real, unstored;
    Machine copy("m1");
    RowsView view;
    const auto store = [&] {
      CheckpointBatch batch;
      real.machine.checkpoint(batch);
      view.add(batch);
      ASSERT_TRUE(copy.restore(view).ok()) << copy.restore(view);
      ASSERT_EQ(copy.digest(), real.machine.digest());
      copy.verify();
      std::vector<TimerOp> timers, copied;
      real.machine.timers(timers);
      copy.timers(copied);
      ASSERT_EQ(timers, copied);
    };
    std::vector<SessionId> sessions;
    std::vector<Token> tokens{Token(1)};
    for (int i = 0; i < 150; ++i) {
      while (sessions.size() < 3) {
        sessions.push_back(real.open());
        unstored.open();
      }
      store();
      const size_t chosen = random.below(sessions.size());
      const SessionId s = sessions[chosen];
      const std::string name = random.below(2) == 0 ? "x" : "y";
      const Wait wait = random.below(3) == 0 ? Wait::none() : random.below(2) == 0 ? Wait::forever() : Wait::timed(1s);
      const uint64_t n = 1 + random.below(3);
      const Token token = tokens[random.below(tokens.size())];
      const Request::Body bodies[] = {
          AcquirePermits{s, name, wait, n, 3},
          SetSemaphoreLimit{s, name, n},
          Release{s, std::nullopt, name, token},
          CancelAcquire{s, "", name, {kOrigin, Sequence(1 + random.below(real.last_sequence.value()))}},
          CreateLatch{s, name, n},
          CountDown{s, name, n},
          AwaitLatch{s, name, wait},
          CloseBarrier{s, name, AtSessionEnd(random.below(3))},
          AwaitBarrier{s, name, wait},
          EnterBarrier{s, name, wait, 2, AtPartyEnd::Shrinks},
          LeaveBarrier{s, name, wait, token},
          Enqueue{name, static_cast<int64_t>(n), "v"},
          ClaimItem{s, name, wait, Duration(n % 2)},
          AcknowledgeItem{s, name, token},
          ChangeCounter{name, ChangeCounter::Operation::Add, 1, 0},
          JoinGroup{s, "", name, "v"},
          Acquire{s, "", name, wait, {}, 0},
          CloseSession{s},
      };
      const Request::Body& body = bodies[random.below(std::size(bodies))];
      const bool closes = std::holds_alternative<CloseSession>(body);
      const std::vector<TimerOp> armed = real.timers();
      ApplyOutput output;
      if (!armed.empty() && random.below(8) == 0) {
        const TimerOp& timer = armed[random.below(armed.size())];
        real.fire({{timer.id, timer.generation}});
        unstored.fire({{timer.id, timer.generation}});
        const FiredTimer fired{timer.id, timer.generation};
        copy.fire(real.index, {&fired, 1}, output);
        std::erase_if(sessions, [&](SessionId each) { return session_timer(each) == timer.id; });
      } else {
        real.submit(body);
        unstored.submit(body);
        const std::string payload = encode(Request{.body = body});
        const Command command{real.index, {kOrigin, real.last_sequence}, payload};
        copy.apply({&command, 1}, output);
        if (closes) sessions.erase(sessions.begin() + static_cast<long>(chosen));
      }
      ASSERT_EQ(real.last, unstored.last);
      ASSERT_EQ(real.last, Produced::from(output)) << "seed " << seed << ", step " << i;
      ASSERT_EQ(real.machine.digest(), unstored.machine.digest());
      for (const auto& answer : real.last.answers) {
        if (answer.result.token) tokens.push_back(answer.result.token);
      }
    }
  }
}

}  // namespace
}  // namespace coordkit::machine
