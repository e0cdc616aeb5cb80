// Shared locks, several at once, re-entry and changes of a hold: what the client posts, and what happens to its handles.
#include "tests/unit/client/bench.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::test {
namespace {

using LockFamilyTest = ClientBench;
using machine::ResultCode;
using testing::SizeIs;

AcquireOptions counted() { return {.wait = LockWait::endless(), .reentrant = true}; }

// Acquires a counted hold that is granted in the same turn.
HoldRef enter(ClientBench& bench, const SessionRef& session, uint64_t token, uint64_t releases = 0) {
  Answer<HoldRef> answer;
  bench.client.acquire(session, "a", counted(), answer.callback());
  bench.client.before_turn(bench.now);
  bench.engine.complete(bench.engine.take_commands<machine::Acquire>().at(0).first.ticket,
                        {.code = ResultCode::Granted, .token = Token(token), .since = Index(1), .releases = releases});
  bench.engine.turn(bench.now, bench.effects);
  bench.client.after_turn(bench.now, bench.effects);
  EXPECT_TRUE(answer.ok());
  return *answer;
}

// Covers: S-36
TEST_F(LockFamilyTest, WhatAnAcquireAsksForIsInItsCommand) {
  const SessionRef session = open();
  Answer<HoldRef> answer, all;
  client.acquire(
      session, "a",
      {.wait = LockWait::endless(), .mode = LockMode::Shared, .reentrant = true, .delay = 3s, .no_deadlock_check = true},
      answer.callback());
  client.acquire_all(session, {{"x"}, {"y", LockMode::Shared}}, {.wait = LockWait::timed(2s), .owner_tag = "t"},
                     all.callback());
  turn();
  const auto single = engine.take_commands<machine::Acquire>().at(0);
  const auto& acquire = std::get<machine::Acquire>(single.second.body);
  EXPECT_EQ(acquire.mode, LockMode::Shared);
  EXPECT_EQ(acquire.flags, machine::kReentrant | machine::kNoDeadlockCheck);
  EXPECT_EQ(acquire.delay, 3s);
  const auto several = engine.take_commands<machine::AcquireAll>().at(0);
  EXPECT_EQ(std::get<machine::AcquireAll>(several.second.body).locks, (std::vector<NamedLock>{{"x"}, {"y", LockMode::Shared}}));
  engine.complete(several.first.ticket, {.code = ResultCode::Granted, .token = Token(70), .since = Index(3)});
  turn();
  ASSERT_TRUE(all.ok());
  EXPECT_EQ((*all)->name(), "x");
  EXPECT_EQ((*all)->terms().others, (std::vector<NamedLock>{{"y", LockMode::Shared}}));
}

// Covers: S-53
TEST_F(LockFamilyTest, WhatApplyWouldRefuseIsRefusedAtTheDoorWithASentence) {
  const SessionRef session = open();
  Answer<HoldRef> none, twice, again, late;
  client.acquire_all(session, {}, {}, none.callback());
  client.acquire_all(session, {{"x"}, {"x", LockMode::Shared}}, {}, twice.callback());
  client.acquire_all(session, {{"x"}}, {.reentrant = true}, again.callback());
  client.acquire(session, "x", {.delay = 61s}, late.callback());
  Answer<HoldRef> many;
  client.acquire_all(session, std::vector<NamedLock>(129, NamedLock{"x"}), {}, many.callback());
  turn();
  for (const auto& refused : {none, twice, again, late}) EXPECT_EQ(refused.reason(), Reason::InvalidArgument);
  EXPECT_EQ(many.reason(), Reason::LimitExceeded);
  EXPECT_THAT(std::string(twice.status().message()), testing::HasSubstr("\"x\" is named twice; name each lock once"));
  EXPECT_TRUE(engine.take<Submit>().empty());
}

// Covers: S-38
TEST_F(LockFamilyTest, EachHandleOfACountedHoldReleasesOneCountByItsNumber) {
  const SessionRef session = open();
  const HoldRef first = enter(*this, session, 70), second = enter(*this, session, 70);
  EXPECT_NE(first, second);
  EXPECT_EQ(client.status().holds, 2u);
  client.release_later(first);
  client.release_later(first);
  EXPECT_TRUE(second->valid(now.leading)) << "the hold is still there";
  turn();
  const auto one = engine.take_commands<machine::Release>();
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(std::get<machine::Release>(one[0].second.body).number, 1u);
  client.release_later(second);
  turn();
  const auto two = engine.take_commands<machine::Release>();
  ASSERT_THAT(two, SizeIs(1));
  EXPECT_EQ(std::get<machine::Release>(two[0].second.body).number, 2u);
  EXPECT_EQ(two[0].second.prior_releases, (std::vector<machine::PriorRelease>{{"a", Token(70), 1}}));
  engine.complete(two[0].first.ticket, {});
  engine.complete(one[0].first.ticket, {.code = ResultCode::NotOwner});
  turn();
  EXPECT_EQ(client.status().releases, 0u);
  const HoldRef third = enter(*this, session, 70, /*releases=*/2);
  client.release_later(third);
  turn();
  EXPECT_EQ(std::get<machine::Release>(engine.take_commands<machine::Release>().at(0).second.body).number, 3u)
      << "the answer supplies what was forgotten here";
}

// Covers: S-46 T8
TEST_F(LockFamilyTest, ADowngradeSuspendsTheHoldUntilItIsDecided) {
  const SessionRef session = open();
  const HoldRef writer = hold(session, "a", 70);
  Answer<HoldRef> answer, other;
  client.downgrade(writer, answer.callback());
  EXPECT_FALSE(writer->valid(now.leading)) << "before anything is sent";
  client.downgrade(writer, other.callback());
  turn();
  EXPECT_EQ(other.reason(), Reason::InvalidArgument);
  const auto sent = engine.take_commands<machine::Downgrade>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(std::get<machine::Downgrade>(sent[0].second.body), (machine::Downgrade{session->id(), "", "a", Token(70)}));
  engine.complete(sent[0].first.ticket, {.code = ResultCode::Granted, .token = Token(80), .since = Index(9)});
  turn();
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)->token(), Token(80));
  EXPECT_EQ((*answer)->terms().mode, LockMode::Shared);
  EXPECT_TRUE((*answer)->valid(now.leading));
  EXPECT_FALSE(writer->valid(now.leading));
  EXPECT_EQ(client.status().holds, 1u);
  Answer<void> stale;
  client.release(writer, stale.callback());
  turn();
  EXPECT_EQ(stale.reason(), Reason::NotOwner);
}

// Covers: S-46
TEST_F(LockFamilyTest, AConversionThatIsRefusedLeavesTheHoldAsItWas) {
  const SessionRef session = open();
  const std::pair<ResultCode, Reason> table[] = {{ResultCode::UpgradeConflict, Reason::UpgradeConflict},
                                                 {ResultCode::Delayed, Reason::Delayed},
                                                 {ResultCode::Deadlock, Reason::Deadlock},
                                                 {ResultCode::NotOwner, Reason::NotOwner},
                                                 {ResultCode::InvalidArgument, Reason::InvalidArgument}};
  const HoldRef grant = hold(session, "a", 70);
  for (const auto& [code, reason] : table) {
    Answer<HoldRef> up, down;
    client.upgrade(grant, up.callback());
    turn();
    EXPECT_TRUE(grant->valid(now.leading)) << "an upgrade takes nothing away";
    engine.complete(engine.take_commands<machine::Upgrade>().at(0).first.ticket, {.code = code});
    turn();
    EXPECT_EQ(up.reason(), reason);
    client.downgrade(grant, down.callback());
    turn();
    engine.complete(engine.take_commands<machine::Downgrade>().at(0).first.ticket, {.code = code});
    turn();
    EXPECT_EQ(down.reason(), reason);
    EXPECT_TRUE(grant->valid(now.leading));
  }
  Answer<HoldRef> down;
  client.downgrade(grant, down.callback());
  turn();
  engine.fail(engine.take_commands<machine::Downgrade>().at(0).first.ticket, make_error(Reason::NoLeader, "no leader"));
  turn();
  EXPECT_EQ(down.reason(), Reason::NoLeader);
  EXPECT_TRUE(grant->valid(now.leading));
}

// Covers: S-59
TEST_F(LockFamilyTest, AConversionThatComesLateIsGivenBack) {
  const SessionRef session = open();
  const HoldRef reader = hold(session, "a", 70);
  Answer<HoldRef> answer;
  client.upgrade(reader, answer.callback(), now.lagging + 1s);
  turn();
  const Ticket ticket = engine.take_commands<machine::Upgrade>().at(0).first.ticket;
  run(1s);
  EXPECT_EQ(answer.reason(), Reason::CallTimeout);
  EXPECT_EQ(answer.outcome(), Outcome::Unknown);
  engine.posted.clear();
  engine.complete(ticket, {.code = ResultCode::Granted, .token = Token(80), .since = Index(9)});
  turn();
  turn();
  EXPECT_TRUE(reader->lost());
  const auto releases = engine.take_commands<machine::Release>();
  ASSERT_THAT(releases, SizeIs(1));
  EXPECT_EQ(std::get<machine::Release>(releases[0].second.body).token, Token(80));
}

// Covers: S-59
TEST_F(LockFamilyTest, AConversionOfUnknownOutcomeIsLookedForAndGivenBack) {
  const SessionRef session = open();
  const HoldRef reader = hold(session, "a", 70);
  Answer<HoldRef> answer;
  client.upgrade(reader, answer.callback());
  turn();
  engine.fail(engine.take_commands<machine::Upgrade>().at(0).first.ticket,
              make_error(Reason::SequenceRetired, Outcome::Unknown, "skipped"), FakeEngine::Sent::Yes);
  turn();
  EXPECT_EQ(answer.outcome(), Outcome::Unknown);
  EXPECT_TRUE(reader->lost()) << "not to be trusted";
  const auto asks = engine.take<Ask>();
  ASSERT_THAT(asks, SizeIs(1));
  FakeReads state;
  state.holders.holders = {{{{.session = SessionId(7), .token = Token(79)}}},
                           {{{.session = session->id(), .token = Token(80)}}}};
  engine.let_read(asks[0].ticket, state);
  turn();
  turn();
  const auto releases = engine.take_commands<machine::Release>();
  ASSERT_THAT(releases, SizeIs(1));
  EXPECT_EQ(std::get<machine::Release>(releases[0].second.body).token, Token(80));
}

// Covers: S-59
TEST_F(LockFamilyTest, AConversionOfUnknownOutcomeIsFoundBehindAnyNumberOfHolders) {
  machine::Driver others;
  const auto share = [&](SessionId of, std::string owner, std::string value) {
    return others.submit(machine::Acquire{.session = of,
                                          .owner_tag = std::move(owner),
                                          .name = "a",
                                          .texts = {.value = std::move(value)},
                                          .mode = LockMode::Shared});
  };
  const SessionId theirs = others.open();
  const SessionRef session = open(others.open().value());
  for (int i = 0; i < 1100; ++i) share(theirs, std::to_string(i), std::string(4096, 'v'));
  const Token now_held = share(session->id(), "", "").token;
  const HoldRef writer = hold(session, "a", 70);
  Answer<HoldRef> answer;
  client.downgrade(writer, answer.callback());
  turn();
  engine.fail(engine.take_commands<machine::Downgrade>().at(0).first.ticket,
              make_error(Reason::SequenceRetired, Outcome::Unknown, "skipped"), FakeEngine::Sent::Yes);
  turn();
  engine.let_read(engine.take<Ask>().at(0).ticket, *others.machine.reads());
  turn();
  turn();
  const auto releases = engine.take_commands<machine::Release>();
  ASSERT_THAT(releases, SizeIs(1));
  EXPECT_EQ(std::get<machine::Release>(releases[0].second.body).token, now_held);
}

// Covers: S-52
TEST_F(LockFamilyTest, WhoListensToAHoldIsToldOfItsLossAfterChangesOfItsMode) {
  const SessionRef session = open();
  Answer<HoldRef> held, shared, alone;
  client.acquire(session, "a", {.wait = LockWait::endless()}, held.callback());
  turn();
  engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                  {.code = ResultCode::Granted, .token = Token(60), .since = Index(1)});
  turn();
  ASSERT_TRUE(held.ok());
  const std::stop_token before = (*held)->lost_token();
  client.downgrade(*held, shared.callback());
  turn();
  engine.complete(engine.take_commands<machine::Downgrade>().at(0).first.ticket,
                  {.code = ResultCode::Granted, .token = Token(61), .since = Index(2)});
  turn();
  ASSERT_TRUE(shared.ok());
  client.upgrade(*shared, alone.callback());
  turn();
  engine.complete(engine.take_commands<machine::Upgrade>().at(0).first.ticket,
                  {.code = ResultCode::Granted, .token = Token(62), .since = Index(3)});
  turn();
  ASSERT_TRUE(alone.ok());
  EXPECT_FALSE(before.stop_requested()) << "nothing is lost yet";
  client.close(session, [](absl::Status) {});
  turn();
  EXPECT_TRUE((*alone)->lost_token().stop_requested());
  EXPECT_TRUE(before.stop_requested());
}

// Covers: S-46
TEST_F(LockFamilyTest, AHoldReleasedWhileItIsUpgradedEndsUnderItsNewTokenToo) {
  const SessionRef session = open();
  const HoldRef reader = hold(session, "a", 70);
  Answer<HoldRef> answer;
  client.upgrade(reader, answer.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::Upgrade>().at(0).first.ticket;
  client.release_later(reader);
  turn();
  const auto old = engine.take_commands<machine::Release>();
  ASSERT_THAT(old, SizeIs(1));
  engine.complete(ticket, {.code = ResultCode::Granted, .token = Token(80), .since = Index(9)});
  engine.complete(old[0].first.ticket, {.code = ResultCode::NotOwner});
  turn();
  turn();
  EXPECT_EQ(answer.reason(), Reason::NotOwner);
  EXPECT_EQ(std::get<machine::Release>(engine.take_commands<machine::Release>().at(0).second.body).token, Token(80));
}

// Covers: S-46
TEST_F(LockFamilyTest, WhoReleasesAHoldWhileItIsUpgradedIsAnsweredByTheEndOfTheNewOne) {
  const SessionRef session = open();
  const HoldRef reader = hold(session, "a", 70);
  Answer<HoldRef> upgraded;
  Answer<void> released, once_more;
  client.upgrade(reader, upgraded.callback());
  turn();
  const Ticket ticket = engine.take_commands<machine::Upgrade>().at(0).first.ticket;
  client.release(reader, released.callback());
  turn();
  const Ticket old = engine.take_commands<machine::Release>().at(0).first.ticket;
  engine.complete(ticket, {.code = ResultCode::Granted, .token = Token(80), .since = Index(9)});
  turn();
  client.release(reader, once_more.callback());
  engine.complete(old, {.code = ResultCode::NotOwner});
  turn();
  EXPECT_EQ(released.times(), 0) << "the lock is still held";
  const auto releases = engine.take_commands<machine::Release>();
  ASSERT_THAT(releases, SizeIs(1));
  EXPECT_EQ(std::get<machine::Release>(releases[0].second.body).token, Token(80));
  engine.complete(releases[0].first.ticket, {});
  turn();
  EXPECT_TRUE(released.status().ok()) << released.status();
  EXPECT_TRUE(once_more.status().ok()) << once_more.status();
  EXPECT_EQ(client.status().releases, 0u);
}

// Covers: S-38
TEST_F(LockFamilyTest, ANewValueIsACommandAndKeepsTheHold) {
  const SessionRef session = open();
  const HoldRef grant = hold(session, "a", 70);
  Answer<void> done, large, gone;
  client.update_value(grant, "here", done.callback());
  client.update_value(grant, std::string(5000, 'v'), large.callback());
  turn();
  const auto sent = engine.take_commands<machine::UpdateValue>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(std::get<machine::UpdateValue>(sent[0].second.body).value, "here");
  engine.complete(sent[0].first.ticket, {});
  turn();
  EXPECT_TRUE(done.status().ok());
  EXPECT_EQ(large.reason(), Reason::LimitExceeded);
  client.release_later(grant);
  client.update_value(grant, "there", gone.callback());
  turn();
  EXPECT_EQ(gone.reason(), Reason::NotOwner);
}

}  // namespace
}  // namespace coordkit::test
