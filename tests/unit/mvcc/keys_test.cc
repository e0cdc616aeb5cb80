#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "mvcc/key_index.h"

namespace coordkit::mvcc {
namespace {

std::vector<std::string> all(const Keys& keys) {
  std::vector<std::string> names;
  keys.each([&](const Key& key) { names.emplace_back(key.name()); });
  return names;
}

// Names of all lengths around what a key keeps inside, many of them with one beginning, bytes of every value.
std::string any_name(Random& random) {
  std::string name = random.chance(0.5) ? "" : "/service/";
  for (uint64_t left = random.below(16); left > 0; --left) name.push_back(static_cast<char>(random.below(3) * 127));
  return name;
}

TEST(KeysTest, DoesWhatAMapDoes) {
  for (const double grows : {0.7, 0.45}) {
    Random random(static_cast<uint64_t>(grows * 100));
    Keys keys;
    std::map<std::string, Key*> twin;
    for (int step = 0; step < 20'000; ++step) {
      const std::string name = any_name(random);
      const auto known = twin.find(name);
      ASSERT_EQ(keys.find(name), known == twin.end() ? nullptr : known->second);
      if (known == twin.end() && random.chance(grows)) {
        twin[name] = &keys.add(name);
        ASSERT_EQ(twin[name]->name(), name);
      } else if (known != twin.end() && !random.chance(grows)) {
        keys.remove(*known->second);
        twin.erase(known);
      }
      if (step % 500 != 0) continue;
      std::vector<std::string> names;
      for (const auto& [each, key] : twin) names.push_back(each);
      ASSERT_EQ(all(keys), names);
      const std::string from = any_name(random);
      std::vector<std::string> rest;
      for (auto each = twin.lower_bound(from); each != twin.end() && rest.size() < 10; ++each) rest.push_back(each->first);
      std::vector<std::string> seen;
      keys.from(from, [&](const Key& key) { return seen.emplace_back(key.name()), seen.size() < 10; });
      ASSERT_EQ(seen, rest);
    }
  }
}

TEST(KeysTest, AfterManyKeysThatAreGoneItIsAsNew) {
  Keys keys;
  for (int round = 0; round < 2; ++round) {
    std::vector<Key*> made;
    for (int i = 0; i < 10'000; ++i)
      made.push_back(&keys.add("a key with a name that does not fit inside " + std::to_string(i)));
    Keys moved = std::move(keys);
    EXPECT_EQ(moved.find(made[17]->name()), made[17]) << "addresses stay";
    for (const Key* each : made) moved.remove(*each);
    EXPECT_TRUE(all(moved).empty());
    keys = std::move(moved);
  }
}

}  // namespace
}  // namespace coordkit::mvcc
