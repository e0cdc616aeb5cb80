#include "base/flat_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>

namespace coordkit {
namespace {

bool out_of_memory = false;

template <typename T>
struct Scarce {
  using value_type = T;
  Scarce() = default;
  template <typename U>
  Scarce(const Scarce<U>&) {}  // NOLINT: as allocators convert
  T* allocate(size_t count) {
    if (out_of_memory) throw std::bad_alloc();
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T* memory, size_t count) { std::allocator<T>().deallocate(memory, count); }
  friend bool operator==(const Scarce&, const Scarce&) { return true; }
};

using Hash = absl::container_internal::hash_default_hash<int>;
using Equal = absl::container_internal::hash_default_eq<int>;
using Set = FlatSet<int, Hash, Equal, Scarce<int>>;
using Map = FlatMap<int, std::unique_ptr<int>, Hash, Equal, Scarce<std::pair<const int, std::unique_ptr<int>>>>;

class FlatTableTest : public ::testing::Test {
 protected:
  FlatTableTest() { out_of_memory = false; }
  ~FlatTableTest() override { out_of_memory = false; }

  // Inserts until one finds no memory.
  template <typename Table, typename Insert>
  void starve(Table& table, Insert insert) {
    for (int i = 0; i < 100; ++i) insert(table, i);
    out_of_memory = true;
    int next = 100;
    EXPECT_THROW(for (; next < 10'000; ++next) insert(table, next), std::bad_alloc);
    out_of_memory = false;
    EXPECT_LT(next, 10'000);
    EXPECT_TRUE(table.empty());
    EXPECT_FALSE(table.contains(50));
    insert(table, 7);
    EXPECT_EQ(table.size(), 1u);
    EXPECT_TRUE(table.contains(7));
  }
};

// Covers: FLT_A18
TEST_F(FlatTableTest, ASetThatCannotGrowIsEmptyAndUsable) {
  Set set;
  starve(set, [](Set& into, int key) { into.insert(key); });
}

// Covers: FLT_A18
TEST_F(FlatTableTest, AMapThatCannotGrowIsEmptyAndUsableWhicheverWayItIsFilled) {
  Map by_bracket;
  starve(by_bracket, [](Map& into, int key) { into[key] = nullptr; });
  Map by_emplace;
  starve(by_emplace, [](Map& into, int key) { into.emplace(key, nullptr); });
  Map by_try;
  starve(by_try, [](Map& into, int key) { into.try_emplace(key, nullptr); });
}

// Covers: FLT_A18
TEST_F(FlatTableTest, OneThatCannotReserveIsEmptyAndCanBeDestroyed) {
  Set set;
  for (int i = 0; i < 100; ++i) set.insert(i);
  out_of_memory = true;
  EXPECT_THROW(set.reserve(100'000), std::bad_alloc);
  EXPECT_TRUE(set.empty());
}

}  // namespace
}  // namespace coordkit
