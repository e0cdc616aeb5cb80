#include "tests/replica/rotation.h"

namespace coordkit::testkit {
namespace {

TEST(RotationTest, FLT_S11_AThousandRotationsUnderLoadFailNoCall) { rotate_under_load(1000); }

}  // namespace
}  // namespace coordkit::testkit
