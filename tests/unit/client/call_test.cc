// The life of any call: its checks, the deadline, exactly one answer, and the end of the client.
#include <map>
#include <numeric>
#include <set>

#include "base/random.h"
#include "tests/unit/client/bench.h"

namespace coordkit::test {
namespace {

using CallTest = ClientBench;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ClientOptionsTest, EveryProblemIsNamedAtOnce) {
  const absl::Status status =
      ClientOptions{.election_timeout = 0s, .rate_error_ppm = 600'000, .slack = -1ns, .call_timeout = 0s, .calls_max = 0}
          .validate();
  EXPECT_EQ(reason_of(status), Reason::InvalidArgument);
  for (const char* name : {"election_timeout", "rate_error_ppm", "slack", "call_timeout", "calls_max"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
  }
  EXPECT_TRUE(ClientOptions{}.validate().ok());
}

// Covers: FLT_A05
TEST_F(CallTest, BadInputIsRefusedBeforeTheLogWithASentence) {
  const SessionRef session = open();
  engine.posted.clear();
  std::vector<std::pair<std::string, absl::Status>> answers;
  const auto note = [&](std::string what) {
    return [&answers, what](auto answer) {
      if constexpr (std::is_same_v<decltype(answer), absl::Status>) {
        answers.emplace_back(what, answer);
      } else {
        answers.emplace_back(what, answer.status());
      }
    };
  };
  client.open_session({.ttl = 0s}, note("ttl zero"));
  client.open_session({.ttl = -1s}, note("ttl negative"));
  client.open_session({.ttl = Duration::max()}, note("ttl large"));
  client.open_session({.ttl = 1s, .metadata = std::string(4097, 'm')}, note("metadata"));
  client.acquire(session, "", {}, note("empty name"));
  client.acquire(session, std::string(1025, 'n'), {}, note("long name"));
  client.acquire(session, "a", {.texts = {.value = std::string(4097, 'v')}}, note("hold value"));
  client.acquire(session, "a", {.owner_tag = std::string(257, 't')}, note("owner tag"));
  client.acquire(session, "a", {.wait = LockWait::timed(0s)}, note("no wait"));
  client.acquire(session, "a", {.wait = LockWait::timed(-1s)}, note("negative wait"));
  client.acquire(nullptr, "a", {}, note("no session"));
  client.close(nullptr, note("close nothing"));
  client.release(nullptr, note("release nothing"));
  client.check(nullptr, note("check nothing"));
  client.holders("", note("holders"));
  client.queue(std::string(1025, 'n'), note("queue"));
  client.put("", "v", note("put empty"));
  client.put(std::string(8193, 'k'), "v", note("put key"));
  client.put("k", std::string((1 << 20) + 1, 'v'), note("put value"));
  client.get("", note("get empty"));
  client.erase("", note("erase empty"));
  client.resume_session({}, "secret", {}, note("resume nothing"));
  client.resume_session(SessionId(9), "", {}, note("resume without secret"));
  client.resume_session(SessionId(9), std::string(65, 's'), {}, note("long secret"));
  client.kill_session({}, note("kill nothing"));
  client.force_release("", Token(5), note("force no lock"));
  client.force_release("a", {}, note("force no token"));
  EXPECT_THAT(answers, IsEmpty());  // never inside the call
  EXPECT_EQ(client.next_turn(now), 0ns);
  turn();
  EXPECT_THAT(answers, SizeIs(27));
  EXPECT_THAT(engine.posted, IsEmpty());
  for (const auto& [what, status] : answers) {
    EXPECT_FALSE(status.ok()) << what;
    EXPECT_EQ(outcome_of(status), Outcome::NoEffect) << what;
    EXPECT_GT(status.message().size(), 30u) << what;
  }
  EXPECT_EQ(reason_of(answers[2].second), Reason::TtlTooLarge);
  EXPECT_EQ(reason_of(answers[16].second), Reason::EmptyKey);
}

// Covers: S-59
TEST_F(CallTest, ADeadlineThatIsPastEndsTheCallBeforeAnythingIsSent) {
  Answer<PutResult> put;
  client.put("k", "v", put.callback(), {.deadline = now.lagging});
  turn();
  EXPECT_EQ(put.reason(), Reason::CallTimeout);
  EXPECT_EQ(put.outcome(), Outcome::NoEffect);
  EXPECT_THAT(engine.posted, IsEmpty());
}

// Covers: S-59
TEST_F(CallTest, EveryCallEndsAtItsDeadlineEvenIfTheEngineIsSilent) {
  const SessionRef session = open(1000, 1h);
  const HoldRef grant = hold(session);
  Answer<SessionRef> opened;
  Answer<HoldRef> acquired;
  Answer<PutResult> put;
  Answer<GetResult> got;
  Answer<EraseResult> erased;
  Answer<LockInfo> holders;
  Answer<QueueInfo> queue;
  Answer<SessionInfo> info;
  Answer<SessionList> list;
  Answer<bool> checked;
  Answer<void> released, closed, killed;
  Answer<ResumedSession> resumed;
  Answer<SessionId> forced;
  client.open_session({.ttl = 1s}, opened.callback());
  client.resume_session(SessionId(9), "secret", {}, resumed.callback());
  client.kill_session(SessionId(9), killed.callback());
  client.force_release("a", Token(5), forced.callback());
  client.acquire(session, "b", {}, acquired.callback());
  client.put("k", "v", put.callback());
  client.get("k", got.callback());
  client.erase("k", erased.callback());
  client.holders("a", holders.callback());
  client.queue("a", queue.callback());
  client.session_info(session->id(), info.callback());
  client.sessions({}, 0, list.callback());
  client.check(grant, checked.callback());
  client.release(grant, released.callback());
  turn();
  run(10s - 1ns);
  EXPECT_EQ(client.status().calls, 14u);
  run(1ns);
  EXPECT_EQ(client.status().calls, 0u);
  client.close(session, closed.callback());
  run(10s);
  EXPECT_EQ(opened.reason(), Reason::CallTimeout);
  EXPECT_EQ(opened.outcome(), Outcome::Unknown);
  EXPECT_EQ(acquired.outcome(), Outcome::Unknown);
  EXPECT_EQ(put.outcome(), Outcome::Unknown);
  EXPECT_EQ(erased.outcome(), Outcome::Unknown);
  EXPECT_EQ(released.outcome(), Outcome::Unknown);
  for (const Outcome outcome : {resumed.outcome(), killed.outcome(), forced.outcome()}) EXPECT_EQ(outcome, Outcome::Unknown);
  EXPECT_EQ(closed.outcome(), Outcome::Unknown);
  for (const Outcome outcome :
       {got.outcome(), holders.outcome(), queue.outcome(), info.outcome(), list.outcome(), checked.outcome()}) {
    EXPECT_EQ(outcome, Outcome::NoEffect);  // reads are never unknown
  }
  EXPECT_EQ(engine.take<Forget>().size(), 10u);  // what is not pursued is forgotten in the engine too
}

// The table of call.h: each of them, cancelled after it was sent, is answered in the next turn; persistent ones continue.
// Covers: S-59
TEST_F(CallTest, EveryCancelledCallEndsAndOnlyThatOne) {
  const SessionRef session = open(1000, 1h);
  const HoldRef grant = hold(session);
  Answer<SessionRef> opened;
  Answer<ResumedSession> resumed;
  Answer<PutResult> put, other;
  Answer<GetResult> got;
  Answer<bool> checked;
  Answer<void> released, killed, closed;
  const std::vector<CallId> calls = {client.open_session({.ttl = 1s}, opened.callback()),
                                     client.resume_session(SessionId(9), "secret", {}, resumed.callback()),
                                     client.put("k", "v", put.callback()),
                                     client.get("k", got.callback()),
                                     client.check(grant, checked.callback()),
                                     client.release(grant, released.callback()),
                                     client.kill_session(SessionId(9), killed.callback()),
                                     client.close(session, closed.callback())};
  client.put("k", "w", other.callback());
  turn();
  for (const CallId call : calls) client.cancel(call);
  turn();
  for (const auto& status : {opened.status(), resumed.status(), put.status(), killed.status(), closed.status()}) {
    EXPECT_EQ(reason_of(status), Reason::CancelPending) << status;
  }
  EXPECT_EQ(got.reason(), Reason::Cancelled) << "a read has no effect";
  EXPECT_EQ(checked.reason(), Reason::Cancelled);
  EXPECT_EQ(released.times(), 1);
  EXPECT_EQ(other.times(), 0);
  EXPECT_EQ(client.status().calls, 1u);
  for (const CallId call : calls) client.cancel(call);  // they have ended
  turn();
  EXPECT_EQ(put.times(), 1);
}

// Covers: S-59 REG_F16
TEST_F(CallTest, OfManyCallsCancelledInAnyOrderOnlyTheRightOnesEnd) {
  constexpr size_t kCalls = 200;
  const SessionRef session = open(1000, 1h);
  std::vector<Answer<HoldRef>> answers(kCalls);
  std::vector<CallId> calls;
  for (size_t i = 0; i < kCalls; ++i) {
    calls.push_back(client.acquire(session, "a" + std::to_string(i), {.wait = LockWait::endless()}, answers[i].callback()));
  }
  client.before_turn(now);
  std::map<Sequence, Ticket> by_request;
  for (const auto& [submit, request] : engine.take_commands<machine::Acquire>()) {
    engine.complete(submit.ticket, {.code = machine::ResultCode::Queued}, ApplyOutput::Stage::Queued);
    by_request[engine.request_of(submit.ticket).sequence] = submit.ticket;
  }
  engine.turn(now, effects);
  client.after_turn(now, effects);

  Random random(16);
  std::vector<size_t> order(kCalls);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = kCalls - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  order.resize(kCalls / 2);
  for (const size_t i : order) client.cancel(calls[i]);
  client.before_turn(now);
  for (const auto& [submit, request] : engine.take_commands<machine::CancelAcquire>()) {
    const auto& cancel = std::get<machine::CancelAcquire>(request.body);
    engine.complete(by_request.at(cancel.acquire.sequence), {.code = machine::ResultCode::Cancelled});
    engine.complete(submit.ticket, {.code = machine::ResultCode::Cancelled});
  }
  engine.turn(now, effects);
  client.after_turn(now, effects);
  const std::set<size_t> meant(order.begin(), order.end());
  for (size_t i = 0; i < kCalls; ++i) {
    EXPECT_EQ(answers[i].times(), meant.contains(i) ? 1 : 0) << i;
    if (!meant.contains(i)) continue;
    EXPECT_EQ(answers[i].reason(), Reason::Cancelled) << i;
  }
}

TEST_F(CallTest, KeysAndLooksReturnWhatTheMachineAnswers) {
  Answer<PutResult> put;
  Answer<EraseResult> erased;
  Answer<GetResult> got, absent;
  Answer<SessionInfo> info;
  client.put("k", "v", put.callback());
  client.erase("k", erased.callback());
  client.get("k", got.callback());
  client.get("x", absent.callback(), {}, Consistency::Local);
  client.session_info(SessionId(4), info.callback());
  turn();
  engine.complete(engine.take_commands<machine::Put>().at(0).first.ticket, {.revision = Revision(2)});
  engine.complete(engine.take_commands<machine::Delete>().at(0).first.ticket, {.revision = Revision(3), .deleted = 1});
  const auto asks = engine.take<Ask>();
  ASSERT_THAT(asks, SizeIs(3));
  EXPECT_EQ(asks[1].consistency, Consistency::Local);
  FakeReads state;
  state.one_entry = {KeyValue{"k", "v", Revision(2), Revision(2), 1}, Revision(2)};
  for (const Ask& ask : asks) {
    EXPECT_FALSE(ask.question.has_value()) << "nothing is put into bytes";
    engine.let_read(ask.ticket, state);
  }
  turn();
  EXPECT_EQ((*put).revision, Revision(2));
  EXPECT_EQ((*put).index, Index(1));
  EXPECT_EQ((*erased).deleted, 1u);
  EXPECT_EQ((*got).entry, (KeyValue{"k", "v", Revision(2), Revision(2), 1}));
  EXPECT_EQ((*absent).entry, std::nullopt);
  EXPECT_EQ(info.reason(), Reason::SessionNotFound);
}

TEST_F(CallTest, UnreadableAnswersAreCorruptAndNeverTrusted) {
  Answer<PutResult> put;
  client.put("k", "v", put.callback());
  turn();
  engine.complete_bytes(engine.take<Submit>().at(0).ticket, "\xff\xff\xff");
  turn();
  EXPECT_EQ(put.reason(), Reason::Corrupt);
  EXPECT_EQ(put.outcome(), Outcome::Unknown);
}

TEST_F(CallTest, AReadOfAnEngineWithoutCoordkitsMachineIsUnsupported) {
  Answer<GetResult> got;
  client.get("k", got.callback());
  turn();
  engine.complete_bytes(engine.take<Ask>().at(0).ticket, "");
  turn();
  EXPECT_EQ(got.reason(), Reason::Unsupported);
}

TEST_F(CallTest, AnswersToTicketsOfOthersAreIgnored) {
  engine.complete(Ticket(1), {});
  engine.complete(Ticket((uint64_t{1} << 63) + 1000), {});
  engine.next.events.push_back({MachineId(2), Index(1), "not ours"});
  engine.next.events.push_back({kCoordination, Index(1), "\xff\xff"});
  turn();
  EXPECT_EQ(client.status().calls, 0u);
}

TEST_F(CallTest, CallsBeyondTheLimitAreRefusedAtTheEntranceButReleasesAreNot) {
  Client small(engine, ClientOptions{.calls_max = 2});
  std::vector<std::optional<Reason>> reasons;
  for (int i = 0; i < 3; ++i) small.get("k", [&](auto answer) { reasons.push_back(reason_of(answer.status())); });
  small.before_turn(now);
  EXPECT_THAT(reasons, ElementsAre(Reason::TooManyRequests));
  small.stop();
  EXPECT_THAT(reasons, SizeIs(3));
}

// Covers: FLT_O01
TEST_F(CallTest, WhatTheEngineHasNotEndedYetIsLeftToItBecauseItKnowsMore) {
  Answer<PutResult> put;
  client.put("k", "v", put.callback(), {.deadline = now.lagging + 1s});
  turn();
  jump(1s);
  engine.next.more_expired = true;
  turn();
  EXPECT_EQ(put.times(), 0);
  EXPECT_EQ(client.next_turn(now), Duration::zero());
  turn();
  EXPECT_EQ(put.reason(), Reason::CallTimeout);
}

// Covers: REG_R79 FLT_A01
TEST_F(CallTest, ACallbackMayCallAnythingAgain) {
  const SessionRef session = open();
  std::vector<std::string> order;
  Answer<HoldRef> nested;
  client.put("k", "v", [&](auto) {
    order.emplace_back("put");
    client.get("k", [&](auto) { order.emplace_back("get"); });
    client.acquire(session, "", {}, [&](auto) { order.emplace_back("refused"); });
    client.close(session, [&](auto) { order.emplace_back("closed"); });
    client.cancel(CallId(1));
    client.abandon(CallId(12345));
  });
  turn();
  engine.complete(engine.take<Submit>().at(0).ticket, {});
  turn();
  EXPECT_THAT(order, ElementsAre("put", "refused"));
  EXPECT_EQ(client.next_turn(now), 0ns);
  turn();
  const FakeReads state;
  engine.let_read(engine.take<Ask>().at(0).ticket, state);
  engine.complete(engine.take_commands<machine::CloseSession>().at(0).first.ticket, {});
  turn();
  EXPECT_THAT(order, ElementsAre("put", "refused", "get", "closed"));
}

// Covers: REG_R79
TEST_F(CallTest, ACallbackMayStopTheClient) {
  const SessionRef session = open();
  Answer<void> other;
  int calls = 0;
  client.put("k", "v", [&](auto) {
    ++calls;
    client.stop();
    client.put("k", "v", [&](auto answer) {
      ++calls;
      EXPECT_EQ(reason_of(answer.status()), Reason::Closed);
    });
  });
  turn();
  client.close(session, other.callback());
  engine.complete(engine.take<Submit>().at(0).ticket, {});
  turn();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(other.reason(), Reason::Stopped);
  EXPECT_TRUE(client.stopped());
  EXPECT_EQ(client.next_turn(now), Duration::max());
}

// Covers: REG_R80
TEST_F(CallTest, StopEndsCallsMakesHandlesInvalidAndNothingRunsAfterIt) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  bool stopped = false;
  std::stop_callback on_lost(grant->lost_token(), [&] { stopped = true; });
  Answer<PutResult> sent, unsent;
  client.put("k", "v", sent.callback());
  turn();
  client.put("k", "v", unsent.callback());
  client.stop();
  client.stop();
  EXPECT_EQ(sent.reason(), Reason::Stopped);
  EXPECT_EQ(sent.outcome(), Outcome::Unknown);
  EXPECT_EQ(unsent.reason(), Reason::Stopped);
  EXPECT_EQ(unsent.outcome(), Outcome::NoEffect);
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(grant->valid(now.leading));
  EXPECT_FALSE(session->valid(now.leading));
  EXPECT_TRUE(session->closed());
  EXPECT_EQ(phases.back(), SessionPhase::Lost);
  engine.posted.clear();
  engine.complete(Ticket((uint64_t{1} << 63) + 3), {});
  turn();
  EXPECT_THAT(engine.posted, IsEmpty());
  EXPECT_EQ(sent.times(), 1);
}

// Covers: REG_R80
TEST_F(CallTest, AfterStopEveryCallIsClosedAndHandlesOutliveTheClient) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  client.stop();
  Answer<SessionRef> opened;
  Answer<HoldRef> acquired;
  Answer<void> released, closed;
  Answer<bool> checked;
  client.open_session({.ttl = 1s}, opened.callback());
  client.acquire(session, "a", {}, acquired.callback());
  client.release(grant, released.callback());
  client.release_later(grant);
  client.close(session, closed.callback());
  client.check(grant, checked.callback());
  for (const auto& reason : {opened.reason(), acquired.reason(), released.reason(), closed.reason(), checked.reason()}) {
    EXPECT_EQ(reason, Reason::Closed);
  }
  owned.reset();
  EXPECT_FALSE(grant->valid(now.leading));
  EXPECT_FALSE(session->valid(now.leading));
  EXPECT_EQ(session->phase(), SessionPhase::Lost);
}

// Apply checks the session before it performs the releases that a command carries: they did not happen (S-42).
TEST_F(CallTest, AReleaseCarriedByACommandThatFoundNoSessionIsLost) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  Answer<void> released;
  Answer<HoldRef> acquired;
  client.release(grant, released.callback());
  client.acquire(session, "b", {}, acquired.callback());
  turn();
  const auto acquires = engine.take_commands<machine::Acquire>();
  ASSERT_EQ(acquires.size(), 1u);
  ASSERT_EQ(acquires.at(0).second.prior_releases.size(), 1u);
  engine.complete(acquires.at(0).first.ticket, {.code = machine::ResultCode::SessionNotFound});
  turn();
  EXPECT_EQ(released.times(), 1);
  EXPECT_EQ(released.reason(), Reason::Lost);
}

TEST_F(CallTest, AHaltedReplicaEndsCallsAndIsNotAskedAgain) {
  const SessionRef session = open();
  const HoldRef grant = hold(session);
  Answer<void> released;
  client.release(grant, released.callback());
  turn();
  engine.next.halted = absl::DataLossError("disk");
  engine.fail(engine.take_commands<machine::Release>().at(0).first.ticket,
              make_error(Reason::ReplicaFailed, Outcome::Unknown, "the disk failed"));
  turn();
  EXPECT_EQ(released.reason(), Reason::ReplicaFailed);
  engine.posted.clear();
  run(20s);
  EXPECT_EQ(session->phase(), SessionPhase::Lost);  // by its own clock
  EXPECT_THAT(engine.take_commands<machine::Release>(), IsEmpty());
}

// Covers: S-28
TEST_F(CallTest, AHaltedReplicaEndsItsWatchesAndMakesNone) {
  std::vector<WatchBatch> told;
  const auto watch = [&] { client.watch(WatchOptions::of("k"), [&](WatchBatch batch) { told.push_back(std::move(batch)); }); };
  const FakeReads state;
  engine.state = &state;
  watch();
  client.before_turn(now);
  engine.next.completions.push_back({.ticket = engine.take<Ask>().at(0).ticket});
  engine.turn(now, effects);
  client.after_turn(now, effects);
  watch();  // not made yet
  engine.next.halted = absl::DataLossError("disk");
  turn();
  watch();
  turn();
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(told[0].what, WatchBatch::What::Created);
  for (size_t i = 1; i < told.size(); ++i) {
    EXPECT_EQ(told[i].what, WatchBatch::What::Ended);
    EXPECT_EQ(reason_of(told[i].why), Reason::ReplicaFailed);
  }
  turn();
  EXPECT_GT(client.next_turn(now), Duration(0)) << "nothing is left to do";
}

// A fixed history that touches everything; the client is stopped before each of its steps in turn.
// Covers: REG_R76 REG_R80 FLT_A03
TEST(StopTest, EveryCallEndsExactlyOnceWhereverTheClientIsStopped) {
  using machine::ResultCode;
  size_t steps = 1;
  for (size_t stop_at = 0; stop_at <= steps; ++stop_at) {
    FakeEngine engine;
    Now now{LaggingTime(1h), LeadingTime(1h)};
    EngineEffects effects;
    int made = 0;
    uint64_t opened = 9;
    std::map<int, int> answered;
    const auto count = [&] { return [&answered, id = made++](auto) { ++answered[id]; }; };
    SessionRef session;
    HoldRef grant;
    CallId waiting;
    size_t step = 0;
    auto client = std::make_unique<Client>(engine, ClientOptions{});
    const auto next = [&] {
      if (step++ == stop_at) client->stop();
    };
    const auto turn = [&] {
      next();
      client->before_turn(now);
      next();
      engine.turn(now, effects);
      client->after_turn(now, effects);
      now.lagging += 10ms;
      now.leading += 10ms;
    };
    const auto reply_all = [&] {
      for (const Submit& submit : engine.take<Submit>()) {
        const auto request = machine::decode_request(submit.command.view());
        machine::Result result;
        if (std::holds_alternative<machine::OpenSession>(request->body)) result = {.session = SessionId(++opened), .ttl = 1s};
        if (std::holds_alternative<machine::Acquire>(request->body)) result = {.code = ResultCode::Granted, .token = Token(5)};
        engine.complete(submit.ticket, result);
      }
      for (const Ask& ask : engine.take<Ask>()) engine.complete_bytes(ask.ticket, "");
    };
    client->open_session({.ttl = 1s}, [&, done = count()](auto answer) mutable {
      if (answer.ok()) session = *answer;
      done(std::move(answer));
    });
    turn();
    reply_all();
    turn();
    if (!session) session = make_ref<SessionState>(SessionId(10), 1s);
    next();
    client->acquire(session, "a", {}, [&, done = count()](auto answer) mutable {
      if (answer.ok()) grant = *answer;
      done(std::move(answer));
    });
    client->put("k", "v", count());
    client->get("k", count());
    turn();
    reply_all();
    turn();
    if (!grant) grant = make_ref<HoldState>(session, "a", "", Token(5), Index(1));
    waiting = client->acquire(session, "b", {.wait = LockWait::endless()}, count());
    const CallId abandoned = client->acquire(session, "c", {.wait = LockWait::endless()}, count());
    client->check(grant, count());
    turn();
    for (const Submit& submit : engine.take<Submit>())
      engine.complete(submit.ticket, {.code = ResultCode::Queued}, ApplyOutput::Stage::Queued);
    turn();
    next();
    client->cancel(waiting);
    next();
    client->abandon(abandoned);
    turn();
    client->release(grant, count());
    client->release_later(grant);
    turn();
    client->open_session({.ttl = 1s, .deadline = now.lagging + 5ms}, count());
    turn();
    next();
    client->close(session, count());
    client->holders("a", count());
    turn();
    reply_all();
    turn();
    steps = step;
    client.reset();
    ASSERT_EQ(answered.size(), static_cast<size_t>(made)) << "stopped before step " << stop_at;
    for (const auto& [id, times] : answered) ASSERT_EQ(times, 1) << "call " << id << ", stopped before step " << stop_at;
    ASSERT_EQ(session->phase(), SessionPhase::Lost) << stop_at;
  }
  EXPECT_GT(steps, 20u);
}

}  // namespace
}  // namespace coordkit::test
