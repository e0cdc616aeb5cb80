// S-59: every asynchronous call can be cancelled by itself, before it is sent and after, and ends once, as described in
// include/coordkit/call.h.
#include <functional>

#include "tests/unit/client/bench.h"

namespace coordkit::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// How a call is pursued when it is cancelled after being handed over.
enum class Kind : uint8_t {
  Waits,    // a cancel goes to the log, which decides
  Pursued,  // CancelPending; its later outcome is undone
  Written,  // CancelPending; it may have its effect
  Goes,     // CancelPending, also before it is sent: it continues until done
  Reads,    // Cancelled: it has no effect
};

using End = std::function<void(absl::Status)>;
struct Case {
  const char* name;
  Kind kind;
  std::function<CallId(Client&, const SessionRef&, const HoldRef&, End)> start;
};

template <typename T>
Callback<T> to(End end) {
  return [end = std::move(end)](absl::StatusOr<T> answer) { end(answer.status()); };
}

std::vector<Case> cases() {
  using C = Client;
  using S = const SessionRef;
  using H = const HoldRef;
  const auto calls = [](Client& client) { return client.coordination(); };
  return {
      {"open_session", Kind::Pursued, [](C& c, S&, H&, End e) { return c.open_session({.ttl = 3s}, to<SessionRef>(e)); }},
      {"resume_session", Kind::Pursued,
       [](C& c, S&, H&, End e) { return c.resume_session(SessionId(7), "secret", {}, to<ResumedSession>(e)); }},
      {"kill_session", Kind::Written, [](C& c, S&, H&, End e) { return c.kill_session(SessionId(7), e); }},
      {"force_release", Kind::Written, [](C& c, S&, H&, End e) { return c.force_release("a", Token(7), to<SessionId>(e)); }},
      {"clear_delay", Kind::Written, [](C& c, S&, H&, End e) { return c.clear_delay("a", e); }},
      {"acquire", Kind::Waits,
       [](C& c, S& s, H&, End e) { return c.acquire(s, "b", {.wait = LockWait::endless()}, to<HoldRef>(e)); }},
      {"acquire_all", Kind::Waits,
       [](C& c, S& s, H&, End e) {
         return c.acquire_all(s, {{"b"}, {"c"}}, {.wait = LockWait::endless()}, to<HoldRef>(e));
       }},
      {"campaign", Kind::Waits,
       [=](C& c, S& s, H&, End e) { return calls(c).campaign(s, "b", {.wait = LockWait::endless()}, to<HoldRef>(e)); }},
      {"release", Kind::Goes, [](C& c, S&, H& h, End e) { return c.release(h, e); }},
      {"close", Kind::Goes, [](C& c, S& s, H&, End e) { return c.close(s, e); }},
      {"downgrade", Kind::Pursued, [](C& c, S&, H& h, End e) { return c.downgrade(h, to<HoldRef>(e)); }},
      {"upgrade", Kind::Pursued, [](C& c, S&, H& h, End e) { return c.upgrade(h, to<HoldRef>(e)); }},
      {"update_value", Kind::Written, [](C& c, S&, H& h, End e) { return c.update_value(h, "v", e); }},
      {"check", Kind::Reads, [](C& c, S&, H& h, End e) { return c.check(h, to<bool>(e)); }},
      {"holders", Kind::Reads, [](C& c, S&, H&, End e) { return c.holders("a", to<LockInfo>(e)); }},
      {"queue", Kind::Reads, [](C& c, S&, H&, End e) { return c.queue("a", to<QueueInfo>(e)); }},
      {"session_info", Kind::Reads, [](C& c, S& s, H&, End e) { return c.session_info(s->id(), to<SessionInfo>(e)); }},
      {"sessions", Kind::Reads, [](C& c, S&, H&, End e) { return c.sessions({}, 0, to<SessionList>(e)); }},
      {"locks_of", Kind::Reads, [](C& c, S& s, H&, End e) { return c.locks_of(s->id(), {}, to<SessionLocks>(e)); }},
      {"put", Kind::Written, [](C& c, S&, H&, End e) { return c.put("k", "v", to<PutResult>(e)); }},
      {"get", Kind::Reads, [](C& c, S&, H&, End e) { return c.get("k", to<GetResult>(e)); }},
      {"erase", Kind::Written, [](C& c, S&, H&, End e) { return c.erase("k", to<EraseResult>(e)); }},
      {"propose", Kind::Written, [](C& c, S&, H&, End e) { return c.propose(MachineId(16), "x", to<ProposeResult>(e)); }},
      {"query", Kind::Reads, [](C& c, S&, H&, End e) { return c.query(MachineId(16), "x", to<QueryResult>(e)); }},
      {"set_limit", Kind::Written, [=](C& c, S& s, H&, End e) { return calls(c).set_limit(s, "s", 1, e); }},
      {"acquire_permits", Kind::Waits,
       [=](C& c, S& s, H&, End e) {
         return calls(c).acquire_permits(s, "s", 1, {.wait = LockWait::endless()}, to<HoldRef>(e));
       }},
      {"delete_semaphore", Kind::Written, [=](C& c, S& s, H&, End e) { return calls(c).delete_semaphore(s, "s", e); }},
      {"semaphore", Kind::Reads, [=](C& c, S&, H&, End e) { return calls(c).semaphore("s", to<SemaphoreInfo>(e)); }},
      {"create_latch", Kind::Written, [=](C& c, S& s, H&, End e) { return calls(c).create_latch(s, "l", 1, e); }},
      {"count_down", Kind::Written, [=](C& c, S& s, H&, End e) { return calls(c).count_down(s, "l", 1, to<uint64_t>(e)); }},
      {"await_latch", Kind::Waits, [=](C& c, S& s, H&, End e) { return calls(c).await_latch(s, "l", LockWait::endless(), e); }},
      {"delete_latch", Kind::Written, [=](C& c, S& s, H&, End e) { return calls(c).delete_latch(s, "l", e); }},
      {"latch", Kind::Reads, [=](C& c, S&, H&, End e) { return calls(c).latch("l", to<LatchInfo>(e)); }},
      {"close_barrier", Kind::Written,
       [=](C& c, S& s, H&, End e) { return calls(c).close_barrier(s, "b", BarrierAtSessionEnd::Stays, e); }},
      {"open_barrier", Kind::Written, [=](C& c, S& s, H&, End e) { return calls(c).open_barrier(s, "b", e); }},
      {"await_barrier", Kind::Waits,
       [=](C& c, S& s, H&, End e) { return calls(c).await_barrier(s, "b", LockWait::endless(), e); }},
      {"barrier", Kind::Reads, [=](C& c, S&, H&, End e) { return calls(c).barrier("b", to<BarrierInfo>(e)); }},
      {"enter", Kind::Waits,
       [=](C& c, S& s, H&, End e) {
         return calls(c).enter(s, "d", 2, PartyAtSessionEnd::Breaks, LockWait::endless(), to<HoldRef>(e));
       }},
      {"leave", Kind::Waits, [=](C& c, S&, H& h, End e) { return calls(c).leave(h, LockWait::endless(), e); }},
      {"double_barrier", Kind::Reads,
       [=](C& c, S&, H&, End e) { return calls(c).double_barrier("d", to<DoubleBarrierInfo>(e)); }},
      {"enqueue", Kind::Written, [=](C& c, S&, H&, End e) { return calls(c).enqueue("q", "v", 0, to<Index>(e)); }},
      {"claim", Kind::Waits,
       [=](C& c, S& s, H&, End e) { return calls(c).claim(s, "q", {.wait = LockWait::endless()}, to<ClaimedItem>(e)); }},
      {"acknowledge", Kind::Pursued, [=](C& c, S&, H& h, End e) { return calls(c).acknowledge(h, e); }},
      {"item_queue", Kind::Reads, [=](C& c, S&, H&, End e) { return calls(c).item_queue("q", 1, to<ItemQueueInfo>(e)); }},
      {"add", Kind::Written, [=](C& c, S&, H&, End e) { return calls(c).add("n", 1, to<int64_t>(e)); }},
      {"set", Kind::Written, [=](C& c, S&, H&, End e) { return calls(c).set("n", 1, to<int64_t>(e)); }},
      {"compare_and_set", Kind::Written,
       [=](C& c, S&, H&, End e) { return calls(c).compare_and_set("n", 1, 2, to<SwapResult>(e)); }},
      {"allocate", Kind::Written, [=](C& c, S&, H&, End e) { return calls(c).allocate("n", 1, to<int64_t>(e)); }},
      {"delete_counter", Kind::Written, [=](C& c, S&, H&, End e) { return calls(c).delete_counter("n", e); }},
      {"counter", Kind::Reads, [=](C& c, S&, H&, End e) { return calls(c).counter("n", to<int64_t>(e)); }},
      {"join", Kind::Pursued, [=](C& c, S& s, H&, End e) { return calls(c).join(s, "g", "", "", to<Index>(e)); }},
      {"update", Kind::Written, [=](C& c, S& s, H&, End e) { return calls(c).update(s, "g", "", "", e); }},
      {"leave_group", Kind::Written, [=](C& c, S& s, H&, End e) { return calls(c).leave_group(s, "g", "", e); }},
      {"members", Kind::Reads, [=](C& c, S&, H&, End e) { return calls(c).members("g", to<GroupInfo>(e)); }},
      {"proclaim", Kind::Written, [=](C& c, S&, H& h, End e) { return calls(c).proclaim(h, "v", e); }},
      {"leader", Kind::Reads, [=](C& c, S&, H&, End e) { return calls(c).leader("b", to<std::optional<LeaderInfo>>(e)); }},
      {"range", Kind::Reads, [](C& c, S&, H&, End e) { return c.keys().range(RangeOperation::all(), to<RangeResult>(e)); }},
      {"commit", Kind::Written,
       [](C& c, S&, H&, End e) {
         return c.keys().commit({{}, {PutOperation{.key = "k"}}, {}}, to<TransactionResult>(e));
       }},
      {"compact", Kind::Written, [](C& c, S&, H&, End e) { return c.keys().compact(Revision(2), to<CompactResult>(e)); }},
  };
}

class CancelTest : public ClientBench {
 public:
  struct Ended {
    int times = 0;
    absl::Status status;
  };
  std::shared_ptr<Ended> ended = std::make_shared<Ended>();
  HoldRef hold;
  CallId start(const Case& one, Duration ttl = kTtl) {
    const SessionRef session = open(1000, ttl);
    const LockMode mode = std::string_view(one.name) == "upgrade" ? LockMode::Shared : LockMode::Exclusive;
    Answer<HoldRef> held;
    client.acquire(session, "a", {.wait = LockWait::endless(), .mode = mode}, held.callback());
    client.before_turn(now);
    engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                    {.code = machine::ResultCode::Granted, .token = Token(5000), .since = Index(1)});
    engine.turn(now, effects);
    client.after_turn(now, effects);
    engine.posted.clear();
    hold = *held;
    return one.start(client, session, hold, [place = ended](absl::Status status) {
      ++place->times;
      place->status = std::move(status);
    });
  }
};

class CancelEachTest : public CancelTest, public testing::WithParamInterface<Case> {};

// Covers: S-59
TEST_P(CancelEachTest, BeforeItIsSentItEndsAndNothingIsSent) {
  const CallId call = start(GetParam());
  client.cancel(call);
  turn();
  turn();
  ASSERT_EQ(ended->times, 1);
  const bool goes = GetParam().kind == Kind::Goes;
  EXPECT_EQ(reason_of(ended->status), goes ? Reason::CancelPending : Reason::Cancelled) << ended->status;
  EXPECT_EQ(outcome_of(ended->status), goes ? Outcome::Unknown : Outcome::NoEffect);
  const bool leaves = std::string_view(GetParam().name) == "leave";  // the place is given up whatever happens to the wait
  EXPECT_EQ(engine.take<Submit>().empty(), !goes && !leaves);
  EXPECT_EQ(hold->valid(now.leading), !goes && !leaves) << "as it was, also after a downgrade that never left";
  client.cancel(call);
  run(3s);
  EXPECT_EQ(ended->times, 1);
}

// Covers: S-59
TEST_P(CancelEachTest, AfterItIsSentItEndsOnceAndSaysWhatMayComeOfIt) {
  const CallId call = start(GetParam());
  turn();
  const auto sent = engine.take<Submit>();
  const auto asked = engine.take<Ask>();
  ASSERT_EQ(sent.size() + asked.size(), 1u);
  client.cancel(call);
  turn();
  switch (GetParam().kind) {
    case Kind::Reads:
      EXPECT_EQ(reason_of(ended->status), Reason::Cancelled) << ended->status;
      EXPECT_EQ(outcome_of(ended->status), Outcome::NoEffect);
      EXPECT_THAT(engine.take<Forget>(), SizeIs(1));
      break;
    case Kind::Waits:
      EXPECT_EQ(ended->times, 0) << "the log decides";
      // The engine reports the request's id with the answer that it is queued: a cancel names it.
      engine.complete(sent.at(0).ticket, {.code = machine::ResultCode::Queued}, ApplyOutput::Stage::Queued);
      turn();
      turn();
      EXPECT_THAT(engine.take_commands<machine::CancelAcquire>(), SizeIs(1));
      engine.complete(sent.at(0).ticket, {.code = machine::ResultCode::Cancelled});
      turn();
      EXPECT_EQ(reason_of(ended->status), Reason::Cancelled) << ended->status;
      break;
    case Kind::Pursued:
    case Kind::Written:
    case Kind::Goes:
      EXPECT_EQ(reason_of(ended->status), Reason::CancelPending) << ended->status;
      EXPECT_EQ(outcome_of(ended->status), Outcome::Unknown);
      EXPECT_EQ(engine.take<Forget>().size(), GetParam().kind == Kind::Written ? 1u : 0u);
      break;
  }
  EXPECT_EQ(ended->times, 1);
  run(3s);
  EXPECT_EQ(ended->times, 1);
}

// A caller that stops to wait is not kept waiting until there is a leader again, however long it would have waited.
// Covers: S-59
TEST_P(CancelEachTest, WithoutALeaderItEndsSoonAfterItsCancelAndItsLaterOutcomeIsUndone) {
  if (GetParam().kind != Kind::Waits) return;
  const CallId call = start(GetParam(), 1h);
  turn();
  const auto sent = engine.take<Submit>();
  ASSERT_THAT(sent, SizeIs(1));
  run(1min);
  EXPECT_EQ(ended->times, 0);
  client.cancel(call);
  run(9s);
  client.cancel(call);
  run(900ms);
  EXPECT_EQ(ended->times, 0) << "perhaps there is one in time";
  run(200ms);
  EXPECT_EQ(reason_of(ended->status), Reason::CancelPending) << ended->status;
  EXPECT_EQ(outcome_of(ended->status), Outcome::Unknown);
  engine.posted.clear();
  engine.complete(sent[0].ticket, {.code = machine::ResultCode::Queued}, ApplyOutput::Stage::Queued);
  turn();
  turn();
  EXPECT_THAT(engine.take_commands<machine::CancelAcquire>(), SizeIs(1));
  EXPECT_EQ(ended->times, 1);
}

// Covers: S-59
TEST_F(CancelTest, ACancelledWaitEndsAtItsOwnDeadlineIfThatIsSooner) {
  const CallId call = start({"acquire", Kind::Waits,
                             [this](Client& c, const SessionRef& s, const HoldRef&, End e) {
                               const CallDeadline deadline = now.lagging + 2s;
                               return c.acquire(s, "b", {.wait = LockWait::endless(), .deadline = deadline}, to<HoldRef>(e));
                             }},
                            1h);
  turn();
  client.cancel(call);
  run(1900ms);
  EXPECT_EQ(ended->times, 0);
  run(200ms);
  EXPECT_EQ(reason_of(ended->status), Reason::CancelPending) << ended->status;
  run(20s);
  EXPECT_EQ(ended->times, 1);
}

Case acknowledgement() {
  return {"acknowledge", Kind::Pursued,
          [](Client& c, const SessionRef&, const HoldRef& h, End e) { return c.coordination().acknowledge(h, e); }};
}

// The handle has gone, and leaves the end of the hold to the acknowledgement.
// Covers: S-37
TEST_F(CancelTest, AClaimWhoseAcknowledgementIsNotSentIsGivenBack) {
  const CallId call = start(acknowledgement());
  hold->invalidate();
  client.cancel(call);
  turn();
  turn();
  EXPECT_EQ(reason_of(ended->status), Reason::Cancelled) << ended->status;
  EXPECT_THAT(engine.take_commands<machine::Release>(), SizeIs(1));
}

// Covers: S-37
TEST_F(CancelTest, AClaimWhoseAcknowledgementIsTooLateToBeSentIsGivenBack) {
  start({"acknowledge", Kind::Pursued, [this](Client& c, const SessionRef&, const HoldRef& h, End e) {
           return c.coordination().acknowledge(h, e, now.lagging);
         }});
  hold->invalidate();
  turn();
  turn();
  EXPECT_EQ(reason_of(ended->status), Reason::CallTimeout) << ended->status;
  EXPECT_EQ(outcome_of(ended->status), Outcome::NoEffect);
  EXPECT_THAT(engine.take_commands<machine::Release>(), SizeIs(1));
}

// Covers: S-37
TEST_F(CancelTest, AClaimIsNotGivenBackWhileItsAcknowledgementGoesOn) {
  const CallId call = start(acknowledgement());
  hold->invalidate();
  turn();
  const auto sent = engine.take<Submit>();
  ASSERT_THAT(sent, SizeIs(1));
  client.cancel(call);
  turn();
  EXPECT_EQ(reason_of(ended->status), Reason::CancelPending) << ended->status;
  engine.complete(sent.at(0).ticket, {.code = machine::ResultCode::Ok});
  turn();
  turn();
  EXPECT_THAT(engine.take_commands<machine::Release>(), IsEmpty());
  EXPECT_EQ(client.status().holds, 0u);
}

INSTANTIATE_TEST_SUITE_P(Calls, CancelEachTest, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace coordkit::test
