#include "base/inline_function.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>

namespace coordkit {
namespace {

using Task = InlineFunction<void(), 48>;

TEST(InlineFunctionTest, RunsWhateverItsSizeAndMovesWithWhatItHolds) {
  const auto kept = std::make_shared<int>(0);
  {
    Task small([kept] { ++*kept; });
    Task large([kept, space = std::array<char, 500>{}]() mutable { *kept += 10 + space[0]; });
    Task moved = std::move(small);
    moved();
    moved = std::move(large);
    moved();
    EXPECT_EQ(kept.use_count(), 2) << "of the small one nothing is left";
    Task only_once([once = std::make_unique<int>(100), kept]() mutable { *kept += *std::exchange(once, nullptr); });
    only_once();
  }
  EXPECT_EQ(*kept, 111);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(InlineFunctionTest, PassesItsArgumentsOnWithoutCopies) {
  std::unique_ptr<int> got;
  InlineFunction<void(std::unique_ptr<int>, int&), 16> function([&got](std::unique_ptr<int> value, int& count) {
    got = std::move(value);
    ++count;
  });
  int count = 0;
  function(std::make_unique<int>(7), count);
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(*got, 7);
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace coordkit
