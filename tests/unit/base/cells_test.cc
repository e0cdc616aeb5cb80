#include "base/cells.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace coordkit {
namespace {

TEST(CellsTest, AnyBytesComeBackAndNeverEndALine) {
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    std::vector<std::string> cells(1 + random.below(5));
    for (std::string& cell : cells) {
      for (uint64_t left = random.below(20); left > 0; --left) cell += static_cast<char>(random.below(256));
    }
    const std::string line = join_cells(cells);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto back = split_cells(line);
    ASSERT_TRUE(back.ok()) << line;
    EXPECT_EQ(*back, cells);
  }
}

TEST(CellsTest, PlainTextIsLeftAsItIs) {
  const std::vector<std::string> cells = {"jobs/7", "Größe 3", ""};
  EXPECT_EQ(join_cells(cells), "jobs/7\tGröße 3\t");
}

TEST(CellsTest, AnEscapeThatIsNoneIsRefused) {
  for (const char* line : {"\\", "a\\q", "\\x", "\\x1", "\\xg0", "\\x0G"}) EXPECT_FALSE(split_cells(line).ok()) << line;
}

}  // namespace
}  // namespace coordkit
