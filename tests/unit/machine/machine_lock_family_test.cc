// Shared locks, several locks at once, re-entry, lock-delay and deadlocks, as the log sees them (docs/semantics.md, Locks).
// The rules by themselves are in tests/unit/lock.
#include <gtest/gtest.h>

#include "machine/guard.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using Code = ResultCode;
using Stage = ApplyOutput::Stage;
constexpr LockMode kShared = LockMode::Shared;

Acquire shared(SessionId session, std::string name, Wait wait = Wait::none()) {
  return {.session = session, .owner_tag = "", .name = std::move(name), .wait = wait, .texts = {}, .mode = kShared};
}
AcquireAll all(SessionId session, std::vector<NamedLock> locks, Wait wait = Wait::none()) {
  return {.session = session, .owner_tag = "", .locks = std::move(locks), .wait = wait, .texts = {}};
}
Acquire counted(SessionId session, std::string name) {
  return {.session = session, .owner_tag = "", .name = std::move(name), .wait = {}, .texts = {}, .flags = kReentrant};
}
Acquire delayed(SessionId session, std::string name, Duration delay) {
  return {.session = session, .owner_tag = "", .name = std::move(name), .wait = {}, .texts = {}, .delay = delay};
}

// Ok: it is worth an entry.
template <typename Body>
Result judge(const Driver& d, const Body& body) {
  return d.machine.reads()->refusal_of(body).value_or(Result());
}

// Covers: S-46
TEST(LockFamilyTest, ReadersShareAndAReleasedWriterLetsThemInTogether) {
  Driver d;
  const SessionId writer = d.open(), a = d.open(), b = d.open();
  const Token token = d.acquire(writer, "n").token;
  EXPECT_EQ(d.submit(shared(a, "n")).code, Code::Held);
  EXPECT_EQ(d.submit(shared(a, "n", Wait::timed(1s))).code, Code::Queued);
  const Sequence first = d.last_sequence;
  EXPECT_EQ(d.submit(shared(b, "n", Wait::forever())).position, 1u);
  const Sequence second = d.last_sequence;
  d.release(writer, "n", token);
  EXPECT_EQ(d.last.of(first).code, Code::Granted);
  EXPECT_LT(d.last.of(first).token, d.last.of(second).token);
  EXPECT_EQ(d.last.timer_ops.size(), 1u) << "the timed wait is over";
  EXPECT_EQ(d.submit(shared(writer, "n")).code, Code::Granted);
}

// Covers: S-46
TEST(LockFamilyTest, DowngradeAndUpgradeAnswerTheNewTokenAndKillTheOldOne) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token token = d.acquire(a, "n").token;
  d.submit(shared(b, "n", Wait::forever()));
  const Sequence waiting = d.last_sequence;
  const Result down = d.submit(Downgrade{a, std::nullopt, "n", token});
  EXPECT_EQ(down.code, Code::Granted);
  EXPECT_EQ(down.since, d.index);
  EXPECT_EQ(d.last.of(waiting).code, Code::Granted) << "in the same apply";
  EXPECT_LT(down.token, d.last.of(waiting).token);
  EXPECT_EQ(d.release(a, "n", token).code, Code::NotOwner);
  EXPECT_EQ(d.submit(Upgrade{a, std::nullopt, "n", down.token}).code, Code::UpgradeConflict);
  EXPECT_EQ(d.submit(Upgrade{a, "other", "n", down.token}).code, Code::NotOwner);
  EXPECT_EQ(d.submit(CloseSession{b}).code, Code::Ok);
  const Result up = d.submit(Upgrade{a, "", "n", down.token});
  EXPECT_EQ(up.code, Code::Granted);
  EXPECT_GT(up.token, down.token);
  EXPECT_EQ(d.submit(Upgrade{a, "", "n", up.token}).code, Code::InvalidArgument) << "exclusive already";
}

// Covers: S-53 REG_F58
TEST(LockFamilyTest, SeveralLocksAreOneEntryOneTokenAndOneRelease) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Result both = d.submit(all(a, {{"x"}, {"y", kShared}}));
  ASSERT_EQ(both.code, Code::Granted);
  EXPECT_EQ(d.holder("x"), both.token);
  EXPECT_EQ(d.holder("y"), both.token);
  EXPECT_EQ(d.submit(all(b, {{"y", kShared}, {"z"}})).code, Code::Granted);
  EXPECT_EQ(d.submit(all(b, {{"q"}, {"x"}})).code, Code::Held);
  EXPECT_EQ(d.holder("q"), Token()) << "nothing in part";
  EXPECT_EQ(d.submit(all(b, {{"q"}, {"x"}}, Wait::timed(1s))).code, Code::Queued);
  const Sequence waiting = d.last_sequence;
  const FiredTimer timer{wait_timer(d.index), Generation(0)};
  const auto locks = d.machine.reads()->locks_of(a, {}).locks;
  ASSERT_EQ(locks.size(), 2u);
  EXPECT_EQ(locks[1].mode, kShared);
  EXPECT_EQ(d.fire({timer}).of(waiting).code, Code::WaitTimeout);
  EXPECT_EQ(d.queue("q").size() + d.queue("x").size(), 0u);
  EXPECT_EQ(d.release(a, "y", both.token).code, Code::Ok);
  EXPECT_EQ(d.holder("x"), Token());
}

// Covers: S-53
TEST(LockFamilyTest, ACancelledMultiLockLeavesNoQueue) {
  Driver d;
  const SessionId a = d.open(), b = d.open(), c = d.open();
  const Token token = d.acquire(a, "y").token;
  d.submit(all(b, {{"x"}, {"y"}}, Wait::forever()));
  const Sequence multi = d.last_sequence;
  d.acquire(c, "x", Wait::forever());
  const Sequence behind = d.last_sequence;
  EXPECT_EQ(d.submit(CancelAcquire{b, "", "y", {kOrigin, multi}}).code, Code::Cancelled);
  EXPECT_EQ(d.last.of(multi).code, Code::Cancelled);
  EXPECT_EQ(d.last.of(behind).code, Code::Granted);
  d.release(a, "y", token);
  EXPECT_EQ(d.machine.lock_names(), 1u);
}

// Covers: S-49
TEST(LockFamilyTest, DeadlockIsAnAnswerAndTheOtherWaitsGoOn) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  d.acquire(a, "x");
  const Token y = d.acquire(b, "y").token;
  d.acquire(a, "y", Wait::forever());
  const Sequence waiting = d.last_sequence;
  const uint64_t digest = d.machine.digest();
  EXPECT_EQ(d.acquire(b, "x", Wait::timed(1s)).code, Code::Deadlock);
  EXPECT_EQ(d.machine.digest(), digest);
  EXPECT_TRUE(d.last.timer_ops.empty());
  EXPECT_EQ(outcome_of(Code::Deadlock), ResultOutcome::None);
  EXPECT_EQ(d.submit(Acquire{b, "", "x", Wait::timed(1s), {}, kNoDeadlockCheck}).code, Code::Queued);
  d.release(b, "y", y);
  EXPECT_EQ(d.last.of(waiting).code, Code::Granted);
}

// Covers: S-38 S-43
TEST(LockFamilyTest, ANumberedReleaseThatAnotherCommandCarriesCountsOnce) {
  Driver d;
  const SessionId a = d.open();
  const Token token = d.submit(counted(a, "n")).token;
  const Result again = d.submit(counted(a, "n"));
  EXPECT_EQ(again.code, Code::Granted);
  EXPECT_EQ(again.token, token);
  d.submit(counted(a, "n"));
  const auto count = [&d] { return d.machine.reads()->holders_of("n").holders.at(0).count; };
  EXPECT_EQ(count(), 3u);
  EXPECT_EQ(d.submit(Acquire{a, "", "m", Wait::none(), {}, 0}, {{"n", token, 1}}).code, Code::Granted);
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(d.submit(Release{a, std::nullopt, "n", token, 1}).code, Code::Ok) << "done by the command before";
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(d.submit(Release{a, std::nullopt, "n", token, 2}, {{"n", token, 1}}).code, Code::Ok);
  EXPECT_EQ(d.submit(Release{a, std::nullopt, "n", token, 3}, {{"n", token, 2}}).code, Code::Ok);
  EXPECT_EQ(d.holder("n"), Token());
  EXPECT_EQ(d.submit(Release{a, std::nullopt, "n", token, 3}).code, Code::NotOwner);
}

TEST(LockFamilyTest, ANewValueIsShownAndKeepsTheToken) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token token = d.acquire(a, "n").token;
  EXPECT_EQ(d.submit(UpdateValue{a, std::nullopt, "n", token, "host:2"}).code, Code::Ok);
  EXPECT_EQ(d.submit(UpdateValue{b, std::nullopt, "n", token, "mine"}).code, Code::NotOwner);
  const HolderInfo holder = d.machine.reads()->holders_of("n").holders.at(0);
  EXPECT_EQ(holder.texts.value, "host:2");
  EXPECT_EQ(holder.token, token);
}

// Covers: S-40 LT-7
TEST(LockFamilyTest, ExpiryStartsADelayWhoseTimerEndsIt) {
  Driver d;
  const SessionId a = d.open(), b = d.open(), c = d.open();
  EXPECT_EQ(d.submit(delayed(a, "n", 3s)).code, Code::Granted);
  d.acquire(b, "n", Wait::forever());
  const Sequence waiting = d.last_sequence;
  d.expire({a});
  ASSERT_EQ(d.last.timer_ops.size(), 2u);
  const TimerOp armed = d.last.timer_ops.back();
  EXPECT_EQ(armed.kind, TimerOp::Kind::Arm);
  EXPECT_EQ(armed.duration, 3s);
  EXPECT_TRUE(armed.group.alone());
  EXPECT_TRUE(d.last.answers.empty());
  EXPECT_TRUE(d.machine.reads()->holders_of("n").delayed);
  EXPECT_EQ(d.acquire(c, "n").code, Code::Delayed);
  const std::vector<TimerOp> timers = d.timers();
  EXPECT_TRUE(std::ranges::is_sorted(timers, {}, &TimerOp::id));
  EXPECT_EQ(std::ranges::count(timers, armed), 1) << "it starts anew at a takeover";
  EXPECT_TRUE(d.fire({{armed.id, Generation(1)}}).answers.empty()) << "another generation";
  EXPECT_EQ(d.fire({{armed.id, Generation(0)}}).of(waiting).code, Code::Granted);
  EXPECT_EQ(d.last.timer_ops.size(), 1u);
  EXPECT_EQ(d.last.timer_ops.front().kind, TimerOp::Kind::Disarm);
  EXPECT_TRUE(d.fire({{armed.id, Generation(0)}}).timer_ops.empty()) << "stale";
}

// Covers: S-40
TEST(LockFamilyTest, AnAdministratorClearsADelayAndCloseStartsNone) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  d.submit(delayed(a, "n", 60s));
  d.submit(delayed(b, "m", 60s));
  d.submit(CloseSession{b});
  EXPECT_EQ(d.machine.lock_names(), 1u);
  EXPECT_EQ(d.submit(ClearDelay{"n"}).code, Code::NotFound);
  d.expire({a});
  EXPECT_EQ(d.submit(ClearDelay{"n"}).code, Code::Ok);
  EXPECT_EQ(d.last.timer_ops.size(), 1u) << "its timer is disarmed";
  EXPECT_EQ(d.machine.lock_names(), 0u);
  EXPECT_TRUE(d.timers().empty());
}

// Covers: S-36
TEST(LockFamilyTest, ALookAnswersATryWithTheCodeThatApplyWouldGive) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Result held = d.submit(Acquire{a, "", "n", Wait::none(), {}, kReentrant, kShared});
  d.acquire(b, "n", Wait::forever());
  d.submit(delayed(b, "m", 3s));
  const SessionId c = d.open();
  EXPECT_EQ(judge(d, shared(c, "n")).code, Code::Held) << "it would overtake the writer";
  EXPECT_EQ(judge(d, shared(c, "free")).code, Code::Ok) << "worth an entry";
  EXPECT_EQ(judge(d, all(c, {{"free"}, {"n", kShared}})).code, Code::Held);
  EXPECT_EQ(judge(d, shared(a, "n")).code, Code::AlreadyHeld);
  EXPECT_EQ(judge(d, shared(a, "n")).token, held.token);
  EXPECT_EQ(judge(d, Acquire{a, "", "n", Wait::none(), {}, kReentrant, kShared}).code, Code::Ok) << "counts up";
  EXPECT_EQ(judge(d, shared(b, "n")).code, Code::AlreadyWaiting);
  d.expire({b});
  EXPECT_EQ(judge(d, shared(c, "m")).code, Code::Delayed);
  EXPECT_EQ(judge(d, shared(c, "n")).code, Code::Ok);
}

// Covers: S-54
TEST(LockFamilyTest, GuardsAskForTheExclusiveHoldOrForNone) {
  Driver d;
  const SessionId a = d.open();
  const auto met = [&d](const Guard& guard) { return d.machine.holds(encode(guard)); };
  EXPECT_TRUE(met(LockFree{"n"}));
  const Token reader = d.submit(shared(a, "n")).token;
  EXPECT_TRUE(met(LockHeld{"n", reader}));
  EXPECT_FALSE(met(LockHeld{"n", reader, true}));
  EXPECT_FALSE(met(LockFree{"n"}));
  const Token writer = d.submit(Upgrade{a, std::nullopt, "n", reader}).token;
  EXPECT_TRUE(met(LockHeld{"n", writer, true}));
  EXPECT_FALSE(met(LockHeld{"n", reader})) << "the previous token is dead";
  const Token both = d.submit(all(a, {{"x", kShared}, {"y"}})).token;
  EXPECT_FALSE(met(LockHeld{"x", both, true}));
  EXPECT_TRUE(met(LockHeld{"y", both, true}));
}

// Covers: S-56
TEST(LockFamilyTest, ModesCountsAndPositionsAreShown) {
  Driver d;
  const SessionId a = d.open(), b = d.open(), c = d.open();
  d.submit(shared(a, "n"));
  d.submit(shared(b, "n"));
  d.acquire(c, "n", Wait::forever());
  d.submit(all(a, {{"x"}, {"n", kShared}}, Wait::forever()));
  EXPECT_EQ(d.last.answers.front().result.code, Code::AlreadyHeld);
  const auto holders = d.machine.reads()->holders_of("n");
  ASSERT_EQ(holders.holders.size(), 2u);
  EXPECT_EQ(holders.holders[1].mode, kShared);
  EXPECT_FALSE(holders.delayed);
  const auto queue = d.machine.reads()->queue_of("n", 0).waiters;
  ASSERT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue[0].mode, LockMode::Exclusive);
  EXPECT_EQ(queue[0].position, 0u);
}

// Covers: REG_R73
TEST(LockFamilyTest, ASkippedMultiLockIsFoundOnceByItsRequest) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token token = d.acquire(a, "y").token;
  d.submit(all(b, {{"x"}, {"y"}}, Wait::forever()));
  const Sequence waiting = d.last_sequence;
  EXPECT_EQ(d.queued_result(waiting)->stage, Stage::Queued);
  EXPECT_EQ(d.queued_result(waiting)->index, d.index);
  d.release(a, "y", token);
  const auto granted = d.queued_result(waiting);
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->stage, Stage::Final);
  EXPECT_EQ(decode_result(granted->bytes).value(), d.last.of(waiting));
  EXPECT_EQ(d.holder("x"), d.last.of(waiting).token);
}

// One that waits, one that holds at rest and one that holds with a queue behind it; not what is over, or another's.
// Covers: REG_R73
TEST(LockFamilyTest, SkippedAcquiresAreFoundByTheirRequestsWhereverTheyAre) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  std::vector<RequestId> requests;
  std::map<RequestId, Index> waiting;
  std::map<RequestId, Result> granted;
  for (const std::string name : {"waiting", "resting", "busy", "over"}) {
    const Token token = d.acquire(a, name).token;
    d.acquire(b, name, Wait::forever());
    const RequestId request{kOrigin, d.last_sequence};
    requests.push_back(request);
    if (name == "waiting") waiting[request] = d.index;
    if (name == "busy") d.acquire(a, name, Wait::forever(), "another");
    if (name == "over") d.submit(CancelAcquire{b, "", name, request});
    if (name != "resting" && name != "busy") continue;
    d.release(a, name, token);
    granted[request] = d.last.of(request.sequence);
    EXPECT_EQ(granted[request].token, d.holder(name));
  }
  requests.push_back({kOrigin, Sequence(9'999)});
  std::map<RequestId, Index> found_waiting;
  std::map<RequestId, Result> found_granted;
  d.machine.queued_results(requests, [&](const ApplyOutput::Result& result) {
    const bool waits = result.stage == Stage::Queued;
    EXPECT_TRUE(waits ? found_waiting.emplace(result.request, result.index).second
                      : found_granted.emplace(result.request, decode_result(result.bytes).value()).second);
  });
  EXPECT_EQ(found_waiting, waiting);
  EXPECT_EQ(found_granted, granted);
  for (RequestId& request : requests) request.origin.boot = request.origin.boot.next();
  d.machine.queued_results(requests, [](const ApplyOutput::Result&) { ADD_FAILURE() << "of another origin"; });
}

}  // namespace
}  // namespace coordkit::machine
