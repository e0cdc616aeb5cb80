// Seeds whose runs take about a minute each.
#include <gtest/gtest.h>

#include "tests/unit/sim/seeds.h"

namespace coordkit::sim {
namespace {

TEST(SeedsTest, TheLongOnesHoldToo) { expect_seeds_hold("long_seeds.txt", 0, 1); }

}  // namespace
}  // namespace coordkit::sim
