// Sessions of processes without a replica: how they are taken over, who learns of their ends, and locks that do not stick.
#include <gmock/gmock.h>

#include "coordkit/error.h"
#include "lease/secret.h"
#include "tests/unit/remote/remote_world.h"

namespace coordkit::remote {
namespace {

using test::Answer;
using testing::ElementsAre;
using testing::SizeIs;

constexpr Duration kTtl = 2s;

Answer<ResumedSession> resume(Caller& by, const SessionRef& previous, ResumeOptions options = {}) {
  Answer<ResumedSession> answer;
  by.client.resume_session(previous->id(), previous->secret(), std::move(options), answer.callback());
  return answer;
}

Token holder(const World& world, const std::string& name) {
  const machine::Holders held = world.machine->reads()->holders_of(name);
  return held.holders.empty() ? Token() : held.holders.front().token;
}

// A session of a process with a lock, and two processes that could take it over.
struct ResumeOfARemoteTest : ::testing::Test {
  World world{2};
  Caller& previous = world.add_caller(0);
  Caller& heir = world.add_caller(1);
  Caller& other = world.add_caller(1);
  SessionRef session = world.open(previous, kTtl);
  HoldRef hold = *world.await(world.acquire(previous, session));

  bool valid(const HoldRef& one) const { return one->valid(world.now.leading); }
  // Commands of others, so that the state grows.
  void write(Caller& by) {
    Answer<PutResult> put;
    by.client.put("key", "value", put.callback());
    EXPECT_TRUE(world.await(put).ok());
  }
};

// Covers: S-45
TEST_F(ResumeOfARemoteTest, AResumedSessionBringsWhatItHasAndIsNotValidBeforeTheTtlIsOver) {
  Answer<HoldRef> several, permits;
  Answer<Index> number;
  Answer<Index> put_in;
  Answer<ClaimedItem> item;
  previous.client.acquire_all(session, {{"x"}, {"y", LockMode::Shared}}, {}, several.callback());
  previous.client.coordination().acquire_permits(session, "s", 2, {.initial_limit = 3}, permits.callback());
  previous.client.coordination().join(session, "g", "me", "here", number.callback());
  previous.client.coordination().enqueue("q", "work", 0, put_in.callback());
  world.await(put_in);
  previous.client.coordination().claim(session, "q", {}, item.callback());
  ASSERT_TRUE(world.await(several).ok() && world.await(permits).ok() && world.await(number).ok() && world.await(item).ok());
  previous.cut();

  const auto resumed = world.await(resume(heir, session));
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  const ResumedSession& taken = *resumed;
  EXPECT_EQ(taken.session->metadata(), session->metadata());
  ASSERT_THAT(taken.holds, SizeIs(2));
  EXPECT_EQ(taken.holds[0]->name(), "lock");
  EXPECT_EQ(taken.holds[0]->token(), holder(world, "lock"));
  EXPECT_GT(taken.holds[0]->token(), hold->token());
  EXPECT_EQ(taken.holds[1]->terms().others, (std::vector<NamedLock>{{"y", LockMode::Shared}}));
  ASSERT_THAT(taken.permits, SizeIs(1));
  EXPECT_EQ(taken.permits[0].permits, 2u);
  ASSERT_THAT(taken.items, SizeIs(1));
  EXPECT_EQ(taken.items[0].value, "work");
  EXPECT_THAT(taken.memberships, ElementsAre(Membership{"g", "me", *number, "here"}));

  const LaggingTime began = world.now.lagging;
  LaggingTime from{};
  while (world.now.lagging < began + 2 * kTtl) {
    world.run(10ms);
    EXPECT_FALSE(valid(hold) && valid(taken.holds[0]));
    if (valid(taken.holds[0]) && from == LaggingTime()) from = world.now.lagging;
  }
  EXPECT_GE(from, began + kTtl - 10ms);
  EXPECT_LE(from, began + kTtl + 100ms);
  Answer<void> released;
  heir.client.release(taken.holds[0], released.callback());
  EXPECT_TRUE(world.await(released).ok());
  EXPECT_FALSE(holder(world, "lock"));
}

// Covers: S-45
TEST_F(ResumeOfARemoteTest, WhatASessionHasIsReadPageByPage) {
  std::vector<Answer<HoldRef>> acquired(1'200);
  for (size_t i = 0; i < acquired.size(); ++i) {
    AcquireOptions options{.texts = {.value = std::string(4'000, 'v')}};
    previous.client.acquire(session, "n" + std::to_string(i), std::move(options), acquired[i].callback());
  }
  for (const auto& one : acquired) ASSERT_TRUE(world.await(one).ok()) << one.status();
  ASSERT_TRUE(world.machine->reads()->locks_of(session->id(), Token()).more);
  const auto resumed = world.await(resume(heir, session, {.previous_is_gone = true}));
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ASSERT_THAT((*resumed).holds, SizeIs(1 + acquired.size()));
  for (size_t i = 0; i < acquired.size(); ++i) ASSERT_EQ((*resumed).holds[1 + i]->name(), "n" + std::to_string(i));
}

// Covers: S-45
TEST_F(ResumeOfARemoteTest, ARestartedRemoteIsAnotherProcessAndWaitsUnlessItsCallerVouches) {
  previous.cut();
  const auto waits = world.await(resume(heir, session));
  ASSERT_TRUE(waits.ok());
  world.run(kTtl / 2);
  EXPECT_FALSE(valid((*waits).holds.at(0)));
  heir.cut();
  world.run(600ms);  // `other` has been told of a state after that resume
  const auto vouched = world.await(resume(other, (*waits).session, {.previous_is_gone = true}));
  ASSERT_TRUE(vouched.ok());
  world.run(100ms);
  EXPECT_TRUE(valid((*vouched).holds.at(0)));
}

// The state grows while it is asked. A lock from before the call shows that nobody took the session over in between.
// Covers: S-45
TEST_F(ResumeOfARemoteTest, AVoucherCountsWhileOthersWrite) {
  ASSERT_TRUE(world.await(resume(heir, session, {.previous_is_gone = true})).ok());
  const SessionRef now = session;
  heir.cut();
  world.run(600ms);
  other.cut();
  const auto vouched = resume(other, now, {.previous_is_gone = true});
  world.run(10ms);
  write(previous);
  other.link(0);
  ASSERT_TRUE(world.await(vouched).ok());
  world.run(100ms);
  EXPECT_TRUE(valid((*vouched).holds.at(0)));
}

// Two processes take the session over at once, and the caller of each vouches for the one that is gone.
// Covers: S-45 INV_L02
TEST_F(ResumeOfARemoteTest, ARivalThatTookTheSessionOverMeanwhileIsWaitedFor) {
  previous.cut();
  other.cut();
  const auto late = resume(other, session, {.previous_is_gone = true});
  world.run(10ms);
  const auto first = world.await(resume(heir, session, {.previous_is_gone = true}));
  ASSERT_TRUE(first.ok());
  world.run(600ms);
  ASSERT_TRUE(valid((*first).holds.at(0)));
  heir.cut();  // it learns nothing
  other.link(0);
  ASSERT_TRUE(world.await(late).ok());
  for (int i = 0; i < 50; ++i) {
    world.run(100ms);
    EXPECT_FALSE(valid((*first).holds.at(0)) && valid((*late).holds.at(0)));
  }
  EXPECT_TRUE(valid((*late).holds.at(0)));
}

// Covers: S-45 FLT_N01
TEST(RemoteSessionsTest, AResumeSurvivesItsGatewayAtEveryStep) {
  for (int step = 0; step < 12; ++step) {
    World world;
    Caller& previous = world.add_caller(0);
    Caller& heir = world.add_caller(1);
    const SessionRef session = world.open(previous, 30s);
    ASSERT_TRUE(world.await(world.acquire(previous, session)).ok());
    previous.cut();
    const auto resumed = resume(heir, session, {.previous_is_gone = true});
    heir.deaf = step % 2 == 1;
    world.run(step / 2 * 1ms);
    heir.deaf = false;
    heir.link(0);
    ASSERT_TRUE(world.await(resumed).ok()) << step << ": " << resumed.status();
    ASSERT_THAT((*resumed).holds, SizeIs(1));
    world.run(100ms);
    EXPECT_TRUE((*resumed).holds[0]->valid(world.now.leading)) << step;
  }
}

// Covers: S-45 INV_L07
TEST_F(ResumeOfARemoteTest, ASessionThatEndsWhileItIsReadIsLost) {
  previous.cut();
  const auto resumed = resume(heir, session, {.deadline = LaggingTime::max(), .previous_is_gone = true});
  while (world.machine->reads()->session(session->id())->node != heir.id) world.run(1ms);
  heir.deaf = true;
  world.kill(session);
  world.run(2 * kTtl);
  ASSERT_FALSE(world.machine->reads()->session(session->id()));
  EXPECT_EQ(resumed.times(), 0);
  heir.deaf = false;
  heir.link(0);
  EXPECT_EQ(world.await(resumed).reason(), Reason::Lost);
  EXPECT_EQ(heir.client.status().sessions, 0u);
}

// Covers: S-45
TEST_F(ResumeOfARemoteTest, AResumeThatIsNotReadUntilItsDeadlineIsUnknownAndCanBeRepeated) {
  previous.cut();
  const auto late = resume(heir, session, {.deadline = world.now.lagging + 500ms, .previous_is_gone = true});
  while (world.machine->reads()->session(session->id())->node != heir.id) world.run(1ms);
  heir.deaf = true;
  world.run(600ms);
  ASSERT_EQ(late.times(), 1);
  EXPECT_EQ(late.reason(), Reason::CallTimeout);
  EXPECT_EQ(late.outcome(), Outcome::Unknown);
  heir.deaf = false;
  heir.link(0);
  world.run(100ms);
  EXPECT_EQ(heir.client.status().sessions, 0u);
  EXPECT_EQ(heir.client.status().opens, 0u);
  ASSERT_TRUE(world.await(resume(heir, session)).ok());
}

// Covers: S-45
TEST_F(ResumeOfARemoteTest, WithoutAGatewayAVouchedResumeHasNoEffect) {
  heir.cut();
  const auto alone = resume(heir, session, {.deadline = world.now.lagging + 200ms, .previous_is_gone = true});
  EXPECT_EQ(world.await(alone).reason(), Reason::NoLeader);
  EXPECT_EQ(alone.outcome(), Outcome::NoEffect);
  heir.link(0);
  EXPECT_TRUE(world.await(resume(heir, session)).ok()) << "nothing of that call is left";
}

// Covers: S-45
TEST_F(ResumeOfARemoteTest, RefusalsAreThoseOfTheLog) {
  Answer<ResumedSession> wrong, unknown;
  heir.client.resume_session(session->id(), "guessed", {.previous_is_gone = true}, wrong.callback());
  heir.client.resume_session(SessionId(77), "secret", {.previous_is_gone = true}, unknown.callback());
  EXPECT_EQ(world.await(wrong).reason(), Reason::PermissionDenied);
  EXPECT_EQ(world.await(unknown).reason(), Reason::SessionNotFound);
  EXPECT_EQ(world.await(resume(previous, session)).reason(), Reason::AlreadyExists);
}

// ---- locks that do not stick

// Covers: S-58 FLT_N01
TEST(RemoteSessionsTest, AStickyLockOfARemoteIsGivenBackLikeAnyOther) {
  World world;
  Caller& one = world.add_caller(0);
  const SessionRef session = world.open(one);
  Answer<HoldRef> held;
  one.client.acquire(session, "lock", {.sticky = true}, held.callback());
  ASSERT_TRUE(world.await(held).ok());
  EXPECT_FALSE(world.machine->reads()->holders_of("lock").holders.at(0).last) << "no block of tokens";
  Answer<void> released;
  one.client.release(*held, released.callback());
  ASSERT_TRUE(world.await(released).ok());
  EXPECT_FALSE(holder(world, "lock"));
  EXPECT_EQ(one.client.lock_statistics().local_grants, 0u);
  Answer<HoldRef> impossible;
  one.client.acquire(session, "lock", {.reentrant = true, .sticky = true}, impossible.callback());
  EXPECT_EQ(world.await(impossible).reason(), Reason::InvalidArgument) << "as at a replica";
}

// A member had the session.
// Covers: S-58 S-45
TEST(RemoteSessionsTest, AStickyLockThatAResumeBringsIsGivenBackAfterItsHold) {
  World world;
  auto submit = [&world, ticket = uint64_t{0}](machine::Request::Body body) mutable {
    world.engine->post(Submit{.ticket = Ticket(++ticket),
                              .command = SharedBytes(machine::encode(machine::Request{.body = std::move(body)})),
                              .deadline = LaggingTime::max()});
    world.run(5ms);
  };
  submit(machine::OpenSession{.ttl = kTtl,
                              .node = world.engine->self(),
                              .boot = world.engine->boot(),
                              .incarnation = world.engine->store().value(),
                              .secret = lease::hash_of_secret("secret")});
  const SessionId id = world.machine->reads()->sessions_after(SessionId(), 1).sessions.at(0).session;
  submit(machine::Acquire{.session = id, .owner_tag = "tag", .name = "lock", .block = 16});
  ASSERT_TRUE(world.machine->reads()->holders_of("lock").holders.at(0).last);

  Caller& heir = world.add_caller(0);
  Answer<ResumedSession> resumed;
  heir.client.resume_session(id, "secret", {.previous_is_gone = true}, resumed.callback());
  ASSERT_TRUE(world.await(resumed).ok()) << resumed.status();
  const SessionRef session = (*resumed).session;
  Answer<HoldRef> next;
  heir.client.acquire(session, "lock", {.wait = LockWait::endless(), .owner_tag = "next", .sticky = true}, next.callback());
  world.run(50ms);
  ASSERT_THAT((*resumed).holds, SizeIs(1));
  EXPECT_TRUE((*resumed).holds[0]->valid(world.now.leading));
  EXPECT_EQ(next.times(), 0);
  Answer<void> released;
  heir.client.release((*resumed).holds[0], released.callback());
  ASSERT_TRUE(world.await(released).ok() && world.await(next).ok());
  EXPECT_FALSE(world.machine->reads()->holders_of("lock").holders.at(0).last) << "it came from the log";
}

// ---- the ends of sessions

// Covers: S-45 S-57 FLT_N01
TEST(RemoteSessionsTest, TheEndOfASessionIsToldToItsProcessAlone) {
  World world;
  Caller& one = world.add_caller(0);
  Caller& two = world.add_caller(1);
  Caller& three = world.add_caller(1);
  const SessionRef killed = world.open(two, 1s);
  const SessionRef taken = world.open(two, 1s);
  const SessionRef expired = world.open(two, 1s);
  world.kill(killed);
  world.run(5ms);
  EXPECT_EQ(killed->phase(), SessionPhase::Lost);
  ASSERT_TRUE(world.await(resume(one, taken)).ok());
  world.run(5ms);
  EXPECT_EQ(taken->phase(), SessionPhase::Lost);
  two.link(0);  // its new gateway tells it
  Answer<void> closed;
  two.client.close(expired, closed.callback());
  ASSERT_TRUE(world.await(closed).ok());
  world.run(2s);
  EXPECT_EQ(two.events, 4u) << "ending, ended, resumed and ended";
  EXPECT_EQ(one.events + three.events, 0u);
}

// Covers: S-45 S-57
TEST(RemoteSessionsTest, AMovedRemoteLearnsOfAnEndAtItsNewGateway) {
  World world;
  Caller& two = world.add_caller(0);
  const SessionRef session = world.open(two, 10s);
  const SessionRef meanwhile = world.open(two, 10s);
  two.cut();
  world.kill(meanwhile);
  two.link(1);
  world.run(20ms);
  EXPECT_EQ(meanwhile->phase(), SessionPhase::Lost) << "it asks what it missed";
  world.kill(session);
  world.run(5ms);
  EXPECT_EQ(session->phase(), SessionPhase::Lost);
}

// Covers: S-45 S-57 FLT_N01
TEST(RemoteSessionsTest, ARemoteThatMissesAnEndNoticesItByTheReplyToItsRenewal) {
  World world;
  Caller& one = world.add_caller(0);
  Caller& two = world.add_caller(1);
  const SessionRef killed = world.open(two, 3s);
  const SessionRef taken = world.open(two, 3s);
  world.gateways_see_events = false;
  world.kill(killed);
  ASSERT_TRUE(world.await(resume(one, taken)).ok());
  EXPECT_EQ(killed->phase(), SessionPhase::Valid);
  EXPECT_EQ(taken->phase(), SessionPhase::Valid);
  world.run(1'200ms);  // more than a third of the validity
  EXPECT_EQ(killed->phase(), SessionPhase::Lost);
  EXPECT_EQ(taken->phase(), SessionPhase::Lost);
  EXPECT_EQ(two.events, 0u);
}

}  // namespace
}  // namespace coordkit::remote
