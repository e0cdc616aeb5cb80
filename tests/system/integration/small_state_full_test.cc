#include "tests/system/integration/narrow_link.h"

namespace coordkit::testkit {
namespace {

// Covers: FLT_N08 FLT_O06
TEST_F(NarrowLinkTest, EightMegabytesOfStateDisturbNobody) { expect_quiet_transfer(8, 20'000'000); }

}  // namespace
}  // namespace coordkit::testkit
