// Calls of the host's own machines, and writes under a fence: what reaches the engine and what the caller gets.
#include "machine/guard.h"
#include "tests/unit/client/bench.h"

namespace coordkit::test {
namespace {

constexpr MachineId kLedger{16};

class HostMachineTest : public ClientBench {
 public:
  Submit only_submit() {
    const auto submits = engine.take<Submit>();
    EXPECT_EQ(submits.size(), 1u);
    return submits.empty() ? Submit{} : submits.front();
  }
};

// Covers: S-60
TEST_F(HostMachineTest, ACommandReachesItsMachineAsItIsAndItsResultComesBack) {
  Answer<ProposeResult> answer;
  client.propose(kLedger, "deposit 5", answer.callback());
  client.before_turn(now);
  const Submit submit = only_submit();
  EXPECT_EQ(submit.machine, kLedger);
  EXPECT_EQ(submit.command.view(), "deposit 5");
  EXPECT_EQ(submit.urgency, Urgency::Normal);
  EXPECT_FALSE(submit.guard.has_value());
  EXPECT_EQ(submit.deadline, now.lagging + ClientOptions{}.call_timeout);
  engine.next.completions.push_back({.ticket = submit.ticket, .bytes = SharedBytes("balance 5"), .index = Index(9)});
  turn();
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer).bytes, "balance 5");
  EXPECT_EQ((*answer).index, Index(9));
}

// Covers: S-60
TEST_F(HostMachineTest, ACommandThatItsMachineQueuedIsAnsweredByTheDecision) {
  Answer<ProposeResult> answer;
  client.propose(kLedger, "wait", answer.callback());
  client.before_turn(now);
  const Ticket ticket = only_submit().ticket;
  engine.next.completions.push_back({.ticket = ticket, .stage = ApplyOutput::Stage::Queued, .bytes = SharedBytes("in line")});
  turn();
  EXPECT_EQ(answer.times(), 0);
  engine.next.completions.push_back({.ticket = ticket, .bytes = SharedBytes("now"), .index = Index(12)});
  turn();
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer).bytes, "now");
  EXPECT_EQ(client.status().tickets, 0u);
}

// Covers: S-60
TEST_F(HostMachineTest, AQuestionReachesItsMachineAndSaysWhatItReads) {
  Answer<QueryResult> answer;
  client.query(kLedger, "balance", answer.callback(), {}, Consistency::Local);
  client.before_turn(now);
  const auto asks = engine.take<Ask>();
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_EQ(asks[0].machine, kLedger);
  EXPECT_EQ(asks[0].question, "balance");
  EXPECT_EQ(asks[0].consistency, Consistency::Local);
  engine.next.completions.push_back({.ticket = asks[0].ticket, .bytes = SharedBytes("5"), .index = Index(9)});
  turn();
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer).bytes, "5");
  EXPECT_EQ((*answer).as_of, Index(9));
}

// Covers: S-60
TEST_F(HostMachineTest, CoordkitsOwnMachinesTakeNoRawCommands) {
  for (const uint64_t id : {0, 1, 15}) {
    Answer<ProposeResult> proposed;
    Answer<QueryResult> asked;
    client.propose(MachineId(id), "x", proposed.callback());
    client.query(MachineId(id), "x", asked.callback());
    turn();
    EXPECT_EQ(proposed.reason(), Reason::InvalidArgument);
    EXPECT_EQ(asked.reason(), Reason::InvalidArgument);
  }
  EXPECT_TRUE(engine.take<Submit>().empty());
}

// Covers: S-60
TEST_F(HostMachineTest, AFenceTravelsAsAGuardOfTheLock) {
  const HoldRef billing = hold(open(), "billing", 5000);
  Answer<ProposeResult> proposed;
  Answer<PutResult> put;
  Answer<EraseResult> erased;
  client.propose(kLedger, "x", proposed.callback(), {.fence = fenced_by(billing)});
  client.put("k", "v", put.callback(), {.fence = fenced_by(billing)});
  client.erase("k", erased.callback(), {.fence = fenced_by(billing)});
  client.before_turn(now);
  const auto submits = engine.take<Submit>();
  ASSERT_EQ(submits.size(), 3u);
  for (const Submit& submit : submits) {
    ASSERT_TRUE(submit.guard.has_value());
    EXPECT_EQ(submit.guard->machine, kCoordination);
    EXPECT_EQ(machine::decode_guard(submit.guard->bytes).value(), machine::Guard(machine::LockHeld{"billing", Token(5000)}));
    engine.fail(submit.ticket, make_error(Reason::Fenced, "no longer"), FakeEngine::Sent::Yes);
  }
  turn();
  for (const auto reason : {proposed.reason(), put.reason(), erased.reason()}) EXPECT_EQ(reason, Reason::Fenced);
  EXPECT_EQ(proposed.outcome(), Outcome::NoEffect);
}

// Covers: S-60
TEST_F(HostMachineTest, AFenceOfNothingIsRefusedBeforeTheLog) {
  Answer<ProposeResult> of_nothing, of_no_token, of_no_name;
  client.propose(kLedger, "x", of_nothing.callback(), {.fence = fenced_by(HoldRef())});
  client.propose(kLedger, "x", of_no_token.callback(), {.fence = Fence{"billing", Token()}});
  client.propose(kLedger, "x", of_no_name.callback(), {.fence = Fence{"", Token(5)}});
  turn();
  for (const auto& answer : {of_nothing, of_no_token, of_no_name}) {
    EXPECT_EQ(answer.reason(), Reason::InvalidArgument);
    EXPECT_EQ(answer.outcome(), Outcome::NoEffect);
  }
  EXPECT_TRUE(engine.take<Submit>().empty());
}

// Covers: S-59
TEST_F(HostMachineTest, ACommandWithoutAnAnswerIsUnknownAtItsDeadlineAndLeavesNothing) {
  Answer<ProposeResult> answer;
  client.propose(kLedger, "x", answer.callback(), {.deadline = now.lagging + 1s});
  run(2s);
  EXPECT_EQ(answer.reason(), Reason::CallTimeout);
  EXPECT_EQ(answer.outcome(), Outcome::Unknown);
  EXPECT_EQ(engine.take<Forget>().size(), 1u);
  EXPECT_EQ(client.status().tickets, 0u);
}

}  // namespace
}  // namespace coordkit::test
