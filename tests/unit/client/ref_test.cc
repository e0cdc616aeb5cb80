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
  virtual ~Counted() { --alive; }
  int& alive;
};

struct CountedTwice final : Counted {
  explicit CountedTwice(int& alive) : Counted(alive) { ++alive; }
  ~CountedTwice() override { --alive; }
};

// Looks for its own users while it is destroyed.
struct Last final : RefCounted {
  explicit Last(bool& used) : used(used) {}
  ~Last() { used = static_cast<bool>(Ref<Last>::if_used(*this)); }
  bool& used;
};

TEST(RefTest, TheLastReferenceDestroysTheObject) {
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

TEST(RefTest, ItConvertsAsPointersDo) {
  int alive = 0;
  Ref<CountedTwice> derived = make_ref<CountedTwice>(alive);
  Ref<Counted> base = derived;
  EXPECT_EQ(base.get(), derived.get());
  derived = nullptr;
  EXPECT_EQ(alive, 2);
  base = make_ref<CountedTwice>(alive);
  EXPECT_EQ(alive, 2) << "moved from another";
  base = nullptr;
  EXPECT_EQ(alive, 0);
}

TEST(RefTest, AnObjectWithoutUsersIsNotUsedAgain) {
  bool used = true;
  {
    const Ref<Last> only = make_ref<Last>(used);
    const Ref<Last> found = Ref<Last>::if_used(*only);
    EXPECT_EQ(found, only);
  }
  EXPECT_FALSE(used);
}

TEST(RefTest, ManyThreadsCopyAndDropOne) {
  int alive = 0;
  {
    const Ref<Counted> shared = make_ref<Counted>(alive);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([own = shared] {
        for (int step = 0; step < 10'000; ++step) {
          const Ref<Counted> copy = own;  // NOLINT(performance-unnecessary-copy-initialization): it is what is tried
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
