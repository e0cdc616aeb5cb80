#include "tests/replica/rotation.h"

namespace coordkit::testkit {
namespace {

TEST(RotationTest, FLT_S11_AHundredRotationsUnderLoadFailNoCall) { rotate_under_load(100); }

}  // namespace
}  // namespace coordkit::testkit
