#include "mvcc/store.h"

#include <gtest/gtest.h>

#include "tests/unit/mvcc/rows.h"

namespace coordkit::mvcc {
namespace {

void put(Store& store, std::string_view key, std::string_view value, LeaseId lease = {}) {
  Store::Change change;
  store.put(change, key, value, lease);
}
bool erase(Store& store, std::string_view key) {
  Store::Change change;
  return store.erase(change, key);
}

// Covers: S-01
TEST(StoreTest, AFreshStoreHasRevisionOneAndEachChangeTakesTheNext) {
  Store store;
  EXPECT_EQ(store.revision(), Revision(1));
  put(store, "a", "1");
  EXPECT_EQ(store.revision(), Revision(2));
  EXPECT_TRUE(erase(store, "a"));
  EXPECT_EQ(store.revision(), Revision(3));
}

// Covers: S-01
TEST(StoreTest, ChangesOfOneCommandShareARevisionAndAreNumberedFromZero) {
  Store store;
  Store::Change change;
  EXPECT_FALSE(change.any());
  for (const std::string key : {"c", "a", "b"}) store.put(change, key, "");
  EXPECT_EQ(store.revision(), Revision(2));
  std::vector<std::pair<ChangeId, std::string>> seen;
  store.changes({Revision(2)}, [&](const Version& version) {
    seen.emplace_back(version.id(), version.key());
    return true;
  });
  const std::vector<std::pair<ChangeId, std::string>> expected = {
      {{Revision(2), 0}, "c"}, {{Revision(2), 1}, "a"}, {{Revision(2), 2}, "b"}};
  EXPECT_EQ(seen, expected);
}

// Covers: S-02
TEST(StoreTest, VersionCountsFromOneSinceCreationAndRestartsAfterADelete) {
  Store store;
  put(store, "a", "1");
  put(store, "b", "1");
  put(store, "a", "2");
  EXPECT_EQ(store.find("a")->entry(), (KeyValue{"a", "2", Revision(2), Revision(4), 2}));
  erase(store, "a");
  EXPECT_EQ(store.find("a"), nullptr);
  put(store, "a", "3");
  EXPECT_EQ(store.find("a")->entry(), (KeyValue{"a", "3", Revision(6), Revision(6), 1}));
}

// Covers: S-03
TEST(StoreTest, AnIdenticalPutIsAChangeAndADeleteOfNothingIsNot) {
  Store store;
  put(store, "a", "1");
  put(store, "a", "1");
  EXPECT_EQ(store.revision(), Revision(3));
  EXPECT_FALSE(erase(store, "b"));
  EXPECT_TRUE(erase(store, "a"));
  EXPECT_FALSE(erase(store, "a"));
  EXPECT_EQ(store.revision(), Revision(4));
}

// Covers: S-06 INV_K03
TEST(StoreTest, AReadAtARevisionShowsTheStateAfterItForEver) {
  Store store;
  put(store, "a", "1");
  put(store, "a", "2");
  erase(store, "a");
  put(store, "a", "4");
  EXPECT_EQ(store.find("a", Revision(1)), nullptr);
  EXPECT_EQ(store.find("a", Revision(2))->value(), "1");
  EXPECT_EQ(store.find("a", Revision(3))->value(), "2");
  EXPECT_EQ(store.find("a", Revision(4)), nullptr);
  EXPECT_EQ(store.find("a", Revision(5))->value(), "4");
  EXPECT_EQ(store.readable(Revision(6)), Refusal::FutureRevision);
  EXPECT_EQ(store.readable({}), Refusal::None);
}

// Covers: S-12
TEST(StoreTest, AttachedKeysAreFoundByTheirLease) {
  Store store;
  put(store, "b", "", LeaseId(7));
  put(store, "a", "", LeaseId(7));
  put(store, "c", "", LeaseId(8));
  EXPECT_EQ(store.attached(LeaseId(7)), (std::vector<std::string>{"a", "b"}));
  put(store, "a", "", LeaseId(8));
  put(store, "b", "");
  EXPECT_TRUE(store.attached(LeaseId(7)).empty());
  erase(store, "c");
  EXPECT_EQ(store.attached(LeaseId(8)), (std::vector<std::string>{"a"}));
}

// Covers: S-19
TEST(StoreTest, WhatACompactionRefuses) {
  Store store;
  put(store, "a", "1");
  EXPECT_EQ(store.compact(Revision(0)), Refusal::InvalidArgument);
  EXPECT_EQ(store.compact(Revision(3)), Refusal::FutureRevision);
  EXPECT_EQ(store.compact(Revision(2)), Refusal::None);
  EXPECT_EQ(store.compact(Revision(2)), Refusal::Compacted);
  EXPECT_EQ(store.compact(Revision(1)), Refusal::Compacted);
}

// Covers: S-19 INV_K04
TEST(StoreTest, CompactionKeepsEveryAnswerFromItsRevisionOnAndRefusesThoseBelow) {
  Store store;
  put(store, "a", "2");
  put(store, "a", "3");
  put(store, "b", "4");
  erase(store, "b");
  put(store, "a", "6");
  ASSERT_EQ(store.compact(Revision(5)), Refusal::None);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(store.readable(Revision(4)), Refusal::Compacted);
    EXPECT_EQ(store.readable(Revision(5)), Refusal::None) << "the compacted revision itself";
    EXPECT_EQ(store.find("a", Revision(5))->value(), "3");
    EXPECT_EQ(store.find("b", Revision(5)), nullptr);
    EXPECT_EQ(store.find("a")->value(), "6");
    EXPECT_EQ(store.revision(), Revision(6));
    store.sweep(SIZE_MAX);
  }
  EXPECT_EQ(store.versions(), 4u) << "a at 3 and 6, the tombstone of exactly the compacted revision and what it deleted";
}

// Covers: S-19
TEST(StoreTest, ATombstoneOfExactlyTheCompactedRevisionStaysUntilTheNextCompaction) {
  Store store;
  put(store, "a", "");
  erase(store, "a");
  ASSERT_EQ(store.compact(Revision(3)), Refusal::None);
  store.sweep(SIZE_MAX);
  EXPECT_EQ(store.versions(), 2u) << "the tombstone, which a watch from there still sees, and what it deleted";
  put(store, "b", "");
  ASSERT_EQ(store.compact(Revision(4)), Refusal::None);
  store.sweep(SIZE_MAX);
  EXPECT_EQ(store.versions(), 1u);
  EXPECT_EQ(store.find("a"), nullptr);
  EXPECT_EQ(store.revision(), Revision(4)) << "the revision never falls";
}

// Covers: S-19
TEST(StoreTest, TheRevisionStaysEvenIfNothingIsLeft) {
  Store store;
  for (int i = 0; i < 10; ++i) put(store, "a", "");
  erase(store, "a");
  ASSERT_EQ(store.compact(Revision(12)), Refusal::None);
  store.sweep(SIZE_MAX);
  EXPECT_EQ(store.size(), 0u);
  EXPECT_EQ(store.revision(), Revision(12));
  Rows rows;
  rows.collect(store);
  EXPECT_EQ(rows.restored().value().revision(), Revision(12));
}

TEST(StoreTest, TheSweepTakesWholeRevisionsWithinItsBudgetAndGivesAllMemoryBack) {
  Store store;
  const uint64_t empty = store.bytes();
  for (int i = 0; i < 10; ++i) {
    Store::Change change;
    for (const std::string key : {"a", "b", "c"}) store.put(change, key, "value");
  }
  Store::Change change;
  for (const std::string key : {"a", "b", "c"}) store.erase(change, key);
  put(store, "z", "");
  ASSERT_EQ(store.compact(store.revision()), Refusal::None);
  EXPECT_EQ(store.to_sweep(), 33u);
  store.sweep(4);
  EXPECT_EQ(store.to_sweep(), 27u);
  EXPECT_EQ(store.swept(), Revision(4));
  store.sweep(100);
  EXPECT_EQ(store.to_sweep(), 0u);
  EXPECT_EQ(store.swept(), store.compacted());
  EXPECT_EQ(store.versions(), 1u);
  erase(store, "z");
  put(store, "y", "");
  erase(store, "y");
  put(store, "x", "");
  erase(store, "x");
  put(store, "x", "");
  erase(store, "x");
  ASSERT_EQ(store.compact(store.revision()), Refusal::None);
  store.sweep(SIZE_MAX);
  EXPECT_EQ(store.versions(), 2u) << "the last tombstone, a change of exactly that revision, and what it deleted";
  EXPECT_LE(store.bytes(), empty + 200);
}

TEST(StoreTest, AKeyThatCameAndWentAndWasSweptBetweenCheckpointsTouchesNoRow) {
  Store store;
  put(store, "a", "1");
  erase(store, "a");
  put(store, "b", "1");
  ASSERT_EQ(store.compact(Revision(4)), Refusal::None);
  store.sweep(SIZE_MAX);
  Rows rows;
  rows.collect(store);
  EXPECT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(rows.erased, 0u);
  store.collect([](const Version&) { FAIL() << "nothing changed since"; }, [](ChangeId) { FAIL(); });
}

TEST(StoreTest, AChangeSweptBeforeItWasEverStoredIsStoredStill) {
  Store store;
  put(store, "a", "1");
  put(store, "b", "1");
  put(store, "c", "1");
  ASSERT_EQ(store.compact(Revision(4)), Refusal::None);
  store.sweep(SIZE_MAX);
  Rows rows;
  rows.collect(store);
  EXPECT_EQ(rows.rows.size(), 3u) << "two of them at rest";
  EXPECT_EQ(rows.restored().value().digest(), store.digest());
}

// ---- rows that no store would write

struct Case {
  const char* why;
  Store::Counters counters;
  std::vector<Store::Row> rows;
};

Store::Row row(const char* key, uint64_t revision, uint32_t sub, uint64_t create, uint64_t version, uint64_t lease = 0,
               const char* value = "") {
  return {key, value, {Revision(revision), sub}, {Revision(create), version, LeaseId(lease)}};
}

absl::Status load(const Case& from) {
  Store store;
  if (absl::Status status = store.restore_counters(from.counters); !status.ok()) return status;
  for (const Store::Row& each : from.rows) {
    if (absl::Status status = store.restore(each); !status.ok()) return status;
  }
  return store.restored();
}

TEST(StoreTest, ImpossibleRowsAreRefused) {
  const auto at = [](uint64_t revision, uint64_t compacted = 0, uint64_t swept = 0) {
    return Store::Counters{Revision(revision), Revision(compacted), Revision(swept)};
  };
  ASSERT_TRUE(load({"", at(3), {row("k", 2, 0, 2, 1), row("k", 3, 0, 2, 2)}}).ok());
  ASSERT_TRUE(load({"", at(9, 9, 8), {row("k", 2, 0, 2, 1), row("l", 8, 0, 8, 1), row("k", 9, 0, 2, 2)}}).ok());
  const std::vector<Case> cases = {
      {"no revision", at(0), {}},
      {"compacted above the revision", at(2, 3), {}},
      {"swept above compacted", at(3, 2, 3), {}},
      {"no key", at(2), {row("", 2, 0, 2, 1)}},
      {"revision one has no change", at(2), {row("k", 1, 0, 1, 1)}},
      {"above the store's revision", at(2), {row("k", 3, 0, 3, 1)}},
      {"newest missing", at(3), {row("k", 2, 0, 2, 1)}},
      {"first missing", at(3), {row("k", 3, 0, 3, 1)}},
      {"gap in revisions", at(4), {row("k", 2, 0, 2, 1), row("l", 4, 0, 4, 1)}},
      {"gap in subs", at(2), {row("k", 2, 0, 2, 1), row("l", 2, 2, 2, 1)}},
      {"sub does not start at zero", at(2), {row("k", 2, 1, 2, 1)}},
      {"twice in one revision", at(2), {row("k", 2, 0, 2, 1), row("k", 2, 1, 2, 1)}},
      {"created after its change", at(2), {row("k", 2, 0, 3, 1)}},
      {"first version of an older key", at(3), {row("a", 2, 0, 2, 1), row("k", 3, 0, 2, 1)}},
      {"second version out of nothing", at(3), {row("a", 2, 0, 2, 1), row("k", 3, 0, 2, 2)}},
      {"version skipped", at(3), {row("k", 2, 0, 2, 1), row("k", 3, 0, 2, 3)}},
      {"other create", at(4), {row("a", 2, 0, 2, 1), row("k", 3, 0, 3, 1), row("k", 4, 0, 2, 2)}},
      {"tombstone of nothing", at(2), {row("k", 2, 0, 0, 0)}},
      {"tombstone twice", at(4), {row("k", 2, 0, 2, 1), row("k", 3, 0, 0, 0), row("k", 4, 0, 0, 0)}},
      {"tombstone with a lease", at(3), {row("k", 2, 0, 2, 1), row("k", 3, 0, 0, 0, 5)}},
      {"tombstone with a value", at(3), {row("k", 2, 0, 2, 1), row("k", 3, 0, 0, 0, 0, "v")}},
      {"goes on after a tombstone", at(4), {row("k", 2, 0, 2, 1), row("k", 3, 0, 0, 0), row("k", 4, 0, 2, 3)}},
      {"two at rest", at(9, 9, 9), {row("k", 2, 0, 2, 1), row("k", 3, 0, 2, 2), row("l", 9, 0, 9, 1)}},
      {"tombstone at rest", at(9, 9, 9), {row("k", 3, 0, 0, 0), row("l", 9, 0, 9, 1)}},
      {"more versions than revisions", at(9, 9, 9), {row("k", 3, 0, 2, 3), row("l", 9, 0, 9, 1)}},
  };
  for (const Case& each : cases) EXPECT_EQ(load(each).code(), absl::StatusCode::kDataLoss) << each.why;
}

}  // namespace
}  // namespace coordkit::mvcc
