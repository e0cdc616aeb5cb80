#include "base/thread_shelf.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace coordkit {
namespace {

struct Object : ThreadCached {
  explicit Object(int n) : number(n) {}
  int number;
  std::array<char, 100> rest{};
};

TEST(ThreadShelfTest, AnObjectIsMadeWhereAFreedOneOfThisThreadWas) {
  std::set<const Object*> places;
  for (int i = 0; i < 100; ++i) places.insert(std::make_unique<Object>(i).get());
  EXPECT_EQ(places.size(), 1u);
}

TEST(ThreadShelfTest, WhatOneThreadMakesAnotherMayFree) {
  std::vector<std::unique_ptr<Object>> objects;
  for (int i = 0; i < 2000; ++i) objects.push_back(std::make_unique<Object>(i));
  std::thread other([taken = std::move(objects)]() mutable {
    for (int i = 0; i < 2000; ++i) EXPECT_EQ(taken[static_cast<size_t>(i)]->number, i);
    taken.clear();
    EXPECT_EQ(std::make_unique<Object>(7)->number, 7);
  });
  other.join();
  EXPECT_EQ(std::make_unique<Object>(8)->number, 8);
}

// Objects that are destroyed after everything else of their thread.
TEST(ThreadShelfTest, AThreadMayEndWithObjectsOfItsOwn) {
  std::thread([] {
    static thread_local std::vector<std::unique_ptr<Object>> last;  // begins before the shelf, so that it ends after it
    last.reserve(10);
    for (int i = 0; i < 10; ++i) last.push_back(std::make_unique<Object>(i));
  }).join();
}

TEST(ThreadShelfTest, LargeObjectsComeAndGoAsEver) {
  struct Large : ThreadCached {
    std::array<char, 5000> bytes{};
  };
  const auto large = std::make_unique<Large>();
  large->bytes[4999] = 'x';
  EXPECT_EQ(large->bytes[4999], 'x');
}

}  // namespace
}  // namespace coordkit
