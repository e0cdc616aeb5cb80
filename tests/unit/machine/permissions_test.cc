// The permissions of remotes: which rights each command and question needs, and what apply does without them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "machine/guard.h"
#include "machine/permissions/denial.h"
#include "machine/questions.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Right kRights[] = {Right::Read, Right::Write, Right::Lock, Right::Admin};

std::vector<Permission> all_of(const std::string& prefix) {
  std::vector<Permission> list;
  for (const Right right : kRights) list.push_back({prefix, right});
  return list;
}

State state_with(std::vector<Permission> list) {
  State state;
  state.permissions.set("one", std::move(list), Index(1));
  return state;
}

bool denied(const Needs& needs, std::vector<Permission> list) {
  return denial(state_with(std::move(list)), {"one", kOrigin}, needs).has_value();
}

// Exactly these rights are each enough, and only for the right prefix.
void expect_any_of(const Needs& needs, const std::string& prefix, std::vector<Right> enough) {
  for (const Right right : kRights) {
    const bool fits = std::ranges::find(enough, right) != enough.end();
    EXPECT_EQ(denied(needs, {{prefix, right}}), !fits) << name_of(right);
  }
  if (enough.empty()) return;
  EXPECT_TRUE(denied(needs, {})) << "an empty list allows nothing";
  if (!prefix.empty()) {
    EXPECT_TRUE(denied(needs, all_of("other/")));
    EXPECT_TRUE(denied(needs, all_of(prefix + "longer")));
  }
}

// ---- prefixes and ranges

TEST(PermissionsTest, ARangeIsCoveredByPrefixesWithoutAGapOnly) {
  const std::vector<Permission> list = {{"a/", Right::Read}, {"b", Right::Read}, {"c", Right::Read}, {"bb", Right::Write}};
  const auto first_gap = [&](std::string_view key, std::string_view end, AnyOf right = Right::Read) {
    return uncovered(list, right, key, end);
  };
  EXPECT_EQ(first_gap("a/x", ""), std::nullopt);
  EXPECT_EQ(first_gap("a/", "a0"), std::nullopt);
  EXPECT_EQ(first_gap("a", ""), "a");
  EXPECT_EQ(first_gap("a/", "a1"), "a0");
  EXPECT_EQ(first_gap("b", "d"), std::nullopt) << "two prefixes side by side";
  EXPECT_EQ(first_gap("bzz", "cz"), std::nullopt);
  EXPECT_EQ(first_gap("b", kNoEnd), "d");
  EXPECT_EQ(first_gap("", kNoEnd), "");
  EXPECT_EQ(first_gap("bb", "bc", Right::Write), std::nullopt);
  EXPECT_EQ(first_gap("ba", "bc", Right::Write), "ba");
  EXPECT_EQ(first_gap("c", "b"), std::nullopt) << "an empty interval";
  EXPECT_EQ(uncovered({{"\xff", Right::Read}}, Right::Read, "\xff\x01", kNoEnd), std::nullopt);
}

TEST(PermissionsTest, CoverageIsThatOfEachNameOfTheRange) {
  Random random(7);
  const auto word = [&](size_t most) {
    std::string text;
    for (size_t left = random.below(most + 1); left > 0; --left) text += static_cast<char>('a' + random.below(2));
    return text;
  };
  std::vector<std::string> names;  // all up to a length at which prefixes and bounds of the test make no difference
  for (size_t length = 0; length <= 5; ++length) {
    for (size_t bits = 0; bits < size_t{1} << length; ++bits) {
      std::string name;
      for (size_t i = 0; i < length; ++i) name += static_cast<char>('a' + (bits >> i & 1));
      names.push_back(name);
    }
  }
  size_t covered = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Permission> list;
    for (size_t left = random.below(5); left > 0; --left) list.push_back({word(3), Right::Read});
    const std::string key = word(4);
    const std::string end = word(4);
    if (end.empty()) continue;
    const auto permitted = [&](const std::string& name) {
      return std::ranges::any_of(list, [&](const Permission& one) { return name.starts_with(one.prefix); });
    };
    const bool each =
        std::ranges::all_of(names, [&](const std::string& name) { return name < key || name >= end || permitted(name); });
    const bool all = !uncovered(list, Right::Read, key, end);
    // Names of other letters lie between these, so a range may have a gap that none of `names` is in.
    EXPECT_TRUE(each || !all) << key << " to " << end;
    if (all && key < end) ++covered;
  }
  EXPECT_GT(covered, 50u);
}

// ---- each command

Needs of(Request::Body body, Request& kept) {
  kept = Request{std::move(body), {}};
  return needs_of(kept);
}

// Covers: S-71
TEST(PermissionsTest, EachCommandOfALockNeedsTheRightForItsName) {
  const SessionId me(4);
  Request kept;
  expect_any_of(of(Acquire{.session = me, .name = "mine/l"}, kept), "mine/", {Right::Lock});
  expect_any_of(of(AcquireAll{.session = me, .locks = {{"mine/a"}, {"mine/b"}}}, kept), "mine/", {Right::Lock});
  EXPECT_TRUE(denied(of(AcquireAll{.session = me, .locks = {{"mine/a"}, {"theirs/b"}}}, kept), all_of("mine/")));
  expect_any_of(of(Downgrade{.session = me, .name = "mine/l"}, kept), "mine/", {Right::Lock});
  expect_any_of(of(Upgrade{.session = me, .name = "mine/l"}, kept), "mine/", {Right::Lock});
  expect_any_of(of(UpdateValue{.session = me, .name = "mine/l"}, kept), "mine/", {Right::Lock});
  expect_any_of(of(RefillBlock{.session = me, .name = "mine/l"}, kept), "mine/", {Right::Lock});
  expect_any_of(of(ForceRelease{.name = "mine/l"}, kept), "mine/", {Right::Admin});
  expect_any_of(of(ClearDelay{.name = "mine/l"}, kept), "mine/", {Right::Admin});
}

// Covers: S-71
TEST(PermissionsTest, EachCommandOfAnObjectNeedsTheRightForItsName) {
  Request kept;
  const auto lock = [&](CoordinationCommand command) { expect_any_of(of(std::move(command), kept), "mine/", {Right::Lock}); };
  lock(SetSemaphoreLimit{.name = "mine/s"});
  lock(AcquirePermits{.name = "mine/s"});
  lock(DeleteSemaphore{.name = "mine/s"});
  lock(CreateLatch{.name = "mine/l"});
  lock(CountDown{.name = "mine/l"});
  lock(AwaitLatch{.name = "mine/l"});
  lock(DeleteLatch{.name = "mine/l"});
  lock(CloseBarrier{.name = "mine/b"});
  lock(OpenBarrier{.name = "mine/b"});
  lock(AwaitBarrier{.name = "mine/b"});
  lock(EnterBarrier{.name = "mine/b"});
  lock(ClaimItem{.name = "mine/q"});
  const auto write = [&](CoordinationCommand command) { expect_any_of(of(std::move(command), kept), "mine/", {Right::Write}); };
  write(Enqueue{.name = "mine/q"});
  write(ChangeCounter{.name = "mine/c"});
  write(JoinGroup{.name = "mine/g"});
  write(UpdateMember{.name = "mine/g"});
}

// A list may have changed since the hold was granted.
// Covers: S-71
TEST(PermissionsTest, WhatIsOnlyGivenUpNeedsNoRight) {
  const SessionId me(4);
  Request kept;
  for (const Request::Body& body : std::vector<Request::Body>{
           Release{.session = me, .name = "l", .token = Token(1)}, CancelAcquire{.session = me, .name = "l"}, CloseSession{me},
           CoordinationCommand(LeaveBarrier{.name = "b"}), CoordinationCommand(AcknowledgeItem{.name = "q"}),
           CoordinationCommand(LeaveGroup{.name = "g"})}) {
    EXPECT_FALSE(denied(of(body, kept), {}));
  }
}

// Covers: S-71
TEST(PermissionsTest, AdministrationOfAllNeedsTheRightForEveryName) {
  Request kept;
  for (const Request::Body& body : std::vector<Request::Body>{KillSession{SessionId(4)}, Compact{Revision(4)}, SetKeyQuota{4},
                                                              SetPermissions{.remote = "one"}}) {
    expect_any_of(of(body, kept), "", {Right::Admin});
    EXPECT_TRUE(denied(of(body, kept), all_of("one")));
    EXPECT_TRUE(denial(State(), {"one", kOrigin}, of(body, kept))) << "not even without a list";
  }
}

// Covers: S-72
TEST(PermissionsTest, EachOperationOnKeysNeedsItsRightForItsWholeRange) {
  Request kept;
  expect_any_of(of(Put{.key = "mine/k"}, kept), "mine/", {Right::Write});
  expect_any_of(of(Put{.key = "mine/k", .sequential = true}, kept), "mine/", {Right::Write});
  EXPECT_TRUE(denied(of(Put{.key = "mine/k", .previous = true}, kept), {{"mine/", Right::Write}}));
  EXPECT_FALSE(denied(of(Put{.key = "mine/k", .previous = true}, kept), {{"mine/", Right::Write}, {"mine/", Right::Read}}));
  expect_any_of(of(Delete{.key = "mine/k"}, kept), "mine/", {Right::Write});
  expect_any_of(of(Delete{.key = "mine/", .end = "mine0"}, kept), "mine/", {Right::Write});
  EXPECT_TRUE(denied(of(Delete{.key = "mine/", .end = "mine1"}, kept), all_of("mine/"))) << "beyond the prefix";
  EXPECT_TRUE(denied(of(Delete{.key = "mine/k", .previous = true}, kept), {{"mine/", Right::Write}}));
  EXPECT_TRUE(denied(of(Delete{.key = "", .end = std::string(kNoEnd)}, kept), all_of("mine/")));
}

// Covers: S-73
TEST(PermissionsTest, EachCompareAndOperationOfATransactionNeedsItsRight) {
  Request kept;
  const auto allowed = [&](Transaction transaction) { return !denied(of(std::move(transaction), kept), all_of("mine/")); };
  const std::vector<Compare> compares = {Compare::version("k", Compare::Relation::Equal, 1),
                                         Compare::created("k", Compare::Relation::Equal, Revision(1)),
                                         Compare::modified("k", Compare::Relation::Equal, Revision(1)),
                                         Compare::value_of("k", Compare::Relation::Equal, "v"),
                                         Compare::lease_of("k", Compare::Relation::Equal, LeaseId(1)),
                                         Compare::lock_held("k", Token(1)),
                                         Compare::lock_free("k"),
                                         {.key = "k", .target = Compare::Target::LockHeldExclusively, .number = 1}};
  const Put harmless{.key = "mine/k"};
  for (Compare compare : compares) {
    EXPECT_FALSE(allowed({{compare}, {harmless}, {}})) << name_of(compare.target);
    EXPECT_FALSE(allowed({{}, {Operation(Transaction{{compare}, {}, {}})}, {}})) << "nested";
    compare.key = "mine/k";
    EXPECT_TRUE(allowed({{compare}, {harmless}, {}})) << name_of(compare.target);
    compare.end = "mine1";
    const bool of_lock = compare.target >= Compare::Target::LockHeld;
    EXPECT_EQ(allowed({{compare}, {harmless}, {}}), of_lock) << "by more than its first key";
  }
  for (const Operation& operation :
       std::vector<Operation>{RangeOperation::of("k"), RangeOperation{.key = "mine/", .end = "mine1"}, Put{.key = "k"},
                              Delete{.key = "k"}, Delete{.key = "mine/", .end = "mine1"}}) {
    EXPECT_FALSE(allowed({{}, {operation}, {}}));
    EXPECT_FALSE(allowed({{Compare::missing("mine/k")}, {harmless}, {operation}})) << "the branch that is not taken, too";
    EXPECT_FALSE(allowed({{}, {Operation(Transaction{{}, {}, {operation}})}, {}}));
  }
  EXPECT_TRUE(
      allowed({{}, {RangeOperation::prefix("mine/"), Put{.key = "mine/k", .previous = true}}, {Delete{.key = "mine/k"}}}));
  // Which right each of them needs.
  const auto needs = [&](Transaction transaction, Right right) {
    expect_any_of(of(std::move(transaction), kept), "mine/", {right});
  };
  needs({{Compare::exists("mine/k")}, {}, {}}, Right::Read);
  needs({{}, {RangeOperation::of("mine/k")}, {}}, Right::Read);
  needs({{}, {Put{.key = "mine/k"}}, {}}, Right::Write);
  needs({{}, {}, {Delete{.key = "mine/k"}}}, Right::Write);
  expect_any_of(of(Transaction{{Compare::lock_free("mine/k")}, {}, {}}, kept), "mine/", {Right::Read, Right::Lock});
}

// ---- each question

// Covers: S-76
TEST(PermissionsTest, EachQuestionNeedsItsRight) {
  const auto any_of = [](const Question& question, std::vector<Right> enough) {
    expect_any_of(needs_of(question), "mine/", std::move(enough));
  };
  for (const Question& question : std::vector<Question>{HoldersOf{"mine/l"}, QueueOf{"mine/l", 1},
                                                        HeldBy{"mine/l", SessionId(1), ""}, StillHeld{"mine/l", Token(1)}}) {
    any_of(question, {Right::Read, Right::Lock});
  }
  any_of(RefusalOf{Request{Acquire{.session = SessionId(1), .name = "mine/l"}, {}}}, {Right::Lock});
  using coordination::Kind;
  for (const Kind kind : {Kind::Semaphore, Kind::Latch, Kind::Barrier, Kind::DoubleBarrier}) {
    any_of(ObjectOf{kind, "mine/o", 1}, {Right::Read, Right::Lock});
  }
  for (const Kind kind : {Kind::Queue, Kind::Counter, Kind::Group}) any_of(ObjectOf{kind, "mine/o", 1}, {Right::Read});
  any_of(MembersOf{"mine/g"}, {Right::Read});
  any_of(EntryOf{"mine/k"}, {Right::Read});
  any_of(PageOf{RangeOperation::prefix("mine/")}, {Right::Read});
  any_of(OutcomeOf{Transaction{{}, {RangeOperation::of("mine/k")}, {}}}, {Right::Read});
  any_of(ChangesOf{{.from = Revision(1), .key = "mine/", .end = "mine0"}}, {Right::Read});
  for (const Question& question : std::vector<Question>{SessionsAfter{}, LeasesAfter{}, ChangesOf{{.from = Revision(1)}}}) {
    expect_any_of(needs_of(question), "", {Right::Read});
    EXPECT_TRUE(denied(needs_of(question), all_of("mine/")));
  }
  expect_any_of(needs_of(Question(PermissionsFrom{})), "", {Right::Admin});
  EXPECT_FALSE(denied(needs_of(Question(SpaceOf{})), {})) << "says nothing about a name";
}

// A lock service leaked data because a watch was checked by its first key only.
// Covers: S-72 REG_F85
TEST(PermissionsTest, AWatchOrAPageOfARangeThatIsPartlyCoveredIsRefused) {
  const Question watch = ChangesOf{{.from = Revision(1), .key = "mine/", .end = "mine1"}};
  EXPECT_TRUE(denied(needs_of(watch), all_of("mine/")));
  const Question open = ChangesOf{{.from = Revision(1), .key = "mine/", .end = std::string(kNoEnd)}};
  EXPECT_TRUE(denied(needs_of(open), all_of("mine/")));
  const Question page = PageOf{RangeOperation{.key = "mine/k", .end = "mine1", .limit = 1}};
  EXPECT_TRUE(denied(needs_of(page), all_of("mine/")));
  const Question outcome = OutcomeOf{Transaction{{}, {RangeOperation{.key = "mine/", .end = "mine1"}}, {}}};
  EXPECT_TRUE(denied(needs_of(outcome), all_of("mine/")));
}

// Covers: S-76
TEST(PermissionsTest, ATransactionBeyondItsLimitsIsNotLookedInto) {
  Transaction endless;
  for (size_t i = 0; i < 200; ++i) endless.compares.push_back(Compare::exists("mine/k"));
  EXPECT_EQ(needs_of(Question(OutcomeOf{endless})).all.size(), 1u);
}

// ---- apply

struct Denying {
  Driver d;
  Denying() { d.remote = "billing"; }
  Result set(std::string remote, std::vector<Permission> list, bool remove = false) {
    d.remote.reset();
    const Result result = d.submit(SetPermissions{std::move(remote), std::move(list), remove});
    d.remote = "billing";
    return result;
  }
};

// Covers: S-70 S-75
TEST(PermissionsInApplyTest, ACommandWithoutItsRightIsRefusedAndChangesNothing) {
  Denying on;
  ASSERT_EQ(on.set("billing", {{"orders/", Right::Write}}).code, ResultCode::Ok);
  EXPECT_EQ(on.d.submit(Put{"orders/1", "v"}).code, ResultCode::Ok);
  const Revision before = on.d.machine.reads()->key_space().revision;
  const Result refused = on.d.submit(Put{"stock/1", "v"});
  EXPECT_EQ(refused.code, ResultCode::PermissionDenied);
  EXPECT_THAT(refused.why, HasSubstr("\"billing\""));
  EXPECT_THAT(refused.why, HasSubstr("write \"stock/1\""));
  EXPECT_EQ(on.d.machine.reads()->key_space().revision, before);
  EXPECT_FALSE(on.d.machine.reads()->entry("stock/1").entry);
}

// Covers: S-72 S-75 REG_F85
TEST(PermissionsInApplyTest, ARangeIsNotCheckedByItsFirstKeyAlone) {
  Denying on;
  on.d.remote.reset();
  on.d.submit(Put{"orders/1", "v"});
  on.d.submit(Put{"orders0", "secret"});
  on.set("billing", {{"orders/", Right::Write}, {"orders/", Right::Read}});
  EXPECT_EQ(on.d.submit(Delete{"orders/", "orders1"}).code, ResultCode::PermissionDenied);
  EXPECT_EQ(on.d.submit(Transaction{{}, {RangeOperation{.key = "orders/", .end = "orders1"}}, {}}).code,
            ResultCode::PermissionDenied);
  EXPECT_TRUE(on.d.machine.reads()->entry("orders0").entry);
  EXPECT_EQ(on.d.submit(Delete{"orders/", "orders0"}).deleted, 1u);
}

// Covers: S-70
TEST(PermissionsInApplyTest, MembersAndRemotesWithoutAListDoAsBefore) {
  Denying on;
  EXPECT_EQ(on.d.submit(Put{"k", "v"}).code, ResultCode::Ok);
  EXPECT_EQ(on.d.submit(Compact{Revision(2)}).code, ResultCode::PermissionDenied) << "but a remote does not administer";
  on.set("another", {});
  on.set("", {{"k", Right::Read}});
  EXPECT_EQ(on.d.submit(Put{"k", "v"}).code, ResultCode::PermissionDenied) << "the list of all without one of their own";
  on.d.remote = "";
  EXPECT_EQ(on.d.submit(Put{"k", "v"}).code, ResultCode::PermissionDenied);
  on.d.remote.reset();
  EXPECT_EQ(on.d.submit(Put{"k", "v"}).code, ResultCode::Ok);
  EXPECT_EQ(on.d.submit(Compact{Revision(2)}).code, ResultCode::Ok);
}

// Covers: S-70
TEST(PermissionsInApplyTest, AListIsReplacedAndRemovedAndMayDelegateItself) {
  Denying on;
  on.set("", {});
  on.set("billing", {{"", Right::Admin}});
  EXPECT_EQ(on.d.submit(Put{"k", "v"}).code, ResultCode::PermissionDenied) << "no right contains another";
  EXPECT_EQ(on.d.submit(SetPermissions{"billing", {{"", Right::Write}}}).code, ResultCode::Ok);
  EXPECT_EQ(on.d.submit(Put{"k", "v"}).code, ResultCode::Ok);
  EXPECT_EQ(on.d.submit(SetPermissions{"billing", {{"", Right::Admin}}}).code, ResultCode::PermissionDenied);
  EXPECT_EQ(on.set("billing", {}, true).code, ResultCode::Ok);
  EXPECT_EQ(on.set("billing", {}, true).code, ResultCode::NotFound);
  EXPECT_EQ(on.d.submit(Put{"k", "v"}).code, ResultCode::PermissionDenied) << "the list of the others is empty";
}

// Covers: S-71
TEST(PermissionsInApplyTest, AHoldIsGivenUpAlsoAfterItsRightIsGone) {
  Denying on;
  on.set("billing", {{"lock", Right::Lock}});
  const SessionId session = on.d.open();
  const Token token = on.d.acquire(session, "lock").token;
  ASSERT_TRUE(token);
  EXPECT_EQ(on.d.acquire(session, "other").code, ResultCode::PermissionDenied);
  on.set("billing", {});
  EXPECT_EQ(on.d.submit(Acquire{.session = session, .name = "more"}, {{"lock", token}}).code, ResultCode::PermissionDenied);
  EXPECT_FALSE(on.d.holder("lock")) << "the releases that came with it are done first";
  EXPECT_EQ(on.d.submit(CloseSession{session}).code, ResultCode::Ok);
}

// Covers: S-74
TEST(PermissionsInApplyTest, ARemoteActsForNoOtherProcess) {
  Denying on;
  EXPECT_EQ(on.d.submit(OpenSession{5s, "", ReplicaId(2), BootCounter(1), 9}).code, ResultCode::PermissionDenied);
  EXPECT_EQ(
      on.d.submit(GrantLease{.id = LeaseId(7), .ttl = 5s, .node = ReplicaId(2), .boot = BootCounter(1), .incarnation = 9}).code,
      ResultCode::PermissionDenied);
  EXPECT_TRUE(on.d.open());
  EXPECT_EQ(on.d.submit(GrantLease{.id = LeaseId(7), .ttl = 5s}).code, ResultCode::Ok) << "bound to nobody";
}

// Covers: S-74
TEST(PermissionsInApplyTest, SessionsOfOthersAreNeitherSeenNorEnded) {
  Denying on;
  on.d.remote.reset();
  const SessionId theirs = on.d.submit(OpenSession{5s, "their address", ReplicaId(2), BootCounter(1), 9}).session;
  on.set("billing", {{"lock", Right::Lock}, {"lock", Right::Admin}});
  const SessionId mine = on.d.open();
  const Reads& reads = *on.d.machine.reads();
  const RemoteCaller caller{"billing", kOrigin};
  EXPECT_EQ(on.d.submit(KillSession{theirs}).code, ResultCode::PermissionDenied);
  for (const Question& question : std::vector<Question>{SessionOf{theirs}, LocksOf{theirs, {}}, ObjectsOf{theirs, {}}}) {
    EXPECT_TRUE(reads.denial(caller, needs_of(question)));
  }
  for (const Question& question :
       std::vector<Question>{SessionOf{mine}, LocksOf{mine, {}}, ObjectsOf{mine, {}}, SessionOf{SessionId(12345)}}) {
    EXPECT_FALSE(reads.denial(caller, needs_of(question))) << "its own, or none";
  }
  on.set("billing", {{"", Right::Read}});
  EXPECT_FALSE(reads.denial(caller, needs_of(Question(SessionOf{theirs}))));
  // Its holder's session ends with a lock that it may administer.
  on.d.remote.reset();
  const Token token = on.d.acquire(mine, "lock").token;
  on.set("billing", {{"lock", Right::Admin}});
  EXPECT_EQ(on.d.submit(ForceRelease{"lock", token}).code, ResultCode::Ok);
}

// Covers: S-74 REG_F85
TEST(PermissionsInApplyTest, ALeaseIsChangedOnlyWithTheRightForAllItsKeys) {
  Denying on;
  on.d.remote.reset();
  for (const LeaseId id : {LeaseId(7), LeaseId(8)}) on.d.submit(GrantLease{.id = id, .ttl = 5s});
  on.d.submit(Put{.key = "orders/1", .value = "v", .lease = LeaseId(7)});
  on.d.submit(Put{.key = "orders/1", .value = "v", .lease = LeaseId(8)});
  on.d.submit(Put{.key = "stock/1", .value = "v", .lease = LeaseId(7)});
  on.set("billing", {{"orders/", Right::Write}, {"orders/", Right::Read}});
  EXPECT_EQ(on.d.submit(RevokeLease{LeaseId(7), {}}).code, ResultCode::PermissionDenied);
  EXPECT_EQ(on.d.submit(RenewLease{LeaseId(7)}).code, ResultCode::PermissionDenied);
  EXPECT_EQ(on.d.submit(Put{.key = "orders/2", .value = "v", .lease = LeaseId(7)}).code, ResultCode::PermissionDenied);
  EXPECT_EQ(on.d.submit(Transaction{{}, {Put{.key = "orders/2", .value = "v", .lease = LeaseId(7)}}, {}}).code,
            ResultCode::PermissionDenied);
  const Reads& reads = *on.d.machine.reads();
  const RemoteCaller caller{"billing", kOrigin};
  EXPECT_TRUE(reads.denial(caller, needs_of(Question(LeaseOf{LeaseId(7), true, ""}))));
  EXPECT_TRUE(reads.denial(caller, needs_of(Question(LeaseOf{LeaseId(7), true, "stock/1"})))) << "a later page, too";
  EXPECT_FALSE(reads.denial(caller, needs_of(Question(LeaseOf{LeaseId(7), false, ""}))));
  EXPECT_EQ(on.d.submit(Put{.key = "orders/2", .value = "v", .lease = LeaseId(8)}).code, ResultCode::Ok);
  EXPECT_FALSE(reads.denial(caller, needs_of(Question(LeaseOf{LeaseId(8), true, ""}))));
  EXPECT_EQ(on.d.submit(RenewLease{LeaseId(8)}).code, ResultCode::Ok);
  EXPECT_EQ(on.d.submit(RevokeLease{LeaseId(8), {}}).code, ResultCode::Ok);
}

// Covers: S-74
TEST(PermissionsInApplyTest, ALeaseWithVeryManyKeysNeedsTheRightForEveryName) {
  Denying on;
  on.set("billing", {{"orders/", Right::Write}});
  on.d.submit(GrantLease{.id = LeaseId(7), .ttl = 5s});
  for (size_t i = 0; i < kAttachedSeen; ++i) {
    ASSERT_EQ(on.d.submit(Put{.key = "orders/" + std::to_string(i), .value = "", .lease = LeaseId(7)}).code, ResultCode::Ok);
  }
  EXPECT_EQ(on.d.submit(RenewLease{LeaseId(7)}).code, ResultCode::Ok);
  on.d.submit(Put{.key = "orders/x", .value = "", .lease = LeaseId(7)});
  EXPECT_EQ(on.d.submit(RenewLease{LeaseId(7)}).code, ResultCode::PermissionDenied);
  on.set("billing", {{"", Right::Write}});
  EXPECT_EQ(on.d.submit(RenewLease{LeaseId(7)}).code, ResultCode::Ok);
}

// Covers: S-75
TEST(PermissionsInApplyTest, AGuardOrAMachineOfTheHostNeedsARightToo) {
  Denying on;
  const std::string held = encode(Guard(LockHeld{"lock", Token(1)}));
  const std::string free = encode(Guard(LockFree{"lock"}));
  EXPECT_TRUE(on.d.machine.permits("billing", held));
  EXPECT_TRUE(on.d.machine.permits("billing", std::nullopt));
  on.set("billing", {{"lock", Right::Read}});
  EXPECT_TRUE(on.d.machine.permits("billing", held));
  EXPECT_FALSE(on.d.machine.permits("billing", std::nullopt));
  on.set("billing", {{"lock", Right::Lock}});
  EXPECT_TRUE(on.d.machine.permits("billing", free));
  on.set("billing", {{"other", Right::Lock}});
  EXPECT_FALSE(on.d.machine.permits("billing", free));
  EXPECT_FALSE(on.d.machine.permits("billing", held));
  on.set("billing", {{"", Right::Write}});
  EXPECT_TRUE(on.d.machine.permits("billing", std::nullopt));
}

// Covers: S-70
TEST(PermissionsInApplyTest, ListsAreBoundedAndTheirNamesPlain) {
  Driver d;
  EXPECT_EQ(d.submit(SetPermissions{"a b", {}}).code, ResultCode::InvalidArgument);
  EXPECT_EQ(d.submit(SetPermissions{std::string(65, 'a'), {}}).code, ResultCode::InvalidArgument);
  EXPECT_EQ(d.submit(SetPermissions{"a", {{"", Right(5)}}}).code, ResultCode::Unsupported);
  EXPECT_EQ(d.submit(SetPermissions{"a", {{std::string(kPermissionPrefixMax + 1, 'p'), Right::Read}}}).code,
            ResultCode::LimitExceeded);
  EXPECT_EQ(d.submit(SetPermissions{"a", std::vector<Permission>(kPermissionsMax + 1)}).code, ResultCode::LimitExceeded);
  EXPECT_EQ(d.submit(SetPermissions{"a", {{"", Right::Read}}, true}).code, ResultCode::InvalidArgument);
  for (size_t i = 0; i < kPermissionListsMax; ++i) {
    ASSERT_EQ(d.submit(SetPermissions{"r" + std::to_string(i), {}}).code, ResultCode::Ok);
  }
  EXPECT_EQ(d.submit(SetPermissions{"one-more", {}}).code, ResultCode::LimitExceeded);
  EXPECT_EQ(d.submit(SetPermissions{"r1", {{"", Right::Read}}}).code, ResultCode::Ok);
  d.machine.verify();
}

// ---- the audit

// Covers: S-77
TEST(PermissionsInApplyTest, EachCommandOfANamedRemoteIsNotedWithItsResult) {
  Denying on;
  on.set("billing", {{"orders/", Right::Write}});
  on.d.submit(Put{"orders/1", "a value"});
  ASSERT_EQ(on.d.acts.size(), 1u);
  EXPECT_EQ(on.d.acts[0].index, on.d.index);
  EXPECT_EQ(on.d.acts[0].remote, "billing");
  EXPECT_EQ(on.d.acts[0].what, "put \"orders/1\": Ok");
  on.d.submit(Put{"stock/1", "v"});
  ASSERT_EQ(on.d.acts.size(), 1u);
  EXPECT_EQ(on.d.acts[0].what, "put \"stock/1\": PermissionDenied");
  on.d.submit(Release{.session = SessionId(3), .name = "lock", .token = Token(1)});
  ASSERT_EQ(on.d.acts.size(), 1u);
  EXPECT_EQ(on.d.acts[0].what, "release \"lock\": SessionNotFound");
  on.d.apply("\xff", {kOrigin, Sequence(100)});
  ASSERT_EQ(on.d.acts.size(), 1u);
  EXPECT_THAT(on.d.acts[0].what, HasSubstr("InvalidArgument"));
  on.d.remote = "";
  on.d.submit(Put{"orders/1", "v"});
  EXPECT_TRUE(on.d.acts.empty()) << "without a name there is nobody to name";
  on.d.remote.reset();
  on.d.submit(Put{"orders/1", "v"});
  EXPECT_TRUE(on.d.acts.empty());
}

TEST(PermissionsTest, TheWordsOfTheAuditNameWhatIsTouchedAndNoValue) {
  Request kept;
  const auto words = [&](Request::Body body) { return words_of(of(std::move(body), kept)); };
  EXPECT_EQ(words(Put{.key = "k", .value = "secret", .previous = true}), "put \"k\"");
  EXPECT_EQ(words(Delete{.key = "k", .end = "l"}), "delete \"k\" to \"l\"");
  EXPECT_EQ(words(Delete{.key = "", .end = std::string(kNoEnd)}), "delete every name");
  EXPECT_EQ(words(AcquireAll{.session = SessionId(1), .locks = {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"f"}}}),
            "acquire \"a\", \"b\", \"c\", \"d\" and 2 more");
  EXPECT_EQ(words(SetPermissions{"billing", {}}), "set the permissions of remote \"billing\"");
  EXPECT_EQ(words(OpenSession{.ttl = 5s, .metadata = "secret"}), "open a session");
  EXPECT_EQ(words(KillSession{SessionId(7)}), "end session 7");
  EXPECT_EQ(words(RevokeLease{LeaseId(7), {}}), "revoke lease 7");
}

// ---- the state

// Covers: S-70 REG_F33
TEST(PermissionsInApplyTest, ACheckpointKeepsTheListsAndWhatIsRemoved) {
  Denying on;
  on.set("billing", {{"orders/", Right::Write}});
  on.set("stock", {{"", Right::Read}, {"s", Right::Admin}});
  on.set("", {});
  RowsView view;
  CheckpointBatch batch;
  on.d.machine.checkpoint(batch);
  view.add(batch);
  on.set("stock", {}, true);
  on.set("billing", {{"bills/", Right::Write}});
  on.set("stock", {{"", Right::Lock}});
  CheckpointBatch next;
  on.d.machine.checkpoint(next);
  view.add(next);
  Machine restored("m1");
  ASSERT_TRUE(restored.restore(view).ok());
  EXPECT_EQ(restored.digest(), on.d.machine.digest());
  EXPECT_EQ(restored.reads()->permissions(""), on.d.machine.reads()->permissions(""));
  EXPECT_EQ(restored.reads()->permissions("").lists.size(), 3u);
  EXPECT_EQ(restored.reads()->permissions("c").lists.size(), 1u) << "from that name on";
  restored.verify();
  CheckpointBatch nothing;
  restored.checkpoint(nothing);
  EXPECT_TRUE(nothing.rows.empty());
  ASSERT_TRUE(restored.forget_stored());
  CheckpointBatch whole;
  restored.checkpoint(whole);
  EXPECT_GE(whole.rows.size(), 3u);
}

TEST(PermissionsInApplyTest, RowsThatAreNoListsAreRefusedAndTheStateStays) {
  Denying on;
  on.set("billing", {{"orders/", Right::Write}});
  RowsView good;
  CheckpointBatch batch;
  on.d.machine.checkpoint(batch);
  good.add(batch);
  const auto refused = [&](uint64_t row, const RemotePermissions& list) {
    RowsView view;
    view.rows = good.rows;
    view.rows[rows::key("m1", rows::TableByte::Permissions, row)] = rows::encode(list);
    Machine machine("m1");
    return absl::IsDataLoss(machine.restore(view));
  };
  EXPECT_TRUE(refused(100, {"billing", {}})) << "a second list of one name";
  EXPECT_TRUE(refused(100, {"two words", {}}));
  EXPECT_TRUE(refused(100, {"stock", {{"", Right(9)}}}));
  EXPECT_TRUE(refused(100, {"stock", std::vector<Permission>(kPermissionsMax + 1)}));
  EXPECT_TRUE(refused(0, {"stock", {}})) << "made by no entry";
  EXPECT_FALSE(refused(100, {"stock", {}}));
}

// Covers: S-75
TEST(PermissionsInApplyTest, AReplayDecidesTheSame) {
  Random random(3);
  Denying one;
  Denying two;
  const auto word = [&] { return std::string(1, static_cast<char>('a' + random.below(3))); };
  size_t refused = 0;
  for (int step = 0; step < 2000; ++step) {
    Request::Body body;
    const std::string key = word();
    switch (random.below(5)) {
      case 0:
        body = SetPermissions{random.below(2) == 0 ? "billing" : "", {{word(), Right(1 + random.below(4))}}, false};
        break;
      case 1: body = Delete{key, word(), random.below(2) == 0}; break;
      case 2: body = Transaction{{Compare::exists(word())}, {Put{key, "v"}}, {RangeOperation::of(word())}}; break;
      default: body = Put{key, "v"};
    }
    const bool member = std::holds_alternative<SetPermissions>(body) && random.below(2) == 0;
    for (Denying* each : {&one, &two}) each->d.remote = member ? std::nullopt : std::optional<std::string>("billing");
    const Result result = one.d.submit(body);
    EXPECT_EQ(result, two.d.submit(body));
    if (result.code == ResultCode::PermissionDenied) ++refused;
    if (step == 1000) {  // one of them continues from its checkpoint
      RowsView view;
      CheckpointBatch batch;
      two.d.machine.forget_stored();
      two.d.machine.checkpoint(batch);
      view.add(batch);
      ASSERT_TRUE(two.d.machine.restore(view).ok());
    }
    EXPECT_EQ(one.d.machine.digest(), two.d.machine.digest());
  }
  one.d.machine.verify();
  EXPECT_GT(refused, 100u);
  EXPECT_LT(refused, 1990u);
}

}  // namespace
}  // namespace coordkit::machine
