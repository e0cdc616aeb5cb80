// The bytes of docs/format-log.md, pinned.
#include "tests/golden/golden.h"

#include "tests/log/log_workload.h"

namespace coordkit::testing {
namespace {

constexpr char kName[] = "log-v1.seg";

const std::vector<PeerMark> kPeers = {{StoreId(7), BootCounter(3), 0x5a5a, Term(4), ReplicaId(2), {Index(9), Term(3)}},
                                      {StoreId(8), BootCounter(1), 0, Term(2), ReplicaId(), {}}};

std::vector<LogWrite> steps() {
  return {{.hard_state = raft::HardState{Term(2), ReplicaId(3)}, .entries = entries(1, 3, 2, 10)},
          {.truncate_after = Index(2), .entries = entries(3, 2, 4, 5)},
          {.repairs = entries(3, 1, 4, 5)},
          {.reset_to = Position{Index(9), Term(4)}, .peers = kPeers}};
}

TEST(LogGoldenTest, BytesAreThoseOfVersionOne) {
  RecordingFs disk;
  auto opened = log::Log::open(disk, {.store = kStore, .segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10});
  ASSERT_TRUE(opened.ok());
  for (const LogWrite& step : steps()) {
    ASSERT_TRUE(opened->log->append({&step, 1}).ok());
    ASSERT_TRUE(opened->log->sync().ok());
  }
  Image image = disk.now();
  std::string bytes = image["00000001.seg"];
  bytes.resize(log::align_up(bytes.find_last_not_of('\0') + 1, log::kBlockBytes));
  expect_golden(kName, bytes);
}

TEST(LogGoldenTest, AFileOfVersionOneOpens) {
  Image image;
  image.names["00000001.seg"] = 1;
  image.files[1] = golden_bytes(kName);
  RecordingFs disk(image);
  const auto opened = log::Log::open(disk, {.store = kStore, .segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10});
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  EXPECT_EQ(opened->hard_state, (raft::HardState{Term(2), ReplicaId(3)}));
  EXPECT_EQ(opened->base, (Position{Index(9), Term(4)}));
  EXPECT_TRUE(opened->entries.empty());
  EXPECT_EQ(opened->peers, kPeers);
}

}  // namespace
}  // namespace coordkit::testing
