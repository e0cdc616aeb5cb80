// The bytes of docs/format-log.md, pinned.
#include "tests/proof/golden/golden.h"
#include "tests/unit/log/log_workload.h"

namespace coordkit::testkit {
namespace {

constexpr char kVersionOne[] = "log-v1.seg";
constexpr char kVersionTwo[] = "log-v2.seg";

const std::vector<PeerMark> kPeers = {{StoreId(7), BootCounter(3), 0x5a5a, Term(4), ReplicaId(2), {Index(9), Term(3)}},
                                      {StoreId(8), BootCounter(1), 0, Term(2), ReplicaId(), {}}};

std::vector<LogWrite> steps() {
  return {{.hard_state = raft::HardState{Term(2), ReplicaId(3)}, .entries = entries(1, 3, 2, 10)},
          {.truncate_after = Index(2), .entries = entries(3, 2, 4, 5)},
          {.repairs = entries(3, 1, 4, 5)},
          {.reset_to = Position{Index(9), Term(4)}, .peers = kPeers}};
}

log::LogOptions options() { return {.store = kStore, .segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10}; }

// The bytes of a segment of a log after these steps, up to its last block in use.
std::string bytes_of(RecordingFs& disk, log::Log& log, const std::string& segment, uint64_t level) {
  for (LogWrite step : steps()) {
    step.feature_level = level;
    EXPECT_TRUE(log.append({&step, 1}).ok());
    EXPECT_TRUE(log.sync().ok());
  }
  Image image = disk.now();
  std::string bytes = image[segment];
  bytes.resize(log::align_up(bytes.find_last_not_of('\0') + 1, log::kBlockBytes));
  return bytes;
}

void expect_opens(const char* golden, const std::string& name) {
  Image image;
  image.names[name] = 1;
  image.files[1] = golden_bytes(golden);
  const log::FoundHeader found = log::find_header(image.files[1], {options().store, log::parse_name(name)->number});
  ASSERT_TRUE(found.header);
  image.files[1].resize(found.header->capacity);  // the zeros at its end
  RecordingFs disk(image);
  const auto opened = log::Log::open(disk, options());
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  EXPECT_EQ(opened->hard_state, (raft::HardState{Term(2), ReplicaId(3)}));
  EXPECT_EQ(opened->base, (Position{Index(9), Term(4)}));
  EXPECT_TRUE(opened->entries.empty());
  EXPECT_EQ(opened->peers, kPeers);
}

TEST(LogGoldenTest, BytesAreThoseOfVersionOne) {
  RecordingFs disk;
  auto opened = log::Log::open(disk, options());
  ASSERT_TRUE(opened.ok());
  expect_golden(kVersionOne, bytes_of(disk, *opened->log, "00000001.seg", 0));
}

// The first segment of a store is of version 1: nothing has said yet what others can read. The next one is not.
TEST(LogGoldenTest, BytesAreThoseOfVersionTwo) {
  RecordingFs disk;
  auto opened = log::Log::open(disk, options());
  ASSERT_TRUE(opened.ok());
  const LogWrite large{.entries = entries(1, 6, 1, 6'000), .feature_level = log::kSecondFormatLevel};
  const LogWrite none{.reset_to = Position{}, .feature_level = log::kSecondFormatLevel};
  for (const LogWrite& step : {large, none}) {
    ASSERT_TRUE(opened->log->append({&step, 1}).ok());
    ASSERT_TRUE(opened->log->sync().ok());
  }
  expect_golden(kVersionTwo, bytes_of(disk, *opened->log, "00000003.seg", log::kSecondFormatLevel));
}

TEST(LogGoldenTest, AFileOfVersionOneOpens) { expect_opens(kVersionOne, "00000001.seg"); }

TEST(LogGoldenTest, AFileOfVersionTwoOpens) { expect_opens(kVersionTwo, "00000003.seg"); }

}  // namespace
}  // namespace coordkit::testkit
