#include "mvcc/reach.h"

#include <gtest/gtest.h>

#include "mvcc/transaction.h"

namespace coordkit::mvcc {
namespace {

const std::string kAllOn(kNoEnd);

// So many of it, in two levels.
Transaction times(size_t outer, size_t inner, const Operation& operation) {
  const Transaction leaf{{}, std::vector<Operation>(inner, operation), {}};
  return {{}, std::vector<Operation>(outer, leaf), {}};
}

struct ReachTest : ::testing::Test {
  Store store;
  void put(const std::string& key) {
    Store::Change change;
    store.put(change, key, "v");
  }
  void SetUp() override {
    for (int i = 0; i < 1000; ++i) put("key/" + std::to_string(1000 + i));
  }
  bool too_far(const Transaction& transaction) const {
    EXPECT_EQ(check(transaction), Refusal::None);
    return reaches_too_far(store, transaction);
  }
};

// Covers: S-17
TEST_F(ReachTest, WhatLooksAtEveryKeyAgainAndAgainReachesTooFar) {
  const RangeOperation count{.key = "", .end = kAllOn, .count_only = true};
  EXPECT_FALSE(too_far(times(30, 30, count)));
  EXPECT_TRUE(too_far(times(50, 50, count)));
  EXPECT_TRUE(too_far(times(50, 50, DeleteOperation{.key = "key/", .end = "key0"})));
  EXPECT_TRUE(too_far(times(1, 1, times(50, 60, count))));
  Transaction conditions;
  for (int i = 0; i < 50; ++i) {
    const Compare all{.key = "key/", .end = "key0", .number = 7};
    conditions.otherwise.emplace_back(Transaction{std::vector<Compare>(50, all), {}, {}});
  }
  EXPECT_TRUE(too_far(conditions)) << "in the other branch";
}

// Covers: S-17
TEST_F(ReachTest, ATransactionOverFewKeysMayRepeatThemUpToItsSize) {
  const RangeOperation narrow{.key = "key/1990", .end = "key/1999", .count_only = true};
  EXPECT_FALSE(too_far(times(60, 60, narrow)));
  EXPECT_FALSE(too_far(times(60, 60, RangeOperation{.key = "key/1000"})));
  EXPECT_FALSE(too_far(times(60, 60, RangeOperation{.key = "nothing/", .end = "nothing0"})));
  EXPECT_FALSE(too_far({{Compare::exists("key/1000")}, {PutOperation{.key = "a"}}, {}}));
}

// Covers: S-17
TEST_F(ReachTest, AReadOfThePastPassesWhatCameAfterIt) {
  for (int i = 0; i < 1000; ++i) put("key/1000");
  EXPECT_FALSE(too_far(times(60, 60, RangeOperation{.key = "key/1000"})));
  EXPECT_TRUE(too_far(times(60, 60, RangeOperation{.key = "key/1000", .revision = Revision(2)})));
  EXPECT_FALSE(too_far(times(60, 60, RangeOperation{.key = "key/1000", .revision = store.revision()})));
}

}  // namespace
}  // namespace coordkit::mvcc
