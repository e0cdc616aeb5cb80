#include "tests/unit/sim/seeds.h"

#include <gtest/gtest.h>

namespace coordkit::sim {
namespace {

constexpr size_t kShares = 12;  // which run side by side

class SeedsTest : public ::testing::TestWithParam<size_t> {};

TEST_P(SeedsTest, ThoseThatFoundBugsHold) { expect_seeds_hold("seeds.txt", GetParam(), kShares); }

INSTANTIATE_TEST_SUITE_P(Share, SeedsTest, ::testing::Range(size_t{0}, kShares));

}  // namespace
}  // namespace coordkit::sim
