// The keys with all their options, over the real machine: what callers get, what is refused early, and what it costs.
#include "machine/command.h"
#include "tests/unit/client/two_members.h"

namespace coordkit::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using Relation = Compare::Relation;

class KvTest : public TwoMembersTest {
 public:
  Answer<PutResult> put(PutOperation operation, WriteOptions options = {}) {
    Answer<PutResult> answer;
    one.client.keys().put(std::move(operation), answer.callback(), std::move(options));
    turn();
    return answer;
  }
  Answer<EraseResult> erase(DeleteOperation operation) {
    Answer<EraseResult> answer;
    one.client.keys().erase(std::move(operation), answer.callback());
    turn();
    return answer;
  }
  Answer<RangeResult> range(RangeOperation operation) {
    Answer<RangeResult> answer;
    two.client.keys().range(std::move(operation), answer.callback());
    run(5ms);
    return answer;
  }
  Answer<TransactionResult> commit(Transaction transaction, WriteOptions options = {}) {
    Answer<TransactionResult> answer;
    one.client.keys().commit(std::move(transaction), answer.callback(), std::move(options));
    turn();
    return answer;
  }
  Answer<CompactResult> compact(uint64_t at) {
    Answer<CompactResult> answer;
    one.client.keys().compact(Revision(at), answer.callback());
    turn();
    return answer;
  }
  // By another client, straight into the machine.
  void apply(machine::Request::Body body) {
    const RequestId request{{ReplicaId(9), StoreId(9), BootCounter(1)}, Sequence(++applied)};
    cluster.apply(request, machine::encode(machine::Request{.body = std::move(body), .prior_releases = {}}));
  }
  void fill(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      std::string key = std::to_string(i);
      key.insert(0, 6 - key.size(), '0');
      apply(PutOperation{.key = "many/" + key, .value = "v"});
    }
    turn();
  }
  uint64_t applied = 0;
};

// Covers: S-02 S-11 S-13
TEST_F(KvTest, WritesSayWhatWasThereIfAsked) {
  EXPECT_EQ((*put({.key = "a", .value = "1"})).revision, Revision(2));
  const auto second = put({.key = "a", .value = "2", .previous = true});
  EXPECT_EQ((*second).previous, (KeyValue{"a", "1", Revision(2), Revision(2), 1}));
  const auto erased = erase({.key = "", .end = std::string(kNoEnd), .previous = true});
  EXPECT_EQ((*erased).deleted, 1u);
  EXPECT_EQ((*erased).revision, Revision(4));
  ASSERT_THAT((*erased).previous, SizeIs(1));
  EXPECT_EQ((*erased).previous[0].value, "2");
}

// Covers: S-04 S-08
TEST_F(KvTest, ARangeOnAnotherMemberSeesEverythingAndSaysFromWhen) {
  put({.key = "a", .value = "1"});
  put({.key = "b", .value = "1"});
  const auto old = range({.key = "a", .end = "z", .revision = Revision(2)});
  ASSERT_THAT((*old).entries, SizeIs(1));
  EXPECT_EQ((*old).revision, Revision(3)) << "of the store that was read, not the one that was asked for";
  EXPECT_EQ((*old).as_of, Index(cluster.index));
  const auto limited = range({.key = "a", .end = "z", .limit = 1});
  EXPECT_TRUE((*limited).more);
  EXPECT_EQ((*limited).count, 2u);
}

// Covers: S-05 S-11 S-12 S-16 S-17 S-35
TEST_F(KvTest, WhatNoStateCouldMakePossibleIsRefusedAtTheDoor) {
  const std::string long_key(machine::kKeyBytesMax + 1, 'k');
  struct Case {
    Operation operation;
    Reason reason;
  };
  for (const Case& each : std::vector<Case>{
           {PutOperation{.key = ""}, Reason::EmptyKey},
           {PutOperation{.key = long_key}, Reason::LimitExceeded},
           {PutOperation{.key = "a", .value = std::string(machine::kValueBytesMax + 1, 'v')}, Reason::LimitExceeded},
           {PutOperation{.key = "a", .value = "v", .ignore_value = true}, Reason::ValueProvided},
           {PutOperation{.key = "a", .lease = LeaseId(1), .ignore_lease = true}, Reason::LeaseProvided},
           {PutOperation{.key = "a", .ignore_value = true, .sequential = true}, Reason::InvalidArgument},
           {DeleteOperation{.key = ""}, Reason::EmptyKey},
           {RangeOperation{.key = ""}, Reason::EmptyKey},
           {RangeOperation{.key = "a", .limit = -1}, Reason::InvalidArgument},
           {RangeOperation{.key = "a", .sort_by = SortTarget(9)}, Reason::InvalidSort},
           {Transaction{{}, {PutOperation{.key = "a"}, DeleteOperation{.key = "a"}}, {}}, Reason::DuplicateKey},
           {Transaction{std::vector<Compare>(129, Compare::exists("a")), {}, {}}, Reason::TooManyOps},
       }) {
    std::optional<Reason> reason;
    Outcome outcome = Outcome::Unknown;
    const auto look = [&](const auto& answer) {
      reason = answer.reason();
      outcome = answer.outcome();
    };
    if (const auto* write = std::get_if<PutOperation>(&each.operation.body)) look(put(*write));
    if (const auto* gone = std::get_if<DeleteOperation>(&each.operation.body)) look(erase(*gone));
    if (const auto* read = std::get_if<RangeOperation>(&each.operation.body)) look(range(*read));
    if (const auto* nested = std::get_if<std::vector<Transaction>>(&each.operation.body)) look(commit(nested->front()));
    EXPECT_EQ(reason, each.reason) << name_of(each.reason);
    EXPECT_EQ(outcome, Outcome::NoEffect);
  }
  EXPECT_EQ(cluster.index, 0u) << "none of them cost an entry";
}

// 1,153 bytes of a command held every replica of a million keys for six seconds, and the longest accepted for hours.
// Covers: S-17
TEST_F(KvTest, ATransactionThatWouldHoldEveryReplicaForLongIsRefusedAtTheDoor) {
  fill(2000);
  const RangeOperation count{.key = "", .end = std::string(kNoEnd), .count_only = true};
  const Transaction inner{{}, std::vector<Operation>(60, count), {}};
  Transaction outer{{}, std::vector<Operation>(60, inner), {}};
  const auto read = commit(outer);
  EXPECT_EQ(read.reason(), Reason::LimitExceeded);
  outer.otherwise.emplace_back(PutOperation{.key = "a"});
  const uint64_t entries = cluster.index;
  const auto write = commit(outer);
  EXPECT_EQ(write.reason(), Reason::LimitExceeded);
  EXPECT_EQ(write.outcome(), Outcome::NoEffect);
  EXPECT_EQ(cluster.index, entries);
  EXPECT_TRUE(commit({{}, {count, count, PutOperation{.key = "a"}}, {}}).ok());
}

// Covers: S-11 S-12 S-18 S-19
TEST_F(KvTest, WhatTheStateRefusesHasItsReasonAndNoEffect) {
  for (int i = 0; i < 3; ++i) put({.key = "a", .value = "v"});
  ASSERT_TRUE(compact(3).ok());
  EXPECT_EQ(put({.key = "x", .ignore_value = true}).reason(), Reason::KeyNotFound);
  EXPECT_EQ(put({.key = "x", .lease = LeaseId(77)}).reason(), Reason::LeaseNotFound);
  EXPECT_EQ(range({.key = "a", .revision = Revision(2)}).reason(), Reason::Compacted);
  EXPECT_EQ(range({.key = "a", .revision = Revision(9)}).reason(), Reason::FutureRevision);
  EXPECT_EQ(compact(3).reason(), Reason::Compacted);
  EXPECT_EQ(compact(9).reason(), Reason::FutureRevision);
  EXPECT_EQ(compact(0).reason(), Reason::InvalidArgument);
  EXPECT_EQ(commit({{}, {PutOperation{.key = "x"}, RangeOperation{.key = "a", .revision = Revision(2)}}, {}}).reason(),
            Reason::Compacted);
  EXPECT_EQ((*range(RangeOperation::all())).count, 1u);
}

// Covers: S-35
TEST_F(KvTest, WhatHasNoRoomIsRefusedBeforeTheLogAndAgainWhereItIsFull) {
  put({.key = "a", .value = "1"});
  Answer<QuotaResult> set;
  one.client.keys().set_quota(100, set.callback());
  turn();
  EXPECT_EQ((*set).revision, Revision(2));
  const uint64_t entries = cluster.index;
  const auto refused = put({.key = "b"});
  EXPECT_EQ(refused.reason(), Reason::NoSpace);
  EXPECT_EQ(refused.outcome(), Outcome::NoEffect);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("compact"));
  EXPECT_EQ(commit({{}, {PutOperation{.key = "b"}}, {}}).reason(), Reason::NoSpace);
  EXPECT_EQ(cluster.index, entries) << "this replica's own state said so";
  EXPECT_TRUE(commit({{}, {RangeOperation::all()}, {}}).ok());
  EXPECT_EQ((*erase({.key = "a"})).deleted, 1u);
  EXPECT_EQ(put({.key = "b"}).reason(), Reason::NoSpace);
  Answer<KeySpaceInfo> info;
  two.client.keys().space(info.callback());
  turn();
  EXPECT_EQ((*info).quota, 100u);
  EXPECT_EQ((*info).weight, 64u + 2) << "of the put; deletes weigh nothing";
  ASSERT_TRUE(compact(3).ok());
  EXPECT_TRUE(put({.key = "b"}).ok()) << "nothing had to be cleared";
}

// The early check knows what was applied; puts in flight meet the limit in the log.
// Covers: S-35
TEST_F(KvTest, PutsThatFilledTheStoreTogetherAreRefusedByTheLogWithoutEffect) {
  apply(machine::SetKeyQuota{uint64_t{3} * 65});
  turn();
  std::vector<Answer<PutResult>> answers(5);
  for (Answer<PutResult>& answer : answers) one.client.keys().put({.key = "a"}, answer.callback());
  turn();
  int refused = 0;
  for (const Answer<PutResult>& answer : answers) {
    if (answer.ok()) continue;
    EXPECT_EQ(answer.reason(), Reason::NoSpace);
    EXPECT_EQ(answer.outcome(), Outcome::NoEffect);
    ++refused;
  }
  EXPECT_EQ(refused, 2);
}

// Covers: S-06
TEST_F(KvTest, ARefusalCarriesTheRevisionThatCanBeRead) {
  for (int i = 0; i < 3; ++i) put({.key = "a", .value = "v"});
  compact(3);
  EXPECT_EQ(revision_of(range({.key = "a", .revision = Revision(2)}).status()), Revision(3));
  EXPECT_EQ(revision_of(range({.key = "a", .revision = Revision(9)}).status()), Revision(4));
  EXPECT_EQ(revision_of(compact(2).status()), Revision(3));
  EXPECT_EQ(revision_of(absl::OkStatus()), std::nullopt);
  EXPECT_THAT(std::string(range({.key = "a", .revision = Revision(2)}).status().message()), HasSubstr("3"));
}

// Covers: S-14
TEST_F(KvTest, ATransactionAnswersWithItsBranchAndItsRevision) {
  const Transaction create{{Compare::missing("a")}, {PutOperation{.key = "a", .value = "first"}}, {RangeOperation::of("a")}};
  const auto first = commit(create);
  EXPECT_TRUE((*first).succeeded);
  EXPECT_EQ((*first).revision, Revision(2));
  const auto second = commit(create);
  EXPECT_FALSE((*second).succeeded);
  ASSERT_THAT((*second).replies, SizeIs(1));
  EXPECT_EQ(std::get<RangeReply>((*second).replies[0].body).entries.at(0).value, "first");
  EXPECT_EQ((*second).revision, Revision(2));
}

TEST_F(KvTest, ATransactionThatOnlyReadsCostsNoEntry) {
  put({.key = "a", .value = "1"});
  const size_t before = cluster.index;
  const auto read = commit({{Compare::exists("a")}, {RangeOperation::of("a")}, {}});
  EXPECT_TRUE((*read).succeeded);
  EXPECT_EQ(std::get<RangeReply>((*read).replies.at(0).body).count, 1u);
  EXPECT_EQ((*read).revision, Revision(2));
  EXPECT_EQ(cluster.index, before);
  EXPECT_EQ(commit({{}, {RangeOperation{.key = "a", .revision = Revision(8)}}, {}}).reason(), Reason::FutureRevision);
}

// Covers: S-14
TEST_F(KvTest, ATransactionThatOnlyReadsAnswersNoMoreThanOneReadOfARange) {
  fill(machine::kRowsMax + 1);
  RangeOperation many = RangeOperation::prefix("many/");
  const auto refused = [this](const RangeOperation& range) {
    const auto read = commit({{}, {RangeOperation::of("a"), range}, {}});
    EXPECT_EQ(read.outcome(), Outcome::NoEffect);
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("10,000 entries or 4 MiB"));
    return read.reason();
  };
  EXPECT_EQ(refused(many), Reason::LimitExceeded);
  many.limit = machine::kRowsMax;
  EXPECT_TRUE(commit({{}, {many}, {}}).ok());
  for (const char* key : {"large/1", "large/2", "large/3", "large/4"}) {
    apply(PutOperation{.key = key, .value = std::string(machine::kValueBytesMax, 'v')});
  }
  RangeOperation large = RangeOperation::prefix("large/");
  EXPECT_EQ(refused(large), Reason::LimitExceeded);
  EXPECT_THAT((*range(large)).entries, SizeIs(4)) << "read by itself it comes in steps";
  large.keys_only = true;
  EXPECT_TRUE(commit({{}, {large}, {}}).ok());
}

// Covers: S-54
TEST_F(KvTest, ATransactionAndAFenceDependOnALocksToken) {
  const SessionRef session = open(one);
  Answer<HoldRef> held;
  one.client.acquire(session, "lock", {}, held.callback());
  turn();
  const Transaction guarded{{Compare::lock_held("lock", (*held)->token())}, {PutOperation{.key = "a", .value = "mine"}}, {}};
  EXPECT_TRUE((*commit(guarded)).succeeded);
  EXPECT_TRUE(put({.key = "b", .value = ""}, {.fence = fenced_by(*held)}).ok());
  Answer<void> released;
  one.client.release(*held, released.callback());
  turn();
  EXPECT_FALSE((*commit(guarded)).succeeded);
}

// Covers: S-12 S-39 S-63
TEST_F(KvTest, ASequentialKeyOfASessionGoesWithIt) {
  const SessionRef session = open(one);
  const auto made = put({.key = "q/", .value = "me", .lease = LeaseId(session->id().value()), .sequential = true});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made).key.size(), 22u);
  EXPECT_EQ((*range(RangeOperation::of((*made).key))).entries.at(0).lease, LeaseId(session->id().value()));
  Answer<void> closed;
  one.client.close(session, closed.callback());
  run(5ms);
  EXPECT_EQ((*range(RangeOperation::prefix("q/"))).count, 0u);
}

// Covers: S-08
TEST_F(KvTest, ALargeRangeIsReadInStepsAtOneRevision) {
  fill(25'000);
  Answer<RangeResult> answer;
  two.client.keys().range(RangeOperation::prefix("many/"), answer.callback());
  two.turn(truth);
  EXPECT_EQ(answer.times(), 0) << "one answer holds 10,000";
  for (int i = 0; i < 50 && answer.times() == 0; ++i) {
    put({.key = "many/000000", .value = "newer"});
    put({.key = "many/" + std::to_string(i), .value = "new"});
  }
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer).revision, Revision(25'001));
  EXPECT_EQ((*answer).count, 25'000u);
  ASSERT_THAT((*answer).entries, SizeIs(25'000));
  EXPECT_FALSE((*answer).more);
  EXPECT_TRUE(std::ranges::is_sorted((*answer).entries, {}, &KeyValue::key));
  for (const KeyValue& entry : (*answer).entries) ASSERT_LE(entry.mod, Revision(25'001));
  const auto limited = range({.key = "", .end = std::string(kNoEnd), .limit = 12'345});
  EXPECT_THAT((*limited).entries, SizeIs(12'345));
  EXPECT_TRUE((*limited).more);
}

// Covers: S-08
TEST_F(KvTest, ARangeGoesOnAfterAKeyOfTheGreatestLength) {
  constexpr size_t kKeys = 1100;  // of which a step takes 512
  for (size_t i = 0; i < kKeys; ++i) {
    std::string key = std::to_string(10'000 + i);
    key.resize(machine::kKeyBytesMax, 'k');
    apply(PutOperation{.key = key});
  }
  turn();
  const auto all = range(RangeOperation::all());
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_THAT((*all).entries, SizeIs(kKeys));
}

TEST_F(KvTest, ARangeThatIsCompactedBetweenTwoStepsSaysSo) {
  fill(25'000);
  Answer<RangeResult> answer;
  two.client.keys().range(RangeOperation::prefix("many/"), answer.callback());
  two.turn(truth);
  ASSERT_EQ(answer.times(), 0);
  apply(PutOperation{.key = "a", .value = ""});
  apply(machine::Compact{Revision(25'002)});
  run(5ms);
  EXPECT_EQ(answer.reason(), Reason::Compacted);
  EXPECT_EQ(revision_of(answer.status()), Revision(25'002));
}

TEST_F(KvTest, ARangeInAnotherOrderIsOneAnswerOrNone) {
  fill(12'000);
  RangeOperation newest = RangeOperation::prefix("many/");
  newest.sort_by = SortTarget::Mod;
  newest.order = SortOrder::Descending;
  EXPECT_EQ(range(newest).reason(), Reason::LimitExceeded);
  newest.limit = 2;
  const auto two_newest = range(newest);
  ASSERT_THAT((*two_newest).entries, SizeIs(2));
  EXPECT_EQ((*two_newest).entries[0].key, "many/011999");
}

}  // namespace
}  // namespace coordkit::test
