// Handles that go by a key of their records.
#include "base/handle_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "base/handle_pool.h"

namespace coordkit {
namespace {

using ::testing::ElementsAre;

struct Thing {
  std::string text;
  int number = 0;
  std::string_view name() const { return text; }
};
using Things = HandlePool<Thing>;

std::pair<int, std::string_view> both(const Thing& thing) { return {thing.number, thing.name()}; }

class HandleKeyTest : public ::testing::Test {
 protected:
  Things::Handle add(std::string text, int number) {
    const Things::Handle handle = pool_.add();
    pool_[handle] = {std::move(text), number};
    return handle;
  }
  Things pool_;
};

TEST_F(HandleKeyTest, ASetIsInTheOrderOfItsKeyAndFindsByIt) {
  using ByNumber = OrderByKey<Things, &Thing::number>;
  absl::btree_set<Things::Handle, ByNumber> set(ByNumber{{&pool_}});
  const auto nine = add("a", 9), three = add("c", 3), six = add("b", 6);
  for (const auto handle : {nine, three, six}) set.insert(handle);
  EXPECT_THAT(std::vector(set.begin(), set.end()), ElementsAre(three, six, nine));
  EXPECT_EQ(*set.find(6), six);
  EXPECT_EQ(*set.lower_bound(4), six);
  EXPECT_EQ(set.find(7), set.end());
  EXPECT_FALSE(set.insert(add("d", 9)).second) << "a key is there once";
}

TEST_F(HandleKeyTest, AHashedSetFindsByAFunctionOfTheRecord) {
  using ByName = SameKey<Things, &Thing::name>;
  absl::flat_hash_set<Things::Handle, ByName, ByName> set(0, ByName{{&pool_}}, ByName{{&pool_}});
  std::vector<Things::Handle> handles;
  for (int i = 0; i < 100; ++i) handles.push_back(add("name-" + std::to_string(i), i));
  set.insert(handles.begin(), handles.end());
  EXPECT_EQ(set.size(), 100u);
  EXPECT_EQ(*set.find(std::string_view("name-42")), handles[42]);
  EXPECT_EQ(set.find(std::string_view("name-100")), set.end());
  EXPECT_FALSE(set.insert(add("name-7", 0)).second);
}

TEST_F(HandleKeyTest, AKeyMayBeMadeOfSeveralFields) {
  using ByBoth = OrderByKey<Things, &both>;
  absl::btree_set<Things::Handle, ByBoth> set(ByBoth{{&pool_}});
  const auto b1 = add("b", 1), a2 = add("a", 2), a1 = add("a", 1);
  for (const auto handle : {b1, a2, a1}) set.insert(handle);
  EXPECT_THAT(std::vector(set.begin(), set.end()), ElementsAre(a1, b1, a2));
  EXPECT_EQ(*set.lower_bound(ByBoth::Key(2, "")), a2);
}

}  // namespace
}  // namespace coordkit
