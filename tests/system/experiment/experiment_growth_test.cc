// The growth that the soak experiment finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/experiment/growth.h"

namespace coordkit::experiment {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Rounds of two members; the second holds `held(round)`.
template <typename Held>
std::vector<Holding> rounds(size_t count, Held held) {
  std::vector<Holding> all;
  for (size_t i = 0; i < count; ++i) all.push_back({.scenes = 500 * (i + 1), .of = {{"objects", {7000, held(i)}}}});
  return all;
}

TEST(GrowthTest, TheMemberThatGrowsMostCounts) {
  const auto steady = [](size_t round) { return 9000 + 30 * static_cast<double>(round); };
  EXPECT_THAT(growth_of(rounds(12, steady)), ElementsAre(Pair("objects", DoubleNear(60, 0.001))));
}

TEST(GrowthTest, WhatComesToItsSizeInTheBeginningAndLeapsThatPassAreNoGrowth) {
  const auto warm = [](size_t round) {
    return round < 6 ? 1000.0 * static_cast<double>(round) : 6000 + (round == 9 ? 900 : 0);
  };
  EXPECT_THAT(growth_of(rounds(12, warm)), ElementsAre(Pair("objects", DoubleNear(0, 0.001))));
}

TEST(GrowthTest, OfTooFewRoundsNothingIsSaid) {
  EXPECT_THAT(growth_of(rounds(kHoldingsMin - 1, [](size_t round) { return static_cast<double>(round); })), IsEmpty());
}

}  // namespace
}  // namespace coordkit::experiment
