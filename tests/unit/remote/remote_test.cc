// Callers without a replica: the client at one end of a link, a gateway and a real engine at the other.
#include <gmock/gmock.h>

#include "base/random.h"
#include "coordkit/error.h"
#include "engine/calls/origins.h"
#include "tests/unit/remote/remote_world.h"

namespace coordkit::remote {
namespace {

using test::Answer;
using testing::ElementsAre;

TEST(RemoteTest, ACallerWithoutAReplicaHoldsALockAndGivesItBack) {
  World world;
  Caller& one = world.add_caller();
  Caller& two = world.add_caller(1);
  const SessionRef mine = world.open(one);
  const SessionRef theirs = world.open(two);
  const auto held = world.await(world.acquire(one, mine));
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(world.await(world.acquire(two, theirs)).reason(), Reason::Held);

  const auto waits = world.acquire(two, theirs, LockWait::endless());
  world.run(100ms);
  EXPECT_EQ(waits.times(), 0);
  Answer<void> released;
  one.client.release(*held, released.callback());
  EXPECT_TRUE(world.await(released).ok());
  ASSERT_TRUE(world.await(waits).ok());
  EXPECT_GT((*waits)->token(), (*held)->token());
}

TEST(RemoteTest, AReplicaThatHasHaltedServesNobody) {
  World world;
  Caller& one = world.add_caller();
  world.may_halt = true;
  world.engine->fail(make_error(Reason::OutOfMemory, "no memory"));
  world.run(1ms);
  EXPECT_TRUE(world.engine->status().state == ReplicaState::Halted);
  world.run(2ms);
  EXPECT_FALSE(one.served());
}

TEST(RemoteTest, KeysAreWrittenAndReadThroughAnyGateway) {
  World world;
  Caller& one = world.add_caller(0);
  Caller& two = world.add_caller(1);
  Answer<PutResult> put;
  one.client.put("key", "value", put.callback());
  ASSERT_TRUE(world.await(put).ok());
  Answer<GetResult> got;
  two.client.get("key", got.callback());
  ASSERT_TRUE(world.await(got).ok());
  EXPECT_EQ((*got).entry->value, "value");
  Answer<LockInfo> holders;
  two.client.holders("lock", holders.callback());
  EXPECT_TRUE(world.await(holders).ok());
}

// Covers: LT-1 LT-2
TEST(RemoteTest, RenewalsKeepASessionForAsLongAsTheyAreConfirmed) {
  World world;
  Caller& one = world.add_caller();
  const SessionRef session = world.open(one, 1s);
  world.run(20s);
  EXPECT_TRUE(session->valid(world.now.leading));
  one.deaf = true;
  world.run(1s);
  EXPECT_FALSE(session->valid(world.now.leading)) << "nothing was confirmed for a TTL";
  EXPECT_TRUE(world.machine->reads()->session(session->id())) << "its renewals still arrive";
  one.silent = true;
  world.run(2s);
  EXPECT_FALSE(world.machine->reads()->session(session->id()));
}

// The gateway answers a renewal only from a reply of the leader.
// Covers: LT-3
TEST(RemoteTest, AGatewayThatCannotAskTheLeaderConfirmsNothing) {
  World world;
  Caller& one = world.add_caller();
  const SessionRef session = world.open(one, 1s);
  world.run(3s);
  world.gateways_post = false;
  world.run(1s);
  EXPECT_FALSE(session->valid(world.now.leading));
}

// Covers: S-41
TEST(RemoteTest, ACallUnderWaySurvivesItsGatewayAndRunsOnce) {
  World world;
  Caller& one = world.add_caller(0);
  world.open(one);
  for (int round = 0; round < 20; ++round) {
    Answer<int64_t> added;
    one.client.coordination().add("counter", 1, added.callback());
    one.deaf = true;  // it is executed, and the answer is lost
    world.run(round % 2 == 0 ? 1ms : 5ms);
    one.deaf = false;
    one.link(1 - one.gateway);
    ASSERT_TRUE(world.await(added).ok());
    EXPECT_EQ(world.machine->reads()->object(coordination::Kind::Counter, "counter", 0).number, round + 1);
  }
}

TEST(RemoteTest, AWaitThatIsDecidedWhileItsCallerMovesIsAnswered) {
  World world;
  Caller& one = world.add_caller(0);
  Caller& two = world.add_caller(0);
  const SessionRef mine = world.open(one, 30s);
  const SessionRef theirs = world.open(two, 30s);
  const auto held = world.await(world.acquire(one, mine));
  ASSERT_TRUE(held.ok());
  const auto waits = world.acquire(two, theirs, LockWait::endless());
  world.run(50ms);
  two.cut();
  one.client.release_later(*held);
  world.run(2s);
  EXPECT_EQ(waits.times(), 0);
  two.link(1);
  ASSERT_TRUE(world.await(waits).ok());
  EXPECT_TRUE((*waits)->valid(world.now.leading));
}

// Covers: FLT_N01
TEST(RemoteTest, ALostFrameIsMadeUpForByArrivingAnew) {
  World world;
  Caller& one = world.add_caller();
  const SessionRef session = world.open(one, 30s);
  for (int i = 0; i < 50; ++i) {
    one.lose_next = static_cast<size_t>(i % 4);
    Answer<PutResult> put;
    one.client.put("key", std::to_string(i), put.callback());
    ASSERT_TRUE(world.await(put).ok()) << i;
    Answer<GetResult> got;
    one.client.get("key", got.callback());
    ASSERT_TRUE(world.await(got).ok()) << i;
    EXPECT_EQ((*got).entry->value, std::to_string(i));
  }
  EXPECT_TRUE(session->valid(world.now.leading));
}

// Covers: S-42
TEST(RemoteTest, AnOriginThatIsSilentForItsTtlIsForgottenAndItsCallsAreUnknown) {
  World world;
  Caller& one = world.add_caller();
  world.open(one, 300s);
  Answer<PutResult> first;
  one.client.put("key", "first", first.callback());
  ASSERT_TRUE(world.await(first).ok());
  Answer<int64_t> lost;
  one.client.coordination().add("counter", 1, lost.callback(), LaggingTime::max());
  one.deaf = true;
  world.run(5ms);
  one.cut();
  world.run(engine::Origins::kRemoteTtl + 5s);
  EXPECT_FALSE(world.engine->name_of_remote({one.id, one.engine.store(), one.engine.boot()}));
  one.deaf = false;
  one.link(0);
  EXPECT_EQ(outcome_of(world.await(lost).status()), Outcome::Unknown);
  EXPECT_EQ(world.machine->reads()->object(coordination::Kind::Counter, "counter", 0).number, 1) << "once";
  Answer<PutResult> second;
  one.client.put("key", "second", second.callback());
  EXPECT_TRUE(world.await(second).ok());
}

TEST(RemoteTest, AnOriginThatRenewsIsKept) {
  World world;
  Caller& one = world.add_caller();
  world.open(one);
  world.run(3 * engine::Origins::kRemoteTtl);
  EXPECT_TRUE(world.engine->name_of_remote({one.id, one.engine.store(), one.engine.boot()}));
}

TEST(RemoteTest, AnObserverSeesEveryChangeOrASnapshotAfterAMove) {
  World world;
  Caller& one = world.add_caller(0);
  Caller& two = world.add_caller(1);
  std::vector<int64_t> seen;
  two.client.coordination().observe_counter("counter", [&seen](const CounterSeen& now) { seen.push_back(now.value); });
  world.run(50ms);
  const auto add = [&] {
    Answer<int64_t> added;
    one.client.coordination().add("counter", 1, added.callback());
    EXPECT_TRUE(world.await(added).ok());
  };
  add();
  add();
  world.run(50ms);
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));
  two.cut();
  add();
  two.link(0);
  world.run(50ms);
  add();
  world.run(50ms);
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4));
}

// Gateways end and links move, lose and go quiet at any moment: every call is answered, and each is executed once.
// Covers: S-41 INV_L09
TEST(RemoteTest, WhateverHappensToTheLinksEachCallRunsOnceAndIsAnswered) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    World world(3);
    Random random(seed);
    std::vector<Caller*> callers;
    for (size_t i = 0; i < 3; ++i) callers.push_back(&world.add_caller(i));
    int64_t called = 0;
    int64_t answered = 0;
    for (int step = 0; step < 400; ++step) {
      Caller& one = *callers[random.below(callers.size())];
      switch (random.below(8)) {
        case 0: one.link(random.below(3)); break;
        case 1: one.cut(); break;
        case 2: one.deaf = !one.deaf; break;
        case 3: one.silent = !one.silent; break;
        case 4: one.lose_next = random.below(4); break;
        case 5: world.restart_gateway(random.below(3)); break;
        default:
          ++called;
          one.client.coordination().add(
              "counter", 1,
              [&](absl::StatusOr<int64_t> sum) {
                EXPECT_TRUE(sum.ok()) << sum.status();
                ++answered;
              },
              LaggingTime::max());
      }
      world.run(Duration(1ms) * random.below(6));
    }
    for (Caller* one : callers) {
      one->deaf = one->silent = false;
      one->lose_next = 0;
      one->link(random.below(3));
    }
    world.run(30s);
    ASSERT_EQ(answered, called) << "seed " << seed;
    ASSERT_EQ(world.machine->reads()->object(coordination::Kind::Counter, "counter", 0).number, called) << "seed " << seed;
  }
}

// ---- merged renewals

RenewRequest renewal(uint64_t attempt, uint64_t remote) {
  RenewRequest request{.attempt = attempt, .groups = {}, .looks = {}};
  request.groups.push_back({.group = {.node = ReplicaId(remote)}, .excluded = {}});
  return request;
}

RenewReply confirmed(const RenewRequest& request) {
  RenewReply reply{.attempt = request.attempt, .groups = {}, .looks = {}};
  for (const auto& group : request.groups) reply.groups.push_back({group.group, RenewReply::Coverage::All, {}});
  return reply;
}

// Covers: LT-1
TEST(MergedRenewalsTest, AReplyBelongsToTheAttemptsThatItsRequestWasMadeOf) {
  MergedRenewals renewals(10ms, BootCounter(1));
  renewals.add(ReplicaId(7), renewal(70, 7), LaggingTime(1s));
  renewals.add(ReplicaId(8), renewal(80, 8), LaggingTime(1s));
  const RenewRequest first = renewals.take();
  renewals.add(ReplicaId(7), renewal(71, 7), LaggingTime(2s));
  const auto parts = renewals.parts_of(confirmed(first));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].second.attempt, 70u) << "not the one that was sent later";
  EXPECT_EQ(parts[1].second.attempt, 80u);
  EXPECT_EQ(parts[1].second.groups.at(0).group.node, ReplicaId(8));
  EXPECT_TRUE(renewals.parts_of(confirmed(first)).empty()) << "once";
}

// A late reply to a former process of the gateway confirms nothing that was sent after it.
// Covers: LT-1 FLT_N02
TEST(MergedRenewalsTest, AReplyToAFormerProcessBelongsToNobody) {
  MergedRenewals former(10ms, BootCounter(1));
  former.add(ReplicaId(7), renewal(70, 7), LaggingTime(1s));
  const RenewReply late = confirmed(former.take());
  MergedRenewals now(10ms, BootCounter(2));
  now.add(ReplicaId(7), renewal(71, 7), LaggingTime(2s));
  const RenewRequest request = now.take();
  EXPECT_TRUE(now.parts_of(late).empty());
  EXPECT_EQ(now.parts_of(confirmed(request)).size(), 1u);
}

// ---- hostile remotes

TEST(GatewayTest, WhatIsNotTheRemotesOwnIsCountedAndDropped) {
  World world;
  Caller& one = world.add_caller();
  Gateway& gateway = world.gateway(0);
  const auto say = [&](const FromRemote& message) { gateway.received(one.id, encode(message), world.now); };
  const Origin own{one.id, one.engine.store(), one.engine.boot()};
  const Origin other{ReplicaId(1), StoreId(1), BootCounter(1)};

  world.run(100ms);  // it is registered
  const Index before = world.engine->applied();
  gateway.received(one.id, "\x7f", world.now);
  gateway.received(one.id, "", world.now);
  EXPECT_EQ(gateway.counters().malformed, 2);
  const std::string put = machine::encode(machine::Request{.body = machine::Put{"key", "value"}});
  say(Commands{{SharedBytes(engine::encode(engine::Request{{other, Sequence(1)}, Sequence(1), kCoordination, put}))}});
  say(Commands{{SharedBytes(engine::encode(engine::RegisterOrigin{other}))}});
  EXPECT_EQ(gateway.counters().foreign, 2);
  const std::string senseless = machine::encode(machine::Request{.body = machine::Put{"", "value"}});
  say(Commands{{SharedBytes(engine::encode(engine::Request{{own, Sequence(9)}, Sequence(9), kCoordination, senseless}))}});
  say(Commands{{SharedBytes(engine::encode(engine::Request{{own, Sequence(9)}, Sequence(9), MachineId(77), put}))}});
  EXPECT_EQ(gateway.counters().invalid, 2);
  say(Commands{{SharedBytes(engine::encode(engine::FireTimers{Term(1), kCoordination, {}})), SharedBytes("nothing")}});
  EXPECT_EQ(gateway.counters().malformed, 3);
  say(Arrival{.version = kLinkVersion + 1, .origin = own});
  say(Arrival{.origin = other});
  say(Arrival{.origin = own});
  EXPECT_EQ(gateway.counters().disagreeing, 3) << "another version, another origin, another rate_error_ppm";
  world.run(100ms);
  EXPECT_EQ(world.engine->applied(), before);
}

// An older state may not know the remote yet, and would end its waits as forgotten.
TEST(GatewayTest, ARemoteThatHasSeenALaterStateWaitsForIt) {
  World world;
  Caller& one = world.add_caller(0);
  Gateway gateway(*world.engine, {});
  const Origin own{ReplicaId(kRemoteBit | 77), StoreId(77), BootCounter(1)};
  const Index later(world.engine->applied().value() + 50);
  gateway.linked(own.replica);
  gateway.received(own.replica,
                   encode(FromRemote(Arrival{
                       .origin = own, .rate_error_ppm = 10'000, .queued = {{kCoordination, Sequence(3)}}, .seen = later})),
                   world.now);
  while (world.engine->applied() < later) {
    gateway.after_turn(world.now, EngineEffects());
    ASSERT_THAT(gateway.take_frames(), testing::IsEmpty());
    Answer<PutResult> put;
    one.client.put("key", "value", put.callback());
    ASSERT_TRUE(world.await(put).ok());
  }
  gateway.after_turn(world.now, EngineEffects());
  EXPECT_THAT(gateway.take_frames(), testing::SizeIs(2)) << "its standing, and the end of what it awaited";
}

TEST(GatewayTest, SpoiledFramesDoNoHarm) {
  World world;
  Caller& one = world.add_caller();
  const SessionRef session = world.open(one, 60s);
  Random random(11);
  const Origin own{one.id, one.engine.store(), one.engine.boot()};
  const std::vector<std::string> frames = {
      encode(FromRemote(Arrival{.origin = own, .rate_error_ppm = 10'000, .queued = {{kCoordination, Sequence(3)}}})),
      encode(FromRemote(Question{.id = 7, .machine = kCoordination, .time_left = 1s, .question = "\x0a\x03"})),
      encode(FromRemote(Interest{kCoordination, "subject", true})), encode(FromRemote(Withdrawal{7})),
      encode(FromRemote(Commands{{SharedBytes(engine::encode(engine::RegisterOrigin{own}))}}))};
  for (int i = 0; i < 5'000; ++i) {
    std::string frame = frames[random.below(frames.size())];
    for (uint64_t changes = random.below(4); changes > 0; --changes) {
      frame[random.below(frame.size())] = static_cast<char>(random.below(256));
    }
    frame.resize(random.below(frame.size() + 1));
    world.gateway(0).received(one.id, frame, world.now);
    one.engine.received(frame);
    if (i % 50 == 0) world.run(1ms);
  }
  Caller& two = world.add_caller(0);
  Answer<PutResult> put;
  two.client.put("key", "value", put.callback());
  EXPECT_TRUE(world.await(put).ok());
  EXPECT_TRUE(session->valid(world.now.leading));
}

}  // namespace
}  // namespace coordkit::remote
