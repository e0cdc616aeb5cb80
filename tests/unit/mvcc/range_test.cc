#include "mvcc/range.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mvcc/transaction.h"

namespace coordkit::mvcc {
namespace {

const std::string kEnd(kNoEnd);
using Keys = std::vector<std::string>;

struct Filled {
  Store store;
  void put(std::string_view key, std::string_view value = "") {
    Store::Change change;
    store.put(change, key, value);
  }
  Selection select(const RangeOperation& range, const RangeRoom& room = {}) const {
    Selection out;
    EXPECT_EQ(check(range), Refusal::None);
    EXPECT_EQ(mvcc::select(store, range, room, out), Refusal::None);
    return out;
  }
  Keys keys(const RangeOperation& range) const {
    Keys out;
    for (const KeyValue& entry : select(range).reply.entries) out.push_back(entry.key);
    return out;
  }
};

// Covers: S-05
TEST(RangeTest, RangesAreHalfOpenInUnsignedByteOrder) {
  Filled filled;
  for (const std::string key : {"a", "b", "c", "\x7f", "\x80", "\xff"}) filled.put(key);
  const auto keys = [&](std::string key, std::string end) {
    return filled.keys({.key = std::move(key), .end = std::move(end)});
  };
  EXPECT_EQ(keys("b", ""), (Keys{"b"}));
  EXPECT_EQ(keys("x", ""), Keys());
  EXPECT_EQ(keys("a", "c"), (Keys{"a", "b"}));
  EXPECT_EQ(keys("c", kEnd), (Keys{"c", "\x7f", "\x80", "\xff"}));
  EXPECT_EQ(keys("", kEnd).size(), 6u);
  EXPECT_EQ(keys(std::string(1, '\0'), kEnd).size(), 6u);
  EXPECT_TRUE(keys("c", "a").empty());
  EXPECT_TRUE(keys("c", "c").empty());
}

// Covers: S-05
TEST(RangeTest, ThePrefixEndIsTheFirstKeyBehindAllThatStartWithIt) {
  struct Case {
    std::string prefix, end;
  };
  for (const Case& each : std::vector<Case>{{"a", "b"},
                                            {"ab", "ac"},
                                            {"a\xff", "b"},
                                            {"a\xff\xff", "b"},
                                            {"\xff", kEnd},
                                            {"\xff\xff", kEnd},
                                            {"", kEnd},
                                            {std::string("a\0", 2), "a\x01"}}) {
    EXPECT_EQ(prefix_end(each.prefix), each.end);
  }
  Filled filled;
  for (const std::string key : {"a", "a\xff", "a\xff\xff", "a\xff\xff\x62", "b", "\xff", "\xff\xff"}) filled.put(key);
  EXPECT_EQ(filled.keys(RangeOperation::prefix("a\xff")), (Keys{"a\xff", "a\xff\xff",
                                                                "a\xff\xff"
                                                                "b"}));
  EXPECT_EQ(filled.keys(RangeOperation::prefix("\xff")), (Keys{"\xff", "\xff\xff"}));
  EXPECT_EQ(filled.keys(RangeOperation::prefix("")).size(), 7u);
}

// Covers: S-05 S-06 S-07 S-08
TEST(RangeTest, WhatIsRefusedWhateverTheState) {
  struct Case {
    RangeOperation range;
    Refusal refusal;
  };
  const std::string long_key(kKeyBytesMax + 1, 'k');
  for (const Case& each : std::vector<Case>{
           {{.key = ""}, Refusal::EmptyKey},
           {{.key = "", .end = "b"}, Refusal::EmptyKey},
           {{.key = "", .end = kEnd}, Refusal::None},
           {{.key = "a", .limit = -1}, Refusal::InvalidArgument},
           {{.key = "a", .revision = Revision(uint64_t(-1))}, Refusal::InvalidArgument},
           {{.key = "a", .sort_by = SortTarget(5)}, Refusal::InvalidSort},
           {{.key = "a", .order = SortOrder(3)}, Refusal::InvalidSort},
           {{.key = long_key}, Refusal::LimitExceeded},
           {{.key = "a", .end = long_key}, Refusal::LimitExceeded},
           {{.key = "b", .end = "a"}, Refusal::None},
       }) {
    EXPECT_EQ(check(each.range), each.refusal) << each.range.key.substr(0, 9);
  }
}

// Covers: S-06
TEST(RangeTest, RevisionsAboveTheNewestAndBelowTheCompactedAreRefused) {
  Filled filled;
  for (int i = 0; i < 4; ++i) filled.put("a", std::to_string(i));
  ASSERT_EQ(filled.store.compact(Revision(3)), Refusal::None);
  const auto refusal = [&](uint64_t revision) {
    Selection out;
    return mvcc::select(filled.store, {.key = "a", .revision = Revision(revision)}, {}, out);
  };
  EXPECT_EQ(refusal(0), Refusal::None);
  EXPECT_EQ(refusal(1), Refusal::Compacted);
  EXPECT_EQ(refusal(2), Refusal::Compacted);
  EXPECT_EQ(refusal(3), Refusal::None) << "the compacted revision itself";
  EXPECT_EQ(refusal(5), Refusal::None);
  EXPECT_EQ(refusal(6), Refusal::FutureRevision);
}

// Covers: S-07
TEST(RangeTest, RangesSortByEveryTargetAndOrderAndTiesByKey) {
  Filled filled;  // key: version, create, mod, value
  filled.put("c", "2");
  filled.put("a", "3");
  filled.put("b", "1");
  filled.put("d", "1");
  filled.put("c", "2");
  const auto keys = [&](SortTarget target, SortOrder order) {
    return filled.keys({.key = "", .end = kEnd, .sort_by = target, .order = order});
  };
  struct Case {
    SortTarget target;
    Keys ascending, descending;
  };
  for (const Case& each : std::vector<Case>{{SortTarget::Key, {"a", "b", "c", "d"}, {"d", "c", "b", "a"}},
                                            {SortTarget::Version, {"a", "b", "d", "c"}, {"c", "a", "b", "d"}},
                                            {SortTarget::Create, {"c", "a", "b", "d"}, {"d", "b", "a", "c"}},
                                            {SortTarget::Mod, {"a", "b", "d", "c"}, {"c", "d", "b", "a"}},
                                            {SortTarget::Value, {"b", "d", "c", "a"}, {"a", "c", "b", "d"}}}) {
    EXPECT_EQ(keys(each.target, SortOrder::Default), each.ascending);
    EXPECT_EQ(keys(each.target, SortOrder::Ascending), each.ascending);
    EXPECT_EQ(keys(each.target, SortOrder::Descending), each.descending);
  }
}

// Covers: S-08
TEST(RangeTest, OrderAndFiltersConcernTheWholeRangeAndTheLimitComesLast) {
  Filled filled;
  for (const char* key : {"d", "c", "b", "a"}) filled.put(key, "v");
  const auto limited = [&](int64_t limit, SortTarget target) {
    return filled.select({.key = "", .end = kEnd, .limit = limit, .sort_by = target}).reply;
  };
  EXPECT_EQ(limited(2, SortTarget::Key).entries.front().key, "a");
  EXPECT_EQ(limited(2, SortTarget::Mod).entries.front().key, "d");
  for (const auto target : {SortTarget::Key, SortTarget::Mod}) {
    EXPECT_TRUE(limited(3, target).more);
    EXPECT_FALSE(limited(4, target).more);
    EXPECT_FALSE(limited(0, target).more);
    EXPECT_EQ(limited(1, target).count, 4u);
  }
  const RangeReply few = filled.select({.key = "", .end = kEnd, .limit = 2, .mod_max = Revision(3)}).reply;
  EXPECT_EQ(few.entries.size(), 2u);
  EXPECT_FALSE(few.more) << "only two pass the filter";
  EXPECT_EQ(few.count, 4u) << "whatever the filters";
}

// Covers: S-08
TEST(RangeTest, KeysOnlyAndCountOnly) {
  Filled filled;
  filled.put("a", "value");
  const RangeReply keys = filled.select({.key = "a", .keys_only = true}).reply;
  EXPECT_EQ(keys.entries.at(0), (KeyValue{"a", "", Revision(2), Revision(2), 1}));
  const RangeReply count = filled.select({.key = "", .end = kEnd, .limit = 1, .count_only = true}).reply;
  EXPECT_TRUE(count.entries.empty());
  EXPECT_EQ(count.count, 1u);
  EXPECT_FALSE(count.more);
}

// Covers: S-09
TEST(RangeTest, BoundsAreInclusiveAndZeroIsNone) {
  Filled filled;
  for (const char* key : {"a", "b", "c", "a"}) filled.put(key);  // create 2 3 4, mod 5 3 4
  const auto keys = [&](RangeOperation range) {
    range.end = kEnd;
    return filled.keys(range);
  };
  EXPECT_EQ(keys({.key = "", .mod_min = Revision(4)}), (Keys{"a", "c"}));
  EXPECT_EQ(keys({.key = "", .mod_max = Revision(4)}), (Keys{"b", "c"}));
  EXPECT_EQ(keys({.key = "", .mod_min = Revision(4), .mod_max = Revision(4)}), (Keys{"c"}));
  EXPECT_EQ(keys({.key = "", .create_min = Revision(3)}), (Keys{"b", "c"}));
  EXPECT_EQ(keys({.key = "", .create_max = Revision(2)}), (Keys{"a"}));
  EXPECT_EQ(keys({.key = "", .mod_min = Revision(5), .create_max = Revision(2)}), (Keys{"a"}));
}

TEST(RangeTest, AnAnswerWithoutRoomIsCutAndGoesOnBehindItsLastEntry) {
  Filled filled;
  for (int i = 0; i < 10; ++i) filled.put("k" + std::to_string(i), "0123456789");
  for (const RangeRoom room :
       {RangeRoom{.entries = 3}, RangeRoom{.bytes = 37}, RangeRoom{.bytes = 1}, RangeRoom{.entries = 3, .counts = false}}) {
    Keys all;
    RangeOperation range = RangeOperation::prefix("k");
    for (bool more = true; more;) {
      const Selection page = filled.select(range, room);
      EXPECT_EQ(page.cut, page.reply.more);
      ASSERT_FALSE(page.reply.entries.empty()) << "the first entry always fits";
      for (const KeyValue& entry : page.reply.entries) all.push_back(entry.key);
      range.key = all.back() + std::string(1, '\0');
      more = page.cut;
    }
    EXPECT_EQ(all.size(), 10u);
    EXPECT_TRUE(std::ranges::is_sorted(all));
  }
}

}  // namespace
}  // namespace coordkit::mvcc
