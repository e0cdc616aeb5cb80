#include "tests/unit/machine/distinct_names.h"

namespace coordkit::machine {
namespace {

// Covers: REG_F76
TEST(DistinctNamesTest, AHundredMillionNamesThroughOneEngineLeaveNothing) { touch_distinct_names(100'000'000); }

}  // namespace
}  // namespace coordkit::machine
