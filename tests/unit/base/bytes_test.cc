#include "coordkit/bytes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace coordkit {
namespace {

TEST(SharedBytesTest, APartKeepsTheWholeAlive) {
  SharedBytes part;
  {
    const SharedBytes whole = SharedBytes::of("a string that is too long to be kept in itself");
    part = whole.part(whole.view().substr(2, 6));
    EXPECT_EQ(part.view().data(), whole.view().data() + 2) << "no copy";
  }
  EXPECT_EQ(part.view(), "string");
}

TEST(ByteSlabTest, KeptStringsDoNotChangeWhenMoreAreKept) {
  ByteSlab slab;
  std::vector<SharedBytes> kept;
  for (size_t i = 0; i < 10'000; ++i) kept.push_back(slab.keep(std::string(i % 3'000, static_cast<char>('a' + i % 26))));
  for (size_t i = 0; i < kept.size(); ++i) {
    ASSERT_EQ(kept[i].view(), std::string(i % 3'000, static_cast<char>('a' + i % 26)));
  }
  EXPECT_TRUE(slab.keep("").empty());
}

}  // namespace
}  // namespace coordkit
