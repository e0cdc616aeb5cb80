#include "engine/calls/queued_calls.h"

#include <gtest/gtest.h>

#include <vector>

namespace coordkit::engine {
namespace {

std::vector<Sequence> sequences(const QueuedCalls& calls) {
  std::vector<Sequence> all;
  calls.each([&](const QueuedCalls::Call& call) { all.push_back(call.sequence()); });
  return all;
}

TEST(QueuedCallsTest, ACallIsFoundByItsTicketAndByItsSequence) {
  QueuedCalls calls;
  calls.add({.ticket = Ticket(70), .sequence = Sequence(7), .machine = kCoordination, .has_deadline = true});
  calls.add({.ticket = Ticket(80), .sequence = Sequence(5), .machine = kCoordination});
  const QueuedCalls::Call* call = calls.find(Ticket(70));
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call, calls.find(Sequence(7)));
  EXPECT_EQ(call->ticket(), Ticket(70));
  EXPECT_EQ(call->sequence(), Sequence(7));
  EXPECT_EQ(calls.machine(*call), kCoordination);
  EXPECT_TRUE(call->has_deadline());
  EXPECT_FALSE(calls.find(Ticket(80))->has_deadline());
  EXPECT_EQ(calls.find(Ticket(7)), nullptr);
  EXPECT_EQ(calls.find(Sequence(70)), nullptr);
}

TEST(QueuedCallsTest, ACallOfAnyMachineIsKept) {
  QueuedCalls calls;
  const MachineId largest(~uint64_t{0});
  calls.add({.ticket = Ticket(1), .sequence = Sequence(1), .machine = largest});
  calls.add({.ticket = Ticket(2), .sequence = Sequence(2), .machine = kFirstHostMachine});
  calls.add({.ticket = Ticket(3), .sequence = Sequence(3), .machine = kCoordination});
  EXPECT_EQ(calls.machine(*calls.find(Ticket(1))), largest);
  EXPECT_EQ(calls.machine(*calls.find(Ticket(2))), kFirstHostMachine);
  EXPECT_EQ(calls.machine(*calls.find(Ticket(3))), kCoordination);
  calls.erase(*calls.find(Ticket(1)));
  calls.add({.ticket = Ticket(1), .sequence = Sequence(4), .machine = kCoordination});
  EXPECT_EQ(calls.machine(*calls.find(Ticket(1))), kCoordination) << "that of an ended call";
  EXPECT_EQ(calls.machine(*calls.find(Ticket(2))), kFirstHostMachine);
}

TEST(QueuedCallsTest, AnEndedCallLeavesNothing) {
  QueuedCalls calls;
  for (uint64_t i = 1; i <= 1000; ++i) {
    calls.add({.ticket = Ticket(5000 - i), .sequence = Sequence(i), .machine = MachineId(i % 3 + 1)});
  }
  std::vector<Sequence> even;
  for (uint64_t i = 1; i <= 1000; ++i) {
    if (i % 2 == 0) {
      even.emplace_back(i);
    } else {
      calls.erase(*calls.find(Ticket(5000 - i)));
    }
  }
  EXPECT_EQ(calls.size(), 500u);
  EXPECT_EQ(sequences(calls), even);
  EXPECT_EQ(calls.find(Sequence(1)), nullptr);
  for (const Sequence sequence : even) calls.erase(*calls.find(sequence));
  EXPECT_EQ(calls.size(), 0u);
  EXPECT_EQ(sequences(calls), std::vector<Sequence>());
}

}  // namespace
}  // namespace coordkit::engine
