#include "tests/replica/rotation.h"

namespace coordkit::testing {
namespace {

TEST(RotationTest, FLT_S11_ThreeHundredRotationsUnderLoadFailNoCall) { rotate_under_load(300); }

}  // namespace
}  // namespace coordkit::testing
