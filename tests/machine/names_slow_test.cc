#include "tests/machine/distinct_names.h"

namespace coordkit::machine {
namespace {

TEST(DistinctNamesTest, REG_F76_AMillionNamesThroughOneEngineLeaveNothing) { touch_distinct_names(1'000'000); }

}  // namespace
}  // namespace coordkit::machine
