// Semaphores, barriers and the like through the client, over the real machine and over a scripted engine.
#include "tests/unit/client/two_members.h"

namespace coordkit::test {
namespace {

using GivenUpJoinTest = ClientBench;
using testing::ElementsAre;
using testing::SizeIs;

class CoordinationTest : public TwoMembersTest {
 public:
  CoordinationCalls mine{one.client}, theirs{two.client};
  SessionRef a = open(one), b = open(two);
};

// Covers: S-50
TEST_F(CoordinationTest, PermitsAreHoldsThatAreReleasedLikeALocks) {
  Answer<HoldRef> first, second, third;
  mine.acquire_permits(a, "s", 2, {.initial_limit = 3}, first.callback());
  turn();
  theirs.acquire_permits(b, "s", 2, {.wait = LockWait::endless()}, second.callback());
  turn();
  theirs.acquire_permits(b, "s", 1, {}, third.callback());
  const uint64_t entries = cluster.index;
  turn();
  EXPECT_EQ(third.reason(), Reason::Held);
  EXPECT_EQ(cluster.index, entries) << "a try that is foreseen to fail costs no entry";
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE((*first)->valid(LeadingTime(truth + 2h)));
  EXPECT_EQ(second.times(), 0);
  Answer<void> released;
  one.client.release(*first, released.callback());
  turn();
  EXPECT_TRUE(released.ok());
  ASSERT_TRUE(second.ok());
  Answer<SemaphoreInfo> info;
  mine.semaphore("s", info.callback());
  turn();
  EXPECT_EQ((*info).limit, 3u);
  EXPECT_EQ((*info).held, 2u);
  ASSERT_THAT((*info).holders, SizeIs(1));
  EXPECT_EQ((*info).holders[0].token, (*second)->token());
}

// Covers: S-50
TEST_F(CoordinationTest, MoreThanTheLimitWaitsUntilItIsRaised) {
  Answer<void> set;
  mine.set_limit(a, "s", 1, set.callback());
  Answer<HoldRef> big;
  mine.acquire_permits(a, "s", 2, {.wait = LockWait::endless()}, big.callback());
  turn();
  EXPECT_TRUE(set.ok());
  EXPECT_EQ(big.times(), 0);
  Answer<void> raised;
  mine.set_limit(a, "s", 2, raised.callback());
  turn();
  EXPECT_TRUE(big.ok());
  Answer<void> in_use;
  mine.delete_semaphore(a, "s", in_use.callback());
  turn();
  EXPECT_EQ(in_use.reason(), Reason::Held);
}

// Covers: S-56
TEST_F(CoordinationTest, ThatASemaphoreHasMoreHoldersThanOneAnswerIsSaid) {
  const auto take = [this] {
    mine.acquire_permits(a, "s", 1, {.initial_limit = 20'000},
                         [](const absl::StatusOr<HoldRef>& held) { EXPECT_TRUE(held.ok()); });
  };
  for (int i = 0; i < 10'000; ++i) {
    take();
    if (i % 1000 == 0) turn();
  }
  turn();
  Answer<SemaphoreInfo> whole, part;
  theirs.semaphore("s", whole.callback());
  turn();
  take();
  turn();
  theirs.semaphore("s", part.callback());
  turn();
  EXPECT_EQ((*whole).holders.size(), 10'000u);
  EXPECT_FALSE((*whole).more);
  EXPECT_EQ((*part).holders.size(), 10'000u);
  EXPECT_EQ((*part).held, 10'001u);
  EXPECT_TRUE((*part).more);
}

// Covers: S-53
TEST_F(CoordinationTest, WhatApplyWouldRefuseIsRefusedAtTheDoorWithASentence) {
  std::vector<absl::Status> refusals;
  const auto note = [&](const auto& answer) {
    if constexpr (requires { answer.status(); }) {
      refusals.push_back(answer.status());
    } else {
      refusals.push_back(answer);
    }
  };
  const uint64_t entries = cluster.index;
  mine.acquire_permits(a, "s", 0, {.initial_limit = 3}, note);
  mine.create_latch(a, "l", 0, note);
  mine.count_down(a, "l", 0, note);
  mine.enter(a, "d", 0, PartyAtSessionEnd::Breaks, LockWait::endless(), note);
  mine.enter(a, "d", 2, PartyAtSessionEnd::Breaks, LockWait::timed(0s), note);
  mine.allocate("n", 0, note);
  mine.add("", 1, note);
  mine.enqueue("q", std::string((64 << 10) + 1, 'v'), 0, note);
  mine.join(a, "g", "", std::string(4097, 'v'), note);
  mine.join(a, "g", std::string(257, 't'), "", note);
  mine.claim(a, "q", {.term = -1s}, note);
  turn();
  EXPECT_EQ(cluster.index, entries);
  EXPECT_THAT(refusals, SizeIs(11));
  for (const absl::Status& refusal : refusals) {
    const bool known = reason_of(refusal) == Reason::InvalidArgument || reason_of(refusal) == Reason::LimitExceeded;
    EXPECT_TRUE(known) << refusal;
    EXPECT_THAT(std::string(refusal.message()), testing::Not(testing::HasSubstr("look at the limits"))) << refusal;
  }
}

// Covers: S-59
TEST_F(CoordinationTest, PermitsGrantedAfterTheCallerHasGoneAreGivenBack) {
  Answer<HoldRef> held, late;
  mine.acquire_permits(a, "s", 1, {.initial_limit = 1}, held.callback());
  const CallId waiting = theirs.acquire_permits(b, "s", 1, {.wait = LockWait::endless(), .initial_limit = 1}, late.callback());
  turn();
  two.node.speaks = false;
  two.client.abandon(waiting);
  one.client.release_later(*held);
  turn();
  EXPECT_EQ(late.reason(), Reason::CancelPending);
  two.node.speaks = true;
  run(1s);
  Answer<SemaphoreInfo> info;
  mine.semaphore("s", info.callback());
  turn();
  EXPECT_EQ((*info).held, 0u);
}

// Covers: REG_F53
TEST_F(CoordinationTest, PermitsOfADeadProcessAreFreeWhenItsSessionEnds) {
  Answer<HoldRef> held, next;
  mine.acquire_permits(a, "s", 3, {.initial_limit = 3}, held.callback());
  turn();
  theirs.acquire_permits(b, "s", 1, {.wait = LockWait::endless()}, next.callback());
  turn();
  one.node.speaks = false;  // its renewals no longer arrive
  run(4s);
  EXPECT_TRUE(next.ok());
  EXPECT_FALSE((*held)->valid(LeadingTime(truth + 2h)));
}

// Covers: S-37
TEST_F(CoordinationTest, ALatchReleasesAllAtZeroAndCostsNoEntryAfterwards) {
  Answer<void> created, waited, at_once;
  mine.create_latch(a, "l", 2, created.callback());
  turn();
  theirs.await_latch(b, "l", LockWait::endless(), waited.callback());
  Answer<uint64_t> left;
  mine.count_down(a, "l", 1, left.callback());
  turn();
  EXPECT_EQ(*left, 1u);
  EXPECT_EQ(waited.times(), 0);
  Answer<uint64_t> last;
  mine.count_down(a, "l", 5, last.callback());
  turn();
  EXPECT_EQ(*last, 0u);
  EXPECT_TRUE(waited.ok());
  const uint64_t entries = cluster.index;
  theirs.await_latch(b, "l", LockWait::endless(), at_once.callback());
  turn();
  EXPECT_TRUE(at_once.ok());
  EXPECT_EQ(cluster.index, entries);
  Answer<void> missing;
  theirs.await_latch(b, "other", LockWait::endless(), missing.callback());
  turn();
  EXPECT_EQ(missing.reason(), Reason::NotFound);
}

// Covers: S-37
TEST_F(CoordinationTest, ABarrierBreaksForItsWaitersWithTheSessionThatClosedIt) {
  Answer<void> closed, waited, again;
  mine.close_barrier(a, "b", BarrierAtSessionEnd::Breaks, closed.callback());
  turn();
  theirs.await_barrier(b, "b", LockWait::endless(), waited.callback());
  turn();
  EXPECT_EQ(waited.times(), 0);
  Answer<void> ended;
  one.client.close(a, ended.callback());
  turn();
  EXPECT_EQ(waited.reason(), Reason::Broken);
  EXPECT_EQ(waited.outcome(), Outcome::Done);
  theirs.await_barrier(b, "b", LockWait::endless(), again.callback());
  turn();
  EXPECT_TRUE(again.ok()) << "it is gone, and so it is open";
}

// Covers: S-37
TEST_F(CoordinationTest, ATimedWaitForABarrierEndsByItsEntry) {
  Answer<void> closed, waited;
  mine.close_barrier(a, "b", BarrierAtSessionEnd::Stays, closed.callback());
  turn();
  theirs.await_barrier(b, "b", LockWait::timed(500ms), waited.callback());
  run(600ms);
  EXPECT_EQ(waited.reason(), Reason::WaitTimeout);
  Answer<BarrierInfo> info;
  mine.barrier("b", info.callback());
  turn();
  EXPECT_TRUE((*info).closed);
  EXPECT_EQ((*info).waiters, 0u);
}

// Covers: REG_F52
TEST_F(CoordinationTest, PartiesEnterTogetherAndLeaveTogether) {
  for (int cycle = 0; cycle < 2; ++cycle) {
    Answer<HoldRef> first, second, third;
    mine.enter(a, "d", 2, PartyAtSessionEnd::Breaks, LockWait::endless(), first.callback());
    turn();
    EXPECT_EQ(first.times(), 0);
    theirs.enter(b, "d", 2, PartyAtSessionEnd::Breaks, LockWait::endless(), second.callback());
    turn();
    ASSERT_TRUE(first.ok() && second.ok());
    theirs.enter(b, "d", 2, PartyAtSessionEnd::Breaks, LockWait::endless(), third.callback());
    turn();
    EXPECT_EQ(third.reason(), Reason::TooManyParties);
    Answer<void> left, last, twice;
    mine.leave(*first, LockWait::endless(), left.callback());
    turn();
    EXPECT_EQ(left.times(), 0);
    EXPECT_FALSE((*first)->valid(LeadingTime(truth + 2h)));
    mine.leave(*first, LockWait::endless(), twice.callback());
    theirs.leave(*second, LockWait::endless(), last.callback());
    turn();
    EXPECT_EQ(twice.reason(), Reason::NotOwner);
    EXPECT_TRUE(left.ok() && last.ok());
  }
  EXPECT_EQ(cluster.machine.coordination_records(), 0u);
}

// Covers: S-59
TEST_F(CoordinationTest, APlaceIsLeftEvenIfTheCallThatLeavesGetsNoAnswer) {
  Answer<HoldRef> first, second;
  mine.enter(a, "d", 2, PartyAtSessionEnd::Breaks, LockWait::endless(), first.callback());
  theirs.enter(b, "d", 2, PartyAtSessionEnd::Breaks, LockWait::endless(), second.callback());
  turn();
  one.node.speaks = false;
  Answer<void> left, other;
  mine.leave(*first, LockWait::timed(100ms), left.callback());
  run(1s);
  EXPECT_FALSE(left.ok());
  one.node.speaks = true;
  theirs.leave(*second, LockWait::endless(), other.callback());
  run(1s);
  EXPECT_TRUE(other.ok());
}

// Covers: S-37
TEST_F(CoordinationTest, AnItemIsWorkedOnByOneAndDeletedByItsAcknowledgement) {
  Answer<ClaimedItem> claimed, waiting;
  Answer<Index> item;
  theirs.claim(b, "q", {.wait = LockWait::endless()}, claimed.callback());
  turn();
  mine.enqueue("q", "work", 5, item.callback());
  turn();
  ASSERT_TRUE(claimed.ok());
  EXPECT_EQ((*claimed).item, *item);
  EXPECT_EQ((*claimed).value, "work");
  Answer<ItemQueueInfo> info;
  mine.item_queue("q", 0, info.callback());
  turn();
  EXPECT_EQ((*info).length, 0u);
  EXPECT_EQ((*info).claimed, 1u);
  Answer<void> done, twice;
  theirs.acknowledge((*claimed).hold, done.callback());
  turn();
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(two.client.status().holds, 0u);
  theirs.acknowledge((*claimed).hold, twice.callback());
  turn();
  EXPECT_EQ(twice.reason(), Reason::NotOwner);
  EXPECT_EQ(cluster.machine.coordination_records(), 0u);
}

// Covers: S-37
TEST_F(CoordinationTest, AClaimWhoseTermIsOverIsRefusedAtItsAcknowledgement) {
  Answer<Index> item;
  mine.enqueue("q", "work", 5, item.callback());
  Answer<ClaimedItem> slow, next;
  mine.claim(a, "q", {.wait = LockWait::endless(), .term = 1s}, slow.callback());
  turn();
  run(1100ms);
  theirs.claim(b, "q", {}, next.callback());
  turn();
  ASSERT_TRUE(next.ok());
  EXPECT_EQ((*next).deliveries, 1u);
  Answer<void> late;
  mine.acknowledge((*slow).hold, late.callback());
  turn();
  EXPECT_EQ(late.reason(), Reason::NotOwner);
}

// Covers: S-59
TEST_F(CoordinationTest, ALockThatIsTakenForAPlaceOrAClaimIsReleased) {
  for (const bool place : {true, false}) {
    Answer<HoldRef> lock, next;
    Answer<void> ended;
    one.client.acquire(a, "l", {}, lock.callback());
    turn();
    two.client.acquire(b, "l", {.wait = LockWait::endless()}, next.callback());
    turn();
    ASSERT_TRUE(lock.ok());
    if (place) {
      mine.leave(*lock, LockWait::endless(), ended.callback());
    } else {
      mine.acknowledge(*lock, ended.callback());
    }
    turn();
    run(100ms);
    EXPECT_EQ(ended.reason(), Reason::NotOwner);
    ASSERT_TRUE(next.ok()) << "nobody here believes to have it, so it is for the next";
    EXPECT_EQ(one.client.status().holds, 0u);
    two.client.release_later(*next);
    turn();
  }
}

// Covers: S-37
TEST_F(CoordinationTest, AGivenBackItemGoesToTheNext) {
  Answer<Index> item;
  mine.enqueue("q", "work", 5, item.callback());
  Answer<ClaimedItem> first, second;
  mine.claim(a, "q", {}, first.callback());
  turn();
  theirs.claim(b, "q", {.wait = LockWait::endless()}, second.callback());
  turn();
  one.client.release_later((*first).hold);
  turn();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second).item, *item);
}

// Covers: S-37
TEST_F(CoordinationTest, CountersNeedNoSession) {
  Answer<int64_t> block, added, value, overflow;
  Answer<SwapResult> swap;
  mine.allocate("ids", 10, block.callback());
  theirs.add("n", -3, added.callback());
  turn();
  EXPECT_EQ(*block, 1);
  EXPECT_EQ(*added, -3);
  theirs.compare_and_set("n", -3, 7, swap.callback());
  theirs.add("ids", INT64_MAX, overflow.callback());
  turn();
  EXPECT_TRUE((*swap).swapped);
  EXPECT_EQ(overflow.reason(), Reason::CounterOverflow);
  EXPECT_EQ(overflow.outcome(), Outcome::NoEffect);
  mine.counter("n", value.callback());
  turn();
  EXPECT_EQ(*value, 7);
}

// Covers: S-37
TEST_F(CoordinationTest, MembersAreThoseWhoseSessionsLive) {
  Answer<Index> first, second, again;
  mine.join(a, "g", "", "left", first.callback());
  theirs.join(b, "g", "", "right", second.callback());
  turn();
  theirs.join(b, "g", "", "again", again.callback());
  turn();
  EXPECT_EQ(again.reason(), Reason::AlreadyExists);
  Answer<GroupInfo> both, rest;
  mine.members("g", both.callback());
  turn();
  ASSERT_THAT((*both).members, SizeIs(2));
  EXPECT_EQ((*both).members[0].number, *first);
  EXPECT_EQ((*both).members[1].value, "right");
  Answer<void> closed;
  one.client.close(a, closed.callback());
  turn();
  theirs.members("g", rest.callback());
  turn();
  EXPECT_THAT((*rest).members, SizeIs(1));
}

// Covers: S-59
TEST_F(CoordinationTest, AJoinAfterOneThatTimedOutMakesAMember) {
  for (const bool at_once : {true, false}) {
    const std::string group = at_once ? "at once" : "later";
    Answer<Index> gone, again;
    one.node.speaks = false;
    mine.join(a, group, "", "gone", gone.callback(), LaggingTime(truth + 1h) + 200ms);
    run(300ms);
    EXPECT_EQ(gone.reason(), Reason::CallTimeout);
    if (at_once) mine.join(a, group, "", "again", again.callback());
    if (at_once) turn();
    one.node.speaks = true;
    turn();
    if (!at_once) mine.join(a, group, "", "again", again.callback());
    run(2s);
    ASSERT_TRUE(again.ok()) << again.status();
    Answer<GroupInfo> members;
    theirs.members(group, members.callback());
    turn();
    ASSERT_THAT((*members).members, SizeIs(1));
    EXPECT_EQ((*members).members[0].value, "again");
    EXPECT_EQ((*members).members[0].number, *again);
  }
}

// Covers: S-59
TEST_F(CoordinationTest, AJoinThatSucceedsAfterItsCallerHasGoneIsLeftAgain) {
  Answer<Index> joined;
  one.node.speaks = false;
  mine.join(a, "g", "", "v", joined.callback(), LaggingTime(truth + 1h) + 200ms);
  run(300ms);
  EXPECT_EQ(joined.reason(), Reason::CallTimeout);
  one.node.speaks = true;
  run(300ms);
  Answer<GroupInfo> info;
  theirs.members("g", info.callback());
  turn();
  EXPECT_THAT((*info).members, SizeIs(0));
}

// Covers: S-59
TEST_F(GivenUpJoinTest, AMemberThatNoCallerKnowsLeavesAlsoWhenItsLeaveIsRefusedAtFirst) {
  const SessionRef session = open();
  Answer<Index> joined;
  client.coordination().join(session, "g", "me", "v", joined.callback(), now.lagging + 1s);
  turn();
  const Ticket join = engine.take_commands<machine::CoordinationCommand>().at(0).first.ticket;
  jump(1s);
  turn();
  EXPECT_EQ(joined.reason(), Reason::CallTimeout);
  engine.complete(join, {.id = Index(9)});
  turn();
  turn();
  const auto leaves = [this] {
    auto commands = engine.take_commands<machine::CoordinationCommand>();
    std::erase_if(commands, [](const auto& command) {
      const auto& body = std::get<machine::CoordinationCommand>(command.second.body);
      return !std::holds_alternative<machine::LeaveGroup>(body);
    });
    return commands;
  };
  const auto refused = leaves();
  ASSERT_THAT(refused, SizeIs(1));
  engine.fail(refused[0].first.ticket, make_error(Reason::TooManyRequests, "too much is under way"));
  turn();
  jump(300ms);
  turn();
  ASSERT_THAT(leaves(), SizeIs(1)) << "it is said again";
}

// Covers: S-37
TEST_F(CoordinationTest, BadArgumentsAreRefusedBeforeTheLog) {
  const uint64_t entries = cluster.index;
  Answer<HoldRef> none, sessionless;
  Answer<void> nameless, lost;
  mine.acquire_permits(a, "s", 0, {.initial_limit = 1}, none.callback());
  mine.acquire_permits(nullptr, "s", 1, {.initial_limit = 1}, sessionless.callback());
  mine.set_limit(a, "", 1, nameless.callback());
  turn();
  EXPECT_EQ(none.reason(), Reason::InvalidArgument);
  EXPECT_EQ(sessionless.reason(), Reason::InvalidArgument);
  EXPECT_EQ(nameless.reason(), Reason::InvalidArgument);
  EXPECT_EQ(cluster.index, entries);
  Answer<void> closed;
  one.client.close(a, closed.callback());
  turn();
  mine.set_limit(a, "s", 1, lost.callback());
  turn();
  EXPECT_EQ(lost.reason(), Reason::Lost);
}

// Covers: S-57 S-59
TEST_F(CoordinationTest, WhatIsRefusedForItsSessionHasHadNoEffect) {
  Answer<void> created, killed;
  mine.create_latch(a, "l", 2, created.callback());
  turn();
  ASSERT_TRUE(created.ok());
  one.node.listens = false;
  two.client.kill_session(a->id(), killed.callback());
  turn();
  ASSERT_TRUE(killed.ok());
  Answer<uint64_t> by_the_log, at_the_door;
  mine.count_down(a, "l", 1, by_the_log.callback());
  turn();
  one.node.listens = true;
  turn();
  mine.count_down(a, "l", 1, at_the_door.callback());
  turn();
  for (const auto& counted : {by_the_log, at_the_door}) {
    EXPECT_EQ(counted.reason(), Reason::Lost) << counted.status();
    EXPECT_EQ(counted.outcome(), Outcome::NoEffect) << "whoever is told that it counted waits for ever";
  }
  Answer<LatchInfo> latch;
  theirs.latch("l", latch.callback());
  turn();
  EXPECT_EQ((*latch).count, 2u);
}

// Covers: S-37
TEST_F(CoordinationTest, ARefusalSaysWhatTheObjectIsLike) {
  const auto said = [this](auto answer, auto begin) {
    begin(answer);
    turn();
    EXPECT_FALSE(answer.ok());
    return std::string(sentence_of(answer.status()));
  };
  using testing::HasSubstr;
  Answer<void> closed;
  mine.close_barrier(a, "gate", BarrierAtSessionEnd::Stays, closed.callback());
  turn();
  ASSERT_TRUE(closed.ok());
  EXPECT_THAT(said(Answer<void>(), [&](auto& to) { mine.await_barrier(a, "gate", LockWait::none(), to.callback()); }),
              HasSubstr("in use, empty or closed"));
  EXPECT_THAT(said(Answer<ClaimedItem>(), [&](auto& to) { mine.claim(a, "work", {}, to.callback()); }),
              HasSubstr("in use, empty or closed"));
  EXPECT_THAT(said(Answer<void>(), [&](auto& to) { mine.update(a, "workers", "", "v", to.callback()); }),
              HasSubstr("(any more)"));
  mine.enter(a, "meeting", 3, PartyAtSessionEnd::Breaks, LockWait::endless(), [](const absl::StatusOr<HoldRef>&) {});
  EXPECT_THAT(
      said(Answer<HoldRef>(),
           [&](auto& to) { theirs.enter(b, "meeting", 2, PartyAtSessionEnd::Breaks, LockWait::endless(), to.callback()); }),
      HasSubstr("another number of parties"));
}

// ---- elections and observation

class ObservationTest : public CoordinationTest {
 public:
  std::vector<std::string> delivered;
  ObserverId watch(std::string name = "e") {
    return theirs.observe_leader(std::move(name), [this](const LeaderSeen& seen) {
      const std::string how = seen.how == Seen::Snapshot ? "snapshot " : seen.how == Seen::Resync ? "resync " : "";
      delivered.push_back(how + (seen.leader ? seen.leader->value : "vacant"));
    });
  }
  HoldRef campaign(Member& member, const SessionRef& session, std::string value) {
    Answer<HoldRef> answer;
    member.client.acquire(session, "e", {.wait = LockWait::endless(), .texts = {.value = std::move(value)}}, answer.callback());
    turn();
    EXPECT_TRUE(answer.ok());
    return answer.ok() ? *answer : nullptr;
  }
};

// Covers: S-37
TEST_F(ObservationTest, LeadersAreSeenInOrderWithTheirProclamationsAndVacancy) {
  watch();
  turn();
  const HoldRef leadership = campaign(one, a, "first");
  Answer<void> proclaimed;
  mine.proclaim(leadership, "second", proclaimed.callback());
  turn();
  EXPECT_TRUE(proclaimed.ok());
  Answer<std::optional<LeaderInfo>> leader;
  theirs.leader("e", leader.callback());
  turn();
  ASSERT_TRUE((*leader).has_value());
  EXPECT_EQ((**leader).token, leadership->token()) << "a proclamation keeps the token";
  EXPECT_EQ((**leader).value, "second");
  one.client.release_later(leadership);
  turn();
  EXPECT_THAT(delivered, ElementsAre("snapshot vacant", "first", "second", "vacant"));
  Answer<void> stale;
  mine.proclaim(leadership, "third", stale.callback());
  turn();
  EXPECT_EQ(stale.reason(), Reason::NotOwner);
}

// Covers: S-37
TEST_F(ObservationTest, AChangeOfLeadersInOneEntryIsShownWithoutVacancyBetween) {
  const HoldRef first = campaign(one, a, "first");
  Answer<HoldRef> next;
  two.client.acquire(b, "e", {.wait = LockWait::endless(), .texts = {.value = "next"}}, next.callback());
  turn();
  watch();
  turn();
  one.client.release_later(first);
  turn();
  EXPECT_TRUE(next.ok());
  EXPECT_THAT(delivered, ElementsAre("snapshot first", "next"));
}

// Covers: REG_F04
TEST_F(ObservationTest, ACandidateWhoseSessionEndsIsToldAndNeverLeads) {
  const HoldRef first = campaign(two, b, "first");
  Answer<HoldRef> candidate;
  one.client.acquire(a, "e", {.wait = LockWait::endless(), .texts = {.value = "dead"}}, candidate.callback());
  turn();
  watch();
  turn();
  Answer<void> closed;
  one.client.close(a, closed.callback());
  turn();
  EXPECT_EQ(candidate.reason(), Reason::Lost);
  two.client.release_later(first);
  turn();
  EXPECT_THAT(delivered, ElementsAre("snapshot first", "vacant"));
}

// Compaction removes history, and a stream needs none: a snapshot, and then what is applied.
// Covers: REG_F10
TEST_F(ObservationTest, AnElectionIsObservedWithoutItsHistory) {
  for (int i = 0; i < 20; ++i) one.client.release_later(campaign(one, a, std::to_string(i)));
  const HoldRef now = campaign(one, a, "now");
  CheckpointBatch batch;
  cluster.machine.checkpoint(batch);
  watch();
  turn();
  EXPECT_THAT(delivered, ElementsAre("snapshot now"));
}

// Covers: S-37
TEST_F(ObservationTest, AfterAStateWasTakenOverComesAResync) {
  watch();
  turn();
  two.node.listens = false;
  const HoldRef unseen = campaign(one, a, "unseen");
  EXPECT_THAT(delivered, ElementsAre("snapshot vacant"));
  two.node.listens = true;
  two.restored = Position{Index(cluster.index), Term(1)};
  run(100ms);
  EXPECT_THAT(delivered, ElementsAre("snapshot vacant", "resync unseen"));
}

// Covers: S-37
TEST_F(ObservationTest, CountersLatchesAndGroupsAreObservedTheSameWay) {
  std::vector<int64_t> values;
  std::vector<std::string> members;
  std::vector<std::optional<uint64_t>> counts;
  theirs.observe_counter("n", [&](const CounterSeen& seen) { values.push_back(seen.value); });
  theirs.observe_latch("l", [&](const LatchSeen& seen) { counts.push_back(seen.count); });
  theirs.observe_group("g", [&](const GroupSeen& seen) {
    for (const GroupMember& member : seen.members) {
      members.push_back((seen.what == GroupSeen::What::Left ? "-" : "+") + member.value);
    }
  });
  turn();
  Answer<int64_t> added;
  Answer<void> created, deleted, closed;
  Answer<Index> joined;
  mine.add("n", 4, added.callback());
  mine.create_latch(a, "l", 2, created.callback());
  mine.join(a, "g", "", "a", joined.callback());
  turn();
  mine.delete_latch(a, "l", deleted.callback());
  turn();
  one.client.close(a, closed.callback());
  turn();
  EXPECT_THAT(values, ElementsAre(0, 4));
  EXPECT_THAT(counts, ElementsAre(std::nullopt, std::optional<uint64_t>(2), std::nullopt));
  EXPECT_THAT(members, ElementsAre("+a", "-a"));
}

// Covers: S-37
TEST_F(ObservationTest, TheSnapshotOfAGroupIsWholeHoweverLarge) {
  for (int i = 0; i < 1100; ++i) {
    mine.join(a, "g", std::to_string(i), std::string(4096, 'v'),
              [](const absl::StatusOr<Index>& joined) { EXPECT_TRUE(joined.ok()); });
    if (i % 100 == 0) turn();
  }
  turn();
  std::vector<size_t> snapshots;
  theirs.observe_group("g", [&](const GroupSeen& seen) { snapshots.push_back(seen.members.size()); });
  Answer<GroupInfo> one_answer;
  theirs.members("g", one_answer.callback());
  turn();
  EXPECT_THAT(snapshots, ElementsAre(1100));
  EXPECT_TRUE((*one_answer).more);
}

// Covers: S-37
TEST_F(ObservationTest, AnEndedObservationSaysNothingMore) {
  const ObserverId observer = watch();
  turn();
  theirs.end_observation(observer);
  campaign(one, a, "first");
  EXPECT_THAT(delivered, ElementsAre("snapshot vacant"));
}

}  // namespace
}  // namespace coordkit::test
