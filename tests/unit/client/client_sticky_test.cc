// Sticky locks at their node (docs/semantics.md S-58): what is granted here, when the log is asked, and when the lock is
// given back.
#include <set>

#include "client/locks/lent_delegations.h"
#include "tests/unit/client/bench.h"

namespace coordkit::test {
namespace {

using machine::ResultCode;
using testing::IsEmpty;
using testing::SizeIs;
using Released = Delegations::Released;

AcquireOptions sticky(std::string tag = "", LockWait wait = LockWait::endless()) {
  return {.wait = wait, .owner_tag = std::move(tag), .sticky = true};
}

class StickyTest : public ClientBench {
 protected:
  Answer<HoldRef> acquire(const SessionRef& session, AcquireOptions options, const std::string& name = "a") {
    Answer<HoldRef> answer;
    client.acquire(session, name, std::move(options), answer.callback());
    turn();
    return answer;
  }
  // The session gets the delegation of "a": the first of its tokens goes to this owner.
  HoldRef fetch(const SessionRef& session, uint64_t token = 5000, const std::string& tag = "") {
    Answer<HoldRef> answer;
    client.acquire(session, "a", sticky(tag), answer.callback());
    client.before_turn(now);
    const auto sent = engine.take_commands<machine::Acquire>();
    EXPECT_THAT(sent, SizeIs(1));
    EXPECT_EQ(std::get<machine::Acquire>(sent.at(0).second.body).block, 65536u);
    engine.complete(sent.at(0).first.ticket, {.code = ResultCode::Granted, .token = Token(token), .since = Index(1)});
    engine.turn(now, effects);
    client.after_turn(now, effects);
    EXPECT_TRUE(answer.ok());
    return *answer;
  }
  // The hold is given back, and another owner of its session gets the lock.
  HoldRef hand_over(const HoldRef& hold) {
    release(hold);
    const Answer<HoldRef> next = acquire(hold->session(), sticky("another thread"));
    EXPECT_TRUE(next.ok());
    return *next;
  }
  // The answer where the log takes the token for the hold's.
  bool check_where_held(const HoldRef& hold) {
    FakeReads seen;
    seen.held = true;
    Answer<bool> answer;
    client.check(hold, answer.callback());
    turn();
    engine.let_read(engine.take<Ask>().at(0).ticket, seen);
    turn();
    EXPECT_TRUE(answer.ok());
    return *answer;
  }
  void release(const HoldRef& hold) {
    client.release_later(hold);
    turn();
  }
  void ask(const SessionRef& session, uint64_t token = 5000) {
    engine.next.events.push_back({kCoordination, Index(++engine.index),
                                  machine::encode(machine::Event(machine::DelegationAsked{session->id(), "a", Token(token)}))});
    turn();
    turn();
  }
  size_t released_in_log() { return engine.take_commands<machine::Release>().size(); }
  void renew() {
    engine.confirm(next_renewal());
    turn();
  }
};

// Covers: S-58
TEST_F(StickyTest, AReacquireByTheSameSessionNeedsNoEntryAndHasTheNextToken) {
  const SessionRef session = open();
  const HoldRef first = fetch(session);
  EXPECT_EQ(first->token(), Token(5000));
  EXPECT_TRUE(first->valid(now.leading));
  release(first);
  EXPECT_FALSE(first->valid(now.leading));
  Token last = first->token();
  for (const char* tag : {"", "another thread", ""}) {
    const Answer<HoldRef> again = acquire(session, sticky(tag));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ((*again)->token(), last.next());
    EXPECT_EQ((*again)->owner_tag(), tag);
    EXPECT_TRUE((*again)->valid(now.leading));
    last = (*again)->token();
    release(*again);
  }
  EXPECT_TRUE(acquire(session, {.wait = LockWait::none()}).ok()) << "also one that does not say sticky";
  EXPECT_THAT(engine.take<Submit>(), IsEmpty()) << "all of it without an entry";
}

// To the log every token of the block is current until a newer one was shown. The process that lends the lock knows better:
// a thread that slept past the end of its hold writes nothing under it.
// Covers: S-58 S-60
TEST_F(StickyTest, AFenceOfALocalHoldThatIsOverIsRefusedBeforeTheLog) {
  const SessionRef session = open();
  const HoldRef first = fetch(session);
  const auto write = [&](const HoldRef& hold) {
    Answer<PutResult> answer;
    client.put("k", "v", answer.callback(), {.fence = fenced_by(hold)});
    turn();
    return std::pair(answer, engine.take_commands<machine::Put>().size());
  };
  EXPECT_EQ(write(first).second, 1u) << "while it is the current one it is for the log to say";
  release(first);
  EXPECT_EQ(write(first).second, 0u);
  const Answer<HoldRef> second = acquire(session, sticky("another thread"));
  ASSERT_TRUE(second.ok());
  const auto [late, sent] = write(first);
  EXPECT_EQ(sent, 0u);
  EXPECT_EQ(late.reason(), Reason::Fenced);
  EXPECT_EQ(outcome_of(late.status()), Outcome::NoEffect);
  EXPECT_EQ(write(*second).second, 1u);
  ask(session);
  release(*second);
  EXPECT_EQ(released_in_log(), 1u);
  EXPECT_EQ(write(*second).first.reason(), Reason::Fenced) << "given back";
}

// A token says which hold it belongs to as well as the grant does, in the process that made it.
// Covers: S-58 S-60
TEST_F(StickyTest, AFenceMadeOfATokenAloneIsRefusedOnceItsHoldIsOver) {
  const SessionRef session = open();
  const HoldRef first = fetch(session);
  const auto write = [&](const HoldRef& hold, Fence::Wants wants = Fence::Wants::Held) {
    Answer<PutResult> answer;
    client.put("k", "v", answer.callback(), {.fence = Fence{.lock = "a", .token = hold->token(), .wants = wants}});
    turn();
    return engine.take_commands<machine::Put>().empty() ? answer.reason() : std::nullopt;
  };
  EXPECT_EQ(write(first), std::nullopt) << "while it is the current one it is for the log to say";
  const HoldRef second = hand_over(first);
  EXPECT_EQ(write(first), Reason::Fenced);
  EXPECT_EQ(write(first, Fence::Wants::HeldExclusively), Reason::Fenced);
  EXPECT_EQ(write(second), std::nullopt);
  ask(session);
  release(second);
  const auto released = engine.take_commands<machine::Release>();
  ASSERT_THAT(released, SizeIs(1));
  EXPECT_EQ(write(second), Reason::Fenced) << "the lock goes back, and the log does not know it yet";
}

// A condition has no process of its own to ask either.
// Covers: S-15 S-58
TEST_F(StickyTest, AConditionOnATokenDoesNotHoldOnceItsHoldIsOver) {
  const SessionRef session = open();
  const HoldRef first = fetch(session);
  const HoldRef second = hand_over(first);
  const auto asked = [&](const HoldRef& hold) {
    const Transaction inner{.compares = {Compare::lock_held("a", hold->token())}, .then = {PutOperation{.key = "k"}}};
    client.keys().commit({.compares = inner.compares, .then = {inner}, .otherwise = {inner}},
                         [](const absl::StatusOr<TransactionResult>&) {});
    turn();
    const auto sent = std::get<Transaction>(engine.take_commands<Transaction>().at(0).second.body);
    std::set<uint64_t> tokens = {sent.compares[0].number};
    for (const auto* branch : {&sent.then, &sent.otherwise}) {
      tokens.insert(std::get<std::vector<Transaction>>(branch->at(0).body).at(0).compares.at(0).number);
    }
    return tokens;
  };
  EXPECT_EQ(asked(second), std::set{second->token().value()});
  EXPECT_EQ(asked(first), std::set{~uint64_t{0}}) << "which is no hold's";
}

// Covers: S-58 S-60
TEST_F(StickyTest, AFenceMadeOfATokenOfALostSessionIsRefusedUnlessItsHoldWasInUse) {
  const SessionRef session = open();
  const HoldRef first = fetch(session);
  const HoldRef second = hand_over(first);
  const auto write = [&](const HoldRef& hold) {
    Answer<PutResult> answer;
    client.put("k", "v", answer.callback(), {.fence = Fence{.lock = "a", .token = hold->token()}});
    turn();
    return engine.take_commands<machine::Put>().empty() ? answer.reason() : std::nullopt;
  };
  client.close(session, [](const absl::Status&) {});
  turn();
  ASSERT_TRUE(second->lost());
  EXPECT_EQ(write(second), std::nullopt) << "the log says when it is over";
  EXPECT_EQ(write(first), Reason::Fenced);
}

// To the log, which was shown no newer token, the former hold may be the one in use.
// Covers: S-52 S-58
TEST_F(StickyTest, AFormerLocalHoldIsNotSaidToBeTheHold) {
  const SessionRef session = open();
  const HoldRef first = fetch(session);
  EXPECT_TRUE(check_where_held(first));
  const HoldRef second = hand_over(first);
  EXPECT_FALSE(check_where_held(first)) << "another owner has it";
  EXPECT_TRUE(check_where_held(second));
  EXPECT_TRUE(second->valid(now.leading));
}

// The process was told of the end by somebody; the log says when it is.
// Covers: S-52 S-58
TEST_F(StickyTest, WhetherTheHoldOfALostSessionIsOverIsForTheLogToSay) {
  const SessionRef session = open();
  const HoldRef first = fetch(session);
  const HoldRef second = hand_over(first);
  engine.end_session(session->id());
  turn();
  ASSERT_TRUE(second->lost());
  EXPECT_TRUE(check_where_held(second));
  EXPECT_FALSE(check_where_held(first)) << "that one was over before";
}

// Covers: S-37 S-58
TEST_F(StickyTest, AFormerLocalHoldProclaimsNothing) {
  const SessionRef session = open();
  const HoldRef first = fetch(session);
  const HoldRef second = hand_over(first);
  Answer<void> late, timely;
  client.coordination().proclaim(first, "mine", late.callback());
  turn();
  EXPECT_EQ(late.reason(), Reason::NotOwner) << late.status();
  EXPECT_THAT(engine.take_commands<machine::UpdateValue>(), IsEmpty());
  client.coordination().proclaim(second, "mine", timely.callback());
  turn();
  EXPECT_THAT(engine.take_commands<machine::UpdateValue>(), SizeIs(1));
}

// Covers: S-58
TEST_F(StickyTest, AnyThreadAcquiresAndReleasesWithoutTheOwnerThread) {
  const SessionRef session = open();
  release(fetch(session));
  Delegations& here = *session->delegations();
  const HoldRef hold = here.acquire(session, "a", "t", now.leading);
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(hold->token(), Token(5001));
  EXPECT_EQ(here.acquire(session, "a", "u", now.leading), nullptr);
  EXPECT_EQ(here.acquire(session, "b", "t", now.leading), nullptr);
  hold->invalidate();
  EXPECT_EQ(here.release(*hold), Released::Done);
  EXPECT_EQ(here.release(*hold), Released::NotCurrent);
  EXPECT_EQ(client.next_turn(now), client.next_turn(now)) << "nothing is to be done";
}

// Covers: S-58
TEST_F(StickyTest, OneLocalHoldAtATimeAndFirstComeFirstServed) {
  const SessionRef session = open();
  const HoldRef first = fetch(session, 5000, "t");
  const Answer<HoldRef> second = acquire(session, sticky("u")), third = acquire(session, sticky("v"));
  EXPECT_EQ(second.times() + third.times(), 0);
  EXPECT_EQ(acquire(session, sticky("w", LockWait::none())).reason(), Reason::Held);
  EXPECT_EQ(acquire(session, sticky("t")).reason(), Reason::AlreadyHeld) << "S-38";
  EXPECT_EQ(acquire(session, sticky("u")).reason(), Reason::AlreadyWaiting);
  EXPECT_EQ(session->delegations()->acquire(session, "a", "x", now.leading), nullptr);
  first->invalidate();
  EXPECT_EQ(session->delegations()->release(*first), Released::Serve);
  EXPECT_EQ(session->delegations()->acquire(session, "a", "x", now.leading), nullptr) << "no one overtakes the line";
  client.released_locally(first);
  turn();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)->token(), Token(5001));
  EXPECT_EQ(third.times(), 0);
  release(*second);
  ASSERT_TRUE(third.ok());
  EXPECT_FALSE((*second)->valid(now.leading));
  EXPECT_TRUE((*third)->valid(now.leading));
  EXPECT_THAT(engine.take<Submit>(), IsEmpty());
}

// Covers: S-58
TEST_F(StickyTest, WhoComesWhileTheLogIsAskedWaitsInLineAndNotInTheLog) {
  const SessionRef session = open();
  const Answer<HoldRef> first = acquire(session, sticky("t")), second = acquire(session, sticky("u", LockWait::timed(2s)));
  const auto sent = engine.take_commands<machine::Acquire>();
  ASSERT_THAT(sent, SizeIs(1));
  jump(1s);
  engine.complete(sent[0].first.ticket, {.code = ResultCode::Cancelled});
  turn();
  EXPECT_EQ(first.reason(), Reason::Cancelled);
  const auto next = engine.take_commands<machine::Acquire>();
  ASSERT_THAT(next, SizeIs(1)) << "the next in line goes to the log, with what is left of its wait";
  EXPECT_EQ(std::get<machine::Acquire>(next[0].second.body).wait, machine::Wait::timed(1s));
  EXPECT_EQ(std::get<machine::Acquire>(next[0].second.body).owner_tag, "u");
  engine.complete(next[0].first.ticket, {.code = ResultCode::Granted, .token = Token(7000), .since = Index(9)});
  turn();
  EXPECT_EQ((*second)->token(), Token(7000));
}

// Covers: S-48 S-58
TEST_F(StickyTest, AWaitInLineEndsByItself) {
  const SessionRef session = open();
  fetch(session, 5000, "t");
  const Answer<HoldRef> second = acquire(session, sticky("u", LockWait::timed(500ms)));
  run(499ms);
  EXPECT_EQ(second.times(), 0);
  run(2ms);
  EXPECT_EQ(second.reason(), Reason::WaitTimeout);
  EXPECT_EQ(second.outcome(), Outcome::Done);
  EXPECT_THAT(engine.take_commands<machine::Acquire>(), IsEmpty());
}

// Covers: S-58 T8
TEST_F(StickyTest, NothingIsGrantedLocallyOnceTheDeadlineHasPassed) {
  const SessionRef session = open();
  const HoldRef first = fetch(session, 5000, "t");
  run(v);
  EXPECT_FALSE(first->valid(now.leading));
  EXPECT_TRUE(first->lost_token().stop_requested()) << "S-52: notified like every other holder";
  release(first);
  EXPECT_EQ(session->delegations()->acquire(session, "a", "u", now.leading), nullptr);
  EXPECT_EQ(acquire(session, sticky("w", LockWait::none())).reason(), Reason::Held);
  const Answer<HoldRef> waits = acquire(session, sticky("u"));
  EXPECT_EQ(waits.times(), 0) << "it may be granted once the session is to be trusted again";
  renew();
  turn();
  ASSERT_TRUE(waits.ok());
  EXPECT_TRUE((*waits)->valid(now.leading));
  EXPECT_EQ((*waits)->token(), Token(5001)) << "the same delegation";
  EXPECT_FALSE((*waits)->lost_token().stop_requested());
}

// Covers: S-52 S-58
TEST_F(StickyTest, ALostSessionTakesItsLocalHoldsWithIt) {
  const SessionRef session = open();
  const HoldRef held = fetch(session, 5000, "t");
  const Answer<HoldRef> waits = acquire(session, sticky("u"));
  engine.end_session(session->id());
  turn();
  EXPECT_TRUE(held->lost());
  EXPECT_TRUE(held->lost_token().stop_requested());
  EXPECT_EQ(waits.reason(), Reason::Lost);
  EXPECT_EQ(session->delegations()->acquire(session, "a", "x", now.leading), nullptr);
  Answer<void> released;
  client.release(held, released.callback());
  turn();
  EXPECT_EQ(released.reason(), Reason::Lost);
  EXPECT_EQ(client.status().holds, 0u);
  EXPECT_EQ(client.status().calls, 0u);
}

// The process slept past its deadline and does not know yet whether its session lives. Another one may have had the lock.
// Covers: S-58 REG_F83
TEST_F(StickyTest, AReleaseInJeopardyIsAnsweredOnceTheFateOfTheSessionIsKnown) {
  for (const bool ends_well : {true, false}) {
    const SessionRef session = open(ends_well ? 1000 : 1001);
    const HoldRef held = fetch(session, ends_well ? 5000 : 5000 + 65536);
    jump(v);
    Answer<void> released, twice;
    client.release(held, released.callback());
    turn();
    EXPECT_EQ(released.times(), 0);
    client.release(held, twice.callback());
    turn();
    EXPECT_EQ(twice.reason(), Reason::NotOwner);
    if (ends_well) {
      renew();
      EXPECT_TRUE(released.ok()) << released.status();
    } else {
      engine.end_session(session->id());
      turn();
      EXPECT_EQ(released.reason(), Reason::Lost);
    }
    EXPECT_EQ(released.times(), 1);
    EXPECT_EQ(client.status().calls, 0u);
    EXPECT_EQ(released_in_log(), 0u) << "the lock stays with the session";
  }
}

// Covers: S-59 REG_F83
TEST_F(StickyTest, AReleaseInJeopardyEndsAtItsDeadlineAsUnknown) {
  const SessionRef session = open();
  const HoldRef held = fetch(session);
  jump(v);
  Answer<void> released;
  client.release(held, released.callback(), now.lagging + 100ms);
  run(200ms);
  EXPECT_EQ(released.reason(), Reason::CallTimeout);
  EXPECT_EQ(released.outcome(), Outcome::Unknown);
  renew();
  EXPECT_EQ(released.times(), 1);
}

// Covers: S-58
TEST_F(StickyTest, AClosedSessionGivesItAllBackByItsClose) {
  const SessionRef session = open();
  const HoldRef held = fetch(session);
  Answer<void> closed;
  client.close(session, closed.callback());
  EXPECT_FALSE(held->valid(now.leading));
  EXPECT_EQ(session->delegations()->acquire(session, "a", "x", now.leading), nullptr);
  turn();
  EXPECT_THAT(engine.take_commands<machine::CloseSession>(), SizeIs(1));
}

// Covers: S-58
TEST_F(StickyTest, WhenAnotherSessionAsksAnIdleDelegationIsGivenBackAtOnce) {
  const SessionRef session = open();
  release(fetch(session));
  ask(session);
  const auto sent = engine.take_commands<machine::Release>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(std::get<machine::Release>(sent[0].second.body).token, Token(5000)) << "the token of the hold in the log";
  EXPECT_EQ(session->delegations()->acquire(session, "a", "u", now.leading), nullptr);
  // The next one goes to the log, behind the release.
  const Answer<HoldRef> next = acquire(session, sticky("u"));
  const auto again = engine.take_commands<machine::Acquire>();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].second.prior_releases, (std::vector<machine::PriorRelease>{{"a", Token(5000)}}));
}

// Covers: S-58 T8
TEST_F(StickyTest, WhatIsInUseIsNotGivenBackBeforeItsRelease) {
  const SessionRef session = open();
  const HoldRef held = fetch(session);
  ask(session);
  run(1s);
  EXPECT_EQ(released_in_log(), 0u);
  EXPECT_TRUE(held->valid(now.leading));
  held->invalidate();
  EXPECT_EQ(session->delegations()->release(*held), Released::Serve);
  client.released_locally(held);
  turn();
  EXPECT_FALSE(held->valid(now.leading));
  EXPECT_EQ(released_in_log(), 1u);
}

// Covers: S-58
TEST_F(StickyTest, AskedItServesOnlyWhoWasInLineWithinTheLimits) {
  const SessionRef session = open();
  HoldRef held = fetch(session);
  std::vector<Answer<HoldRef>> line;
  for (int i = 0; i < 20; ++i) line.push_back(acquire(session, sticky("t" + std::to_string(i))));
  ask(session);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(released_in_log(), 0u);
    release(held);
    ASSERT_TRUE(line[i].ok()) << i;
    held = *line[i];
  }
  const Answer<HoldRef> late = acquire(session, sticky("late"));
  release(held);
  turn();
  EXPECT_EQ(line[16].times(), 0) << "sixteen grants are the limit";
  EXPECT_EQ(released_in_log(), 1u);
  const auto sent = engine.take_commands<machine::Acquire>();
  ASSERT_THAT(sent, SizeIs(1)) << "the first of the rest stands in the log's line";
  EXPECT_EQ(std::get<machine::Acquire>(sent[0].second.body).owner_tag, "t16");
  EXPECT_EQ(late.times(), 0);
}

// Covers: S-58
TEST_F(StickyTest, AskedItServesNobodyAfterTenMilliseconds) {
  const SessionRef session = open();
  const HoldRef held = fetch(session);
  const Answer<HoldRef> next = acquire(session, sticky("t"));
  ask(session);
  run(10ms);
  release(held);
  turn();
  EXPECT_EQ(next.times(), 0);
  EXPECT_EQ(released_in_log(), 1u);
}

// Covers: S-58
TEST_F(StickyTest, WhoeverComesAfterItWasAskedIsNotPreferred) {
  const SessionRef session = open();
  const HoldRef held = fetch(session);
  ask(session);
  const Answer<HoldRef> late = acquire(session, sticky("t"));
  release(held);
  turn();
  EXPECT_EQ(late.times(), 0);
  EXPECT_EQ(released_in_log(), 1u);
}

// Covers: S-58
TEST_F(StickyTest, AUsedUpBlockIsRefilledByOneEntryAndTheDelegationStays) {
  Client small(engine, {.sticky = {.block = 2}});
  const auto step = [&] {
    small.before_turn(now);
    engine.turn(now, effects);
    small.after_turn(now, effects);
  };
  Answer<SessionRef> opened;
  small.open_session({.ttl = kTtl}, opened.callback());
  small.before_turn(now);
  engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(9), .ttl = kTtl});
  engine.turn(now, effects);
  small.after_turn(now, effects);
  Answer<HoldRef> first, second, third;
  small.acquire(*opened, "a", sticky(), first.callback());
  step();
  engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                  {.code = ResultCode::Granted, .token = Token(10), .since = Index(1)});
  step();
  small.release_later(*first);
  small.acquire(*opened, "a", sticky(), second.callback());
  step();
  EXPECT_EQ((*second)->token(), Token(11));
  small.acquire(*opened, "a", sticky("t"), third.callback());
  step();
  EXPECT_THAT(engine.take<Submit>(), IsEmpty()) << "not while the last token is in use";
  small.release_later(*second);
  step();
  const auto sent = engine.take_commands<machine::RefillBlock>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(std::get<machine::RefillBlock>(sent[0].second.body), (machine::RefillBlock{SessionId(9), "a", Token(10)}));
  engine.complete(sent[0].first.ticket, {.code = ResultCode::Granted, .token = Token(40)});
  step();
  ASSERT_TRUE(third.ok());
  EXPECT_EQ((*third)->token(), Token(40));
  small.stop();
}

// Covers: S-58
TEST_F(StickyTest, AnotherWayToWantTheLockMakesItGo) {
  const SessionRef session = open();
  release(fetch(session));
  const Answer<HoldRef> reader = acquire(session, {.wait = LockWait::endless(), .mode = LockMode::Shared});
  const auto sent = engine.take_commands<machine::Acquire>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].second.prior_releases, (std::vector<machine::PriorRelease>{{"a", Token(5000)}}));
  EXPECT_EQ(reader.times(), 0);
}

// Covers: S-38 S-58
TEST_F(StickyTest, AnOwnerThatHasTheLockIsToldSoWhateverItWants) {
  const SessionRef session = open();
  const HoldRef held = fetch(session, 5000, "t");
  EXPECT_EQ(acquire(session, {.owner_tag = "t", .mode = LockMode::Shared}).reason(), Reason::AlreadyHeld);
  Answer<HoldRef> all;
  client.acquire_all(session, {{"b"}, {"a"}}, {.owner_tag = "t"}, all.callback());
  turn();
  EXPECT_EQ(all.reason(), Reason::AlreadyHeld);
  EXPECT_TRUE(held->valid(now.leading));
}

// Covers: S-40 S-58
TEST_F(StickyTest, ALongerLockDelayIsForTheLogToGrant) {
  const SessionRef session = open();
  release(fetch(session));
  AcquireOptions options = sticky("t");
  options.delay = 2s;
  const Answer<HoldRef> delayed = acquire(session, options);
  const auto sent = engine.take_commands<machine::Acquire>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(std::get<machine::Acquire>(sent[0].second.body).delay, 2s);
  EXPECT_THAT(sent[0].second.prior_releases, SizeIs(1));
}

// Covers: S-51 S-58
TEST_F(StickyTest, ALocalHoldMayHaveALongestTime) {
  const SessionRef session = open();
  release(fetch(session));
  AcquireOptions options = sticky("t");
  options.max_hold = 100ms;
  const Answer<HoldRef> brief = acquire(session, options);
  ASSERT_TRUE(brief.ok());
  const Answer<HoldRef> next = acquire(session, sticky("u"));
  run(101ms);
  EXPECT_FALSE((*brief)->valid(now.leading));
  EXPECT_TRUE((*brief)->lost_token().stop_requested());
  Answer<void> released;
  client.release(*brief, released.callback());
  turn();
  EXPECT_EQ(released.reason(), Reason::Lost);
  ASSERT_TRUE(next.ok()) << "the lock stays with the session";
  EXPECT_EQ(released_in_log(), 0u);
}

// Covers: S-59 S-58
TEST_F(StickyTest, ALateDelegationThatNobodyWantsIsGivenBack) {
  const SessionRef session = open();
  Answer<HoldRef> answer;
  const CallId call = client.acquire(session, "a", sticky(), answer.callback());
  turn();
  const auto sent = engine.take_commands<machine::Acquire>().at(0);
  client.abandon(call);
  turn();
  EXPECT_EQ(answer.reason(), Reason::CancelPending);
  engine.complete(sent.first.ticket, {.code = ResultCode::Granted, .token = Token(77), .since = Index(9)});
  turn();
  turn();
  EXPECT_EQ(released_in_log(), 1u);
  EXPECT_EQ(client.status().holds, 0u);
}

// Among locks under ever new names, those not used for longest go back, no matter which owner releases them.
// Covers: S-58
TEST_F(StickyTest, OnlySoManyIdleLocksAreKept) {
  Client small(engine, {.sticky = {.idle_max = 2}});
  const auto step = [&] {
    small.before_turn(now);
    engine.turn(now, effects);
    small.after_turn(now, effects);
  };
  Answer<SessionRef> opened;
  small.open_session({.ttl = kTtl}, opened.callback());
  small.before_turn(now);
  engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(9), .ttl = kTtl});
  engine.turn(now, effects);
  small.after_turn(now, effects);
  const SessionRef session = *opened;
  std::map<std::string, HoldRef> holds;
  for (const std::string name : {"a", "b", "c", "d"}) {
    Answer<HoldRef> answer;
    small.acquire(session, name, sticky(), answer.callback());
    step();
    const uint64_t token = 100'000 * (1 + holds.size());
    engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                    {.code = ResultCode::Granted, .token = Token(token), .since = Index(1)});
    step();
    holds[name] = *answer;
  }
  const auto given_back = [&] {
    step();
    std::vector<std::string> names;
    for (const auto& [command, request] : engine.take_commands<machine::Release>()) {
      names.push_back(std::get<machine::Release>(request.body).name);
    }
    return names;
  };
  small.release_later(holds["b"]);
  step();
  small.release_later(holds["a"]);
  EXPECT_THAT(given_back(), IsEmpty());
  Delegations& lent = *session->delegations();
  const HoldRef again = lent.acquire(session, "b", "", now.leading);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(lent.release(*again), Released::Done) << "two are idle, and b was used after a";
  holds["c"]->invalidate();
  ASSERT_EQ(lent.release(*holds["c"]), Released::Serve) << "a third one";
  small.released_locally(holds["c"]);
  EXPECT_THAT(given_back(), testing::ElementsAre("a"));
  EXPECT_EQ(lent.acquire(session, "a", "", now.leading), nullptr);
  EXPECT_TRUE(holds["d"]->valid(now.leading)) << "what is in use stays";
  small.release_later(holds["d"]);
  EXPECT_THAT(given_back(), testing::ElementsAre("b"));
  EXPECT_EQ(lent.size(), 2u);
  small.stop();
}

// Covers: S-58
TEST_F(StickyTest, WhoGivesUpLeavesTheLine) {
  const SessionRef session = open();
  const HoldRef held = fetch(session, 5000, "t");
  Answer<HoldRef> second, third;
  const CallId call = client.acquire(session, "a", sticky("u"), second.callback());
  client.acquire(session, "a", sticky("v"), third.callback());
  turn();
  client.cancel(call);
  turn();
  EXPECT_EQ(second.reason(), Reason::Cancelled);
  release(held);
  EXPECT_TRUE(third.ok());
}

// Covers: S-46 S-58
TEST_F(StickyTest, ALocalHoldKeepsItsMode) {
  const SessionRef session = open();
  const HoldRef held = fetch(session);
  Answer<HoldRef> down;
  client.downgrade(held, down.callback());
  turn();
  EXPECT_EQ(down.reason(), Reason::InvalidArgument);
  EXPECT_TRUE(held->valid(now.leading));
}

// Covers: S-58
TEST_F(StickyTest, WhatCannotBeStickyIsRefusedAtTheDoorWithASentence) {
  const SessionRef session = open();
  EXPECT_EQ(acquire(session, {.mode = LockMode::Shared, .sticky = true}).reason(), Reason::InvalidArgument);
  EXPECT_EQ(acquire(session, {.reentrant = true, .sticky = true}).reason(), Reason::InvalidArgument);
  Answer<HoldRef> all;
  client.acquire_all(session, {{"a"}}, {.sticky = true}, all.callback());
  turn();
  EXPECT_EQ(all.reason(), Reason::InvalidArgument);
  EXPECT_THAT(engine.take<Submit>(), IsEmpty());
}

}  // namespace
}  // namespace coordkit::test
