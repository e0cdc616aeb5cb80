#include "base/inline_task.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>

namespace coordkit {
namespace {

TEST(InlineTaskTest, RunsWhateverItsSizeAndMovesWithWhatItHolds) {
  const auto kept = std::make_shared<int>(0);
  {
    InlineTask small([kept] { ++*kept; });
    InlineTask large([kept, space = std::array<char, 500>{}]() mutable { *kept += 10 + space[0]; });
    InlineTask moved = std::move(small);
    moved();
    moved = std::move(large);
    moved();
    EXPECT_EQ(kept.use_count(), 2) << "of the small one nothing is left";
    InlineTask only_once([once = std::make_unique<int>(100), kept]() mutable { *kept += *std::exchange(once, nullptr); });
    only_once();
  }
  EXPECT_EQ(*kept, 111);
  EXPECT_EQ(kept.use_count(), 1);
}

}  // namespace
}  // namespace coordkit
