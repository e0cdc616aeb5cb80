#include "mvcc/transaction.h"

#include <gtest/gtest.h>

#include "coordkit/ports/state_machine.h"

namespace coordkit::mvcc {
namespace {

using Relation = Compare::Relation;
using Target = Compare::Target;
const std::string kUnbounded(kNoEnd);

PutOperation put(std::string key, std::string value = "") { return {.key = std::move(key), .value = std::move(value)}; }
DeleteOperation erase(std::string key, std::string end = "") { return {.key = std::move(key), .end = std::move(end)}; }
Transaction unconditional(std::vector<Operation> then) { return {{}, std::move(then), {}}; }

// A store with leases 1 and 2, and a lock "held" under token 5.
struct World {
  Store store;

  Surroundings around() const { return {lease_exists, lock_condition}; }
  Refusal run(const Transaction& transaction) {
    if (const Refusal refusal = check(transaction); refusal != Refusal::None) return refusal;
    Store::Change change;
    reply = {};
    return execute(store, transaction, around(), change, reply);
  }
  Refusal run(const PutOperation& operation) {
    if (const Refusal refusal = check(operation); refusal != Refusal::None) return refusal;
    Store::Change change;
    put_reply = {};
    return execute(store, operation, around(), change, put_reply);
  }
  DeleteReply run(const DeleteOperation& operation) {
    Store::Change change;
    DeleteReply out;
    execute(store, operation, change, out);
    return out;
  }
  bool holds(Compare compare) {
    EXPECT_EQ(run(Transaction{{std::move(compare)}, {}, {}}), Refusal::None);
    return reply.succeeded;
  }
  std::string value(std::string_view key) const {
    const Version* found = store.find(key);
    return found == nullptr ? "(none)" : std::string(found->value());
  }

  TransactionReply reply;
  PutReply put_reply;
  std::function<bool(LeaseId)> lease_exists = [](LeaseId lease) { return lease.value() <= 2; };
  std::function<bool(const Compare&)> lock_condition = [](const Compare& compare) {
    if (compare.target == Target::LockFree) return compare.key != "held";
    return compare.key == "held" && compare.number == 5 && compare.target == Target::LockHeld;
  };
};

// ---- puts and deletes

// Covers: S-05 S-11
TEST(PutTest, WhatIsRefusedWhateverTheState) {
  struct Case {
    PutOperation put;
    Refusal refusal;
  };
  const std::string longest(kKeyBytesMax, 'k');
  for (const Case& each : std::vector<Case>{
           {{.key = ""}, Refusal::EmptyKey},
           {{.key = longest}, Refusal::None},
           {{.key = longest + "k"}, Refusal::LimitExceeded},
           {{.key = longest, .sequential = true}, Refusal::LimitExceeded},
           {{.key = "a", .value = std::string(kValueBytesMax, 'v')}, Refusal::None},
           {{.key = "a", .value = std::string(kValueBytesMax + 1, 'v')}, Refusal::LimitExceeded},
           {{.key = "a", .value = "v", .ignore_value = true}, Refusal::ValueProvided},
           {{.key = "a", .lease = LeaseId(1), .ignore_lease = true}, Refusal::LeaseProvided},
           {{.key = "a", .lease = LeaseId(1), .ignore_value = true}, Refusal::None},
           {{.key = "a", .ignore_value = true, .sequential = true}, Refusal::InvalidArgument},
           {{.key = "a", .ignore_lease = true, .sequential = true}, Refusal::InvalidArgument},
       }) {
    EXPECT_EQ(check(each.put), each.refusal) << each.put.key.substr(0, 9);
  }
}

// Covers: S-11
TEST(PutTest, IgnoreValueAndIgnoreLeaseKeepWhatIsThereAndCountAsAChange) {
  World world;
  ASSERT_EQ(world.run(PutOperation{.key = "a", .value = "v", .lease = LeaseId(1)}), Refusal::None);
  ASSERT_EQ(world.run(PutOperation{.key = "a", .lease = LeaseId(2), .ignore_value = true}), Refusal::None);
  EXPECT_EQ(world.store.find("a")->entry(), (KeyValue{"a", "v", Revision(2), Revision(3), 2, LeaseId(2)}));
  ASSERT_EQ(world.run(PutOperation{.key = "a", .value = "w", .ignore_lease = true}), Refusal::None);
  EXPECT_EQ(world.store.find("a")->entry(), (KeyValue{"a", "w", Revision(2), Revision(4), 3, LeaseId(2)}));
}

// Covers: S-11
TEST(PutTest, IgnoreOnAMissingKeyIsRefusedAndTakesNoRevision) {
  World world;
  EXPECT_EQ(world.run(PutOperation{.key = "a", .ignore_value = true}), Refusal::KeyNotFound);
  EXPECT_EQ(world.run(PutOperation{.key = "a", .ignore_lease = true}), Refusal::KeyNotFound);
  world.run(put("a"));
  world.run(erase("a"));
  EXPECT_EQ(world.run(PutOperation{.key = "a", .ignore_value = true}), Refusal::KeyNotFound) << "a tombstone is no key";
  EXPECT_EQ(world.store.revision(), Revision(3));
}

// Covers: S-11
TEST(PutTest, PreviousIsTheEntryAsItWas) {
  World world;
  ASSERT_EQ(world.run(PutOperation{.key = "a", .value = "1", .previous = true}), Refusal::None);
  EXPECT_FALSE(world.put_reply.previous);
  ASSERT_EQ(world.run(PutOperation{.key = "a", .value = "2", .previous = true}), Refusal::None);
  EXPECT_EQ(world.put_reply.previous, (KeyValue{"a", "1", Revision(2), Revision(2), 1}));
}

// Covers: S-12
TEST(PutTest, AnUnknownLeaseIsRefusedAndALeaseIsReplacedOrTakenOff) {
  World world;
  EXPECT_EQ(world.run(PutOperation{.key = "a", .lease = LeaseId(3)}), Refusal::LeaseNotFound);
  EXPECT_EQ(world.store.revision(), Revision(1));
  ASSERT_EQ(world.run(PutOperation{.key = "a", .lease = LeaseId(1)}), Refusal::None);
  ASSERT_EQ(world.run(PutOperation{.key = "a", .lease = LeaseId(2)}), Refusal::None);
  EXPECT_TRUE(world.store.attached(LeaseId(1)).empty());
  EXPECT_EQ(world.store.attached(LeaseId(2)).size(), 1u);
  ASSERT_EQ(world.run(put("a")), Refusal::None);
  EXPECT_TRUE(world.store.attached(LeaseId(2)).empty());
}

// Covers: S-05 S-13
TEST(DeleteTest, DeletesAnIntervalInKeyOrderAndCounts) {
  World world;
  for (const char* key : {"c", "a", "b", "d"}) world.run(put(key, key));
  const DeleteReply reply = world.run(DeleteOperation{.key = "a", .end = "d", .previous = true});
  EXPECT_EQ(reply.deleted, 3u);
  ASSERT_EQ(reply.previous.size(), 3u);
  EXPECT_EQ(reply.previous[0].key, "a");
  EXPECT_EQ(reply.previous[2].value, "c");
  EXPECT_EQ(world.store.revision(), Revision(6));
  std::vector<std::pair<uint32_t, std::string>> tombstones;
  world.store.changes({Revision(6)}, [&](const Version& version) {
    tombstones.emplace_back(version.sub, version.key());
    return true;
  });
  EXPECT_EQ(tombstones, (std::vector<std::pair<uint32_t, std::string>>{{0, "a"}, {1, "b"}, {2, "c"}}));
  EXPECT_EQ(world.run(erase("x")).deleted, 0u);
  EXPECT_EQ(world.run(erase("e", "z")).deleted, 0u);
  EXPECT_EQ(world.store.revision(), Revision(6)) << "nothing was there";
  EXPECT_EQ(world.run(erase("", kUnbounded)).deleted, 1u);
  EXPECT_EQ(check(erase("")), Refusal::EmptyKey);
  EXPECT_EQ(check(erase("", "b")), Refusal::EmptyKey);
}

// ---- compares

// Covers: S-15
TEST(TransactionTest, ComparesHoldForEveryTargetAndRelation) {
  World world;
  world.run(PutOperation{.key = "a", .value = "m", .lease = LeaseId(1)});
  world.run(PutOperation{.key = "a", .value = "m", .lease = LeaseId(1)});  // version 2, create 2, mod 3
  struct Case {
    Target target;
    uint64_t below, equal, above;
  };
  for (const Case& each : std::vector<Case>{
           {Target::Version, 1, 2, 3}, {Target::Create, 1, 2, 3}, {Target::Mod, 2, 3, 4}, {Target::Lease, 0, 1, 2}}) {
    const auto holds = [&](Relation relation, uint64_t number) {
      return world.holds({.key = "a", .target = each.target, .relation = relation, .number = number});
    };
    EXPECT_TRUE(holds(Relation::Equal, each.equal));
    EXPECT_FALSE(holds(Relation::Equal, each.below));
    EXPECT_TRUE(holds(Relation::NotEqual, each.above));
    EXPECT_FALSE(holds(Relation::NotEqual, each.equal));
    EXPECT_TRUE(holds(Relation::Less, each.above));
    EXPECT_FALSE(holds(Relation::Less, each.equal));
    EXPECT_TRUE(holds(Relation::Greater, each.below));
    EXPECT_FALSE(holds(Relation::Greater, each.equal));
  }
  const auto value = [&](Relation relation, std::string than) { return world.holds(Compare::value_of("a", relation, than)); };
  EXPECT_TRUE(value(Relation::Equal, "m"));
  EXPECT_TRUE(value(Relation::NotEqual, "n"));
  EXPECT_TRUE(value(Relation::Less, "n"));
  EXPECT_FALSE(value(Relation::Less, "m"));
  EXPECT_TRUE(value(Relation::Greater, "\x01"));
  EXPECT_TRUE(value(Relation::Less, "\xff")) << "bytes are unsigned";
}

// Covers: S-15
TEST(TransactionTest, AMissingKeyIsZeroInAllNumbersAndMeetsNoConditionOnItsValue) {
  World world;
  for (const Target target : {Target::Version, Target::Create, Target::Mod, Target::Lease}) {
    EXPECT_TRUE(world.holds({.key = "x", .target = target, .relation = Relation::Equal, .number = 0}));
    EXPECT_TRUE(world.holds({.key = "x", .target = target, .relation = Relation::Less, .number = 1}));
    EXPECT_FALSE(world.holds({.key = "x", .target = target, .relation = Relation::Greater, .number = 0}));
  }
  for (const Relation relation : {Relation::Equal, Relation::NotEqual, Relation::Less, Relation::Greater}) {
    EXPECT_FALSE(world.holds(Compare::value_of("x", relation, "")));
  }
}

// Covers: S-15
TEST(TransactionTest, ARangeCompareMustHoldForEveryKeyAndAnEmptyRangeIsOneMissingKey) {
  World world;
  for (const char* key : {"a", "b", "c"}) world.run(put(key, key));
  const auto created = [&](std::string key, std::string end, uint64_t below) {
    return world.holds(
        {.key = std::move(key), .end = std::move(end), .target = Target::Create, .relation = Relation::Less, .number = below});
  };
  EXPECT_TRUE(created("a", "d", 5));
  EXPECT_FALSE(created("a", "d", 4));
  EXPECT_TRUE(created("a", "c", 4));
  EXPECT_TRUE(created("x", "z", 1)) << "zero, as of a missing key";
  EXPECT_FALSE(world.holds({.key = "x", .end = "z", .target = Target::Value, .relation = Relation::NotEqual, .value = "v"}));
  EXPECT_TRUE(world.holds({.key = "", .end = kUnbounded, .target = Target::Version, .relation = Relation::Equal, .number = 1}));
}

// Covers: S-54
TEST(TransactionTest, ATransactionCanDependOnALock) {
  World world;
  EXPECT_TRUE(world.holds(Compare::lock_held("held", Token(5))));
  EXPECT_FALSE(world.holds(Compare::lock_held("held", Token(4))));
  EXPECT_FALSE(world.holds({.key = "held", .target = Target::LockHeldExclusively, .number = 5}));
  EXPECT_TRUE(world.holds(Compare::lock_free("other")));
  EXPECT_FALSE(world.holds(Compare::lock_free("held")));
}

// Covers: S-14 S-15
TEST(TransactionTest, ComparesAreAConjunctionAndAnEmptyListIsTrue) {
  World world;
  world.run(put("a"));
  EXPECT_EQ(world.run(Transaction{{}, {}, {}}), Refusal::None);
  EXPECT_TRUE(world.reply.succeeded);
  EXPECT_EQ(world.run(Transaction{{Compare::exists("a"), Compare::missing("b")}, {}, {}}), Refusal::None);
  EXPECT_TRUE(world.reply.succeeded);
  EXPECT_EQ(world.run(Transaction{{Compare::exists("a"), Compare::exists("b")}, {}, {}}), Refusal::None);
  EXPECT_FALSE(world.reply.succeeded);
  EXPECT_EQ(world.store.revision(), Revision(2)) << "S-03: none of them changed anything";
}

// ---- execution

// Covers: S-01 S-14
TEST(TransactionTest, OperationsRunInOrderInOneRevisionAndRangesSeeTheWritesBefore) {
  World world;
  world.run(put("a", "old"));
  ASSERT_EQ(world.run(unconditional({RangeOperation::of("b"), put("b", "new"), RangeOperation::of("b"), erase("a"),
                                     RangeOperation::all(), RangeOperation{.key = "a", .revision = Revision(2)}})),
            Refusal::None);
  const auto& replies = world.reply.replies;
  ASSERT_EQ(replies.size(), 6u);
  EXPECT_TRUE(std::get<RangeReply>(replies[0].body).entries.empty());
  EXPECT_EQ(std::get<RangeReply>(replies[2].body).entries.at(0), (KeyValue{"b", "new", Revision(3), Revision(3), 1}));
  EXPECT_EQ(std::get<DeleteReply>(replies[3].body).deleted, 1u);
  EXPECT_EQ(std::get<RangeReply>(replies[4].body).count, 1u);
  EXPECT_EQ(std::get<RangeReply>(replies[5].body).entries.at(0).value, "old") << "a fixed revision shows that revision";
  EXPECT_EQ(world.store.revision(), Revision(3));
}

size_t bytes_of(const std::vector<KeyValue>& entries) {
  size_t bytes = 0;
  for (const KeyValue& entry : entries) bytes += entry.key.size() + entry.value.size();
  return bytes;
}

size_t bytes_of(const TransactionReply& reply) {
  size_t bytes = 0;
  for (const OperationReply& one : reply.replies) {
    if (const auto* range = std::get_if<RangeReply>(&one.body)) bytes += bytes_of(range->entries);
    if (const auto* put = std::get_if<PutReply>(&one.body); put && put->previous) bytes += bytes_of({*put->previous});
    if (const auto* erased = std::get_if<DeleteReply>(&one.body)) bytes += bytes_of(erased->previous);
    if (const auto* nested = std::get_if<std::vector<TransactionReply>>(&one.body)) bytes += bytes_of(nested->front());
  }
  return bytes;
}

// Covers: S-14
TEST(TransactionTest, AnAnswerThatIsTooLargeToBeSeenIsNotFilledAnyFurther) {
  World world;
  const std::string large(kValueBytesMax - 1, 'v');
  const auto fill = [&] {
    for (const char* key : {"a", "b", "c", "d", "e"}) world.run(put(key, large));
  };
  const size_t enough = kResultBytesMax + 2 * kValueBytesMax;
  fill();
  const std::vector<Operation> reads(4, RangeOperation::all());
  std::vector<Operation> all = reads;
  all.emplace_back(unconditional(reads));
  EXPECT_EQ(read(world.store, unconditional(all), world.around(), {}, world.reply), Refusal::None);
  EXPECT_EQ(bytes_of(world.reply), 8 * 5 * kValueBytesMax) << "a read is answered on this replica alone, and whole";
  all.emplace_back(DeleteOperation{.key = "", .end = kUnbounded, .previous = true});
  ASSERT_EQ(world.run(unconditional(all)), Refusal::None);
  EXPECT_GT(bytes_of(world.reply), kResultBytesMax);
  EXPECT_LE(bytes_of(world.reply), enough);
  EXPECT_EQ(std::get<DeleteReply>(world.reply.replies.back().body).deleted, 5u);
  EXPECT_EQ(world.store.size(), 0u);
  fill();
  const DeleteReply erased = world.run(DeleteOperation{.key = "", .end = kUnbounded, .previous = true});
  EXPECT_EQ(erased.deleted, 5u);
  EXPECT_GT(bytes_of(erased.previous), kResultBytesMax);
  EXPECT_LE(bytes_of(erased.previous), enough);
}

// Covers: S-14
TEST(TransactionTest, AReadWithoutRoomForItsAnswerIsRefusedAndCopiesNoMore) {
  World world;
  for (const char* key : {"a", "b", "c", "d"}) world.run(put(key, std::string(99, 'v')));
  const auto read_with = [&](const Transaction& transaction, const RangeRoom& room) {
    world.reply = {};
    return read(world.store, transaction, world.around(), room, world.reply);
  };
  const Operation all = RangeOperation::all();
  const Operation two = RangeOperation{.key = "", .end = kUnbounded, .limit = 2};
  const Operation backwards = RangeOperation{.key = "", .end = kUnbounded, .order = SortOrder::Descending};
  const Transaction nested = unconditional({two, unconditional({two})});
  EXPECT_EQ(read_with(nested, {.entries = 4}), Refusal::None);
  EXPECT_EQ(read_with(nested, {.entries = 3}), Refusal::LimitExceeded);
  EXPECT_EQ(read_with(nested, {.bytes = 400}), Refusal::None);
  EXPECT_EQ(read_with(nested, {.bytes = 399}), Refusal::LimitExceeded);
  EXPECT_EQ(read_with(unconditional({backwards}), {.bytes = 399}), Refusal::LimitExceeded);
  EXPECT_EQ(read_with(unconditional({RangeOperation::of("a")}), {.bytes = 99}), Refusal::LimitExceeded)
      << "a single entry, too";
  EXPECT_EQ(
      read_with(unconditional({RangeOperation::of("x"), RangeOperation{.key = "", .end = kUnbounded, .count_only = true}}),
                {.entries = 0, .bytes = 0}),
      Refusal::None);
  EXPECT_EQ(read_with(unconditional(std::vector<Operation>(100, all)), {.bytes = 1000}), Refusal::LimitExceeded);
  EXPECT_LE(bytes_of(world.reply), 1000u) << "nobody sees it";
}

// Covers: S-14
TEST(TransactionTest, PreviousValuesStopFillingAnAnswerThatIsTooLargeToReturn) {
  World world;
  const std::string large(kValueBytesMax - 1, 'v');
  std::vector<Operation> puts, inner;
  for (char key = 'a'; key < 'm'; ++key) {
    world.run(put({key}, large));
    (key < 'g' ? puts : inner).emplace_back(PutOperation{.key = {key}, .value = "small", .previous = true});
  }
  puts.emplace_back(unconditional(inner));
  ASSERT_EQ(world.run(unconditional(puts)), Refusal::None);
  EXPECT_GT(bytes_of(world.reply), kResultBytesMax) << "nobody sees it";
  EXPECT_LE(bytes_of(world.reply), kResultBytesMax + 2 * kValueBytesMax);
  EXPECT_EQ(world.value("a") + world.value("l"), "smallsmall") << "they take effect all the same";
  ASSERT_EQ(world.run(unconditional({PutOperation{.key = "a", .previous = true}})), Refusal::None);
  EXPECT_EQ(std::get<PutReply>(world.reply.replies.at(0).body).previous->value, "small");
}

// Covers: S-14
TEST(TransactionTest, NestedComparesLookAtTheStateBeforeTheOuterTransaction) {
  World world;
  const Transaction nested{{Compare::missing("a")}, {put("seen", "missing")}, {put("seen", "there")}};
  ASSERT_EQ(world.run(unconditional({put("a"), nested})), Refusal::None);
  EXPECT_EQ(world.value("seen"), "missing");
  const auto& inner = std::get<std::vector<TransactionReply>>(world.reply.replies.at(1).body);
  EXPECT_TRUE(inner.at(0).succeeded);
  EXPECT_EQ(inner.at(0).replies.size(), 1u);
  ASSERT_EQ(world.run(unconditional({nested})), Refusal::None);
  EXPECT_EQ(world.value("seen"), "there");
}

// Covers: S-14
TEST(TransactionTest, TheOtherBranchRunsIfACompareFails) {
  World world;
  const Transaction create{{Compare::missing("a")}, {put("a", "mine")}, {RangeOperation::of("a")}};
  ASSERT_EQ(world.run(create), Refusal::None);
  EXPECT_TRUE(world.reply.succeeded);
  ASSERT_EQ(world.run(create), Refusal::None);
  EXPECT_FALSE(world.reply.succeeded);
  EXPECT_EQ(std::get<RangeReply>(world.reply.replies.at(0).body).entries.at(0).value, "mine");
  EXPECT_EQ(world.store.revision(), Revision(2));
}

// Covers: S-16
TEST(TransactionTest, ABranchChangesAKeyOnce) {
  struct Case {
    const char* what;
    std::vector<Operation> operations;
    Refusal refusal;
  };
  const Transaction puts_a{{}, {put("a")}, {}}, else_puts_a{{}, {}, {put("a")}}, both{{}, {put("a")}, {put("a")}};
  const Transaction deletes_all{{}, {erase("", kUnbounded)}, {}};
  for (const Case& each : std::vector<Case>{
           {"two keys", {put("a"), put("b")}, Refusal::None},
           {"twice put", {put("a"), put("a")}, Refusal::DuplicateKey},
           {"put and deleted", {put("a"), erase("a")}, Refusal::DuplicateKey},
           {"deleted and put", {erase("a"), put("a")}, Refusal::DuplicateKey},
           {"covered by a range", {put("b"), erase("a", "c")}, Refusal::DuplicateKey},
           {"covered from a key on", {erase("a", kUnbounded), put("b")}, Refusal::DuplicateKey},
           {"beside a range", {put("c"), erase("a", "c")}, Refusal::None},
           {"below a range", {erase("b", kUnbounded), put("a")}, Refusal::None},
           {"an empty range covers nothing", {erase("c", "a"), put("b")}, Refusal::None},
           {"overlapping deletes", {erase("a", "c"), erase("b", "d"), erase("b")}, Refusal::None},
           {"between merged deletes", {erase("a", "b"), erase("c", "d"), put("b")}, Refusal::None},
           {"in merged deletes", {erase("a", "c"), erase("b", "e"), put("d")}, Refusal::DuplicateKey},
           {"a key and its successor", {erase("a"), put(std::string("a\0", 2))}, Refusal::None},
           {"reads are free", {put("a"), RangeOperation::of("a"), RangeOperation::all()}, Refusal::None},
           {"nested", {put("a"), puts_a}, Refusal::DuplicateKey},
           {"nested first", {puts_a, put("a")}, Refusal::DuplicateKey},
           {"nested, branch not taken", {else_puts_a, put("a")}, Refusal::DuplicateKey},
           {"two nested", {puts_a, else_puts_a}, Refusal::DuplicateKey},
           {"own two branches", {both}, Refusal::None},
           {"nested delete of all", {deletes_all, put("z")}, Refusal::DuplicateKey},
       }) {
    EXPECT_EQ(check(unconditional(each.operations)), each.refusal) << each.what;
    EXPECT_EQ(check(Transaction{{}, {}, each.operations}), each.refusal) << each.what << ", in the other branch";
  }
}

// Covers: S-17
TEST(TransactionTest, TheBudgetOfALevelIsWhatTheOnesAroundItLeave) {
  const auto reads = [](size_t count) { return std::vector<Operation>(count, RangeOperation::of("a")); };
  const auto compares = [](size_t count) { return std::vector<Compare>(count, Compare::exists("a")); };
  EXPECT_EQ(check(Transaction{compares(128), reads(128), reads(128)}), Refusal::None);
  EXPECT_EQ(check(Transaction{compares(129), {}, {}}), Refusal::TooManyOps);
  EXPECT_EQ(check(Transaction{{}, reads(129), {}}), Refusal::TooManyOps);
  EXPECT_EQ(check(Transaction{{}, {}, reads(129)}), Refusal::TooManyOps);
  // The outer one uses 1, so 127 are left; with 100 compares, 28.
  EXPECT_EQ(check(unconditional({Transaction{{}, reads(127), {}}})), Refusal::None);
  EXPECT_EQ(check(unconditional({Transaction{{}, reads(128), {}}})), Refusal::TooManyOps);
  EXPECT_EQ(check(Transaction{compares(100), {Transaction{{}, reads(28), {}}}, {}}), Refusal::None);
  EXPECT_EQ(check(Transaction{compares(100), {}, {Transaction{{}, reads(29), {}}}}), Refusal::TooManyOps);
}

// Covers: S-17
TEST(TransactionTest, TransactionsNestEightLevelsDeepAndNoDeeper) {
  Transaction deep;
  for (size_t depth = 1; depth < kDepthMax; ++depth) deep = unconditional({deep});
  EXPECT_EQ(check(deep), Refusal::None);
  EXPECT_EQ(check(unconditional({deep})), Refusal::TooManyOps);
}

// Covers: S-15 S-17
TEST(TransactionTest, MalformedTransactionsAreRefused) {
  struct Case {
    const char* what;
    Transaction transaction;
    Refusal refusal;
  };
  Operation two;
  two.body = std::vector<Transaction>(2);
  for (const Case& each : std::vector<Case>{
           {"an operation of no kind", unconditional({Operation()}), Refusal::InvalidArgument},
           {"no one transaction", unconditional({two}), Refusal::InvalidArgument},
           {"a sequential put", unconditional({PutOperation{.key = "a", .sequential = true}}), Refusal::InvalidArgument},
           {"an empty key", unconditional({put("")}), Refusal::EmptyKey},
           {"an empty key in the other branch", {{}, {}, {erase("")}}, Refusal::EmptyKey},
           {"an empty key compared", {{Compare::exists("")}, {}, {}}, Refusal::EmptyKey},
           {"a value where none may be", unconditional({PutOperation{.key = "a", .value = "v", .ignore_value = true}}),
            Refusal::ValueProvided},
           {"a sort of no kind", unconditional({RangeOperation{.key = "a", .sort_by = SortTarget(9)}}), Refusal::InvalidSort},
           {"a target of no kind", {{{.key = "a", .target = Target(0)}}, {}, {}}, Refusal::InvalidArgument},
           {"another", {{{.key = "a", .target = Target(9), .number = 1}}, {}, {}}, Refusal::InvalidArgument},
           {"a relation of no kind", {{{.key = "a", .relation = Relation(0)}}, {}, {}}, Refusal::InvalidArgument},
           {"another relation", {{{.key = "a", .relation = Relation(5)}}, {}, {}}, Refusal::InvalidArgument},
           {"a lock without a name", {{Compare::lock_free("")}, {}, {}}, Refusal::InvalidArgument},
           {"a range of locks", {{{.key = "a", .end = "b", .target = Target::LockFree}}, {}, {}}, Refusal::InvalidArgument},
           {"a hold without a token", {{Compare::lock_held("a", Token())}, {}, {}}, Refusal::InvalidArgument},
           {"a free lock with a token",
            {{{.key = "a", .target = Target::LockFree, .number = 1}}, {}, {}},
            Refusal::InvalidArgument},
           {"a long lock name",
            {{Compare::lock_free(std::string(kLockNameBytesMax + 1, 'n'))}, {}, {}},
            Refusal::LimitExceeded},
       }) {
    EXPECT_EQ(check(each.transaction), each.refusal) << each.what;
  }
}

// Covers: S-18
TEST(TransactionTest, AFailureOnThePathTakenLeavesNoTrace) {
  World world;
  world.run(put("a"));
  world.run(put("a"));
  world.run(put("a"));
  ASSERT_EQ(world.store.compact(Revision(3)), Refusal::None);
  struct Case {
    Operation bad;
    Refusal refusal;
  };
  const Transaction nested_bad = unconditional({PutOperation{.key = "n", .lease = LeaseId(9)}});
  for (const Case& each : std::vector<Case>{
           {RangeOperation{.key = "a", .revision = Revision(2)}, Refusal::Compacted},
           {RangeOperation{.key = "a", .revision = Revision(5)}, Refusal::FutureRevision},
           {PutOperation{.key = "n", .lease = LeaseId(9)}, Refusal::LeaseNotFound},
           {PutOperation{.key = "n", .ignore_value = true}, Refusal::KeyNotFound},
           {nested_bad, Refusal::LeaseNotFound},
       }) {
    const uint64_t digest = world.store.digest();
    EXPECT_EQ(world.run(unconditional({put("b", "trace"), each.bad})), each.refusal);
    EXPECT_EQ(world.store.digest(), digest) << "the put before it was not made";
    // The same in the branch not taken does not matter.
    EXPECT_EQ(world.run(Transaction{{}, {RangeOperation::of("a")}, {each.bad}}), Refusal::None);
    EXPECT_EQ(world.run(Transaction{{Compare::missing("a")}, {each.bad}, {}}), Refusal::None);
    EXPECT_EQ(world.store.digest(), digest);
  }
}

TEST(TransactionTest, ATransactionWithoutWritesIsKnownByItsOperations) {
  EXPECT_FALSE(writes(Transaction{}));
  EXPECT_FALSE(writes(unconditional({RangeOperation::of("a"), unconditional({RangeOperation::of("b")})})));
  EXPECT_TRUE(writes(Transaction{{}, {}, {put("a")}}));
  EXPECT_TRUE(writes(unconditional({Transaction{{}, {}, {erase("a")}}})));
}

TEST(TransactionTest, OneThatMayAnswerEntriesIsKnownByItsOperations) {
  const Operation count = RangeOperation{.key = "a", .end = "z", .count_only = true};
  EXPECT_FALSE(answers_entries(unconditional({put("a"), erase("b"), count, Transaction{{}, {}, {count}}})));
  EXPECT_TRUE(answers_entries(Transaction{{}, {}, {RangeOperation::of("a")}}));
  EXPECT_TRUE(answers_entries(unconditional({Transaction{{}, {}, {PutOperation{.key = "a", .previous = true}}}})));
  EXPECT_TRUE(answers_entries(unconditional({DeleteOperation{.key = "a", .previous = true}})));
}

}  // namespace
}  // namespace coordkit::mvcc
