#include "tests/integration/narrow_link.h"

namespace coordkit::testkit {
namespace {

TEST_F(NarrowLinkTest, FLT_N08_FLT_O06_EightMegabytesOfStateDisturbNobody) { expect_quiet_transfer(8, 20'000'000); }

}  // namespace
}  // namespace coordkit::testkit
