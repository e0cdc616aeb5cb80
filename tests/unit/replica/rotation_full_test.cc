#include "tests/unit/replica/rotation.h"

namespace coordkit::testkit {
namespace {

// Covers: FLT_S11
TEST(RotationTest, AThousandRotationsUnderLoadFailNoCall) { rotate_under_load(1000); }

}  // namespace
}  // namespace coordkit::testkit
