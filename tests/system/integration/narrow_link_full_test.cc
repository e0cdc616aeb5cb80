#include "tests/system/integration/narrow_link.h"

namespace coordkit::testkit {
namespace {

// Covers: FLT_N08 FLT_O06
TEST_F(NarrowLinkTest, AHundredMegabytesOfStateDisturbNobody) { expect_quiet_transfer(100, 40'000'000); }

}  // namespace
}  // namespace coordkit::testkit
