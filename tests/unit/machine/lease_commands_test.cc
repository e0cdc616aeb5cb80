// Leases of keys as the log sees them (docs/semantics.md S-29 to S-33, S-12, S-15).
#include <gtest/gtest.h>

#include <algorithm>

#include "machine/checkpoint_rows.h"
#include "machine/keys/kv_codec.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using Code = ResultCode;

GrantLease of_process(LeaseId id, Duration ttl = 5s) { return {id, ttl, kOrigin.replica, kOrigin.boot, kOrigin.store.value()}; }

std::vector<std::string> keys_of(const Driver& d, LeaseId lease) { return d.machine.reads()->lease(lease, true, "").keys; }

TransactionReply transaction_reply(const Result& result) {
  return std::get<std::vector<TransactionReply>>(decode_operation_reply(result.reply).value().body).front();
}

// Covers: S-29 REG_F22
TEST(LeaseCommandsTest, TtlsAreRaisedToTheFloorOrRefused) {
  Driver d;
  struct Case {
    Duration asked;
    Code code;
    Duration granted;
  };
  for (const Case& one :
       {Case{1ns, Code::Ok, 50ms}, Case{50ms - 1ns, Code::Ok, 50ms}, Case{50ms, Code::Ok, 50ms},
        Case{50ms + 1ns, Code::Ok, 50ms + 1ns}, Case{kTtlMax, Code::Ok, kTtlMax}, Case{kTtlMax + 1ns, Code::TtlTooLarge, {}},
        Case{Duration::max(), Code::TtlTooLarge, {}}, Case{Duration(0), Code::InvalidArgument, {}},
        Case{-1ns, Code::InvalidArgument, {}}, Case{Duration::min(), Code::InvalidArgument, {}}}) {
    SCOPED_TRACE(one.asked.count());
    const Result granted = d.submit(GrantLease{.ttl = one.asked});
    EXPECT_EQ(granted.code, one.code);
    EXPECT_EQ(granted.ttl, one.granted);
    EXPECT_EQ(d.last.timer_ops.size(), one.code == Code::Ok ? 1u : 0u);
  }
  EXPECT_EQ(d.machine.leases(), 5u);
}

// Covers: S-29
TEST(LeaseCommandsTest, AnyNumberIsAnIdAndDrawnOnesAreFarFromThoseThatCallersChoose) {
  Driver d;
  for (const uint64_t id : {uint64_t{1}, uint64_t{1} << 63, ~uint64_t{0}}) {
    EXPECT_EQ(d.submit(GrantLease{LeaseId(id), 5s}).lease, LeaseId(id));
    EXPECT_EQ(d.submit(GrantLease{LeaseId(id), 5s}).code, Code::LeaseExists);
  }
  d.submit(GrantLease{LeaseId(kDrawnLease + d.index.value() + 2), 5s});
  for (int i = 0; i < 2; ++i) {
    const LeaseId granted = d.submit(GrantLease{{}, 5s}).lease;
    EXPECT_EQ(granted, LeaseId(kDrawnLease + d.index.value() + 1))
        << "the index of the entry is taken, first by us, then by the one before";
  }
  EXPECT_EQ(d.machine.leases(), 6u);
  d.machine.verify();
}

// Covers: S-29
TEST(LeaseCommandsTest, ALeaseAndASessionNeverHaveOneId) {
  Driver d;
  const SessionId session = d.open();
  EXPECT_EQ(d.submit(GrantLease{LeaseId(session.value()), 5s}).code, Code::LeaseExists);
  const SessionId number = d.submit(GrantLease{LeaseId(session.value() + 2), 5s}).session;
  EXPECT_EQ(number.value(), session.value() + 1);
  EXPECT_EQ(d.open().value(), session.value() + 3) << "the id between is a lease's";
}

// Covers: S-33
TEST(LeaseCommandsTest, OnlyALeaseOfAProcessIsRenewedWithItsSessions) {
  Driver d;
  const SessionId session = d.open();
  d.submit(of_process(LeaseId(7)));
  const TimerGroup group{kOrigin.replica, kOrigin.boot, kOrigin.store.value(), 5s};
  ASSERT_EQ(d.last.timer_ops.size(), 1u);
  EXPECT_EQ(d.last.timer_ops[0].group, group);
  d.submit(GrantLease{LeaseId(8), 5s});
  ASSERT_EQ(d.last.timer_ops.size(), 1u);
  EXPECT_TRUE(d.last.timer_ops[0].group.alone());
  EXPECT_EQ(d.last.timer_ops[0].duration, 5s);
  EXPECT_EQ(d.timers().size(), 3u) << "asked after a restore";
  EXPECT_EQ(d.timers()[0].id, session_timer(session));
}

// Covers: S-12
TEST(LeaseCommandsTest, APutNeedsALeaseThatIsThere) {
  Driver d;
  EXPECT_EQ(d.submit(Put{.key = "x", .lease = LeaseId(7)}).code, Code::LeaseNotFound);
  const SessionId number = d.submit(GrantLease{LeaseId(7), 5s}).session;
  EXPECT_EQ(d.submit(Put{.key = "x", .lease = LeaseId(number.value())}).code, Code::LeaseNotFound) << "its number is no name";
  EXPECT_EQ(d.submit(Put{.key = "x", .lease = LeaseId(7)}).code, Code::Ok);
  d.submit(RevokeLease{LeaseId(7)});
  EXPECT_EQ(d.submit(Put{.key = "x", .lease = LeaseId(7)}).code, Code::LeaseNotFound);
  const Transaction creates{{Compare::missing("x")}, {Put{.key = "x", .lease = LeaseId(7)}}, {}};
  EXPECT_EQ(d.submit(creates).code, Code::LeaseNotFound);
  EXPECT_EQ(d.machine.keys(), 0u);
}

// Covers: S-12 S-33
TEST(LeaseCommandsTest, AKeyHasOneLeaseThatAPutReplacesKeepsOrTakesAway) {
  Driver d;
  for (const uint64_t id : {7, 8}) d.submit(GrantLease{LeaseId(id), 5s});
  d.submit(Put{.key = "x", .lease = LeaseId(7)});
  d.submit(Put{.key = "y", .lease = LeaseId(7)});
  d.submit(Put{.key = "z", .lease = LeaseId(7)});
  d.submit(Put{.key = "x", .lease = LeaseId(8)});
  d.submit(Put{.key = "y", .value = "kept", .ignore_lease = true});
  d.submit(Put{.key = "z"});
  EXPECT_EQ(keys_of(d, LeaseId(7)), std::vector<std::string>{"y"});
  EXPECT_EQ(keys_of(d, LeaseId(8)), std::vector<std::string>{"x"});
  d.submit(RevokeLease{LeaseId(7)});
  d.submit(RevokeLease{LeaseId(8)});
  EXPECT_EQ(d.machine.keys(), 1u);
}

// Covers: S-15
TEST(LeaseCommandsTest, ATransactionComparesLeasesAndPutsWithThem) {
  Driver d;
  d.submit(GrantLease{LeaseId(7), 5s});
  const auto attach = [&](LeaseId expected) {
    return transaction_reply(
               d.submit(Transaction{
                   {Compare::lease_of("x", Compare::Relation::Equal, expected)}, {Put{.key = "x", .lease = LeaseId(7)}}, {}}))
        .succeeded;
  };
  EXPECT_TRUE(attach(LeaseId())) << "a key that is not there has none";
  EXPECT_FALSE(attach(LeaseId(8)));
  EXPECT_TRUE(attach(LeaseId(7)));
  EXPECT_EQ(keys_of(d, LeaseId(7)), std::vector<std::string>{"x"});
}

// Covers: S-30 INV_K05
TEST(LeaseCommandsTest, TheEndOfALeaseTakesItsKeysInOneRevisionAscending) {
  for (const bool revoked : {true, false}) {
    Driver d;
    const SessionId number = d.submit(GrantLease{LeaseId(7), 5s}).session;
    for (const char* key : {"b", "c", "a"}) d.submit(Put{.key = key, .lease = LeaseId(7)});
    d.submit(Put{.key = "other"});
    if (revoked) {
      const Result result = d.submit(RevokeLease{LeaseId(7)});
      EXPECT_EQ(result.code, Code::Ok);
      EXPECT_EQ(result.deleted, 3u);
      EXPECT_EQ(result.revision, Revision(6));
    } else {
      d.expire({number});
    }
    EXPECT_EQ(d.machine.keys(), 1u);
    const Changes changes = d.machine.reads()->changes({.from = Revision(6), .end = std::string(kNoEnd)});
    std::vector<std::string> deleted;
    for (const ChangeRow& change : changes.changes) {
      EXPECT_EQ(change.entry.mod, Revision(6));
      deleted.push_back(change.entry.key);
    }
    EXPECT_EQ(deleted, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(d.machine.leases(), 0u);
    d.machine.verify();
  }
}

// Covers: S-03 S-30
TEST(LeaseCommandsTest, WithoutKeysNothingOfALeaseTakesARevision) {
  Driver d;
  const SessionId number = d.submit(GrantLease{LeaseId(7), 5s}).session;
  EXPECT_EQ(d.submit(RenewLease{LeaseId(7)}).revision, Revision(1));
  EXPECT_EQ(d.submit(RevokeLease{LeaseId(7)}).revision, Revision(1));
  EXPECT_EQ(d.submit(RevokeLease{LeaseId(7)}).code, Code::LeaseNotFound);
  d.submit(GrantLease{LeaseId(7), 5s});
  d.expire({number.next()});
  EXPECT_EQ(d.submit(RevokeLease{LeaseId(7)}).code, Code::LeaseNotFound);
  EXPECT_EQ(d.submit(RevokeLease{LeaseId()}).code, Code::LeaseNotFound);
}

// Covers: S-39 INV_K02
TEST(LeaseCommandsTest, LeasesAndSessionsThatEndTogetherTakeARevisionEachInTheOrderOfTheirIds) {
  Driver d;
  const SessionId high = d.submit(GrantLease{LeaseId(~uint64_t{0}), 5s}).session;
  const SessionId session = d.open();
  const SessionId low = d.submit(GrantLease{LeaseId(3), 5s}).session;
  const SessionId bare = d.submit(GrantLease{LeaseId(2), 5s}).session;
  d.submit(Put{.key = "high", .lease = LeaseId(~uint64_t{0})});
  d.submit(Put{.key = "session", .lease = LeaseId(session.value())});
  d.submit(Put{.key = "low", .lease = LeaseId(3)});
  d.expire({high, session, low, bare});
  const Changes changes = d.machine.reads()->changes({.from = Revision(5), .end = std::string(kNoEnd)});
  ASSERT_EQ(changes.changes.size(), 3u);
  uint64_t revision = 5;
  for (const char* key : {"low", "session", "high"}) {
    EXPECT_EQ(changes.changes[revision - 5].entry.key, key);
    EXPECT_EQ(changes.changes[revision - 5].entry.mod, Revision(revision));
    ++revision;
  }
}

// Covers: S-31 LT-4
TEST(LeaseCommandsTest, ALoggedRenewalMakesVoidWhatWasProposedBeforeIt) {
  Driver d;
  const SessionId number = d.submit(GrantLease{LeaseId(7), 5s}).session;
  const Result renewed = d.submit(RenewLease{LeaseId(7)});
  EXPECT_EQ(renewed.code, Code::Ok);
  EXPECT_EQ(renewed.ttl, 5s);
  ASSERT_EQ(d.last.timer_ops.size(), 1u);
  EXPECT_EQ(d.last.timer_ops[0].generation, Generation(1));
  d.fire({{session_timer(number), Generation(0)}});
  EXPECT_EQ(d.machine.leases(), 1u);
  d.fire({{session_timer(number), Generation(1)}});
  EXPECT_EQ(d.machine.leases(), 0u);
  EXPECT_EQ(d.submit(RenewLease{LeaseId(7)}).code, Code::LeaseNotFound) << "the end was applied first";
}

TEST(LeaseCommandsTest, ARevokeThatNamesTheNumberSparesALaterLeaseOfTheSameId) {
  Driver d;
  const SessionId first = d.submit(GrantLease{LeaseId(7), 5s}).session;
  d.submit(RevokeLease{LeaseId(7)});
  const SessionId second = d.submit(GrantLease{LeaseId(7), 5s}).session;
  EXPECT_EQ(d.submit(RevokeLease{LeaseId(7), first}).code, Code::LeaseNotFound);
  EXPECT_EQ(d.submit(RevokeLease{LeaseId(7), second}).code, Code::Ok);
}

TEST(LeaseCommandsTest, ALeaseIsNoSession) {
  Driver d;
  const SessionId number = d.submit(of_process(LeaseId(7))).session;
  EXPECT_EQ(d.acquire(number, "n").code, Code::SessionNotFound);
  EXPECT_EQ(d.submit(CloseSession{number}).code, Code::SessionNotFound);
  EXPECT_EQ(d.submit(KillSession{number}).code, Code::SessionNotFound);
  EXPECT_EQ(d.submit(ResumeSession{number, "s"}).code, Code::SessionNotFound);
  EXPECT_EQ(d.submit(RevokeLease{LeaseId(d.open().value())}).code, Code::LeaseNotFound);
  EXPECT_EQ(d.machine.leases(), 1u);
}

// Covers: S-32
TEST(LeaseCommandsTest, ReadsNameTheTimerTheTtlAndTheKeysPageByPage) {
  Driver d;
  EXPECT_TRUE(d.machine.reads()->lease(LeaseId(7), true, "").leases.empty());
  const SessionId number = d.submit(of_process(LeaseId(7))).session;
  const SessionId other = d.submit(GrantLease{LeaseId(5), 6s}).session;
  const std::vector<LeaseRow> both{{LeaseId(5), other, 6s, ReplicaId()}, {LeaseId(7), number, 5s, kOrigin.replica}};
  EXPECT_EQ(d.machine.reads()->leases_after({}, 0).leases, both);
  const Leases first = d.machine.reads()->leases_after({}, 1);
  EXPECT_TRUE(first.more);
  EXPECT_EQ(first.leases, std::vector<LeaseRow>{both[0]});
  EXPECT_EQ(d.machine.reads()->leases_after(LeaseId(5), 0).leases, std::vector<LeaseRow>{both[1]});

  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) {
    names.push_back(std::to_string(1000 + i) + std::string(8000, 'k'));
    d.submit(Put{.key = names.back(), .lease = LeaseId(7)});
  }
  std::vector<std::string> read;
  Leases page;
  do {
    page = d.machine.reads()->lease(LeaseId(7), true, read.empty() ? "" : read.back());
    ASSERT_FALSE(page.keys.empty());
    read.insert(read.end(), page.keys.begin(), page.keys.end());
  } while (page.more);
  EXPECT_EQ(read, names);
  EXPECT_TRUE(d.machine.reads()->lease(LeaseId(7), false, "").keys.empty()) << "not asked for";
}

RowsView stored(Driver& d) {
  RowsView view;
  CheckpointBatch batch;
  d.machine.checkpoint(batch);
  view.add(batch);
  return view;
}

// Covers: INV_K05
TEST(LeaseCommandsTest, ACheckpointThatNoHistoryLeavesIsRefused) {
  Driver d;
  const SessionId session = d.open();
  d.submit(GrantLease{LeaseId(7), 5s});
  d.submit(Put{.key = "x", .lease = LeaseId(7)});
  const RowsView whole = stored(d);
  ASSERT_TRUE(Machine("m1").restore(whole).ok());
  const auto row = [&](char table) {
    return *std::find_if(whole.rows.begin(), whole.rows.end(), [&](const auto& each) { return each.first[2] == table; });
  };
  const auto refused = [](const RowsView& view) { return Machine("m1").restore(view).code() == absl::StatusCode::kDataLoss; };
  RowsView orphaned = whole;
  orphaned.rows.erase(row('l').first);
  EXPECT_TRUE(refused(orphaned));
  RowsView twice = whole;
  twice.rows[rows::key("m1", rows::TableByte::Leases, session.value() - 1)] = row('l').second;
  EXPECT_TRUE(refused(twice)) << "two leases of one name";
  RowsView nameless = whole;
  nameless.rows[row('l').first] = row('s').second;
  EXPECT_TRUE(refused(nameless));
  RowsView named = whole;
  named.rows[row('s').first] = row('l').second;
  EXPECT_TRUE(refused(named));
  lease::Session clash{.group = {{}, {}, 0, 5s}, .name = LeaseId(session.value())};
  RowsView clashing = whole;
  clashing.rows[rows::key("m1", rows::TableByte::Leases, session.value() - 1)] = rows::encode(clash);
  EXPECT_TRUE(refused(clashing)) << "a lease of a session's id";
}

// Covers: REG_F24
TEST(LeaseCommandsTest, AfterARestoreTheTimersAreThereAndEndLeasesAndSessions) {
  Driver d, copy;
  const SessionId number = d.submit(of_process(LeaseId(7))).session;
  const SessionId session = d.open();
  d.submit(Put{.key = "x", .lease = LeaseId(7)});
  d.submit(Put{.key = "y", .lease = LeaseId(session.value())});
  ASSERT_TRUE(copy.machine.restore(stored(d)).ok());
  ASSERT_EQ(copy.timers().size(), 2u);
  copy.fire({{copy.timers()[0].id, copy.timers()[0].generation}, {copy.timers()[1].id, copy.timers()[1].generation}});
  EXPECT_EQ(copy.timers().size(), 0u);
  EXPECT_EQ(copy.last.timer_ops.size(), 2u) << "of " << number.value() << " and " << session.value();
  EXPECT_EQ(copy.machine.keys(), 0u);
}

// Covers: INV_K03
TEST(LeaseCommandsTest, ARestoredMachineGoesOnWithTheSameLeases) {
  Driver d, copy;
  d.submit(of_process(LeaseId(7)));
  d.submit(GrantLease{LeaseId(9), 1s});
  d.submit(RenewLease{LeaseId(7)});
  d.submit(Put{.key = "x", .lease = LeaseId(9)});
  RowsView view = stored(d);
  ASSERT_TRUE(copy.machine.restore(view).ok());
  EXPECT_EQ(copy.machine.digest(), d.machine.digest());
  EXPECT_EQ(copy.timers(), d.timers());
  copy.index = d.index;
  EXPECT_EQ(copy.submit(RevokeLease{LeaseId(9)}), d.submit(RevokeLease{LeaseId(9)}));
  CheckpointBatch batch;
  d.machine.checkpoint(batch);
  view.add(batch);
  EXPECT_EQ(std::count_if(view.rows.begin(), view.rows.end(), [](const auto& row) { return row.first[2] == 'l'; }), 1);
  d.machine.verify();
}

}  // namespace
}  // namespace coordkit::machine
