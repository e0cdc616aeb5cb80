#include "tests/unit/machine/distinct_names.h"

namespace coordkit::machine {
namespace {

// Covers: REG_F76
TEST(DistinctNamesTest, AMillionNamesThroughOneEngineLeaveNothing) { touch_distinct_names(1'000'000); }

}  // namespace
}  // namespace coordkit::machine
