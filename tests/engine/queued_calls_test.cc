#include "engine/queued_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace coordkit::engine {
namespace {

TEST(QueuedCallsTest, ACallIsFoundByItsTicketAndByItsSequence) {
  QueuedCalls calls;
  calls.add({.ticket = Ticket(70), .sequence = Sequence(7), .machine = kCoordination, .has_deadline = true}, "command");
  const QueuedCalls::Call* call = calls.find(Ticket(70));
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call, calls.find(Sequence(7)));
  EXPECT_EQ(call->machine(), kCoordination);
  EXPECT_TRUE(call->has_deadline());
  EXPECT_EQ(call->command(), "command");
  EXPECT_EQ(calls.find(Ticket(7)), nullptr);
  EXPECT_EQ(calls.find(Sequence(70)), nullptr);
}

TEST(QueuedCallsTest, ACallOfAnyMachineIsKept) {
  QueuedCalls calls;
  const MachineId largest(~uint64_t{0});
  calls.add({.ticket = Ticket(1), .sequence = Sequence(1), .machine = largest}, "");
  calls.add({.ticket = Ticket(2), .sequence = Sequence(2), .machine = kFirstHostMachine}, "odd");
  EXPECT_EQ(calls.find(Ticket(1))->machine(), largest);
  EXPECT_EQ(calls.find(Ticket(1))->command(), "");
  EXPECT_EQ(calls.find(Ticket(2))->machine(), kFirstHostMachine);
  EXPECT_EQ(calls.find(Ticket(2))->command(), "odd");
}

TEST(QueuedCallsTest, TheCommandIsACopy) {
  QueuedCalls calls;
  std::string command(100, 'c');
  calls.add({.ticket = Ticket(1), .sequence = Sequence(1), .machine = kCoordination}, command);
  command.assign(100, 'd');
  EXPECT_EQ(calls.find(Ticket(1))->command(), std::string(100, 'c'));
}

TEST(QueuedCallsTest, AnEndedCallLeavesNothing) {
  QueuedCalls calls;
  for (uint64_t i = 1; i <= 1000; ++i) {
    calls.add({.ticket = Ticket(5000 - i), .sequence = Sequence(i), .machine = kCoordination}, std::string(i % 10, 'x'));
  }
  EXPECT_EQ(calls.bytes(), 4500u);
  std::vector<Sequence> even;
  for (uint64_t i = 1; i <= 1000; ++i) {
    if (i % 2 == 0) {
      even.emplace_back(i);
    } else {
      calls.erase(*calls.find(Ticket(5000 - i)));
    }
  }
  EXPECT_EQ(calls.size(), 500u);
  EXPECT_EQ(calls.sequences(), even);
  EXPECT_EQ(calls.find(Sequence(1)), nullptr);
  for (const Sequence sequence : even) calls.erase(*calls.find(sequence));
  EXPECT_EQ(calls.size(), 0u);
  EXPECT_EQ(calls.bytes(), 0u);
}

}  // namespace
}  // namespace coordkit::engine
