#include <gtest/gtest.h>

#include "transport/frame_lanes.h"

namespace coordkit {
namespace {

TcpOptions small() {
  return {
      .bulk_frames_max = 4, .bulk_bytes_max = 100, .control_frames_max = 3, .control_bytes_max = 50, .offline_frames_max = 2};
}
std::string bodies(Outbox& outbox, size_t frames_max = 100, size_t bulk_bytes_max = 1000) {
  std::vector<Frame> batch;
  outbox.take(batch, frames_max, bulk_bytes_max);
  std::string all;
  for (const Frame& frame : batch) all += frame.body + " ";
  return all;
}

TEST(OutboxTest, ControlComesFirstAndEachLaneInOrder) {
  Outbox outbox(small());
  outbox.set_online(true);
  for (const char* body : {"b1", "b2"}) outbox.push({Lane::Bulk, body});
  for (const char* body : {"l1", "l2"}) outbox.push({Lane::Control, body});
  EXPECT_EQ(bodies(outbox), "l1 l2 b1 b2 ");
  EXPECT_TRUE(outbox.empty());
}

TEST(OutboxTest, ABatchEndsAtItsFramesOrBulkBytesSoThatLaterControlPasses) {
  Outbox outbox(small());
  outbox.set_online(true);
  for (const char* body : {"b1", "b2", "b3"}) outbox.push({Lane::Bulk, body});
  EXPECT_EQ(bodies(outbox, 100, 3), "b1 b2 ");
  outbox.push({Lane::Control, "l1"});
  EXPECT_EQ(bodies(outbox, 1), "l1 ");
  EXPECT_EQ(bodies(outbox, 1), "b3 ");
}

// Covers: FLT_N10
TEST(OutboxTest, AFullLaneDropsItsOwnOldest) {
  Outbox outbox(small());
  outbox.set_online(true);
  uint64_t bulk = 0;
  for (int i = 0; i < 6; ++i) bulk += outbox.push({Lane::Bulk, "b" + std::to_string(i)}).bulk;
  EXPECT_EQ(bulk, 2u);
  uint64_t control = 0;
  for (int i = 0; i < 5; ++i) control += outbox.push({Lane::Control, "l" + std::to_string(i)}).control;
  EXPECT_EQ(control, 2u);
  EXPECT_EQ(bodies(outbox), "l2 l3 l4 b2 b3 b4 b5 ");
}

TEST(OutboxTest, BytesAreBoundedButOneFrameAlwaysFits) {
  Outbox outbox(small());
  outbox.set_online(true);
  for (int i = 0; i < 3; ++i) outbox.push({Lane::Bulk, std::string(60, 'x')});
  EXPECT_EQ(outbox.bytes(), 60u);
  outbox.push({Lane::Bulk, std::string(5000, 'x')});
  EXPECT_EQ(outbox.bytes(), 5000u);
  EXPECT_EQ(outbox.clear().bulk, 1u);
  EXPECT_EQ(outbox.bytes(), 0u);
}

TEST(OutboxTest, OfflineOnlyTheNewestFewAreKept) {
  Outbox outbox(small());
  for (int i = 0; i < 4; ++i) outbox.push({Lane::Control, std::to_string(i)});
  outbox.set_online(true);
  outbox.push({Lane::Control, "4"});
  EXPECT_EQ(bodies(outbox), "2 3 4 ");
}

}  // namespace
}  // namespace coordkit
