// The questions of administrators and dashboards, and campaigns by an owner that may already lead, over the real machine.
#include "client/locks/lent_delegations.h"
#include "machine/guard.h"
#include "tests/unit/client/two_members.h"

namespace coordkit::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class AdminTest : public TwoMembersTest {
 public:
  Answer<HoldRef> acquire(Member& member, const SessionRef& session, AcquireOptions options, std::string name = "a") {
    Answer<HoldRef> answer;
    member.client.acquire(session, std::move(name), std::move(options), answer.callback());
    turn();
    return answer;
  }
  Answer<HoldRef> campaign(Member& member, const SessionRef& session, CampaignOptions options) {
    Answer<HoldRef> answer;
    CoordinationCalls(member.client).campaign(session, "a", std::move(options), answer.callback());
    turn();
    return answer;
  }
  std::string leader() {
    Answer<std::optional<LeaderInfo>> answer;
    CoordinationCalls(one.client).leader("a", answer.callback());
    turn();
    return *answer ? (**answer).value : "vacant";
  }
  void release(Member& member, const HoldRef& hold) {
    member.client.release_later(hold);
    turn();
  }
};

// ---- the end of a lock-delay

// Covers: S-40
TEST_F(AdminTest, AnAdministratorEndsADelayAndTheFirstInLineIsGranted) {
  const SessionRef mine = open(one), theirs = open(two);
  ASSERT_TRUE(acquire(one, mine, {.delay = 60s}).ok());
  const auto waiting = acquire(two, theirs, {.wait = LockWait::endless()});
  one.node.speaks = one.node.listens = false;
  run(5s);
  EXPECT_EQ(waiting.times(), 0) << "expired, and delayed";
  Answer<void> cleared, again;
  two.client.clear_delay("a", cleared.callback());
  turn();
  EXPECT_TRUE(cleared.ok()) << cleared.status();
  EXPECT_TRUE(waiting.ok());
  two.client.clear_delay("a", again.callback());
  turn();
  EXPECT_EQ(again.reason(), Reason::NotFound);
  EXPECT_EQ(again.outcome(), Outcome::NoEffect);
}

// Covers: S-40
TEST_F(AdminTest, AMalformedNameIsRefusedAtTheDoor) {
  Answer<void> none, huge;
  one.client.clear_delay("", none.callback());
  one.client.clear_delay(std::string(1025, 'x'), huge.callback());
  turn();
  EXPECT_EQ(none.reason(), Reason::InvalidArgument);
  EXPECT_EQ(huge.reason(), Reason::LimitExceeded);
  EXPECT_EQ(sentence_of(none.status()), "the name is empty; give 1 to 1024 bytes");
  EXPECT_EQ(sentence_of(huge.status()), "the name has 1025 bytes; at most 1024 are allowed");
  EXPECT_EQ(one.node.commands, 0u);
}

// ---- reading

// Covers: S-56
TEST_F(AdminTest, LocksOfASessionComeInGrantOrderAndInPages) {
  const SessionRef mine = open(one), theirs = open(two);
  const auto first = acquire(one, mine, {.owner_tag = "t"}, "x");
  ASSERT_TRUE(acquire(two, theirs, {}, "y").ok());
  Answer<HoldRef> both;
  one.client.acquire_all(mine, {{"b"}, {"c", LockMode::Shared}}, {}, both.callback());
  turn();
  Answer<SessionLocks> all, rest, none, unnamed;
  two.client.locks_of(mine->id(), {}, all.callback());
  two.client.locks_of(mine->id(), (*first)->token(), rest.callback());
  two.client.locks_of(SessionId(99), {}, none.callback());
  two.client.locks_of({}, {}, unnamed.callback());
  turn();
  ASSERT_THAT((*all).locks, SizeIs(3));
  const HeldLockInfo& held = (*all).locks[0];
  EXPECT_EQ(held.name, "x");
  EXPECT_EQ(held.owner_tag, "t");
  EXPECT_EQ(held.token, (*first)->token());
  EXPECT_EQ(held.since, (*first)->since());
  EXPECT_EQ((*all).locks[1].token, (*all).locks[2].token);
  EXPECT_EQ((*all).locks[2].mode, LockMode::Shared);
  EXPECT_FALSE((*all).more);
  EXPECT_EQ((*all).as_of, Index(cluster.index));
  EXPECT_THAT((*rest).locks, SizeIs(2));
  EXPECT_THAT((*none).locks, IsEmpty());
  EXPECT_EQ(unnamed.reason(), Reason::InvalidArgument);
}

// Covers: S-56
TEST_F(AdminTest, StatisticsCountWhatBecameOfAcquires) {
  const SessionRef mine = open(one), theirs = open(two);
  const auto held = acquire(one, mine, {});
  EXPECT_EQ(acquire(two, theirs, {}).reason(), Reason::Held);
  const auto late = acquire(two, theirs, {.wait = LockWait::timed(100ms), .owner_tag = "late"});
  const auto handed = acquire(two, theirs, {.wait = LockWait::endless(), .owner_tag = "handed"});
  Answer<HoldRef> cancelled;
  const CallId call =
      two.client.acquire(theirs, "a", {.wait = LockWait::endless(), .owner_tag = "cancelled"}, cancelled.callback());
  turn();
  two.client.cancel(call);
  run(200ms);
  EXPECT_EQ(late.reason(), Reason::WaitTimeout);
  release(one, *held);
  ASSERT_TRUE(handed.ok());
  const LockStatistics here = one.client.lock_statistics(), there = two.client.lock_statistics();
  EXPECT_EQ(here.grants, 1u);
  EXPECT_EQ(here.waits + here.hand_offs + here.refusals + here.local_grants, 0u);
  EXPECT_EQ(there.grants, 1u);
  EXPECT_EQ(there.waits, 3u);
  EXPECT_EQ(there.hand_offs, 1u);
  EXPECT_EQ(there.timeouts, 1u);
  EXPECT_EQ(there.cancels, 1u);
  EXPECT_EQ(there.refusals, 1u);
  EXPECT_EQ(there.wait_times.count(), 1u);
  EXPECT_GE(there.wait_times.longest(), 200ms);
  EXPECT_LT(there.wait_times.longest(), 220ms);
}

// Covers: S-56
TEST_F(AdminTest, LocalGrantsOfAnyThreadAreCounted) {
  const SessionRef mine = open(one);
  const AcquireOptions sticky{.wait = LockWait::endless(), .sticky = true};
  release(one, *acquire(one, mine, sticky));
  release(one, *acquire(one, mine, sticky));
  const HoldRef elsewhere = mine->delegations()->acquire(mine, "a", "thread", one.at(truth).leading);
  ASSERT_NE(elsewhere, nullptr);
  EXPECT_EQ(one.client.lock_statistics().grants, 3u);
  EXPECT_EQ(one.client.lock_statistics().local_grants, 2u);
  Answer<void> closed;
  one.client.close(mine, closed.callback());
  turn();
  EXPECT_EQ(one.client.lock_statistics().local_grants, 2u) << "a session that is gone has been";
}

// Covers: S-56
TEST_F(AdminTest, ExpiriesAreThoseOfAnybodyAndClosesAreNone) {
  const SessionRef mine = open(one), theirs = open(two);
  Answer<void> closed;
  two.client.close(theirs, closed.callback());
  turn();
  EXPECT_EQ(two.client.lock_statistics().expiries, 0u);
  one.node.speaks = one.node.listens = false;
  run(5s);
  EXPECT_EQ(two.client.lock_statistics().expiries, 1u);
}

// Covers: S-56
TEST(WaitTimesTest, BucketsDoubleAndAPercentileIsNeverBelow) {
  WaitTimes times;
  EXPECT_EQ(times.percentile(50), 0ns);
  for (const Duration waited :
       {Duration(0), Duration(1us), Duration(1001ns), Duration(2us), Duration(3us), Duration(24h * 365)}) {
    times.add(waited);
  }
  EXPECT_EQ(times.buckets()[0], 2u);
  EXPECT_EQ(times.buckets()[1], 2u);
  EXPECT_EQ(times.buckets()[2], 1u);
  EXPECT_EQ(times.buckets()[WaitTimes::kBuckets - 1], 1u) << "the last one has no end";
  EXPECT_EQ(times.percentile(50), 2us);
  EXPECT_EQ(times.percentile(83), 4us);
  EXPECT_EQ(times.percentile(100),
            Duration(24h * 365).count() > WaitTimes::upper(39).count() ? WaitTimes::upper(39) : Duration(24h * 365));
  EXPECT_EQ(times.longest(), Duration(24h * 365));
}

// ---- campaigns

// Covers: S-37
TEST_F(AdminTest, WhoLeadsAlreadyProclaimsIfItSaidSo) {
  const SessionRef mine = open(one);
  const auto leads = campaign(one, mine, {.value = "first"});
  ASSERT_TRUE(leads.ok());
  EXPECT_EQ(campaign(one, mine, {.value = "x"}).reason(), Reason::AlreadyHeld);
  EXPECT_EQ(leader(), "first");
  for (const LockWait& wait : {LockWait::none(), LockWait::endless()}) {
    const auto again = campaign(one, mine, {.wait = wait, .value = "second", .proclaim_if_leader = true});
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, *leads) << "the very same hold";
    EXPECT_EQ(leader(), "second");
    EXPECT_EQ((*again)->token(), (*leads)->token());
  }
  release(one, *leads);
  EXPECT_EQ(leader(), "vacant");
}

// Covers: S-37
TEST_F(AdminTest, ProclaimIfLeaderWaitsInLineBehindAnother) {
  const SessionRef mine = open(one), theirs = open(two);
  const auto first = campaign(one, mine, {.value = "one"});
  const auto second = campaign(two, theirs, {.wait = LockWait::endless(), .value = "two", .proclaim_if_leader = true});
  EXPECT_EQ(second.times(), 0);
  release(one, *first);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(leader(), "two");
}

// Covers: S-37
TEST_F(AdminTest, ALeadershipThatIsBeingGivenUpIsNotProclaimedAnew) {
  const SessionRef mine = open(one);
  const auto leads = campaign(one, mine, {.value = "first"});
  Answer<HoldRef> again;
  one.client.release_later(*leads);
  CoordinationCalls(one.client).campaign(mine, "a", {.value = "second", .proclaim_if_leader = true}, again.callback());
  turn();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_NE((*again)->token(), (*leads)->token()) << "the release came first";
  EXPECT_EQ(leader(), "second");
}

// Covers: S-37
TEST_F(AdminTest, WhoSharesTheLockDoesNotLead) {
  const SessionRef mine = open(one), theirs = open(two);
  const auto first = acquire(one, mine, {.mode = LockMode::Shared}), second = acquire(two, theirs, {.mode = LockMode::Shared});
  ASSERT_TRUE(first.ok() && second.ok());
  for (const LockWait& wait : {LockWait::none(), LockWait::endless()}) {
    EXPECT_EQ(campaign(one, mine, {.wait = wait, .proclaim_if_leader = true}).reason(), Reason::AlreadyHeld);
    EXPECT_EQ(campaign(two, theirs, {.wait = wait, .proclaim_if_leader = true}).reason(), Reason::AlreadyHeld);
  }
  Answer<void> proclaimed;
  CoordinationCalls(one.client).proclaim(*first, "mine", proclaimed.callback());
  turn();
  EXPECT_EQ(proclaimed.reason(), Reason::NotOwner) << proclaimed.status();
  EXPECT_TRUE((*first)->valid(one.at(truth).leading)) << "it is shared as before";
  EXPECT_EQ(leader(), "vacant");
}

// Found leading by a look alone, it has sent nothing but the proclamation.
// Covers: S-37 S-59
TEST_F(AdminTest, AProclamationThatIsUnderWayIsNotSaidToHaveHadNoEffect) {
  const SessionRef mine = open(one);
  const auto leads = campaign(one, mine, {.value = "first"});
  ASSERT_TRUE(leads.ok());
  Answer<HoldRef> again;
  const CallId call =
      CoordinationCalls(one.client).campaign(mine, "a", {.value = "second", .proclaim_if_leader = true}, again.callback());
  one.turn(truth);
  one.node.listens = false;
  one.turn(truth);
  one.client.cancel(call);
  turn();
  EXPECT_EQ(again.reason(), Reason::CancelPending) << again.status();
  EXPECT_EQ(again.outcome(), Outcome::Unknown);
  one.node.listens = true;
  turn();
  EXPECT_EQ(leader(), "second");
  EXPECT_EQ(again.times(), 1);
}

// ---- fences

// Covers: S-54
TEST(WhileFreeTest, AFenceMayAskForALockThatNobodyHolds) {
  FakeEngine engine;
  Client client(engine, ClientOptions{});
  EngineEffects effects;
  const Now now{LaggingTime(1h), LeadingTime(2h)};
  const auto guard_of = [&](Fence fence) {
    client.put("k", "v", [](absl::StatusOr<PutResult>) {}, {.fence = std::move(fence)});
    client.before_turn(now);
    engine.turn(now, effects);
    client.after_turn(now, effects);
    return machine::decode_guard(engine.take<Submit>().at(0).guard.value().bytes).value();
  };
  EXPECT_EQ(guard_of(while_free("billing")), machine::Guard(machine::LockFree{"billing"}));
  EXPECT_EQ(guard_of({"billing", Token(7), Fence::Wants::HeldExclusively}),
            machine::Guard(machine::LockHeld{"billing", Token(7), true}));
  EXPECT_EQ(guard_of({"billing", Token(7)}), machine::Guard(machine::LockHeld{"billing", Token(7), false}));
}

class FencedSentenceTest : public ClientBench {
 public:
  std::string said_of(Fence fence) {
    Answer<PutResult> answer;
    client.put("k", "v", answer.callback(), {.fence = std::move(fence)});
    turn();
    engine.fail(engine.take<Submit>().at(0).ticket, make_error(Reason::Fenced, "give up this grant"), FakeEngine::Sent::Yes);
    turn();
    EXPECT_EQ(answer.reason(), Reason::Fenced);
    EXPECT_EQ(answer.outcome(), Outcome::NoEffect);
    return std::string(sentence_of(answer.status()));
  }
};

// Covers: S-54
TEST_F(FencedSentenceTest, WhoAskedForAFreeLockIsNotToldToGiveUpAGrant) {
  EXPECT_THAT(said_of(while_free("billing")), testing::HasSubstr("write again when the lock is free"));
  EXPECT_THAT(said_of({"billing", Token(7), Fence::Wants::HeldExclusively}), testing::HasSubstr("upgrade the grant"));
  EXPECT_EQ(said_of({"billing", Token(7)}), "give up this grant");
}

}  // namespace
}  // namespace coordkit::test
