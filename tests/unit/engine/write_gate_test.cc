// Messages wait for the write that they depend on, whatever the store's numbers are for the core's own.
#include "engine/loop/write_gate.h"

#include <gtest/gtest.h>

namespace coordkit::engine {
namespace {

using std::chrono::seconds;

constexpr LaggingTime kStart{seconds(10)};

raft::Send vote_after(uint64_t write) {
  return {ReplicaId(2), WriteNumber(write), raft::VoteReply{.kind = raft::VoteKind::Real, .term = Term(2)}};
}

TEST(WriteGateTest, AMessageLeavesWhenItsWriteIsDurable) {
  WriteGate gate;
  EngineEffects effects;
  gate.submit({.number = WriteNumber(1)}, kStart, effects);
  gate.send(vote_after(1), effects);
  gate.send(vote_after(0), effects);
  gate.release(effects.sends);
  EXPECT_EQ(effects.sends.size(), 1u) << "only the one that waits for nothing";
  gate.written(WriteNumber(1), kStart);
  gate.release(effects.sends);
  EXPECT_EQ(effects.sends.size(), 2u);
}

TEST(WriteGateTest, AHostThatIsQuickerThanATurnGetsWhatWaitsAndTheTurnDoesNotRepeatIt) {
  WriteGate gate;
  EngineEffects effects;
  for (uint64_t write = 1; write <= 2; ++write) {
    gate.submit({.number = WriteNumber(write)}, kStart, effects);
    gate.send(vote_after(write), effects);
  }
  std::vector<Outbound> early;
  gate.release(WriteNumber(1), early);
  EXPECT_EQ(early.size(), 1u) << "the other write is not durable";
  gate.written(WriteNumber(1), kStart);
  gate.release(effects.sends);
  EXPECT_TRUE(effects.sends.empty());
}

TEST(WriteGateTest, TheGenesisIsTheFirstWriteAndTheCoreCountsAfterIt) {
  WriteGate gate;
  EngineEffects effects;
  gate.bootstrap(GroupId(), raft::Genesis{.cluster = ClusterId(7)}, effects);
  EXPECT_TRUE(gate.founding());
  ASSERT_EQ(effects.writes.size(), 1u);
  gate.written(WriteNumber(1), kStart);
  EXPECT_EQ(gate.take_founded()->cluster, ClusterId(7));
  EXPECT_EQ(gate.durable_of_core(), WriteNumber());
  gate.submit({.number = WriteNumber(1)}, kStart, effects);
  EXPECT_EQ(effects.writes.back().number, WriteNumber(2));
  gate.written(WriteNumber(2), kStart);
  EXPECT_EQ(gate.durable_of_core(), WriteNumber(1));
}

// Covers: FLT_P11
TEST(WriteGateTest, AStoreThatOwesAnAnswerForLongIsNamed) {
  WriteGate gate;
  EngineEffects effects;
  EXPECT_EQ(gate.slow(kStart + seconds(60), seconds(3)), "");
  gate.submit({.number = WriteNumber(1)}, kStart, effects);
  EXPECT_EQ(gate.slow(kStart + seconds(2), seconds(3)), "");
  EXPECT_NE(gate.slow(kStart + seconds(5), seconds(3)).find("for 5 s"), std::string::npos);
  gate.submit({.number = WriteNumber(2)}, kStart + seconds(4), effects);
  gate.written(WriteNumber(1), kStart + seconds(5));
  EXPECT_EQ(gate.slow(kStart + seconds(7), seconds(3)), "") << "it has answered meanwhile";
}

}  // namespace
}  // namespace coordkit::engine
