// Names and permissions of remotes at a gateway: what it lets pass, and what it does not show.
#include <gmock/gmock.h>

#include "coordkit/error.h"
#include "engine/apply/log_command.h"
#include "tests/unit/remote/remote_world.h"

namespace coordkit::remote {
namespace {

using test::Answer;
using testing::ElementsAre;
using testing::HasSubstr;

// With an administrator at the replica.
struct Guarded : World {
  Guarded() { local = std::make_unique<Client>(*engine, ClientOptions{}); }
  void set(std::string remote, std::vector<Permission> list) {
    Answer<PermissionsResult> answer;
    local->permissions().set(std::move(remote), std::move(list), answer.callback());
    EXPECT_TRUE(await(answer).ok()) << answer.status();
  }
  absl::Status put(Client& client, const std::string& key, std::string value = "v") {
    Answer<PutResult> answer;
    client.put(key, std::move(value), answer.callback());
    return await(answer).status();
  }
  absl::Status get(Client& client, const std::string& key, ReadOptions options = {}) {
    Answer<GetResult> answer;
    client.get(key, answer.callback(), {}, options);
    return await(answer).status();
  }
  absl::Status range(Client& client, RangeOperation what) {
    Answer<RangeResult> answer;
    client.keys().range(std::move(what), answer.callback());
    return await(answer).status();
  }
};

bool refused(const absl::Status& status) { return reason_of(status) == Reason::PermissionDenied; }

// Covers: S-75 S-76
TEST(GatewayPermissionsTest, ARemoteGetsTheKeysOfItsPrefixesAndNoOthers) {
  Guarded world;
  Caller& one = world.add_caller(0, "billing");
  EXPECT_TRUE(world.put(*world.local, "stock/1").ok());
  world.set("billing", {{"orders/", Right::Read}, {"orders/", Right::Write}});
  EXPECT_TRUE(world.put(one.client, "orders/1").ok());
  EXPECT_TRUE(world.get(one.client, "orders/1").ok());
  EXPECT_TRUE(refused(world.put(one.client, "stock/1")));
  const absl::Status got = world.get(one.client, "stock/1");
  EXPECT_TRUE(refused(got));
  EXPECT_THAT(std::string(got.message()), HasSubstr("remote \"billing\" has no right to read \"stock/1\""));
  EXPECT_EQ(outcome_of(got), Outcome::NoEffect);
  EXPECT_TRUE(refused(world.get(one.client, "stock/1", Consistency::Local)));
  EXPECT_TRUE(refused(world.get(one.client, "stock/1", Consistency::Lease)));
  EXPECT_EQ(world.gateway(0).counters().denied, 3u);
}

// Covers: S-72 S-76 REG_F85
TEST(GatewayPermissionsTest, ARangeThatIsPartlyCoveredIsRefused) {
  Guarded world;
  Caller& one = world.add_caller(0, "billing");
  world.set("billing", {{"orders/", Right::Read}});
  EXPECT_TRUE(world.range(one.client, RangeOperation::prefix("orders/")).ok());
  EXPECT_TRUE(refused(world.range(one.client, {.key = "orders/", .end = "orders1"})));
  EXPECT_TRUE(refused(world.range(one.client, RangeOperation::prefix("orders"))));
  EXPECT_TRUE(refused(world.range(one.client, RangeOperation::all())));
}

struct Heard {
  std::vector<std::string> keys;
  absl::Status end;
  WatchObserver observer() {
    return [this](const WatchBatch& batch) {
      for (const WatchEvent& event : batch.events) keys.push_back(event.entry.key);
      if (batch.what == WatchBatch::What::Ended) end = batch.why;
    };
  }
};

// Covers: S-72 S-76 REG_F85
TEST(GatewayPermissionsTest, AWatchOfARangeThatIsPartlyCoveredEndsWithoutAnEvent) {
  Heard covered;
  Heard partly;
  Heard past;
  Guarded world;
  Caller& one = world.add_caller(0, "billing");
  world.set("billing", {{"orders/", Right::Read}});
  one.client.watch(WatchOptions::prefix("orders/"), covered.observer());
  one.client.watch({.key = "orders/", .end = "orders1"}, partly.observer());
  one.client.watch({.key = "orders/", .end = "orders1", .from = Revision(1)}, past.observer());
  world.run(1s);
  EXPECT_TRUE(world.put(*world.local, "orders/1").ok());
  EXPECT_TRUE(world.put(*world.local, "orders0").ok());
  world.run(1s);
  EXPECT_THAT(covered.keys, ElementsAre("orders/1"));
  EXPECT_TRUE(covered.end.ok()) << covered.end;
  EXPECT_THAT(partly.keys, ElementsAre());
  EXPECT_TRUE(refused(partly.end)) << partly.end;
  EXPECT_THAT(past.keys, ElementsAre());
  EXPECT_TRUE(refused(past.end)) << past.end;
}

// Covers: S-76
TEST(GatewayPermissionsTest, AWatchThatWaitsShowsNothingOnceItsRightIsGone) {
  Heard seen;
  Heard others;
  Guarded world;
  Caller& one = world.add_caller(0, "billing");
  Caller& two = world.add_caller(0, "other");
  world.set("billing", {{"orders/", Right::Read}});
  one.client.watch(WatchOptions::prefix("orders/"), seen.observer());
  two.client.watch(WatchOptions::prefix("orders/"), others.observer());
  world.run(1s);
  EXPECT_TRUE(world.put(*world.local, "orders/1").ok());
  world.run(1s);
  EXPECT_THAT(seen.keys, ElementsAre("orders/1"));
  world.set("billing", {{"stock/", Right::Read}});
  EXPECT_TRUE(world.put(*world.local, "orders/2").ok());
  world.run(1s);
  EXPECT_THAT(seen.keys, ElementsAre("orders/1"));
  EXPECT_TRUE(refused(seen.end)) << seen.end;
  EXPECT_THAT(others.keys, ElementsAre("orders/1", "orders/2")) << "one group, but each by its own list";
}

// Covers: S-76
TEST(GatewayPermissionsTest, ARightThatWasGivenIsInForceForTheNextCallAndOneThatWasTakenIsNot) {
  Guarded world;
  Caller& one = world.add_caller(0, "billing");
  for (int round = 0; round < 3; ++round) {
    world.set("billing", {});
    EXPECT_TRUE(refused(world.get(one.client, "k")));
    EXPECT_TRUE(refused(world.put(one.client, "k")));
    world.set("billing", {{"k", Right::Read}, {"k", Right::Write}});
    EXPECT_TRUE(world.get(one.client, "k").ok());
    EXPECT_TRUE(world.put(one.client, "k").ok());
  }
}

// Covers: S-70
TEST(GatewayPermissionsTest, WithoutAListEverythingButAdministrationIsAllowed) {
  Guarded world;
  for (const std::string name : {"", "billing"}) {
    Caller& one = world.add_caller(0, name);
    EXPECT_TRUE(world.put(one.client, "k").ok());
    EXPECT_TRUE(world.range(one.client, RangeOperation::all()).ok());
    const SessionRef session = world.open(one);
    const auto held = world.await(world.acquire(one, session));
    ASSERT_TRUE(held.ok());
    Answer<void> released;
    one.client.release(*held, released.callback());
    EXPECT_TRUE(world.await(released).ok());
    Answer<SessionList> sessions;
    one.client.sessions({}, 0, sessions.callback());
    EXPECT_TRUE(world.await(sessions).ok());
    Answer<void> killed;
    one.client.kill_session(session->id(), killed.callback());
    EXPECT_TRUE(refused(world.await(killed).status()));
    Answer<QuotaResult> quota;
    one.client.keys().set_quota(100, quota.callback());
    EXPECT_TRUE(refused(world.await(quota).status()));
    Answer<PermissionsPage> list;
    one.client.permissions().list("", list.callback());
    EXPECT_TRUE(refused(world.await(list).status()));
    Answer<PermissionsResult> set;
    one.client.permissions().set(name, {{"", Right::Admin}}, set.callback());
    EXPECT_TRUE(refused(world.await(set).status()));
  }
}

// Covers: S-70
TEST(GatewayPermissionsTest, ARemoteThatMayAdministerSetsAndListsPermissions) {
  Guarded world;
  Caller& one = world.add_caller(0, "boss");
  world.set("boss", {{"", Right::Admin}});
  Answer<PermissionsResult> set;
  one.client.permissions().set("billing", {{"orders/", Right::Lock}}, set.callback());
  ASSERT_TRUE(world.await(set).ok()) << set.status();
  Answer<PermissionsPage> list;
  one.client.permissions().list("", list.callback());
  ASSERT_TRUE(world.await(list).ok()) << list.status();
  EXPECT_THAT((*list).remotes, ElementsAre(RemotePermissions{"billing", {{"orders/", Right::Lock}}},
                                           RemotePermissions{"boss", {{"", Right::Admin}}}));
  Answer<PermissionsResult> removed;
  one.client.permissions().remove("nobody", removed.callback());
  EXPECT_EQ(world.await(removed).reason(), Reason::NotFound);
  Answer<PermissionsResult> wrong;
  one.client.permissions().set("not a name", {}, wrong.callback());
  EXPECT_EQ(world.await(wrong).reason(), Reason::InvalidArgument);
}

// Covers: S-71 S-74
TEST(GatewayPermissionsTest, LocksAndSessionsOfOthersNeedTheirRights) {
  Guarded world;
  Caller& one = world.add_caller(0, "billing");
  Caller& two = world.add_caller(1, "other");
  world.set("billing", {{"lo", Right::Lock}});
  const SessionRef mine = world.open(one);
  const SessionRef theirs = world.open(two);
  const auto held = world.await(world.acquire(one, mine));
  ASSERT_TRUE(held.ok()) << held.status();
  Answer<HoldRef> other_hold;
  one.client.acquire(mine, "other", {}, other_hold.callback());
  EXPECT_TRUE(refused(world.await(other_hold).status()));
  Answer<LockInfo> own;
  one.client.holders("lock", own.callback());
  EXPECT_TRUE(world.await(own).ok());
  Answer<LockInfo> others;
  one.client.holders("other", others.callback());
  EXPECT_TRUE(refused(world.await(others).status()));
  Answer<SessionInfo> info;
  one.client.session_info(theirs->id(), info.callback());
  EXPECT_TRUE(refused(world.await(info).status()));
  Answer<SessionInfo> own_info;
  one.client.session_info(mine->id(), own_info.callback());
  EXPECT_TRUE(world.await(own_info).ok());
  Answer<SessionList> all;
  one.client.sessions({}, 0, all.callback());
  EXPECT_TRUE(refused(world.await(all).status()));
  world.set("billing", {});
  Answer<void> released;
  one.client.release(*held, released.callback());
  EXPECT_TRUE(world.await(released).ok()) << "what it has it may give up";
}

// Covers: S-76
TEST(GatewayPermissionsTest, EventsOfAnObjectReachOnlyThoseThatMayReadIt) {
  std::vector<int64_t> seen;
  Guarded world;
  Caller& one = world.add_caller(0, "billing");
  world.set("billing", {{"c", Right::Read}});
  one.client.coordination().observe_counter("c", [&](const CounterSeen& now) { seen.push_back(now.value); });
  world.run(100ms);
  const auto add = [&] {
    Answer<int64_t> answer;
    world.local->coordination().add("c", 1, answer.callback());
    EXPECT_TRUE(world.await(answer).ok());
    world.run(10ms);
  };
  add();
  EXPECT_THAT(seen, ElementsAre(0, 1));
  world.set("billing", {});
  add();
  world.run(1s);
  EXPECT_THAT(seen, ElementsAre(0, 1));
}

// ---- names

// Covers: S-76
TEST(GatewayNamesTest, ALinkThatProvesANameServesThatNameOnly) {
  Guarded world;
  Caller& right = world.add_unlinked("billing");
  Caller& wrong = world.add_unlinked("boss");
  Caller& none = world.add_unlinked("");
  for (Caller* each : {&right, &wrong, &none}) {
    each->proven = "billing";
    each->link(0);
  }
  world.run(100ms);
  EXPECT_TRUE(right.served());
  EXPECT_FALSE(wrong.served());
  EXPECT_FALSE(none.served()) << "without a name it would escape its list";
  EXPECT_GE(world.gateway(0).counters().foreign, 2u);
}

// A process that says what it likes, at the second gateway, with the id and the store of another one.
struct Thief {
  Thief(World& to, const Caller& as, std::string of) : world(to), origin{as.id, as.engine.store(), as.engine.boot()} {
    world.gateway(1).linked(origin.replica);
    arrive(std::move(of));
  }
  void arrive(std::string name) {
    say(Arrival{.origin = origin, .rate_error_ppm = 10'000, .queued = {}, .seen = {}, .name = std::move(name)});
  }
  void say(const FromRemote& message) { world.gateway(1).received(origin.replica, encode(message), world.now); }
  void put_as(std::string_view name) {
    const std::string put = machine::encode({.body = machine::Put{"stolen", "v"}, .prior_releases = {}});
    engine::Request request{{origin, Sequence(1000)}, Sequence(1), kCoordination, put};
    request.name = name;
    say(Commands{{SharedBytes(engine::encode(request))}});
  }
  void register_as(std::string_view name) {
    say(Commands{{SharedBytes(engine::encode(engine::RegisterOrigin{origin, Sequence(1), {}, name}))}});
  }
  const GatewayCounters& counters() const { return world.gateway(1).counters(); }
  World& world;
  const Origin origin;
};

// Its id and its store are no secrets.
// Covers: S-76
TEST(GatewayNamesTest, NobodyActsInTheNameOfAnotherByItsId) {
  Guarded world;
  Caller& boss = world.add_caller(0, "boss");
  ASSERT_TRUE(world.put(boss.client, "k").ok());
  boss.cut();
  Thief thief(world, boss, "thief");
  EXPECT_EQ(thief.counters().foreign, 1u) << "the store of another name";
  thief.put_as("thief");
  EXPECT_EQ(thief.counters().malformed, 1u) << "it has not arrived";
  thief.arrive("");
  thief.put_as("boss");
  EXPECT_EQ(thief.counters().foreign, 2u) << "not the name of the link";
  thief.put_as("");
  EXPECT_EQ(thief.counters().foreign, 3u) << "not the name of the origin";
  thief.register_as("boss");
  EXPECT_EQ(thief.counters().foreign, 4u);
  thief.register_as("");
  world.run(10ms);
  EXPECT_EQ(world.engine->name_of_remote(thief.origin), "boss") << "registered already";
  EXPECT_FALSE(world.machine->reads()->entry("stolen").entry);
}

// A gateway may not know yet that the origin has another name. So apply looks as well.
// Covers: S-75
TEST(GatewayNamesTest, ACommandUnderAnotherNameThanThatOfItsOriginIsRefusedInApply) {
  Guarded world;
  Caller& boss = world.add_caller(0, "boss");
  ASSERT_TRUE(world.put(boss.client, "k").ok());
  const Origin origin{boss.id, boss.engine.store(), boss.engine.boot()};
  const std::string put = machine::encode({.body = machine::Put{"stolen", "v"}, .prior_releases = {}});
  for (const std::string_view name : {"", "thief"}) {
    engine::Request request{{origin, Sequence(5)}, Sequence(1), kCoordination, put};
    request.name = name;
    world.engine->post(Relay{{{SharedBytes(engine::encode(request)), request.id}}});
    world.run(10ms);
    EXPECT_FALSE(world.machine->reads()->entry("stolen").entry);
  }
  EXPECT_TRUE(world.put(boss.client, "k").ok()) << "which is not disturbed";
}

// Covers: S-70
TEST(GatewayNamesTest, BelowLevelSevenRemotesHaveNoNamesAndNoLimits) {
  World world(2, {}, 6);
  Caller& plain = world.add_caller();
  Answer<QuotaResult> quota;
  plain.client.keys().set_quota(0, quota.callback());
  EXPECT_TRUE(world.await(quota).ok()) << "as before";
  Caller& named = world.add_unlinked("billing");
  named.link(0);
  world.run(1s);
  EXPECT_FALSE(named.served());
  EXPECT_GE(world.gateway(0).counters().disagreeing, 1u);
  Answer<PermissionsResult> set;
  plain.client.permissions().set("billing", {}, set.callback());
  EXPECT_EQ(world.await(set).reason(), Reason::Unsupported);
}

// ---- the audit

// Covers: S-77
TEST(GatewayPermissionsTest, TheEngineReportsEachCommandOfANamedRemoteWithItsEntry) {
  Guarded world;
  Caller& one = world.add_caller(0, "billing");
  Caller& plain = world.add_caller(0);
  world.set("billing", {{"orders/", Right::Write}});
  world.acts.clear();
  ASSERT_TRUE(world.put(one.client, "orders/1", "a value").ok());
  ASSERT_TRUE(world.put(plain.client, "orders/1").ok());
  EXPECT_TRUE(refused(world.put(one.client, "stock/1")));
  ASSERT_EQ(world.acts.size(), 2u);
  EXPECT_EQ(world.acts[0].remote, "billing");
  EXPECT_EQ(world.acts[0].what, "put \"orders/1\": Ok");
  EXPECT_EQ(world.acts[1].what, "put \"stock/1\": PermissionDenied");
  EXPECT_LT(world.acts[0].index, world.acts[1].index);
  EXPECT_EQ(world.machine->reads()->entry("orders/1").entry->version, 2);
}

}  // namespace
}  // namespace coordkit::remote
