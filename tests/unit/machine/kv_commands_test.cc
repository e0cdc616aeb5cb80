// Keys through the machine: answers of commands and queries, what they depend on outside the store, and rows.
#include <gtest/gtest.h>

#include "base/random.h"
#include "machine/keys/kv_codec.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using Code = ResultCode;
const std::string kEnd(kNoEnd);

template <typename T>
T reply_as(const Result& result) {
  const auto reply = decode_operation_reply(result.reply);
  EXPECT_TRUE(reply.ok() && std::holds_alternative<T>(reply->body));
  return reply.ok() && std::holds_alternative<T>(reply->body) ? std::get<T>(reply->body) : T();
}
TransactionReply nested_reply(const Result& result) {
  const auto nested = reply_as<std::vector<TransactionReply>>(result);
  return nested.size() == 1 ? nested.front() : TransactionReply();
}
Transaction unconditional(std::vector<Operation> then) { return {{}, std::move(then), {}}; }

// Covers: S-11 S-13
TEST(KvCommandsTest, APutAndADeleteSayWhatWasThereIfAsked) {
  Driver d;
  EXPECT_EQ(d.submit(Put{"a", "1"}).reply, "") << "nothing to say beyond the revision";
  const PutReply put = reply_as<PutReply>(d.submit(Put{.key = "a", .value = "2", .previous = true}));
  EXPECT_EQ(put.previous, (KeyValue{"a", "1", Revision(2), Revision(2), 1}));
  d.submit(Put{"b", "1"});
  const Result erased = d.submit(Delete{.key = "", .end = kEnd, .previous = true});
  EXPECT_EQ(erased.deleted, 2u);
  EXPECT_EQ(erased.revision, Revision(5));
  const DeleteReply reply = reply_as<DeleteReply>(erased);
  ASSERT_EQ(reply.previous.size(), 2u);
  EXPECT_EQ(reply.previous[0].value, "2");
}

// Covers: S-05 S-11 S-12 S-16 S-17 S-19
TEST(KvCommandsTest, EveryRefusalHasItsCodeAndNoEffect) {
  Driver d;
  for (int i = 0; i < 3; ++i) d.submit(Put{"a", "v"});
  ASSERT_EQ(d.submit(Compact{Revision(3)}).code, Code::Ok);
  struct Case {
    Request::Body body;
    Code code;
  };
  for (const Case& each : std::vector<Case>{
           {Put{"", "v"}, Code::EmptyKey},
           {Put{std::string(kKeyBytesMax + 1, 'k'), ""}, Code::LimitExceeded},
           {Put{"a", std::string(kValueBytesMax + 1, 'v')}, Code::LimitExceeded},
           {Put{.key = "a", .value = "v", .ignore_value = true}, Code::ValueProvided},
           {Put{.key = "a", .lease = LeaseId(1), .ignore_lease = true}, Code::LeaseProvided},
           {Put{.key = "x", .ignore_value = true}, Code::KeyNotFound},
           {Put{.key = "x", .lease = LeaseId(1)}, Code::LeaseNotFound},
           {Delete{""}, Code::EmptyKey},
           {Delete{"", "b"}, Code::EmptyKey},
           {unconditional({Put{"a"}, Put{"a"}}), Code::DuplicateKey},
           {unconditional(std::vector<Operation>(129, RangeOperation::of("a"))), Code::TooManyOps},
           {unconditional({RangeOperation{.key = "a", .order = SortOrder(9)}}), Code::InvalidSort},
           {unconditional({Operation()}), Code::InvalidArgument},
           {unconditional({Put{"b"}, RangeOperation{.key = "a", .revision = Revision(2)}}), Code::Compacted},
           {unconditional({Put{"b"}, RangeOperation{.key = "a", .revision = Revision(5)}}), Code::FutureRevision},
           {Compact{Revision(0)}, Code::InvalidArgument},
           {Compact{Revision(3)}, Code::Compacted},
           {Compact{Revision(5)}, Code::FutureRevision},
       }) {
    const uint64_t digest = d.machine.digest();
    const Result result = d.submit(each.body);
    EXPECT_EQ(result.code, each.code);
    EXPECT_EQ(result.revision, Revision(4)) << "the current one: what FutureRevision has to say";
    EXPECT_EQ(result.compacted, each.code == Code::Compacted ? Revision(3) : Revision());
    EXPECT_EQ(outcome_of(result.code), ResultOutcome::None);
    EXPECT_EQ(d.machine.digest(), digest);
  }
}

// Covers: S-14
TEST(KvCommandsTest, ATransactionAnswersForEachOperationOfItsBranch) {
  Driver d;
  const Transaction create{{Compare::missing("a")}, {Put{"a", "1"}}, {RangeOperation::of("a")}};
  const Result created = d.submit(create);
  EXPECT_EQ(created.revision, Revision(2));
  EXPECT_TRUE(nested_reply(created).succeeded);
  const TransactionReply second = nested_reply(d.submit(create));
  EXPECT_FALSE(second.succeeded);
  ASSERT_EQ(second.replies.size(), 1u);
  EXPECT_EQ(std::get<RangeReply>(second.replies[0].body).entries.at(0).value, "1");
}

// Covers: S-54
TEST(KvCommandsTest, ATransactionIsGuardedByALocksTokenInTheSameApply) {
  Driver d;
  const SessionId a = d.open();
  const Token token = d.acquire(a, "lock").token;
  const Transaction write{{Compare::lock_held("lock", token)}, {Put{"a", "mine"}}, {}};
  EXPECT_TRUE(nested_reply(d.submit(write)).succeeded);
  const Transaction exclusive{
      {{.key = "lock", .target = Compare::Target::LockHeldExclusively, .number = token.value()}}, {}, {}};
  EXPECT_TRUE(nested_reply(d.submit(exclusive)).succeeded);
  EXPECT_FALSE(nested_reply(d.submit(Transaction{{Compare::lock_free("lock")}, {}, {}})).succeeded);
  d.release(a, "lock", token);
  EXPECT_FALSE(nested_reply(d.submit(write)).succeeded) << "a former holder writes nothing";
  EXPECT_TRUE(nested_reply(d.submit(Transaction{{Compare::lock_free("lock")}, {}, {}})).succeeded);
  EXPECT_EQ(d.machine.reads()->range(RangeOperation::of("a")).revision, Revision(2));
}

// Covers: S-63
TEST(KvCommandsTest, ASequentialPutNamesItsKeyByItsEntry) {
  Driver d;
  const Result first = d.submit(Put{.key = "q/", .value = "1", .sequential = true});
  const std::string key = reply_as<PutReply>(first).key;
  EXPECT_EQ(key, "q/0000000000000000000" + std::to_string(d.index.value()));
  for (int i = 0; i < 20; ++i) d.submit(Put{.key = "q/", .value = "x", .sequential = true});
  const std::string last = reply_as<PutReply>(d.submit(Put{.key = "q/", .value = "last", .sequential = true})).key;
  const RangeReply all = d.machine.reads()->range(RangeOperation::prefix("q/")).reply;
  ASSERT_EQ(all.entries.size(), 22u);
  EXPECT_EQ(all.entries.front().key, key) << "the order of bytes is the order of creation";
  EXPECT_EQ(all.entries.back().key, last);
}

// Covers: S-12 S-39 INV_K05
TEST(KvCommandsTest, KeysAttachedToASessionGoWithItInOneRevision) {
  for (const bool closed : {true, false}) {
    Driver d;
    const SessionId a = d.open(), b = d.open();
    d.submit(Put{.key = "y", .value = "", .lease = LeaseId(a.value())});
    d.submit(Put{.key = "x", .value = "", .lease = LeaseId(a.value())});
    d.submit(Put{.key = "kept", .value = "", .lease = LeaseId(b.value())});
    d.submit(Put{.key = "free", .value = ""});
    d.machine.verify();
    if (closed) {
      EXPECT_EQ(d.submit(CloseSession{a}).revision, Revision(6));
    } else {
      d.expire({a});
    }
    const auto now = d.machine.reads()->range(RangeOperation::all());
    EXPECT_EQ(now.revision, Revision(6));
    EXPECT_EQ(now.reply.count, 2u);
    EXPECT_EQ(d.submit(Put{.key = "x", .value = "", .lease = LeaseId(a.value())}).code, Code::LeaseNotFound);
    d.machine.verify();
  }
}

// Covers: S-39 INV_K02
TEST(KvCommandsTest, SessionsThatEndTogetherTakeARevisionEachIfTheyHadKeys) {
  Driver d;
  const SessionId a = d.open(), b = d.open(), c = d.open();
  d.submit(Put{.key = "a", .value = "", .lease = LeaseId(a.value())});
  d.submit(Put{.key = "c", .value = "", .lease = LeaseId(c.value())});
  d.expire({c, b, a});
  EXPECT_EQ(d.machine.reads()->range(RangeOperation::all()).revision, Revision(5)) << "none for the one without keys";
}

// Covers: S-06 S-08
TEST(KvCommandsTest, QuestionsAnswerLikeOperationsAndSayWhatWasCompacted) {
  Driver d;
  for (int i = 0; i < 4; ++i) d.submit(Put{"a", std::to_string(i)});
  d.submit(Compact{Revision(3)});
  EXPECT_EQ(d.machine.reads()->range(RangeOperation{.key = "a", .revision = Revision(3)}).reply.entries.at(0).value, "1");
  const auto below = d.machine.reads()->range(RangeOperation{.key = "a", .revision = Revision(2)});
  EXPECT_EQ(below.code, Code::Compacted);
  EXPECT_EQ(below.compacted, Revision(3));
  const auto above = d.machine.reads()->range(RangeOperation{.key = "a", .revision = Revision(9)});
  EXPECT_EQ(above.code, Code::FutureRevision);
  EXPECT_EQ(above.revision, Revision(5));
  EXPECT_EQ(d.machine.reads()->range(RangeOperation{.key = "a", .limit = -1}).code, Code::InvalidArgument);
  EXPECT_EQ(d.machine.reads()->range(RangeOperation{.key = ""}).code, Code::EmptyKey);
}

TEST(KvCommandsTest, ATransactionOfReadsIsAskedWithoutAnEntryAndOneThatWritesIsRefused) {
  Driver d;
  d.submit(Put{"a", "1"});
  const Transaction reads{{Compare::exists("a")}, {RangeOperation::of("a")}, {}};
  const TransactionReply reply = d.machine.reads()->read(reads).reply;
  EXPECT_TRUE(reply.succeeded);
  EXPECT_EQ(std::get<RangeReply>(reply.replies.at(0).body).entries.at(0).value, "1");
  EXPECT_EQ(d.machine.reads()->read(Transaction{{}, {}, {Put{"a"}}}).code, Code::InvalidArgument);
  EXPECT_EQ(d.machine.reads()->read(unconditional({Operation()})).code, Code::InvalidArgument);
}

TEST(KvCommandsTest, ALargeRangeIsCutByBytesAndAnOrderThatCannotGoOnIsRefused) {
  Driver d;
  for (int i = 0; i < 6; ++i) d.submit(Put{std::string(1, static_cast<char>('a' + i)), std::string(kValueBytesMax, 'v')});
  const RangeReply reply = d.machine.reads()->range(RangeOperation::all()).reply;
  EXPECT_TRUE(reply.more);
  EXPECT_EQ(reply.entries.size(), 3u);
  EXPECT_EQ(reply.count, 6u);
  RangeOperation sorted = RangeOperation::all();
  sorted.order = SortOrder::Descending;
  EXPECT_EQ(d.machine.reads()->range(sorted).code, Code::LimitExceeded);
  RangeOperation rest = RangeOperation::from(reply.entries.back().key + '\0');
  EXPECT_EQ(d.machine.reads()->rest_of_range(rest).reply.entries.size(), 3u);
  sorted.limit = 2;
  EXPECT_EQ(d.machine.reads()->range(sorted).reply.entries.size(), 2u);
}

// Covers: S-19
TEST(KvCommandsTest, ACompactionIsSweptByTheEntriesThatFollowAndSurvivesARestartInBetween) {
  Driver d;
  for (int i = 0; i < 1000; ++i) d.submit(Put{"a", std::to_string(i)});
  const SessionId a = d.open();
  ASSERT_EQ(d.submit(Compact{Revision(1001)}).code, Code::Ok);
  RowsView view;
  CheckpointBatch batch;
  d.machine.checkpoint(batch);
  view.add(batch);
  EXPECT_GT(view.rows.size(), 700u) << "most of it waits";
  Driver restarted;
  ASSERT_TRUE(restarted.machine.restore(view).ok());
  ASSERT_EQ(restarted.machine.digest(), d.machine.digest());
  for (int i = 0; i < 5; ++i) {
    for (Driver* each : {&d, &restarted}) {
      each->index = Index(2000 + static_cast<uint64_t>(i));
      each->fire({{session_timer(a), Generation(9)}});
    }
    ASSERT_EQ(restarted.machine.digest(), d.machine.digest());
  }
  CheckpointBatch swept;
  restarted.machine.checkpoint(swept);
  view.add(swept);
  EXPECT_EQ(view.rows.size(), 4u) << "counters, the session, the newest change and the one it took the place of";
  restarted.machine.verify();
}

// Covers: REG_F06
TEST(KvCommandsTest, ACompactionTouchesNoWait) {
  Driver d;
  const SessionId a = d.open(), b = d.open();
  const Token token = d.acquire(a, "lock").token;
  const Sequence waiting = d.last_sequence.next();
  d.acquire(b, "lock", Wait::forever());
  for (int i = 0; i < 3; ++i) d.submit(Put{"lock", "a key of the same name"});
  ASSERT_EQ(d.submit(Compact{Revision(4)}).code, Code::Ok);
  EXPECT_EQ(d.queue("lock").size(), 1u);
  d.release(a, "lock", token);
  EXPECT_EQ(d.last.of(waiting).code, Code::Granted);
  EXPECT_TRUE(d.queue("lock").empty());
}

// Covers: INV_K05
TEST(KvCommandsTest, ACheckpointWithAKeyOfNoSessionIsRefused) {
  Driver d;
  const SessionId a = d.open();
  d.submit(Put{.key = "x", .value = "", .lease = LeaseId(a.value())});
  RowsView view;
  CheckpointBatch batch;
  d.machine.checkpoint(batch);
  view.add(batch);
  ASSERT_TRUE(Machine("m1").restore(view).ok());
  std::erase_if(view.rows, [](const auto& row) { return row.first[2] == 's'; });
  EXPECT_EQ(Machine("m1").restore(view).code(), absl::StatusCode::kDataLoss);
}

// Random operations on a machine, on one restored before every single entry, and on one that never stores.
// Covers: INV_K03
TEST(KvCommandsTest, RandomOperationsAreTheSameOnACopyRestoredBeforeEachOfThem) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Driver d, copy, never_stored;
    RowsView view;
    std::vector<SessionId> sessions;
    const auto key = [&] { return std::string(1, static_cast<char>('a' + random.below(6))); };
    const auto lease = [&] { return sessions.empty() ? LeaseId() : LeaseId(sessions[random.below(sessions.size())].value()); };
    for (uint64_t step = 0; step < 300; ++step) {
      Request::Body body =
          Put{.key = key(), .value = std::to_string(step), .lease = random.below(3) == 0 ? lease() : LeaseId()};
      switch (random.below(16)) {
        case 0: body = OpenSession{5s, "", kOrigin.replica, kOrigin.boot, kOrigin.store.value()}; break;
        case 1: body = CloseSession{sessions.empty() ? SessionId(1) : sessions[random.below(sessions.size())]}; break;
        case 2: body = Delete{.key = key(), .end = key(), .previous = true}; break;
        case 3: body = Delete{.key = key()}; break;
        case 4: body = Compact{Revision(random.below(step + 2))}; break;
        case 5: body = Put{.key = key(), .value = "s", .sequential = true}; break;
        case 6: body = Put{.key = key(), .ignore_value = true, .previous = true}; break;
        case 7:
        case 8:
          body = Transaction{{Compare::exists(key())},
                             {Put{key(), "t"}, RangeOperation::all()},
                             {Delete{key()}, RangeOperation{.key = key(), .revision = Revision(random.below(step + 2))}}};
          break;
        case 12: body = GrantLease{LeaseId(random.below(4)), 5s}; break;
        case 13: body = RevokeLease{random.below(2) == 0 ? LeaseId(1 + random.below(3)) : lease()}; break;
        case 15: body = SetKeyQuota{random.below(4) * 2000}; break;
        case 14: body = RenewLease{LeaseId(1 + random.below(3))}; break;
        default: break;
      }
      const Result result = d.submit(body);
      ASSERT_EQ(copy.submit(body), result) << step;
      ASSERT_EQ(never_stored.submit(body), result) << step;
      if (result.session) sessions.emplace_back(result.lease ? result.lease.value() : result.session.value());
      ASSERT_EQ(d.machine.digest(), copy.machine.digest());
      ASSERT_EQ(d.machine.digest(), never_stored.machine.digest());
      CheckpointBatch batch;
      d.machine.checkpoint(batch);
      view.add(batch);
      ASSERT_TRUE(copy.machine.restore(view).ok());
      copy.machine.verify();
      CheckpointBatch nothing;
      copy.machine.checkpoint(nothing);
      ASSERT_TRUE(nothing.rows.empty());
    }
  }
}

}  // namespace
}  // namespace coordkit::machine
