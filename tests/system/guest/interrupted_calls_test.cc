// A signal that interrupts a system call is no error of a disk.
#include "tests/system/guest/interrupted_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordkit/operate/backup.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using Kind = InterruptedCalls::Kind;

// Covers: FLT_A15
TEST(GuestTest, ACallOnAFileThatASignalInterruptsIsRepeated) {
  Cluster cluster(1);
  ReplicaOptions options = cluster.options(1);
  options.segment_bytes = 64 << 10;
  options.checkpoint_entries = 20;
  options.on_halt = [](const absl::Status& why) { ADD_FAILURE() << why; };
  const InterruptedCalls calls;
  for (int life = 0; life < 2; ++life) {
    ASSERT_NO_FATAL_FAILURE(cluster.open(options));
    ASSERT_THAT(cluster[1].wait_ready(kPatience), IsOk());
    for (int i = 0; i < 100; ++i) {
      EXPECT_THAT(cluster[1].put("k" + std::to_string(i), std::string(2000, 'v')).status(), IsOk());
    }
    const std::string file = options.data_dir + ".backup" + std::to_string(life);
    EXPECT_THAT(cluster[1].backup(file).status(), IsOk());
    EXPECT_THAT(cluster[1].scrub_now(), IsOk());
    EXPECT_THAT(cluster[1].close(), IsOk());
    cluster.close(1);
  }
  for (const Kind kind :
       {Kind::OpenAt, Kind::Sync, Kind::SyncData, Kind::Truncate, Kind::Lock, Kind::Allocate, Kind::Read, Kind::Write}) {
    EXPECT_GT(calls.of(kind), 0u) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace coordkit::testkit
