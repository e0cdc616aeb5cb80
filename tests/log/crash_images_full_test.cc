// More lives of a log than every run has time for.
#include "tests/log/crash_images.h"

namespace coordkit::testkit {
namespace {

TEST_P(CrashImagesTest, FLT_D01_D11_D16_D17_INV_S01_S02_EverySubsetOfUnsyncedPagesAndNamesRecovers) { whole_pages(); }

TEST_P(CrashImagesTest, FLT_D01_D17_INV_S01_SectorsOfPagesAreTornAnywhere) { torn_sectors(); }

INSTANTIATE_TEST_SUITE_P(Seeds, CrashImagesTest, ::testing::Range<uint64_t>(12, 18));

}  // namespace
}  // namespace coordkit::testkit
