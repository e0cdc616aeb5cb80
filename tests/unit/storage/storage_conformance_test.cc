// Our own stores against the suites for all adapters.
#include "coordkit/testing/log_store_suite.h"
#include "coordkit/testing/state_store_suite.h"
#include "tests/unit/storage/log_harnesses.h"
#include "tests/unit/storage/memory_harnesses.h"
#include "tests/unit/storage/state_harnesses.h"

namespace coordkit::testkit {
namespace {

constexpr SegmentedLogOptions kTinySegments{.segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10};
constexpr SegmentedLogOptions kOneAtATime{.segment_bytes = 256 << 10, .small_segment_bytes = 64 << 10, .batch_bytes_max = 1};

LogStoreHarnessFactory segmented(SegmentedLogOptions options) {
  return [options] { return std::make_unique<SegmentedLogHarness>(options); };
}

INSTANTIATE_TEST_SUITE_P(Memory, LogStoreSuite, ::testing::Values([] { return std::make_unique<MemoryLogHarness>(); }));
INSTANTIATE_TEST_SUITE_P(Segmented, LogStoreSuite, ::testing::Values(segmented({.segment_bytes = 4 << 20})));
INSTANTIATE_TEST_SUITE_P(TinySegments, LogStoreSuite, ::testing::Values(segmented(kTinySegments)));
INSTANTIATE_TEST_SUITE_P(OneAtATime, LogStoreSuite, ::testing::Values(segmented(kOneAtATime)));
INSTANTIATE_TEST_SUITE_P(OnADiskThatFails, LogStoreSuite,
                         ::testing::Values([] { return std::make_unique<RecordedLogHarness>(); }));
INSTANTIATE_TEST_SUITE_P(OnALentThread, LogStoreSuite, ::testing::Values([] {
                           return std::make_unique<LendingHarness<SegmentedLogHarness>>(kTinySegments);
                         }));
INSTANTIATE_TEST_SUITE_P(OnALentThreadAndADiskThatFails, LogStoreSuite,
                         ::testing::Values([] { return std::make_unique<LendingHarness<RecordedLogHarness>>(); }));
INSTANTIATE_TEST_SUITE_P(Memory, StateStoreSuite, ::testing::Values([] { return std::make_unique<MemoryStateHarness>(); }));
INSTANTIATE_TEST_SUITE_P(Lmdb, StateStoreSuite, ::testing::Values([] { return std::make_unique<LmdbStateHarness>(); }));

}  // namespace
}  // namespace coordkit::testkit
