// Every atomic that names a memory order has a row in docs/memory-order.md, and every row names one that is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "tests/support/source_dir.h"
#include "tests/support/tree.h"

namespace coordkit::house {
namespace {

namespace fs = std::filesystem;

// "src/a.h phase_" for each access in the text that names an order.
std::set<std::string> accesses(const std::string& path, const std::string& text) {
  static const std::regex access(
      R"((\w+)(?:\.|->)(?:load|store|exchange|fetch_\w+|compare_exchange_\w+)\([^;{]*?memory_order_)");
  std::set<std::string> found;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), access); at != std::sregex_iterator(); ++at) {
    found.insert(path + " " + (*at)[1].str());
  }
  return found;
}

std::set<std::string> rows(const std::string& page) {
  static const std::regex row(R"(\n\| `([^`]+)` \| `([^`]+)` \|)");
  std::set<std::string> found;
  for (auto at = std::sregex_iterator(page.begin(), page.end(), row); at != std::sregex_iterator(); ++at) {
    found.insert((*at)[1].str() + " " + (*at)[2].str());
  }
  return found;
}

size_t count(std::string_view text, std::string_view word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(MemoryOrderTest, EveryNamedOrderHasARowAndEveryRowAnAtomic) {
  std::set<std::string> in_sources;
  for (const fs::path& file : files_below({"include", "src", "verify"}, {".h", ".cc"})) {
    const std::string text = text_of_file(file);
    if (text.find("memory_order_") == std::string::npos) continue;
    const std::string path = path_in_tree(file);
    const std::set<std::string> found = accesses(path, text);
    EXPECT_FALSE(found.empty()) << path << " names a memory order in a way that this test does not understand";
    in_sources.insert(found.begin(), found.end());
  }
  EXPECT_EQ(rows(text_of_file(fs::path(source_dir()) / "docs/memory-order.md")), in_sources);
}

TEST(MemoryOrderTest, AnAccessWithoutAnOrderNeedsNoRow) {
  EXPECT_THAT(accesses("src/a.h", "a_.load(); b_->store(1, std::memory_order_release);\nc_.load();"),
              testing::ElementsAre("src/a.h b_"));
  EXPECT_THAT(accesses("src/a.h", "while (x && !a_.compare_exchange_weak(b,\n c, std::memory_order_relaxed)) {}"),
              testing::ElementsAre("src/a.h a_"));
}

// Fences and orders in other forms would escape the scan above.
TEST(MemoryOrderTest, NoSourceUsesAFence) {
  for (const fs::path& path : files_below({"include", "src", "verify"})) {
    EXPECT_EQ(count(text_of_file(path), "atomic_thread_fence"), 0U) << path;
  }
}

}  // namespace
}  // namespace coordkit::house
