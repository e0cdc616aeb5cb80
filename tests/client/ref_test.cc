// Pointers that count their users in the object.
#include "coordkit/client/ref.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace coordkit {
namespace {

struct Counted : RefCounted {
  explicit Counted(int& alive) : alive(alive) { ++alive; }
  ~Counted() { --alive; }
  int& alive;
};

TEST(RefTest, TheLastOneDestroysTheObject) {
  int alive = 0;
  Ref<Counted> first = make_ref<Counted>(alive);
  Ref<Counted> second = first;
  Ref<Counted> third = std::move(first);
  EXPECT_TRUE(first == nullptr);  // NOLINT: it was moved from
  EXPECT_EQ(second, third);
  EXPECT_TRUE(second);
  EXPECT_EQ(&*second, third.get());
  second = nullptr;
  EXPECT_EQ(alive, 1);
  third = make_ref<Counted>(alive);
  EXPECT_EQ(alive, 1) << "the one it had is over";
  const Ref<Counted>& same = third;
  third = same;
  EXPECT_EQ(alive, 1) << "assigned to itself";
  third = {};
  EXPECT_EQ(alive, 0);
}

TEST(RefTest, ManyThreadsCopyAndDropOne) {
  int alive = 0;
  {
    const Ref<Counted> shared = make_ref<Counted>(alive);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([own = shared] {
        for (int step = 0; step < 10'000; ++step) {
          const Ref<Counted> copy = own;
          ASSERT_TRUE(copy);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace coordkit
