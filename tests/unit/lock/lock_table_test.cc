// The rules of the lock family by name (docs/semantics.md, Locks); random steps against a naive twin are in
// table_random_test.cc, the commands of the log in tests/unit/machine.
#include "lock/lock_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/check.h"
#include "lock/lock_text.h"

namespace coordkit::lock {
namespace {

using namespace std::chrono_literals;
using Acquired = AcquireVerdict::Kind;
using Changed = ModeVerdict::Kind;

// One table with its counter; every call is one entry. Owners are sessions without a tag.
class Desk {
 public:
  struct Extra {
    std::string_view tag = {};
    bool waits = true;
    Duration delay{};
    bool reentrant = false;
    bool may_close_cycle = false;
  };

  AcquireVerdict acquire(uint64_t session, std::vector<Wanted> names, Extra extra) {
    begin();
    return decided_after(table.acquire({.index = index,
                                        .request = {{}, Sequence(index.value())},
                                        .session = SessionId(session),
                                        .tag = extra.tag,
                                        .names = names,
                                        .texts = {},
                                        .waits = extra.waits,
                                        .timeout = {},
                                        .delay = extra.delay,
                                        .reentrant = extra.reentrant,
                                        .may_close_cycle = extra.may_close_cycle},
                                       counter));
  }
  AcquireVerdict acquire(uint64_t session, std::vector<Wanted> names) { return acquire(session, std::move(names), {}); }
  AcquireVerdict exclusive(uint64_t session, std::string_view name) { return acquire(session, {{name, Mode::Exclusive}}); }
  AcquireVerdict shared(uint64_t session, std::string_view name) { return acquire(session, {{name, Mode::Shared}}); }
  bool release(uint64_t session, std::string_view name, Token token, uint64_t number = 0) {
    begin();
    return decided_after(table.release(key(session, name, token), number));
  }
  void end(uint64_t session, Table::Ending how) {
    begin();
    table.end(SessionId(session), how, counter, decisions);
    decided_after(true);
  }
  ModeVerdict upgrade(uint64_t session, std::string_view name, Token token) {
    begin();
    return decided_after(table.hold_changes().upgrade(key(session, name, token), index, counter));
  }
  ModeVerdict downgrade(uint64_t session, std::string_view name, Token token) {
    begin();
    return decided_after(table.hold_changes().downgrade(key(session, name, token), index, counter));
  }

  // Sessions that hold it, in grant order.
  std::vector<uint64_t> holders(std::string_view name) const {
    std::vector<uint64_t> sessions;
    table.view().holders(name, [&](const ClaimView& hold) { sessions.push_back(hold.session.value()); });
    return sessions;
  }
  std::vector<uint64_t> queue(std::string_view name) const {
    std::vector<uint64_t> sessions;
    table.view().queue(name, [&](const ClaimView& wait) {
      sessions.push_back(wait.session.value());
      return true;
    });
    return sessions;
  }
  Token token(std::string_view name) const {
    Token token;
    table.view().holders(name, [&](const ClaimView& hold) { token = hold.token; });
    return token;
  }

  void begin() {
    index = index.next();
    decisions = {};
  }
  template <typename Verdict>
  Verdict decided_after(Verdict verdict) {
    table.decide_waits(index, counter, decisions);
    return verdict;
  }
  static HoldKey key(uint64_t session, std::string_view name, Token token) {
    return {SessionId(session), std::nullopt, name, token};
  }

  Table table;
  TokenCounter counter{100};
  Index index;
  Decisions decisions;
};

using Sessions = std::vector<uint64_t>;

// Covers: S-46
TEST(LockTableTest, SharedWaitersAtTheHeadAreGrantedTogetherAndAWriterStopsLaterOnes) {
  Desk d;
  const Token writer = d.exclusive(1, "n").token;
  for (const uint64_t reader : {2, 3, 4}) EXPECT_EQ(d.shared(reader, "n").kind, Acquired::Queued);
  EXPECT_EQ(d.exclusive(5, "n").position, 3u);
  EXPECT_EQ(d.shared(6, "n").kind, Acquired::Queued);
  EXPECT_TRUE(d.release(1, "n", writer));
  EXPECT_EQ(d.holders("n"), (Sessions{2, 3, 4}));
  EXPECT_EQ(d.queue("n"), (Sessions{5, 6}));
  ASSERT_EQ(d.decisions.waits.size(), 3u);
  EXPECT_LT(d.decisions.waits[0].token, d.decisions.waits[1].token) << "S-47: in grant order";
  EXPECT_LT(d.decisions.waits[1].token, d.decisions.waits[2].token);
  EXPECT_EQ(d.shared(7, "n").kind, Acquired::Queued) << "the writer is before it";
  d.end(2, Table::Ending::Closed);
  d.end(3, Table::Ending::Closed);
  EXPECT_EQ(d.holders("n"), Sessions{4});
  d.end(4, Table::Ending::Closed);
  EXPECT_EQ(d.holders("n"), Sessions{5});
  EXPECT_TRUE(d.release(5, "n", d.token("n")));
  EXPECT_EQ(d.holders("n"), (Sessions{6, 7}));
}

// Covers: REG_F07
TEST(LockTableTest, AWaitingReaderOrWriterOfADeadSessionIsNeverGranted) {
  Desk d;
  const Token reader = d.shared(1, "n").token;
  d.exclusive(2, "n");
  d.shared(3, "n");
  d.shared(4, "n");
  d.end(2, Table::Ending::Expired);
  EXPECT_EQ(d.holders("n"), (Sessions{1, 3, 4})) << "the writer's death lets the readers behind it in";
  d.exclusive(5, "n");
  d.exclusive(6, "n");
  d.end(5, Table::Ending::Expired);
  d.end(3, Table::Ending::Expired);
  d.end(4, Table::Ending::Expired);
  EXPECT_TRUE(d.release(1, "n", reader));
  EXPECT_EQ(d.holders("n"), Sessions{6});
}

// Covers: S-36
TEST(LockTableTest, ATryOvertakesNobodyEvenIfItCouldShare) {
  Desk d;
  d.shared(1, "n");
  EXPECT_EQ(d.acquire(2, {{"n", Mode::Shared}}, {.waits = false}).kind, Acquired::Granted);
  d.exclusive(3, "n");
  const uint64_t digest = d.table.digest();
  EXPECT_EQ(d.acquire(4, {{"n", Mode::Shared}}, {.waits = false}).kind, Acquired::Held);
  EXPECT_EQ(d.acquire(4, {{"m", Mode::Shared}, {"n", Mode::Shared}}, {.waits = false}).kind, Acquired::Held);
  EXPECT_EQ(d.table.digest(), digest) << "a failed try leaves no trace";
  EXPECT_EQ(d.table.view().names(), 1u);
}

// Covers: S-46 REG_F53
TEST(LockTableTest, OnlyTheOnlyReaderUpgradesAheadOfAllWaiters) {
  Desk d;
  const Token first = d.shared(1, "n").token, second = d.shared(2, "n").token;
  d.exclusive(3, "n");
  EXPECT_EQ(d.upgrade(1, "n", first).kind, Changed::Conflict);
  EXPECT_TRUE(d.table.view().held("n", first)) << "nothing changed";
  EXPECT_TRUE(d.release(2, "n", second));
  const ModeVerdict upgraded = d.upgrade(1, "n", first);
  ASSERT_EQ(upgraded.kind, Changed::Done);
  EXPECT_GT(upgraded.token, second);
  EXPECT_EQ(upgraded.since, d.index);
  EXPECT_EQ(d.table.view().held("n", upgraded.token), Mode::Exclusive);
  EXPECT_FALSE(d.table.view().held("n", first)) << "the previous token is dead";
  EXPECT_EQ(d.upgrade(1, "n", first).kind, Changed::NotOwner);
  EXPECT_EQ(d.upgrade(1, "n", upgraded.token).kind, Changed::Impossible) << "it is exclusive";
  EXPECT_EQ(d.queue("n"), Sessions{3});
}

// Covers: S-46 REG_F53
TEST(LockTableTest, ADowngradeTakesANewTokenAndLetsReadersIn) {
  Desk d;
  const Token writer = d.exclusive(1, "n").token;
  d.shared(2, "n");
  d.exclusive(3, "n");
  d.shared(4, "n");
  const ModeVerdict down = d.downgrade(1, "n", writer);
  ASSERT_EQ(down.kind, Changed::Done);
  EXPECT_GT(down.token, writer);
  EXPECT_EQ(d.table.view().held("n", down.token), Mode::Shared);
  EXPECT_EQ(d.holders("n"), (Sessions{1, 2}));
  EXPECT_EQ(d.queue("n"), (Sessions{3, 4}));
  EXPECT_FALSE(d.release(1, "n", writer)) << "the previous token is dead";
  EXPECT_EQ(d.downgrade(1, "n", down.token).kind, Changed::Impossible) << "it is shared";
  EXPECT_EQ(d.downgrade(2, "n", down.token).kind, Changed::NotOwner);
  EXPECT_EQ(d.upgrade(1, "n", down.token).kind, Changed::Conflict);
  d.end(2, Table::Ending::Closed);
  EXPECT_EQ(d.upgrade(1, "n", down.token).kind, Changed::Done) << "write again after reading";
}

// Covers: S-38
TEST(LockTableTest, ReentryCountsOneHoldAndKeepsItsTokenEvenIfOthersWait) {
  Desk d;
  const Desk::Extra again{.reentrant = true};
  const AcquireVerdict first = d.acquire(1, {{"n", Mode::Exclusive}}, again);
  d.exclusive(2, "n");
  const AcquireVerdict second = d.acquire(1, {{"n", Mode::Exclusive}}, again);
  EXPECT_EQ(second.kind, Acquired::Granted);
  EXPECT_EQ(second.token, first.token);
  EXPECT_EQ(second.since, first.since);
  EXPECT_EQ(d.exclusive(1, "n").kind, Acquired::AlreadyHeld) << "both calls must say so";
  EXPECT_EQ(d.acquire(1, {{"n", Mode::Shared}}, again).kind, Acquired::AlreadyHeld) << "never another mode";
  EXPECT_EQ(d.acquire(2, {{"n", Mode::Exclusive}}, again).kind, Acquired::AlreadyWaiting);
  EXPECT_EQ(d.acquire(1, {{"n", Mode::Exclusive}}, {.tag = "t", .reentrant = true}).kind, Acquired::Queued)
      << "another owner of the session";
  EXPECT_EQ(d.downgrade(1, "n", first.token).kind, Changed::Impossible) << "S-46: counted";
  EXPECT_TRUE(d.release(1, "n", first.token));
  EXPECT_EQ(d.holders("n"), Sessions{1});
  EXPECT_TRUE(d.release(1, "n", first.token));
  EXPECT_EQ(d.holders("n"), Sessions{2});
  EXPECT_FALSE(d.release(1, "n", first.token));
}

// Covers: S-38 REG_F67
TEST(LockTableTest, ANumberedReleaseCountsOnceHoweverOftenItIsPerformed) {
  Desk d;
  Token token;
  for (int i = 0; i < 4; ++i) token = d.acquire(1, {{"n", Mode::Exclusive}}, {.reentrant = true}).token;
  const auto count = [&d] { return d.table.view().claim("n", SessionId(1), "")->count; };
  EXPECT_TRUE(d.release(1, "n", token, 1));
  EXPECT_TRUE(d.release(1, "n", token, 1)) << "performed before";
  EXPECT_EQ(count(), 3u);
  EXPECT_TRUE(d.release(1, "n", token, 3)) << "includes the second";
  EXPECT_TRUE(d.release(1, "n", token, 2));
  EXPECT_EQ(count(), 1u);
  EXPECT_TRUE(d.release(1, "n", token, 4));
  EXPECT_EQ(d.table.view().names(), 0u);
}

// Covers: S-38 REG_F76
TEST(LockTableTest, ReentryBeyondTheLimitIsRefusedAndTheHoldStays) {
  Desk d;
  const Desk::Extra again{.reentrant = true};
  Token token;
  for (uint32_t i = 0; i < kCountMax; ++i) token = d.acquire(1, {{"n", Mode::Shared}}, again).token;
  EXPECT_EQ(d.acquire(1, {{"n", Mode::Shared}}, again).kind, Acquired::TooDeep);
  EXPECT_EQ(d.table.view().claim("n", SessionId(1), "")->count, kCountMax);
  EXPECT_TRUE(d.release(1, "n", token, kCountMax));
  EXPECT_EQ(d.table.view().claims(), 0u);
}

// Covers: S-53 REG_F66
TEST(LockTableTest, AMultiLockWaitsForAllItsNamesAndHoldsNothingMeanwhile) {
  Desk d;
  const Token b = d.exclusive(1, "b").token;
  EXPECT_EQ(d.acquire(2, {{"a", Mode::Exclusive}, {"b", Mode::Shared}, {"c", Mode::Shared}}).kind, Acquired::Queued);
  EXPECT_TRUE(d.holders("a").empty());
  EXPECT_EQ(d.exclusive(3, "a").kind, Acquired::Queued) << "it stands in every queue";
  EXPECT_EQ(d.shared(4, "c").kind, Acquired::Queued) << "nothing overtakes it";
  EXPECT_TRUE(d.release(1, "b", b));
  ASSERT_EQ(d.decisions.waits.size(), 2u);
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(d.holders(name).front(), 2u) << name;
  EXPECT_EQ(d.holders("c"), (Sessions{2, 4}));
  const Token token = d.token("b");
  EXPECT_EQ(d.table.view().held("a", token), Mode::Exclusive) << "one token";
  EXPECT_EQ(d.table.view().held("c", token), Mode::Shared);
  EXPECT_EQ(d.downgrade(2, "a", token).kind, Changed::Impossible) << "it is released together, and changed not at all";
  EXPECT_TRUE(d.release(2, "c", token)) << "under any of its names";
  EXPECT_EQ(d.holders("a"), Sessions{3});
  EXPECT_TRUE(d.holders("b").empty());
  EXPECT_EQ(d.holders("c"), Sessions{4});
}

// Covers: S-53
TEST(LockTableTest, AMultiLockIsRefusedAsAWholeIfItsOwnerHasOneOfTheNames) {
  Desk d;
  const Token token = d.exclusive(1, "b").token;
  d.exclusive(2, "b");
  const uint64_t digest = d.table.digest();
  const AcquireVerdict held = d.acquire(1, {{"a", Mode::Exclusive}, {"b", Mode::Exclusive}});
  EXPECT_EQ(held.kind, Acquired::AlreadyHeld);
  EXPECT_EQ(held.token, token);
  EXPECT_EQ(d.acquire(2, {{"a", Mode::Exclusive}, {"b", Mode::Exclusive}}).kind, Acquired::AlreadyWaiting);
  EXPECT_EQ(d.table.digest(), digest);
  EXPECT_EQ(d.table.view().names(), 1u);
}

// Covers: S-49
TEST(LockTableTest, WhoeverClosesACycleIsRefusedAndLeavesNoTrace) {
  Desk d;
  d.exclusive(1, "a");
  d.exclusive(2, "b");
  d.exclusive(3, "c");
  EXPECT_EQ(d.exclusive(1, "b").kind, Acquired::Queued);
  EXPECT_EQ(d.exclusive(2, "c").kind, Acquired::Queued);
  const uint64_t digest = d.table.digest(), last = d.counter.last();
  EXPECT_EQ(d.exclusive(3, "a").kind, Acquired::Deadlock);
  EXPECT_EQ(d.shared(3, "a").kind, Acquired::Deadlock);
  EXPECT_EQ(d.acquire(3, {{"x", Mode::Exclusive}, {"a", Mode::Shared}}).kind, Acquired::Deadlock);
  EXPECT_EQ(d.table.digest(), digest);
  EXPECT_EQ(d.counter.last(), last);
  EXPECT_EQ(d.table.view().names(), 3u);
  EXPECT_EQ(d.acquire(3, {{"a", Mode::Exclusive}}, {.tag = "another"}).kind, Acquired::Queued)
      << "another owner of the session, who holds nothing";
  EXPECT_EQ(d.acquire(3, {{"a", Mode::Exclusive}}, {.may_close_cycle = true}).kind, Acquired::Queued);
  EXPECT_EQ(d.queue("a"), (Sessions{3, 3}));
}

struct CycleRow {
  const char* what;
  std::vector<std::pair<uint64_t, std::vector<Wanted>>> before;
  std::pair<uint64_t, std::vector<Wanted>> last;
  Acquired expected;
};

// Covers: S-49
TEST(LockTableTest, WhatIsAnEdgeAndWhatIsNot) {
  constexpr Mode kX = Mode::Exclusive, kS = Mode::Shared;
  const CycleRow rows[] = {
      {"a reader waits for a writer that waits for it",
       {{1, {{"a", kS}}}, {2, {{"b", kX}}}, {2, {{"a", kX}}}},
       {1, {{"b", kS}}},
       Acquired::Deadlock},
      {"readers wait for nobody", {{1, {{"a", kS}}}, {2, {{"b", kS}}}, {2, {{"a", kS}}}}, {1, {{"b", kS}}}, Acquired::Granted},
      {"each of many readers is in a writer's way",
       {{1, {{"a", kS}}}, {2, {{"a", kS}}}, {3, {{"b", kX}}}, {2, {{"b", kX}}}},
       {3, {{"a", kX}}},
       Acquired::Deadlock},
      {"an earlier writer that waits",
       {{1, {{"a", kS}}}, {3, {{"b", kX}}}, {2, {{"a", kX}}}, {2, {{"b", kX}}}},
       {3, {{"a", kS}}},
       Acquired::Deadlock},
      {"an earlier reader that waits is not in a reader's way",
       {{1, {{"a", kX}}}, {3, {{"b", kX}}}, {2, {{"a", kS}}}, {2, {{"b", kX}}}},
       {3, {{"a", kS}}},
       Acquired::Queued},
      {"but what keeps it waiting on its other names is",
       {{1, {{"p", kX}}}, {2, {{"n", kS}, {"p", kX}}}},
       {1, {{"n", kS}}},
       Acquired::Deadlock},
      {"through the parts of a multi-lock",
       {{1, {{"a", kX}}}, {2, {{"b", kX}}}, {3, {{"c", kX}}}, {1, {{"x", kX}, {"b", kX}, {"c", kX}}}},
       {3, {{"y", kX}, {"a", kX}}},
       Acquired::Deadlock},
      {"one that holds nothing closes nothing", {{1, {{"a", kX}}}, {2, {{"a", kX}}}}, {3, {{"a", kX}}}, Acquired::Queued},
  };
  for (const CycleRow& row : rows) {
    SCOPED_TRACE(row.what);
    Desk d;
    for (const auto& [session, names] : row.before) EXPECT_NE(d.acquire(session, names).kind, Acquired::Deadlock);
    EXPECT_EQ(d.acquire(row.last.first, row.last.second).kind, row.expected);
  }
}

// Covers: S-49 INV_L17
TEST(LockTableTest, AnUpgradeThatWouldCloseACycleIsRefused) {
  Desk d;
  const Token reader = d.shared(1, "n").token;
  d.exclusive(2, "q");
  d.exclusive(3, "p");
  EXPECT_EQ(d.acquire(2, {{"n", Mode::Shared}, {"p", Mode::Exclusive}}).kind, Acquired::Queued) << "for p alone";
  EXPECT_EQ(d.exclusive(1, "q").kind, Acquired::Queued);
  EXPECT_EQ(d.upgrade(1, "n", reader).kind, Changed::Deadlock);
  EXPECT_EQ(d.table.view().held("n", reader), Mode::Shared);
}

// Covers: S-40
TEST(LockTableTest, ExpiryDelaysTheNameAndWaitersKeepTheirPlaces) {
  Desk d;
  d.acquire(1, {{"n", Mode::Exclusive}}, {.delay = 2s});
  d.exclusive(2, "n");
  d.end(1, Table::Ending::Expired);
  ASSERT_EQ(d.decisions.delays.size(), 1u);
  const DelayChange begun = d.decisions.delays.front();
  EXPECT_EQ(begun.kind, DelayChange::Kind::Begun);
  EXPECT_EQ(begun.duration, 2s);
  EXPECT_TRUE(d.holders("n").empty());
  EXPECT_EQ(d.acquire(3, {{"n", Mode::Shared}}, {.waits = false}).kind, Acquired::Delayed);
  EXPECT_EQ(d.shared(4, "n").position, 1u);
  EXPECT_TRUE(d.table.view().delayed("n"));
  d.begin();
  EXPECT_TRUE(d.decided_after(d.table.end_delay(begun.id, d.decisions)));
  EXPECT_EQ(d.holders("n"), Sessions{2});
  EXPECT_EQ(d.queue("n"), Sessions{4});
  d.begin();
  EXPECT_FALSE(d.decided_after(d.table.end_delay(begun.id, d.decisions))) << "it ends once";
}

// Covers: S-40
TEST(LockTableTest, NeitherReleaseNorCloseDelays) {
  Desk d;
  const Token token = d.acquire(1, {{"n", Mode::Exclusive}}, {.delay = 2s}).token;
  EXPECT_TRUE(d.release(1, "n", token));
  d.acquire(1, {{"n", Mode::Exclusive}}, {.delay = 2s});
  d.end(1, Table::Ending::Closed);
  EXPECT_TRUE(d.decisions.delays.empty());
  EXPECT_EQ(d.table.view().names(), 0u);
}

// Covers: S-40
TEST(LockTableTest, TheLongerOfTwoDelaysBeginsAnewAndOneOfAMultiLockIsForEachName) {
  Desk d;
  d.acquire(1, {{"n", Mode::Shared}}, {.delay = 5s});
  d.acquire(2, {{"n", Mode::Shared}, {"m", Mode::Exclusive}}, {.delay = 2s});
  const Token reader = d.shared(3, "n").token;
  d.end(1, Table::Ending::Expired);
  const uint64_t first = d.decisions.delays.front().id;
  EXPECT_EQ(d.upgrade(3, "n", reader).kind, Changed::Conflict);
  d.end(2, Table::Ending::Expired);
  ASSERT_EQ(d.decisions.delays.size(), 3u);
  EXPECT_EQ(d.decisions.delays[0].kind, DelayChange::Kind::Over) << "its timer is silenced";
  EXPECT_EQ(d.decisions.delays[0].id, first);
  EXPECT_EQ(d.decisions.delays[1].duration, 5s);
  EXPECT_EQ(d.decisions.delays[2].duration, 2s);
  EXPECT_EQ(d.upgrade(3, "n", reader).kind, Changed::Delayed) << "an expired reader may still read";
  d.begin();
  EXPECT_TRUE(d.decided_after(d.table.clear_delay("n", d.decisions)));
  EXPECT_TRUE(d.decided_after(d.table.clear_delay("m", d.decisions)));
  EXPECT_FALSE(d.decided_after(d.table.clear_delay("m", d.decisions)));
  EXPECT_EQ(d.upgrade(3, "n", reader).kind, Changed::Done);
  EXPECT_EQ(d.table.view().names(), 1u);
}

TEST(LockTableTest, ANewValueKeepsTheToken) {
  Desk d;
  const Token token = d.exclusive(1, "n").token;
  EXPECT_TRUE(d.table.hold_changes().update_value(Desk::key(1, "n", token), "elsewhere"));
  EXPECT_FALSE(d.table.hold_changes().update_value(Desk::key(2, "n", token), "stranger"));
  const auto claim = d.table.view().claim("n", SessionId(1), "");
  EXPECT_EQ(claim->texts.value, "elsewhere");
  EXPECT_EQ(claim->token, token);
}

TEST(LockTableTest, ImpossibleRowsAreRefused) {
  const ClaimView hold{.name = "n", .session = SessionId(1), .request = {}, .since = Index(5), .token = Token(9)};
  const ClaimView wait{.name = "n", .session = SessionId(2), .request = {}, .since = Index(6), .timeout = 1s};
  const auto refused = [](const std::vector<ClaimView>& good, ClaimView row, auto spoil) {
    Table table;
    TableRestore restore = table.restore();
    for (const ClaimView& each : good) EXPECT_TRUE(restore.add(each).ok());
    spoil(row);
    return restore.add(row).code() == absl::StatusCode::kDataLoss;
  };
  ClaimView reader = hold;
  reader.mode = Mode::Shared;
  ClaimView other = hold;
  other.session = SessionId(3);
  other.token = Token(10);
  EXPECT_TRUE(refused({hold}, other, [](ClaimView& row) { row.session = SessionId(1); })) << "one owner twice";
  EXPECT_TRUE(refused({hold}, other, [](ClaimView&) {})) << "INV_L01";
  EXPECT_TRUE(refused({hold}, other, [](ClaimView& row) { row.mode = Mode::Shared; })) << "INV_L01";
  EXPECT_TRUE(refused({reader}, other, [](ClaimView&) {})) << "INV_L01";
  EXPECT_TRUE(refused({reader}, other, [](ClaimView& row) {
    row.mode = Mode::Shared;
    row.token = Token(8);
  })) << "grant order";
  EXPECT_TRUE(refused({reader}, other, [](ClaimView& row) {
    row.name = "m";
    row.token = Token(9);
  })) << "one token twice";
  EXPECT_TRUE(refused({hold, wait}, wait, [](ClaimView& row) { row.session = SessionId(4); })) << "two waiters of one entry";
  EXPECT_TRUE(refused({hold, wait}, wait, [](ClaimView& row) {
    row.session = SessionId(4);
    row.since = Index(4);
  })) << "INV_L05";
  EXPECT_TRUE(refused({reader, wait}, reader, [](ClaimView& row) {
    row.session = SessionId(4);
    row.token = Token(11);
  })) << "a hold after a waiter";
  EXPECT_TRUE(refused({}, hold, [](ClaimView& row) { row.count = 0; }));
  EXPECT_TRUE(refused({}, hold, [](ClaimView& row) { row.count = 2; })) << "not re-entrant";
  EXPECT_TRUE(refused({}, wait, [](ClaimView& row) {
    row.reentrant = true;
    row.releases = 1;
  })) << "a wait is not released";
  EXPECT_TRUE(refused({}, hold, [](ClaimView& row) { row.delay = 61s; }));
  EXPECT_TRUE(refused({}, hold, [](ClaimView& row) { row.timeout = 1s; }));
  EXPECT_TRUE(refused({}, hold, [](ClaimView& row) { row.others = {{"m", Mode::Shared}, {"n", Mode::Shared}}; }));
  EXPECT_TRUE(refused({}, hold, [](ClaimView& row) {
    row.reentrant = true;
    row.others = {{"m", Mode::Shared}};
  }));
  std::vector<std::string> names;
  for (size_t i = 0; i < kNamesMax; ++i) names.push_back("m" + std::to_string(i));
  EXPECT_TRUE(refused({}, hold, [&](ClaimView& row) {
    for (const std::string& name : names) row.others.push_back({name, Mode::Shared});
  })) << "more names than one acquire has";
  EXPECT_FALSE(refused({hold}, wait, [](ClaimView&) {}));
}

TEST(LockTableTest, AWaiterThatNothingKeepsWaitingIsNoState) {
  const ClaimView wait{.name = "n", .session = SessionId(2), .request = {}, .since = Index(6)};
  Table table;
  TableRestore restore = table.restore();
  ASSERT_TRUE(restore.add(wait).ok());
  EXPECT_EQ(restore.finish().code(), absl::StatusCode::kDataLoss) << "INV_L06";
  Table delayed;
  TableRestore with_delay = delayed.restore();
  ASSERT_TRUE(with_delay.add(DelayView{7, "n", 1s}).ok());
  ASSERT_TRUE(with_delay.add(wait).ok());
  EXPECT_TRUE(with_delay.finish().ok()) << "the delay does";
  EXPECT_EQ(with_delay.add(DelayView{8, "n", 1s}).code(), absl::StatusCode::kDataLoss) << "two delays of a lock";
  EXPECT_EQ(with_delay.add(DelayView{7, "m", 1s}).code(), absl::StatusCode::kDataLoss) << "two delays of an id";
  EXPECT_EQ(with_delay.add(DelayView{9, "m", 0s}).code(), absl::StatusCode::kDataLoss);
}

TEST(LockTableTest, AStepThatDoesNotDecideItsWaitsIsFound) {
  Desk d;
  const Token token = d.exclusive(1, "n").token;
  d.exclusive(2, "n");
  EXPECT_TRUE(d.table.release(Desk::key(1, "n", token)));
  EXPECT_THROW(d.exclusive(1, "n"), CheckFailure);
}

TEST(ShortTextTest, HoldsAnyTextAndIsMovedWithIt) {
  for (const size_t size : {0, 1, 15, 16, 17, 4096, 0xffff}) {
    const std::string text(size, 'x');
    ShortText first(text);
    EXPECT_EQ(first.view(), text);
    ShortText second(std::move(first));
    EXPECT_EQ(second.view(), text);
    ShortText third("something longer than it");
    third = std::move(second);
    EXPECT_EQ(third.view(), text);
  }
}

// An owner with many claims is looked up in another way than one with few.
// Covers: S-38
TEST(LockTableTest, AnOwnerFindsEachOfItsClaimsHoweverManyThereAre) {
  Desk d;
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("n" + std::to_string(i));
  const auto expect_own = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const AcquireVerdict again = d.exclusive(2, names[i]);
      EXPECT_EQ(again.kind, i % 2 == 0 ? Acquired::AlreadyWaiting : Acquired::AlreadyHeld) << i << " of " << count;
    }
  };
  std::vector<Token> tokens;
  for (size_t i = 0; i < names.size(); ++i) {
    // Waits at every other name, and holds those between, where another one waits.
    tokens.push_back(d.exclusive(i % 2 == 0 ? 1 : 2, names[i]).token);
    EXPECT_EQ(d.exclusive(i % 2 == 0 ? 2 : 3, names[i]).kind, Acquired::Queued);
    expect_own(i + 1);
    EXPECT_EQ(d.table.digest(), d.table.recomputed_digest());
  }
  for (size_t i = names.size(); i > 0; --i) {
    const size_t last = i - 1;
    EXPECT_TRUE(d.release(last % 2 == 0 ? 1 : 2, names[last], tokens[last]));
    EXPECT_EQ(d.holders(names[last]), Sessions{last % 2 == 0 ? uint64_t{2} : uint64_t{3}});
    if (last % 2 == 0) {
      EXPECT_TRUE(d.release(2, names[last], d.token(names[last])));
    }
    expect_own(last);
    EXPECT_EQ(d.table.digest(), d.table.recomputed_digest());
  }
  EXPECT_EQ(d.table.view().counts(SessionId(2)).holds + d.table.view().counts(SessionId(2)).waiters, 0u);
  EXPECT_EQ(d.exclusive(2, names[0]).kind, Acquired::Granted) << "with nothing left of what it had";
}

}  // namespace
}  // namespace coordkit::lock
