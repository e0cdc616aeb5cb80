#include "tests/unit/replica/rotation.h"

namespace coordkit::testkit {
namespace {

// Covers: FLT_S11
TEST(RotationTest, AHundredRotationsUnderLoadFailNoCall) { rotate_under_load(100); }

}  // namespace
}  // namespace coordkit::testkit
