// The writes of a log that are not yet durable.
#include "sim/world/write_queue.h"

#include <gtest/gtest.h>

namespace coordkit::sim {
namespace {

LogWrite write(uint64_t number) { return {.number = WriteNumber(number)}; }
TrueTime at(int64_t nanoseconds) { return TrueTime(Duration(nanoseconds)); }

TEST(WriteQueueTest, NoWriteIsDueBeforeAnEarlierOne) {
  WriteQueue queue;
  EXPECT_EQ(queue.add(write(1), at(30)), at(30));
  EXPECT_EQ(queue.add(write(2), at(10)), at(30));
  EXPECT_TRUE(queue.take_due(at(29)).empty());
  EXPECT_EQ(queue.take_due(at(30)).size(), 2u);
}

TEST(WriteQueueTest, ABatchThatWaitsGrowsAndIsDurableAsAWhole) {
  WriteQueue queue;
  queue.add(write(1), at(10));
  queue.add(write(2), at(20));
  EXPECT_EQ(queue.take_due(at(10)).size(), 1u);
  EXPECT_EQ(queue.take_due(at(20)).size(), 2u);
  EXPECT_EQ(queue.durable(), WriteNumber());
  EXPECT_EQ(queue.newest(), WriteNumber(2));
  queue.batch_written();
  EXPECT_FALSE(queue.batch_waits());
  EXPECT_EQ(queue.durable(), WriteNumber(2));
  EXPECT_EQ(queue.newest(), WriteNumber(2));
}

TEST(WriteQueueTest, HurryingNeverMakesAWriteLater) {
  WriteQueue queue;
  queue.add(write(1), at(10));
  queue.add(write(2), at(500));
  queue.hurry(at(50));
  EXPECT_EQ(queue.last_due(), at(50));
  EXPECT_EQ(queue.take_due(at(10)).size(), 1u);
  EXPECT_EQ(queue.take_due(at(50)).size(), 2u);
}

TEST(WriteQueueTest, AProcessLeavesBehindWhatWasNotWrittenInItsOrder) {
  WriteQueue queue;
  for (uint64_t number = 1; number <= 3; ++number) queue.add(write(number), at(static_cast<int64_t>(number)));
  queue.take_due(at(2));
  const std::vector<LogWrite> unwritten = queue.end();
  ASSERT_EQ(unwritten.size(), 3u);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(unwritten[i].number, WriteNumber(i + 1));
  EXPECT_EQ(queue.size(), 0u);
}

}  // namespace
}  // namespace coordkit::sim
