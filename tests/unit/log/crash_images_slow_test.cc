// One life of a log; more of them in the full suite.
#include "tests/unit/log/crash_images.h"

namespace coordkit::testkit {
namespace {

// Covers: FLT_D01 FLT_D11 FLT_D16 FLT_D17 INV_S01 INV_S02
TEST_P(CrashImagesTest, EverySubsetOfUnsyncedPagesAndNamesRecovers) { whole_pages(); }

// Covers: FLT_D01 FLT_D17 INV_S01
TEST_P(CrashImagesTest, SectorsOfPagesAreTornAnywhere) { torn_sectors(); }

INSTANTIATE_TEST_SUITE_P(Seed, CrashImagesTest, ::testing::Range<uint64_t>(11, 12));

}  // namespace
}  // namespace coordkit::testkit
