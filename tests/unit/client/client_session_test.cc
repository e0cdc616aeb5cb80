#include <functional>
#include <thread>

#include "base/random.h"
#include "coordkit/engine/wire.h"
#include "tests/unit/client/bench.h"

namespace coordkit::test {
namespace {

using SessionTest = ClientBench;
using enum SessionPhase;
using testing::ElementsAre;
using testing::IsEmpty;

// Covers: LT-1
TEST(ValidityTest, IsTheTtlShortenedByTheRateErrorOfBothClocksAndTheSlack) {
  EXPECT_EQ(validity(10s, 10'000, 1ms), 9800980198ns);
  EXPECT_EQ(validity(50ms, 0, 0ms), 50ms);
  EXPECT_LT(validity(9'000'000'000s, 10'000, 1ms), Duration(9'000'000'000s));  // no overflow at the largest ttl
  EXPECT_GT(validity(9'000'000'000s, 10'000, 1ms), Duration(8'800'000'000s));
  EXPECT_LT(validity(1ns, 10'000, 1ms), 0ns);
}

// Its news about sessions that it gave up must not apply to a binding that it could not know yet.
// Covers: S-45 REG_F81
TEST_F(SessionTest, ARenewalSaysUpToWhichEntryItsSenderKnew) {
  open();
  engine.index = 40;
  EXPECT_EQ(next_renewal().as_of, Index(40));
  engine.index = 50;
  EXPECT_EQ(next_renewal().as_of, Index(50));
}

// Covers: LT-1
TEST_F(SessionTest, TheDeadlineOfAnOpenCountsFromItsFirstPostNotFromTheAnswer) {
  Answer<SessionRef> answer;
  client.open_session({.ttl = kTtl}, answer.callback());
  const LeadingTime sent = now.leading;
  turn();
  const Ticket ticket = engine.take_commands<machine::OpenSession>().at(0).first.ticket;
  run(1s);
  engine.complete(ticket, {.session = SessionId(1000), .ttl = kTtl});
  turn();
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)->validity_deadline(), sent + v);
  EXPECT_EQ((*answer)->phase(), Valid);
  EXPECT_TRUE((*answer)->valid(sent + v - 1ns));
  EXPECT_FALSE((*answer)->valid(sent + v));
}

// Covers: S-45
TEST_F(SessionTest, AnOpenAnsweredAfterItsDeadlineStartsInJeopardyAndRecovers) {
  Answer<SessionRef> answer;
  client.open_session({.ttl = kTtl, .on_phase = [this](SessionPhase phase) { phases.push_back(phase); }}, answer.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::OpenSession>().at(0).first.ticket;
  run(v);
  engine.complete(ticket, {.session = SessionId(1000), .ttl = kTtl});
  turn();
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)->phase(), Jeopardy);
  EXPECT_EQ(client.next_turn(now), 0ns);  // renewed at once
  engine.confirm(next_renewal());
  turn();
  EXPECT_THAT(phases, ElementsAre(Jeopardy, Valid));
}

// Covers: S-45
TEST_F(SessionTest, TheGrantedTtlCountsNotTheOneAskedFor) {
  Answer<SessionRef> answer;
  client.open_session({.ttl = 1ms}, answer.callback());
  client.before_turn(now);
  engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(5), .ttl = 50ms});
  engine.turn(now, effects);
  client.after_turn(now, effects);
  EXPECT_EQ((*answer)->ttl(), 50ms);
  EXPECT_EQ((*answer)->validity_deadline(), now.leading + validity(50ms, 10'000, 1ms));
}

// Covers: S-45
TEST_F(SessionTest, RenewalsGoOutAtAThirdOfTheValidityAfterTheLastOneSent) {
  const LeadingTime opened = now.leading;
  const SessionRef session = open();
  RenewRequest first = next_renewal();
  EXPECT_EQ(now.leading, opened + v / 3);
  const LeadingTime sent = now.leading;
  jump(5ms);  // the answer takes its time: the next one is still counted from the sending
  engine.confirm(first);
  turn();
  EXPECT_EQ(session->validity_deadline(), sent + v);
  next_renewal();
  EXPECT_EQ(now.leading, sent + v / 3);
}

// Covers: T3
TEST_F(SessionTest, ARenewalNamesTheGroupItsNewestSessionAndASumOverWhatItMeans) {
  open(1000);
  open(1002);
  open(1001, 9s);
  const RenewRequest sent = next_renewal();
  ASSERT_EQ(sent.groups.size(), 2u);
  EXPECT_EQ(sent.groups[0].group, (TimerGroup{ReplicaId(3), BootCounter(7), 70, kTtl}));
  EXPECT_EQ(sent.groups[0].highest, TimerId(1002));
  EXPECT_EQ(sent.groups[0].count, 2u);
  EXPECT_EQ(sent.groups[0].sum, timer_set_hash(TimerId(1000)) + timer_set_hash(TimerId(1002)));
  EXPECT_THAT(sent.groups[0].excluded, IsEmpty());
  EXPECT_EQ(sent.groups[1].group.ttl, 9s);
  EXPECT_EQ(sent.groups[1].count, 1u);
}

// Covers: LT-1 FLT_N02
TEST_F(SessionTest, ALateAckWhoseDeadlineIsPastChangesNothing) {
  const SessionRef session = open();
  const RenewRequest sent = next_renewal();
  run(v + 1ms);  // later attempts stay unanswered
  ASSERT_EQ(session->phase(), Jeopardy);
  const LeadingTime before = session->validity_deadline();
  engine.confirm(sent);
  turn();
  EXPECT_EQ(session->phase(), Jeopardy);
  EXPECT_EQ(session->validity_deadline(), before);
}

// Covers: LT-1
TEST_F(SessionTest, AnAckCountsForItsOwnAttemptAndTheMaximumIsKept) {
  const SessionRef session = open();
  const RenewRequest first = next_renewal();
  const LeadingTime sent_first = now.leading;
  const RenewRequest second = next_renewal();  // a repeat, because the first is unanswered
  const LeadingTime sent_second = now.leading;
  ASSERT_GT(second.attempt, first.attempt);
  engine.confirm(first);
  turn();
  EXPECT_EQ(session->validity_deadline(), sent_first + v);
  engine.confirm(second);
  turn();
  EXPECT_EQ(session->validity_deadline(), sent_second + v);
  engine.confirm(first);  // F-46: again, and out of order
  turn();
  EXPECT_EQ(session->validity_deadline(), sent_second + v);
}

// Covers: LT-1
TEST_F(SessionTest, AnAnswerToAnUnknownAttemptOrGroupChangesNothing) {
  const SessionRef session = open();
  const LeadingTime before = session->validity_deadline();
  RenewRequest forged = next_renewal();
  forged.attempt += 1;
  engine.confirm(forged);
  forged.attempt -= 1;
  forged.groups[0].group.boot = BootCounter(6);
  engine.confirm(forged);
  turn();
  EXPECT_EQ(session->validity_deadline(), before);
}

// Covers: S-52
TEST_F(SessionTest, TheHolderIsToldAtItsOwnDeadlineWithoutAnyMessage) {
  const LeadingTime opened = now.leading;
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  bool stopped = false;
  std::stop_callback on_lost(grant->lost_token(), [&] { stopped = true; });
  run(v - 1ns);
  EXPECT_TRUE(grant->valid(now.leading));
  EXPECT_FALSE(stopped);
  run(1ns);
  EXPECT_EQ(now.leading, opened + v);
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(grant->valid(now.leading));
  EXPECT_EQ(session->phase(), Jeopardy);
  EXPECT_FALSE(grant->lost());
}

// Covers: REG_F02
TEST_F(SessionTest, ValidIsFalseFromTheDeadlineOnEvenIfNoTurnRuns) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  jump(v);
  EXPECT_FALSE(grant->valid(now.leading));
  EXPECT_FALSE(session->valid(now.leading));
  EXPECT_EQ(session->phase(), Valid);  // the announcement may be late, the answer not
}

// Covers: T9
TEST_F(SessionTest, JeopardyThatEndsWellKeepsTheSessionAndItsTokens) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  run(v + 1ms);
  ASSERT_EQ(session->phase(), Jeopardy);
  engine.confirm(next_renewal());
  turn();
  EXPECT_THAT(phases, ElementsAre(Valid, Jeopardy, Valid));
  EXPECT_TRUE(grant->valid(now.leading));
  EXPECT_EQ(grant->token(), Token(5000));
  EXPECT_TRUE(grant->lost_token().stop_requested());  // once asked to stop, it stays so
}

// Covers: REG_F63
TEST_F(SessionTest, EveryFailedRenewalIsRepeatedUntilTheDeadlineAndInJeopardy) {
  open();
  engine.posted.clear();
  size_t before_deadline = 0;
  const LeadingTime deadline = now.leading + v;
  std::vector<uint64_t> numbers;
  while (now.leading < deadline + 4s) {
    numbers.push_back(next_renewal().attempt);
    if (now.leading < deadline) ++before_deadline;
  }
  EXPECT_GE(before_deadline, 3u);
  EXPECT_GT(numbers.size(), before_deadline + 2);
  for (size_t i = 1; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], numbers[i - 1] + 1);  // each with a fresh number
}

// Covers: REG_F15
TEST_F(SessionTest, TheRateOfRenewalsHasABoundWhateverIsAnswered) {
  open();
  engine.posted.clear();
  run(8s);  // nothing is ever answered: the session is not lost yet
  EXPECT_LE(engine.take<Renew>().size(), 20u);
  for (int i = 0; i < 1000; ++i) turn();  // extra turns send nothing
  EXPECT_THAT(engine.take<Renew>(), IsEmpty());
}

// Covers: REG_F15 INV_L15
TEST_F(SessionTest, AThousandSessionsAreRenewedByOneMessage) {
  for (uint64_t id = 1; id <= 1000; ++id) open(id);
  engine.posted.clear();
  const RenewRequest sent = next_renewal();
  EXPECT_EQ(sent.groups.size(), 1u);
  EXPECT_EQ(sent.groups[0].count, 1000u);
}

// Leases whose TTL is the time that is left of something have all different ones.
struct ManyTtlsTest : SessionTest {
  static constexpr size_t kTtls = kRenewGroupsMax + 1000;
  std::vector<SessionRef> sessions;
  void SetUp() override {
    for (uint64_t id = 1; id <= kTtls; ++id) sessions.push_back(open(id, kTtl + Duration(id)));
    phases.clear();
    engine.posted.clear();
  }
};

// Covers: T3
TEST_F(ManyTtlsTest, SessionsOfMoreTtlsThanAMessageMayNameAreRenewedByMoreMessages) {
  size_t messages = 0;
  for (const LeadingTime end = now.leading + 10s; now.leading < end;) {
    jump(std::max(client.next_turn(now), Duration(1)));
    turn();
    for (const Renew& sent : engine.take<Renew>()) {
      ++messages;
      ASSERT_NO_THROW(encode(Message(sent.request)));
      engine.confirm(sent.request);
      turn();
    }
  }
  EXPECT_THAT(phases, IsEmpty()) << "all stay valid";
  EXPECT_LE(messages, 2 * 12u) << "two in a third of a TTL";
}

TEST_F(ManyTtlsTest, ATurnLooksAtNoMoreTtlsThanWhatHappens) {
  const uint64_t before = client.status().looks;
  for (uint64_t other = 0; other < 100; ++other) {
    engine.end_session(SessionId(10 * kTtls + other));
    turn();
  }
  engine.end_session(sessions[7]->id());
  turn();
  EXPECT_LE(client.status().looks - before, 1000u);
  EXPECT_EQ(client.status().sessions, kTtls - 1);
}

// Covers: S-45
TEST_F(SessionTest, ANewLeaderIsAskedAtOnceWhatTheOldOneLeftUnanswered) {
  open();
  next_renewal();
  engine.next.leadership = raft::Leadership{.term = Term(2), .leader = ReplicaId(1)};
  turn();
  EXPECT_EQ(client.next_turn(now), 0ns);
  turn();
  EXPECT_EQ(engine.take<Renew>().size(), 1u);
}

// Covers: REG_F30 REG_F69
TEST_F(SessionTest, AnElectionShorterThanTheValidityCausesNoAlarm) {
  const SessionRef session = open();
  engine.confirm(next_renewal());
  turn();
  run(v * 2 / 3 - 2ms);  // silence: attempts are lost
  engine.next.leadership = raft::Leadership{.term = Term(2), .leader = ReplicaId(1)};
  turn();
  engine.take<Renew>();
  turn();
  engine.confirm(engine.take<Renew>().at(0).request);
  turn();
  EXPECT_EQ(session->phase(), Valid);
  EXPECT_THAT(phases, ElementsAre(Valid));
}

// Covers: S-45
TEST_F(SessionTest, JeopardyBeyondTheGiveUpLimitIsLostAndTheSessionIsClosed) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  run(v);
  ASSERT_EQ(session->phase(), Jeopardy);
  run(9s - 1ns);  // 3 x ttl is above 10 election timeouts
  ASSERT_EQ(session->phase(), Jeopardy);
  engine.posted.clear();
  run(1ns);
  EXPECT_EQ(session->phase(), Lost);
  EXPECT_TRUE(grant->lost());
  const auto closes = engine.take_commands<machine::CloseSession>();
  ASSERT_EQ(closes.size(), 1u);
  EXPECT_EQ(std::get<machine::CloseSession>(closes[0].second.body).session, session->id());
  EXPECT_EQ(closes[0].first.urgency, Urgency::Reserved);
  EXPECT_THAT(phases, ElementsAre(Valid, Jeopardy, Lost));
}

// Covers: REG_F78 INV_L03
TEST_F(SessionTest, NothingBringsALostSessionBack) {
  const SessionRef session = open();
  const RenewRequest before = next_renewal();
  engine.end_session(session->id());
  turn();
  ASSERT_EQ(session->phase(), Lost);
  engine.confirm(before);
  turn();
  EXPECT_EQ(session->phase(), Lost);
  EXPECT_FALSE(session->valid(now.leading));
  engine.posted.clear();
  run(20s);
  EXPECT_THAT(engine.take<Renew>(), IsEmpty());  // and it is not renewed
}

// Covers: REG_F14
TEST_F(SessionTest, AnEndAndARenewalInOneTurnEndTheSession) {
  const SessionRef session = open();
  engine.confirm(next_renewal());
  engine.end_session(session->id());
  turn();
  EXPECT_THAT(phases, ElementsAre(Valid, Lost));
}

// Covers: REG_F69
TEST_F(SessionTest, ALostSessionIsExcludedFromRenewalsUntilItsEndIsKnown) {
  const SessionRef lost = open(1000);
  open(1001);
  engine.posted.clear();
  client.close(lost, [](absl::Status) {});
  RenewRequest sent = next_renewal();
  EXPECT_THAT(sent.groups.at(0).excluded, ElementsAre(TimerId(1000)));
  EXPECT_EQ(sent.groups[0].count, 1u);
  EXPECT_EQ(sent.groups[0].sum, timer_set_hash(TimerId(1001)));
  EXPECT_EQ(sent.groups[0].highest, TimerId(1001));
  engine.end_session(SessionId(1000));
  turn();
  sent = next_renewal();
  EXPECT_THAT(sent.groups.at(0).excluded, IsEmpty());
}

// Covers: T8
TEST_F(SessionTest, NothingOfASessionIsValidWhenItsCloseIsPosted) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  engine.posted.clear();
  Answer<void> closed;
  client.close(session, closed.callback());
  EXPECT_FALSE(grant->valid(now.leading));
  EXPECT_FALSE(session->valid(now.leading));
  EXPECT_TRUE(session->closed());
  turn();
  EXPECT_TRUE(grant->lost_token().stop_requested());
  const auto closes = engine.take_commands<machine::CloseSession>();
  ASSERT_EQ(closes.size(), 1u);
  engine.complete(closes[0].first.ticket, {});
  turn();
  EXPECT_TRUE(closed.ok());
  EXPECT_EQ(closed.times(), 1);
  EXPECT_EQ(client.status().sessions, 0u);
}

// Covers: S-45
TEST_F(SessionTest, AnUnansweredCloseIsRepeatedUntilTheSessionEndsAlsoWithoutItsCaller) {
  const SessionRef session = open();
  Answer<void> closed;
  client.close(session, closed.callback(), now.lagging + 1s);
  turn();
  for (int i = 0; i < 5; ++i) {
    const auto closes = engine.take_commands<machine::CloseSession>();
    ASSERT_EQ(closes.size(), 1u);
    engine.fail(closes[0].first.ticket, make_error(Reason::NotReady, "not now"));
    turn();
    run(300ms);
  }
  EXPECT_EQ(closed.reason(), Reason::CallTimeout);
  EXPECT_EQ(closed.outcome(), Outcome::Unknown);
  engine.complete(engine.take_commands<machine::CloseSession>().at(0).first.ticket,
                  {.code = machine::ResultCode::SessionNotFound});
  turn();
  EXPECT_EQ(client.status().sessions, 0u);
  EXPECT_EQ(closed.times(), 1);
}

// Covers: LT-9
TEST_F(SessionTest, ATurnLaterThanPromisedByMoreThanTheRenewalIntervalMeansJeopardy) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  engine.confirm(next_renewal());
  turn();
  const Duration promised = client.next_turn(now);
  jump(promised + v / 3 + 1ns);
  turn();
  EXPECT_EQ(session->phase(), Jeopardy);  // although its deadline is still ahead
  EXPECT_FALSE(grant->valid(now.leading));
  EXPECT_TRUE(grant->lost_token().stop_requested());
}

// Covers: LT-9
TEST_F(SessionTest, ATurnLateByNoMoreThanTheRenewalIntervalChangesNothing) {
  const SessionRef session = open();
  engine.confirm(next_renewal());
  turn();
  jump(client.next_turn(now) + v / 3);
  turn();
  EXPECT_EQ(session->phase(), Valid);
}

// Covers: LT-9
TEST_F(SessionTest, OnlyARenewalSentAfterTheGapMakesTheSessionValidAgain) {
  const SessionRef session = open();
  engine.confirm(next_renewal());
  turn();
  const RenewRequest before = next_renewal();
  jump(client.next_turn(now) + v / 3 + 1ns);
  engine.confirm(before);  // its own deadline is ahead, but it was sent before
  turn();
  EXPECT_EQ(session->phase(), Jeopardy);
  const auto sent = engine.take<Renew>();
  ASSERT_FALSE(sent.empty());
  engine.confirm(sent.back().request);
  turn();
  EXPECT_EQ(session->phase(), Valid);
}

// Every turn that a timer wakes is a little late. Sessions are looked at as their deadlines come, not for that.
// Covers: LT-9
TEST_F(SessionTest, TurnsThatAreALittleLateDoNotLookAtEverySession) {
  constexpr uint64_t kSessions = 100;
  constexpr uint64_t kTurns = 100;
  for (uint64_t id = 1000; id < 1000 + kSessions; ++id) open(id);
  const uint64_t before = client.status().looks;
  for (uint64_t turns = 0; turns < kTurns; ++turns) {
    jump(client.next_turn(now) + 1ms);
    turn();
    for (const Renew& sent : engine.take<Renew>()) engine.confirm(sent.request);
    turn();
  }
  EXPECT_THAT(phases, testing::Each(Valid));
  EXPECT_LE(client.status().looks - before, kSessions * kTurns / 2);
}

// Covers: LT-9 FLT_P08 FLT_A12
TEST_F(SessionTest, AStepBackOfTheHoldersClockMeansJeopardyUntilARenewalSentAfterIt) {
  const SessionRef session = open();
  const RenewRequest before = next_renewal();
  now.leading -= 1ns;
  turn();
  EXPECT_EQ(session->phase(), Jeopardy);
  const auto after = engine.take<Renew>();
  ASSERT_EQ(after.size(), 1u);
  engine.confirm(before);
  turn();
  EXPECT_EQ(session->phase(), Jeopardy);
  engine.confirm(after[0].request);
  turn();
  EXPECT_EQ(session->phase(), Valid);
  EXPECT_EQ(session->validity_deadline(), now.leading + v);
}

// A reading from before the deadline's own sending shows it without any turn.
// Covers: LT-9 FLT_P08
TEST_F(SessionTest, AReadingFurtherThanTheTtlBeforeTheDeadlineIsNotTrusted) {
  const SessionRef session = open();
  EXPECT_TRUE(session->valid(now.leading));
  EXPECT_EQ(session->remaining(now.leading), v);
  EXPECT_FALSE(session->valid(now.leading - kTtl));
  EXPECT_EQ(session->remaining(now.leading - kTtl), 0ns);
  EXPECT_EQ(session->remaining(now.leading + v), 0ns);
}

// Covers: S-45
TEST_F(SessionTest, TheGiveUpLimitOfASessionIsItsOwn) {
  Answer<SessionRef> answer;
  client.open_session({.ttl = kTtl, .give_up = 100ms}, answer.callback());
  client.before_turn(now);
  engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(1000), .ttl = kTtl});
  engine.turn(now, effects);
  client.after_turn(now, effects);
  run(v);
  EXPECT_EQ((*answer)->phase(), Jeopardy);
  run(100ms);
  EXPECT_EQ((*answer)->phase(), Lost);
  EXPECT_EQ(engine.take_commands<machine::CloseSession>().size(), 1u) << "so that it really ends";
}

// Covers: LT-9
TEST_F(SessionTest, AGapBetweenAnOpenAndItsAnswerLeavesTheSessionInJeopardy) {
  Answer<SessionRef> answer;
  client.open_session({.ttl = kTtl}, answer.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::OpenSession>().at(0).first.ticket;
  now.leading -= 1h;
  engine.complete(ticket, {.session = SessionId(1000), .ttl = kTtl});
  turn();
  EXPECT_EQ((*answer)->phase(), Jeopardy);
  EXPECT_FALSE((*answer)->valid(now.leading));
  engine.confirm(next_renewal());
  turn();
  EXPECT_EQ((*answer)->phase(), Valid);
}

// Covers: LT-9
TEST_F(SessionTest, AnIdleClientIsNotTakenForAPausedOne) {
  EXPECT_EQ(client.next_turn(now), Duration::max());
  turn();
  jump(24h);
  const SessionRef session = open();
  EXPECT_EQ(session->phase(), Valid);
}

// Covers: REG_F57
TEST(SessionClockTest, OnlyRatesCountSoThatShiftedClocksGiveTheSameHistory) {
  const auto history = [](Duration lagging, Duration leading) {
    FakeEngine engine;
    Client client(engine, ClientOptions{});
    Now now{LaggingTime(lagging), LeadingTime(leading)};
    std::vector<std::pair<Duration, size_t>> trace;
    EngineEffects effects;
    client.open_session({.ttl = 1s}, [](auto) {});
    for (int i = 0; i < 60; ++i) {
      client.before_turn(now);
      for (auto& [submit, request] : engine.take_commands<machine::OpenSession>()) {
        engine.complete(submit.ticket, {.session = SessionId(9), .ttl = 1s});
      }
      auto renewals = engine.take<Renew>();
      if (i % 3 == 0) {
        for (const Renew& renew : renewals) engine.confirm(renew.request);
      }
      engine.turn(now, effects);
      client.after_turn(now, effects);
      const Duration next = client.next_turn(now);
      trace.emplace_back(next, renewals.size());
      now.lagging += next;
      now.leading += next;
    }
    return trace;
  };
  const auto plain = history(1h, 2h);
  EXPECT_EQ(history(0h, 0h), plain);
  EXPECT_EQ(history(1000h, 3h), plain);
}

// ---- coverage

// Covers: T3
TEST_F(SessionTest, OnlyListedSessionsAreExtendedByAnOnlyAnswer) {
  const SessionRef one = open(1000);
  const SessionRef two = open(1001);
  const LeadingTime before = two->validity_deadline();
  const RenewRequest sent = next_renewal();
  const LeadingTime at = now.leading;
  engine.next.renewals.push_back({sent.attempt, {{sent.groups[0].group, RenewReply::Coverage::Only, {TimerId(1000)}}}});
  turn();
  EXPECT_EQ(one->validity_deadline(), at + v);
  EXPECT_EQ(two->validity_deadline(), before);
}

// Covers: T3
TEST_F(SessionTest, ListedSessionsAreNotExtendedByAnAllExceptAnswer) {
  const SessionRef one = open(1000);
  const SessionRef two = open(1001);
  const LeadingTime before = one->validity_deadline();
  const RenewRequest sent = next_renewal();
  const LeadingTime at = now.leading;
  engine.next.renewals.push_back({sent.attempt, {{sent.groups[0].group, RenewReply::Coverage::AllExcept, {TimerId(1000)}}}});
  turn();
  EXPECT_EQ(one->validity_deadline(), before);
  EXPECT_EQ(two->validity_deadline(), at + v);
}

// Covers: T3
TEST_F(SessionTest, ASessionOpenedAfterTheSendingIsNotExtendedByThatAttempt) {
  open(1000);
  const RenewRequest sent = next_renewal();
  jump(1ms);
  const SessionRef late = open(1001);
  const LeadingTime before = late->validity_deadline();
  engine.confirm(sent);
  turn();
  EXPECT_EQ(late->validity_deadline(), before);
}

// Covers: S-45
TEST_F(SessionTest, ASessionThatNoRenewalCoversIsAskedForAndLostIfItHasEnded) {
  const SessionRef session = open(1000);
  open(1001);
  const RenewRequest sent = next_renewal();
  engine.next.renewals.push_back({sent.attempt, {{sent.groups[0].group, RenewReply::Coverage::Only, {TimerId(1001)}}}});
  turn();
  const auto asks = engine.take<Ask>();
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_EQ(asks[0].consistency, Consistency::Linearizable);
  const FakeReads state;
  engine.let_read(asks[0].ticket, state);
  turn();
  EXPECT_EQ(session->phase(), Lost);
  EXPECT_EQ(client.status().sessions, 1u);
}

// Covers: T3
TEST_F(SessionTest, AnUnknownSessionOfThisProcessIsExcludedSoThatItExpires) {
  open(1000);
  RenewRequest sent = next_renewal();
  engine.next.renewals.push_back(
      {sent.attempt, {{sent.groups[0].group, RenewReply::Coverage::Only, {TimerId(999), TimerId(1000)}}}});
  turn();
  EXPECT_EQ(client.status().orphans, 1u);
  sent = next_renewal();
  EXPECT_THAT(sent.groups.at(0).excluded, ElementsAre(TimerId(999)));
  engine.end_session(SessionId(999));
  turn();
  EXPECT_EQ(client.status().orphans, 0u);
}

// Covers: T3
TEST_F(SessionTest, AnUnknownSessionIsKeptWhileAnOpenUnderWayMayExplainIt) {
  open(1000);
  Answer<SessionRef> second;
  client.open_session({.ttl = kTtl}, second.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::OpenSession>().at(0).first.ticket;
  RenewRequest sent = next_renewal();
  engine.next.renewals.push_back(
      {sent.attempt, {{sent.groups[0].group, RenewReply::Coverage::Only, {TimerId(999), TimerId(1000)}}}});
  turn();
  EXPECT_EQ(client.status().orphans, 0u);
  engine.complete(ticket, {.session = SessionId(999), .ttl = kTtl});
  turn();
  EXPECT_TRUE(second.ok());
  sent = next_renewal();
  EXPECT_EQ(sent.groups.at(0).count, 2u);
}

// Else a process that opens sessions all the time would keep what nobody has alive for ever.
// Covers: T3
TEST_F(SessionTest, AnUnknownSessionIsExcludedOnceTheOpensThatMayExplainItAreAnswered) {
  open(1000);
  Answer<SessionRef> second, third;
  client.open_session({.ttl = kTtl}, second.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::OpenSession>().at(0).first.ticket;
  const auto list = [&](const RenewRequest& sent, std::vector<TimerId> listed) {
    engine.next.renewals.push_back({sent.attempt, {{sent.groups[0].group, RenewReply::Coverage::Only, std::move(listed)}}});
    turn();
  };
  list(next_renewal(), {TimerId(999), TimerId(1000)});
  EXPECT_EQ(client.status().orphans, 0u);
  client.open_session({.ttl = kTtl}, third.callback());
  turn();
  engine.complete(ticket, {.session = SessionId(1001), .ttl = kTtl});
  turn();
  list(next_renewal(), {TimerId(999), TimerId(1000), TimerId(1001), TimerId(1002)});
  EXPECT_EQ(client.status().orphans, 1u) << "not of the third open, which began later";
  EXPECT_THAT(next_renewal().groups.at(0).excluded, ElementsAre(TimerId(999)));
  EXPECT_EQ(third.times(), 0);
}

// Covers: T3
TEST_F(SessionTest, ASessionThatEndedMeanwhileIsNoOrphan) {
  const SessionRef ended = open(1000);
  open(1001);
  const RenewRequest sent = next_renewal();
  engine.end_session(ended->id());
  turn();
  engine.next.renewals.push_back(
      {sent.attempt, {{sent.groups[0].group, RenewReply::Coverage::Only, {TimerId(1000), TimerId(1001)}}}});
  turn();
  EXPECT_EQ(client.status().orphans, 0u);
}

// ---- opens without a caller

// Covers: S-59
TEST_F(SessionTest, ASessionOpenedAfterItsCallerGaveUpIsClosedAtOnce) {
  Answer<SessionRef> answer;
  client.open_session({.ttl = kTtl, .deadline = now.lagging + 1s}, answer.callback());
  turn();
  const auto [submit, request] = engine.take_commands<machine::OpenSession>().at(0);
  EXPECT_EQ(submit.deadline, LaggingTime::max());  // the engine never gives it up
  run(1s);
  EXPECT_EQ(answer.reason(), Reason::CallTimeout);
  EXPECT_EQ(answer.outcome(), Outcome::Unknown);
  EXPECT_EQ(client.status().opens, 1u);
  engine.complete(submit.ticket, {.session = SessionId(1000), .ttl = kTtl});
  turn();
  const auto closes = engine.take_commands<machine::CloseSession>();
  ASSERT_EQ(closes.size(), 1u);
  engine.complete(closes[0].first.ticket, {});
  turn();
  EXPECT_EQ(answer.times(), 1);
  EXPECT_EQ(client.status().sessions, 0u);
  EXPECT_EQ(client.status().opens, 0u);
  EXPECT_EQ(client.status().tickets, 0u);
}

// Covers: S-59
TEST_F(SessionTest, AnAbandonedOpenIsAnsweredAtOnceAndStillClosed) {
  Answer<SessionRef> answer;
  const CallId call = client.open_session({.ttl = kTtl}, answer.callback());
  turn();
  client.abandon(call);
  turn();
  EXPECT_EQ(answer.reason(), Reason::CancelPending);
  engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(1), .ttl = kTtl});
  turn();
  EXPECT_EQ(engine.take_commands<machine::CloseSession>().size(), 1u);
}

// Covers: S-45
TEST(SlackTest, ASessionThatTheSlackLeavesNoValidityIsNotRenewedInEveryTurn) {
  for (const Duration slack : {Duration(60ms), validity(50ms, 10'000, 1us)}) {
    FakeEngine engine;
    Client client(engine, ClientOptions{.slack = slack});
    Now now{LaggingTime(1h), LeadingTime(1h)};
    EngineEffects effects;
    const auto turn = [&](const std::function<void()>& in_between) {
      client.before_turn(now);
      in_between();
      engine.turn(now, effects);
      client.after_turn(now, effects);
    };
    client.open_session({.ttl = 50ms}, [](absl::StatusOr<SessionRef>) {});
    turn([&] {
      engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(1), .ttl = 50ms});
    });
    const LeadingTime began = now.leading;
    uint64_t most = 2;  // the first one is due at once
    for (int turns = 0; turns < 1000; ++turns) {
      const Duration by = std::max(client.next_turn(now), Duration(10us));
      now.leading += by;
      now.lagging += by;
      turn([&] {
        for (const Renew& renew : engine.take<Renew>()) engine.confirm(renew.request);
      });
    }
    most += static_cast<uint64_t>((now.leading - began) / Duration(1ms));
    EXPECT_LE(client.status().attempts, most) << slack.count();
    EXPECT_GE(client.status().attempts, 9U) << slack.count();
  }
}

// ---- announcements

// Covers: S-45 FLT_A13
TEST(NotifierTest, UserCodeRunsThroughTheNotifierInOrderEachOnce) {
  FakeEngine engine;
  std::vector<absl::AnyInvocable<void()>> tasks;
  Client client(engine, ClientOptions{.notify = [&](absl::AnyInvocable<void()> task) { tasks.push_back(std::move(task)); }});
  Now now{LaggingTime(1h), LeadingTime(1h)};
  EngineEffects effects;
  const auto turn = [&] {
    client.before_turn(now);
    engine.turn(now, effects);
    client.after_turn(now, effects);
  };
  std::vector<SessionPhase> phases;
  Answer<SessionRef> session;
  client.open_session({.ttl = 1s, .on_phase = [&](SessionPhase phase) { phases.push_back(phase); }}, session.callback());
  turn();
  engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(1), .ttl = 1s});
  turn();
  Answer<HoldRef> hold;
  client.acquire(*session, "a", {}, hold.callback());
  turn();
  engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                  {.code = machine::ResultCode::Granted, .token = Token(5)});
  turn();
  now.lagging += 1s;
  now.leading += 1s;
  turn();
  client.stop();
  EXPECT_TRUE(phases.empty());  // nothing ran in the client's thread
  EXPECT_FALSE((*hold)->lost_token().stop_requested());
  int stops = 0;
  std::stop_callback on_lost((*hold)->lost_token(), [&] { ++stops; });
  for (auto& task : tasks) task();
  EXPECT_THAT(phases, ElementsAre(Valid, Jeopardy, Lost));
  EXPECT_EQ(stops, 1);
}

// Readers on other threads while the owner renews, loses and stops: for the thread sanitizer, and the one claim that
// holds at any moment.
// A watch that only records its calls; the test acts for its thread.
struct NotedWatch final : ValidityWatch {
  std::unique_lock<std::mutex> guard() override { return std::unique_lock(mutex); }
  void valid(WatchedSession& now_valid) override {
    ++validities;
    session = &now_valid;
    if (act) act(*now_valid.state);
  }
  void lost(WatchedSession&) override {
    ++losses;
    session = nullptr;
  }
  void limited(const HoldRef& hold) override { limits.push_back(hold->token()); }
  void limit_over(const HoldRef& hold) override { std::erase(limits, hold->token()); }
  std::vector<Token> holds() const {
    std::vector<Token> tokens;
    if (session != nullptr) session->holds.each([&](const HoldRef& hold) { tokens.push_back(hold->token()); });
    return tokens;
  }
  std::function<void(SessionState&)> act = {};  // of its thread, as soon as it has the session
  std::mutex mutex;
  int validities = 0;
  int losses = 0;
  WatchedSession* session = nullptr;
  std::vector<Token> limits;
};

struct WatchedTest : SessionTest {
  NotedWatch watch;
  Client watched{engine, [this] {
                   ClientOptions options;
                   options.watch = &watch;
                   return options;
                 }()};
  SessionRef session;

  void SetUp() override {
    owned->stop();
    owned = nullptr;
    Answer<SessionRef> answer;
    watched.open_session({.ttl = kTtl, .on_phase = [this](SessionPhase phase) { phases.push_back(phase); }}, answer.callback());
    step([this] {
      engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(7), .ttl = kTtl});
    });
    session = *answer;
  }
  void step(const std::function<void()>& in_between = [] {}) {
    watched.before_turn(now);
    in_between();
    engine.turn(now, effects);
    watched.after_turn(now, effects);
  }
};

// Covers: S-52
TEST_F(WatchedTest, WhoeverTakesTheSessionToJeopardyAnnouncesItAndTheOtherDoesNot) {
  EXPECT_EQ(watch.validities, 1);
  for (Duration by : {v / 3, v / 3}) {
    jump(by);
    step();  // renewals go out, nothing comes back
  }
  const auto renewal = engine.take<Renew>();
  ASSERT_FALSE(renewal.empty());
  jump(v - 2 * (v / 3));
  ASSERT_TRUE(session->expire(now.leading)) << "the watch is first, and tells";
  ASSERT_FALSE(session->expire(now.leading)) << "once";
  step();
  EXPECT_THAT(phases, ElementsAre(Valid)) << "the client does not tell again";
  EXPECT_EQ(session->phase(), Jeopardy);
  step([&] { engine.confirm(renewal.back().request); });
  EXPECT_THAT(phases, ElementsAre(Valid, Valid)) << "it ended well, and that is announced";
  EXPECT_EQ(watch.validities, 2);
  EXPECT_TRUE(session->valid(now.leading));
}

// Covers: S-45 S-52
TEST_F(WatchedTest, WhatTheWatchTellsComesBehindThePhaseThatItEnds) {
  watch.act = [this](SessionState& state) {
    if (state.expire(state.validity_deadline())) phases.push_back(Jeopardy);
  };
  Answer<SessionRef> second;
  watched.open_session({.ttl = kTtl, .on_phase = [this](SessionPhase phase) { phases.push_back(phase); }}, second.callback());
  step([this] {
    engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(8), .ttl = kTtl});
  });
  EXPECT_THAT(phases, ElementsAre(Valid, Valid, Jeopardy)) << "the first session, then the second";
  jump(v / 3);
  step();
  const auto renewal = engine.take<Renew>();
  ASSERT_FALSE(renewal.empty());
  step([&] { engine.confirm(renewal.back().request); });
  EXPECT_THAT(phases, ElementsAre(Valid, Valid, Jeopardy, Valid, Jeopardy)) << "and again when it has recovered";
  EXPECT_EQ((*second)->phase(), Jeopardy);
}

// Covers: S-45 S-52
TEST_F(WatchedTest, WhatTheClientTookToJeopardyIsNotWatchedBeforeItsReturnIsAnnounced) {
  watched.close(session, [](absl::Status) {});
  std::vector<bool> watched_already;
  Answer<SessionRef> second;
  const auto on_phase = [&](SessionPhase phase) {
    phases.push_back(phase);
    watched_already.push_back(watch.session != nullptr);
  };
  watched.open_session({.ttl = kTtl, .on_phase = on_phase}, second.callback());
  step([this] {
    engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(8), .ttl = kTtl});
  });
  phases.clear();
  watched_already.clear();
  jump(v - 1ms);  // the turns stood still for longer than a renewal interval
  step([this] {
    const auto renewal = engine.take<Renew>();
    ASSERT_FALSE(renewal.empty());
    engine.confirm(renewal.back().request);
  });
  EXPECT_THAT(phases, ElementsAre(Jeopardy, Valid));
  EXPECT_THAT(watched_already, ElementsAre(false, false)) << "the watch could tell the end of what was not announced yet";
  EXPECT_NE(watch.session, nullptr);
  watched.stop();
}

// Covers: S-52
TEST_F(WatchedTest, TheWatchKnowsTheHoldsAndTheEndOfTheSession) {
  Answer<HoldRef> answer;
  const auto granted = [this](uint64_t token) {
    step([this, token] {
      engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                      {.code = machine::ResultCode::Granted, .token = Token(token), .since = Index(1)});
    });
  };
  watched.acquire(session, "a", {.wait = LockWait::endless()}, answer.callback());
  granted(5);
  EXPECT_THAT(watch.holds(), ElementsAre(Token(5)));
  EXPECT_THAT(watch.limits, IsEmpty());
  watched.release_later(*answer);
  EXPECT_THAT(watch.holds(), IsEmpty());
  Answer<HoldRef> released, lost;
  watched.acquire(session, "b", {.max_hold = 1h}, released.callback());
  granted(6);
  watched.acquire(session, "c", {.max_hold = 1h}, lost.callback());
  granted(7);
  EXPECT_THAT(watch.holds(), ElementsAre(Token(6), Token(7)));
  EXPECT_THAT(watch.limits, ElementsAre(Token(6), Token(7)));
  watched.release_later(*released);
  EXPECT_THAT(watch.limits, ElementsAre(Token(7)));
  watched.close(session, [](absl::Status) {});
  EXPECT_EQ(watch.losses, 1);
  EXPECT_THAT(watch.limits, IsEmpty());
  watched.stop();
}

// Covers: S-52 FLT_A02
TEST_F(SessionTest, HandlesAreReadByAnyThreadWithoutALock) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  std::atomic<bool> done{false};
  std::atomic<bool> wrong{false};
  std::thread reader([&] {
    const LeadingTime far(100h);
    while (!done) {
      if (grant->valid(far) || session->valid(far)) wrong = true;
      (void)grant->lost();
      (void)session->phase();
    }
  });
  for (int i = 0; i < 200; ++i) {
    engine.confirm(next_renewal());
    turn();
  }
  client.stop();
  done = true;
  reader.join();
  EXPECT_FALSE(wrong);
  EXPECT_FALSE(grant->valid(now.leading));
}

// A model in ten lines beside a thousand random histories: the deadline is the maximum over acknowledged attempts sent
// after the last gap, and the phase follows from it.
// Covers: LT-1 LT-9 S-45
TEST(SessionModelTest, RandomHistoriesAgreeWithANaiveModel) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    FakeEngine engine;
    Client client(engine, ClientOptions{});
    Now now{LaggingTime(1h), LeadingTime(1h)};
    EngineEffects effects;
    const Duration ttl = std::chrono::milliseconds(random.between(50, 5000));
    const Duration v = validity(ttl, 10'000, 1ms);
    const Duration give_up = std::max<Duration>(3 * ttl, 3s);
    Answer<SessionRef> session;
    client.open_session({.ttl = ttl}, session.callback());
    client.before_turn(now);
    engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(1), .ttl = ttl});
    engine.turn(now, effects);
    client.after_turn(now, effects);
    LeadingTime deadline = now.leading + v;
    LeadingTime jeopardy = LeadingTime::max();
    LeadingTime last = now.leading;
    std::vector<std::pair<RenewRequest, LeadingTime>> sent;
    SessionPhase phase = Valid;
    for (int step = 0; step < 400 && phase != Lost; ++step) {
      const Duration promised = client.next_turn(now);
      Duration by = random.chance(0.7) ? promised : Duration(random.below(static_cast<uint64_t>((promised + v).count())));
      if (random.chance(0.02)) by = -Duration(random.below(1'000'000));
      now.leading = last + by;
      now.lagging += std::max(by, Duration(0));
      const bool gap = by < 0ns || by - promised > v / 3;
      if (gap) sent.clear(), deadline = LeadingTime::min();
      if (gap && jeopardy > now.leading) jeopardy = LeadingTime::max();
      if (phase == Valid && deadline <= now.leading) phase = Jeopardy;
      if (phase == Jeopardy && jeopardy == LeadingTime::max()) jeopardy = now.leading;
      if (phase == Jeopardy && now.leading >= jeopardy + give_up) phase = Lost;
      client.before_turn(now);
      for (const Renew& renew : engine.take<Renew>()) sent.emplace_back(renew.request, now.leading);
      ASSERT_TRUE(phase != Lost || engine.take<Renew>().empty());
      if (!sent.empty() && random.chance(0.3)) {
        const auto& [request, at] = sent[random.below(sent.size())];
        engine.confirm(request);
        if (phase != Lost && at + v > now.leading && sent.back().first.attempt - request.attempt < 64) {
          deadline = std::max(deadline, at + v), phase = Valid, jeopardy = LeadingTime::max();
        }
      }
      engine.turn(now, effects);
      client.after_turn(now, effects);
      last = now.leading;
      ASSERT_EQ((*session)->phase(), phase) << "seed " << seed << " step " << step;
      if (phase == Valid) {
        ASSERT_EQ((*session)->validity_deadline(), deadline) << "seed " << seed << " step " << step;
      }
      ASSERT_EQ((*session)->valid(now.leading), phase == Valid);
    }
  }
}

}  // namespace
}  // namespace coordkit::test
