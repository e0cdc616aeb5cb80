// Sessions that change hands, and sessions that another client ends, over the real machine (docs/semantics.md S-45, S-57).
#include "tests/unit/client/bench.h"
#include "tests/unit/client/fake_cluster.h"

namespace coordkit::test {
namespace {

using enum SessionPhase;
using testing::ElementsAre;
using testing::SizeIs;

constexpr Duration kResumableTtl = 3s;

// A process: one boot of one node. All clocks show true time, so that beliefs can be compared with the others.
struct Process {
  Process(FakeCluster& cluster, uint64_t id, uint64_t boot, ClientOptions options) : node(cluster, id, boot) {
    options.draw_secret = [count = 0, id]() mutable { return "secret " + std::to_string(id) + "." + std::to_string(++count); };
    client = std::make_unique<Client>(node, std::move(options));
  }
  ~Process() { client->stop(); }
  static Now at(Duration truth) { return {LaggingTime(truth + 1h), LeadingTime(truth + 2h)}; }
  void turn(Duration truth) {
    client->before_turn(at(truth));
    node.turn(at(truth), effects);
    client->after_turn(at(truth), effects);
  }
  void cut_off() { node.speaks = node.listens = false; }

  FakeNode node;
  std::unique_ptr<Client> client;
  EngineEffects effects;
  std::vector<SessionPhase> phases;
};

class ResumeTest : public ::testing::Test {
 public:
  FakeCluster cluster;
  std::vector<std::unique_ptr<Process>> processes;
  Duration truth{};

  Process& start(uint64_t id, uint64_t boot = 1, ClientOptions options = {}) {
    processes.push_back(std::make_unique<Process>(cluster, id, boot, std::move(options)));
    return *processes.back();
  }
  void die(Process& process) {
    std::erase_if(processes, [&](const auto& each) { return each.get() == &process; });
  }
  void turn() {
    for (int i = 0; i < 3; ++i) {
      cluster.tick(LaggingTime(truth));
      for (const auto& process : processes) process->turn(truth);
    }
  }
  template <typename Check>
  void run(Duration by, Check check) {
    for (const Duration end = truth + by; truth < end;) {
      truth = std::min(end, truth + 10ms);
      turn();
      check();
    }
  }
  void run(Duration by) {
    run(by, [] {});
  }
  SessionRef open(Process& process, Duration ttl = kResumableTtl) {
    Answer<SessionRef> answer;
    process.client->open_session(
        {.ttl = ttl, .metadata = "who", .on_phase = [&process](SessionPhase phase) { process.phases.push_back(phase); }},
        answer.callback());
    turn();
    EXPECT_TRUE(answer.ok());
    return *answer;
  }
  HoldRef acquire(Process& process, const SessionRef& session, std::string name, LockWait wait = LockWait::none()) {
    Answer<HoldRef> answer;
    process.client->acquire(session, std::move(name), {.wait = wait, .owner_tag = "tag"}, answer.callback());
    turn();
    EXPECT_TRUE(answer.ok()) << answer.status();
    return *answer;
  }
  Answer<ResumedSession> resume(Process& process, const SessionRef& previous, ResumeOptions options = {}) {
    Answer<ResumedSession> answer;
    options.on_phase = [&process](SessionPhase phase) { process.phases.push_back(phase); };
    process.client->resume_session(previous->id(), previous->secret(), std::move(options), answer.callback());
    turn();
    return answer;
  }
  bool valid(const HoldRef& hold) const { return hold->valid(Process::at(truth).leading); }
  bool valid(const SessionRef& session) const { return session->valid(Process::at(truth).leading); }
  Token holder(const std::string& name) const {
    Token token;
    for (const auto& hold : cluster.machine.reads()->holders_of(name).holders) token = hold.token;
    return token;
  }
};

// Covers: S-45
TEST_F(ResumeTest, AResumedSessionIsNotValidBeforeThePreviousProcessMustHaveGivenUp) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  const HoldRef hold = acquire(previous, session, "a");
  run(700ms);
  previous.cut_off();
  Process& heir = start(2);
  const auto resumed = resume(heir, session);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ASSERT_THAT((*resumed).holds, SizeIs(1));
  const HoldRef taken = (*resumed).holds[0];
  EXPECT_GT(taken->token(), hold->token()) << "the previous process may still show the old one";
  EXPECT_EQ(taken->token(), holder("a"));
  EXPECT_EQ(taken->name(), "a");
  EXPECT_EQ(taken->owner_tag(), "tag");
  EXPECT_GT(taken->since(), hold->since());
  EXPECT_EQ((*resumed).session->metadata(), "who");
  EXPECT_EQ((*resumed).session->ttl(), kResumableTtl);

  Duration both{}, previous_until{}, heir_from{};
  const Duration began = truth;
  run(4s, [&] {
    if (valid(hold) && valid(taken)) both += 10ms;
    if (valid(hold)) previous_until = truth;
    if (valid(taken) && heir_from == Duration(0)) heir_from = truth;
  });
  EXPECT_EQ(both, 0ms);
  EXPECT_GT(previous_until, began) << "the previous process trusted it for a while";
  EXPECT_GE(heir_from, began + kResumableTtl);
  EXPECT_LE(heir_from, began + kResumableTtl + 50ms);
  EXPECT_THAT(heir.phases, ElementsAre(Jeopardy, Valid));
  EXPECT_FALSE(taken->lost_token().stop_requested()) << "it was never valid before, so nothing was lost";
}

// Holds other than a single lock come along too: several locks under one token, a counted hold as one handle
// that ends all its counts, and a downgrade waits like a release.
// Covers: S-45 S-53 S-38
TEST_F(ResumeTest, HoldsOfEveryKindComeAlong) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  Answer<HoldRef> several;
  previous.client->acquire_all(session, {{"x"}, {"y", LockMode::Shared}}, {}, several.callback());
  turn();
  ASSERT_TRUE(several.ok());
  for (int i = 0; i < 4; ++i) {
    Answer<HoldRef> counted;
    previous.client->acquire(session, "n", {.reentrant = true}, counted.callback());
    turn();
    ASSERT_TRUE(counted.ok());
    if (i == 0) previous.client->release_later(*counted);  // the others enter a new hold
    if (i == 3) previous.client->release_later(*counted);
    turn();
  }
  acquire(previous, session, "solo");
  previous.cut_off();
  Process& heir = start(2);
  const auto resumed = resume(heir, session);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  const std::vector<HoldRef>& holds = (*resumed).holds;
  ASSERT_THAT(holds, SizeIs(3));
  EXPECT_EQ(holds[0]->terms().others, (std::vector<NamedLock>{{"y", LockMode::Shared}}));
  EXPECT_GT(holds[0]->token(), (*several)->token());
  EXPECT_TRUE(holds[1]->terms().counted);
  Answer<HoldRef> shared;
  heir.client->downgrade(holds[2], shared.callback(), LaggingTime(truth + 1h + 60s));
  heir.client->release_later(holds[0]);
  heir.client->release_later(holds[1]);
  run(1s);
  EXPECT_EQ(cluster.machine.lock_names(), 4u) << "nothing is let go yet";
  run(5s);
  EXPECT_EQ(cluster.machine.lock_names(), 1u);
  ASSERT_TRUE(shared.ok()) << shared.status();
  EXPECT_EQ((*shared)->terms().mode, LockMode::Shared);
}

// Covers: S-45
TEST_F(ResumeTest, NothingOfASettlingSessionIsLetGoInTheLog) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  const HoldRef a = acquire(previous, session, "a"), b = acquire(previous, session, "b");
  previous.cut_off();
  Process& heir = start(2);
  const auto resumed = resume(heir, session);
  ASSERT_THAT((*resumed).holds, SizeIs(2));
  Answer<void> released;
  heir.client->release((*resumed).holds[0], released.callback());
  heir.client->release_later((*resumed).holds[1]);
  acquire(heir, (*resumed).session, "c");  // would carry the releases
  run(kResumableTtl - 100ms,
      [&] { EXPECT_TRUE(holder("a") && holder("b")) << "let go while the previous process may trust it"; });
  run(300ms);
  EXPECT_FALSE(holder("a") || holder("b"));
  EXPECT_TRUE(released.ok());
  EXPECT_TRUE(valid((*resumed).session));
}

// Covers: S-45
TEST_F(ResumeTest, ASettlingSessionLetsGoOfNothingOfAnyKind) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  Answer<Index> joined;
  CoordinationCalls(*previous.client).join(session, "g", "me", "", joined.callback());
  turn();
  ASSERT_TRUE(joined.ok());
  previous.cut_off();
  Process& heir = start(2);
  const auto resumed = resume(heir, session);
  const SessionRef mine = (*resumed).session;
  CoordinationCalls calls(*heir.client);
  calls.enqueue("q", "item", 0, Answer<Index>().callback());
  turn();
  Answer<ClaimedItem> claimed;
  calls.claim(mine, "q", {}, claimed.callback());
  Answer<HoldRef> permits;
  calls.acquire_permits(mine, "s", 1, {.initial_limit = 1}, permits.callback());
  Answer<HoldRef> place;
  calls.enter(mine, "d", 1, PartyAtSessionEnd::Breaks, {}, place.callback());
  turn();
  ASSERT_TRUE(claimed.ok() && permits.ok() && place.ok());
  Answer<void> acknowledged, left, released, outside;
  calls.acknowledge((*claimed).hold, acknowledged.callback());
  calls.leave_group(mine, "g", "me", left.callback(), LaggingTime(truth + 1h + 10s));
  heir.client->release(*permits, released.callback());
  calls.leave(*place, LockWait::endless(), outside.callback());
  const size_t held = cluster.machine.coordination_records();
  run(kResumableTtl - 100ms, [&] { EXPECT_EQ(cluster.machine.coordination_records(), held); });
  EXPECT_EQ(acknowledged.times() + left.times() + released.times() + outside.times(), 0);
  run(2s);
  EXPECT_TRUE(acknowledged.ok() && left.ok() && released.ok() && outside.ok());
  EXPECT_LT(cluster.machine.coordination_records(), held);
}

// Permits, a place inside a double barrier, a claimed item and a membership: with handles that work, and tokens of their own.
// Covers: S-45
TEST_F(ResumeTest, PermitsPlacesItemsAndMembershipsComeAlongAndCanBeUsed) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  CoordinationCalls before(*previous.client);
  Answer<HoldRef> permits, place;
  Answer<ClaimedItem> item;
  Answer<Index> number;
  before.acquire_permits(session, "s", 2, {.initial_limit = 3}, permits.callback());
  before.enter(session, "d", 1, PartyAtSessionEnd::Breaks, {}, place.callback());
  before.enqueue("q", "work", 0, Answer<Index>().callback());
  turn();
  before.claim(session, "q", {}, item.callback());
  before.join(session, "g", "me", "here", number.callback());
  turn();
  ASSERT_TRUE(permits.ok() && place.ok() && item.ok() && number.ok());
  die(previous);

  Process& heir = start(2);
  const auto answer = resume(heir, session, {.previous_is_gone = true});
  ASSERT_TRUE(answer.ok()) << answer.status();
  const ResumedSession& resumed = *answer;
  run(1s);
  EXPECT_THAT(resumed.holds, SizeIs(0));
  ASSERT_THAT(resumed.permits, SizeIs(1));
  EXPECT_EQ(resumed.permits[0].hold->name(), "s");
  EXPECT_GT(resumed.permits[0].hold->token(), (*permits)->token());
  EXPECT_GT(resumed.permits[0].hold->since(), (*permits)->since());
  EXPECT_EQ(resumed.permits[0].permits, 2u);
  EXPECT_TRUE(valid(resumed.permits[0].hold));
  ASSERT_THAT(resumed.places, SizeIs(1));
  EXPECT_GT(resumed.places[0]->token(), (*place)->token());
  ASSERT_THAT(resumed.items, SizeIs(1));
  EXPECT_EQ(resumed.items[0].hold->name(), "q");
  EXPECT_GT(resumed.items[0].hold->token(), (*item).hold->token());
  EXPECT_EQ(resumed.items[0].item, (*item).item);
  EXPECT_EQ(resumed.items[0].value, "work");
  EXPECT_THAT(resumed.memberships, ElementsAre(Membership{"g", "me", *number, "here"}));

  CoordinationCalls calls(*heir.client);
  Answer<void> released, outside, acknowledged, left;
  heir.client->release(resumed.permits[0].hold, released.callback());
  calls.leave(resumed.places[0], LockWait::none(), outside.callback());
  calls.acknowledge(resumed.items[0].hold, acknowledged.callback());
  calls.leave_group(resumed.session, "g", "me", left.callback());
  turn();
  EXPECT_TRUE(released.ok() && outside.ok() && acknowledged.ok() && left.ok());
  EXPECT_EQ(cluster.machine.coordination_records(), 1u) << "the semaphore stays until it is deleted";
  EXPECT_EQ(heir.client->status().holds, 0u);
}

// The handles belong to an earlier life of the session, though this process has it again.
// Covers: S-45
TEST_F(ResumeTest, HandlesOfAPreviousLifeActOnNothing) {
  Process& first = start(1);
  const SessionRef session = open(first);
  CoordinationCalls calls(*first.client);
  calls.enqueue("q", "item", 0, Answer<Index>().callback());
  turn();
  Answer<ClaimedItem> claimed;
  calls.claim(session, "q", {}, claimed.callback());
  turn();
  ASSERT_TRUE(claimed.ok());
  Process& second = start(2);
  ASSERT_TRUE(resume(second, session, {.previous_is_gone = true}).ok());
  run(100ms);
  Answer<ResumedSession> again;
  first.client->resume_session(session->id(), session->secret(), {.previous_is_gone = true}, again.callback());
  run(1s);
  ASSERT_TRUE(again.ok());
  const size_t held = cluster.machine.coordination_records();
  Answer<void> acknowledged, left;
  calls.acknowledge((*claimed).hold, acknowledged.callback());
  calls.leave((*claimed).hold, LockWait::none(), left.callback());
  run(200ms);
  EXPECT_EQ(acknowledged.reason(), Reason::Lost);
  EXPECT_EQ(left.reason(), Reason::Lost);
  EXPECT_EQ(cluster.machine.coordination_records(), held);
  EXPECT_TRUE(valid((*again).session));
}

// Covers: S-45
TEST_F(ResumeTest, TheCloseOfASettlingSessionWaitsToo) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  const HoldRef hold = acquire(previous, session, "a");
  previous.cut_off();
  Process& heir = start(2);
  const auto resumed = resume(heir, session);
  Answer<void> closed;
  heir.client->close((*resumed).session, closed.callback());
  run(2500ms, [&] { EXPECT_TRUE(holder("a")); });
  EXPECT_EQ(closed.times(), 0);
  run(1s);
  EXPECT_FALSE(holder("a"));
  EXPECT_TRUE(closed.ok());
  EXPECT_EQ(heir.client->status().sessions, 0u);
}

// Covers: S-45 REG_F56
TEST_F(ResumeTest, ThePreviousProcessLosesTheSessionAndCannotEndIt) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  const HoldRef hold = acquire(previous, session, "a");
  Process& heir = start(2);
  const auto resumed = resume(heir, session);
  EXPECT_THAT(previous.phases, ElementsAre(Valid, Lost));
  EXPECT_FALSE(valid(hold));
  EXPECT_TRUE(hold->lost_token().stop_requested());
  run(5s);
  EXPECT_EQ(holder("a"), (*resumed).holds.at(0)->token());
  EXPECT_TRUE(valid((*resumed).session));
  EXPECT_EQ(previous.client->status().sessions, 0u);
}

// It was cut off when the session changed hands and learned nothing; its commands once it is back find nothing of its own.
// Covers: S-45
TEST_F(ResumeTest, APreviousProcessThatGaveUpMeanwhileDoesNotCloseTheSessionOfTheOther) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  acquire(previous, session, "a");
  previous.cut_off();
  Process& heir = start(2);
  const auto resumed = resume(heir, session);
  run(15s);
  EXPECT_EQ(session->phase(), Lost) << "given up";
  previous.node.speaks = previous.node.listens = true;
  run(5s);
  EXPECT_EQ(holder("a"), (*resumed).holds.at(0)->token());
  EXPECT_TRUE(valid((*resumed).session));
}

// Covers: S-45
TEST_F(ResumeTest, ARestartOnTheSameDiskNeedsNoWaitAndNoVoucher) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  const HoldRef hold = acquire(previous, session, "a");
  die(previous);
  Process& restarted = start(1, 2);
  const auto resumed = resume(restarted, session);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  run(100ms);
  EXPECT_TRUE(valid((*resumed).holds.at(0)));
  restarted.client->release_later((*resumed).holds.at(0));
  run(10ms);
  EXPECT_FALSE(holder("a"));
}

// Covers: S-45
TEST_F(ResumeTest, AVoucherOfTheCallerSparesTheWait) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  previous.cut_off();
  Process& heir = start(2);
  const auto resumed = resume(heir, session, {.previous_is_gone = true});
  run(100ms);
  EXPECT_TRUE(valid((*resumed).session));
}

// Same id, other handles: the remains of the first life must not end the third.
// Covers: S-45 INV_L02
TEST_F(ResumeTest, HandlesOfAPreviousLifeTouchNothingOfASessionThatCameBack) {
  Process& one = start(1);
  Process& two = start(2);
  const SessionRef first = open(one);
  const HoldRef hold = acquire(one, first, "a");
  const auto away = resume(two, first);
  ASSERT_TRUE(away.ok());
  const auto back = resume(one, first, {.previous_is_gone = true});
  ASSERT_TRUE(back.ok()) << back.status();
  run(100ms);
  ASSERT_TRUE(valid((*back).holds.at(0)));
  Answer<void> released, closed;
  one.client->release_later(hold);
  one.client->release(hold, released.callback());
  one.client->close(first, closed.callback());
  run(1s);
  EXPECT_EQ(released.reason(), Reason::Lost);
  EXPECT_TRUE(closed.ok()) << "that life is over";
  EXPECT_EQ(holder("a"), (*back).holds.at(0)->token());
  EXPECT_TRUE(valid((*back).holds.at(0)));
}

// Covers: S-45
TEST_F(ResumeTest, RefusalsSayWhy) {
  Process& previous = start(1);
  Process& heir = start(2);
  const SessionRef session = open(previous);
  Answer<ResumedSession> wrong, unknown, empty, here;
  heir.client->resume_session(session->id(), "guessed", {}, wrong.callback());
  heir.client->resume_session(SessionId(77), "secret", {}, unknown.callback());
  heir.client->resume_session(session->id(), "", {}, empty.callback());
  previous.client->resume_session(session->id(), session->secret(), {}, here.callback());
  turn();
  EXPECT_EQ(wrong.reason(), Reason::PermissionDenied);
  EXPECT_EQ(unknown.reason(), Reason::SessionNotFound);
  EXPECT_EQ(empty.reason(), Reason::InvalidArgument);
  EXPECT_EQ(here.reason(), Reason::AlreadyExists);
  EXPECT_TRUE(valid(session));
}

// Covers: S-59
TEST_F(ResumeTest, AResumeNobodyWaitsForAnyMoreLeavesTheSessionToExpireOrToBeResumedAgain) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  acquire(previous, session, "a");
  previous.cut_off();
  Process& heir = start(2);
  open(heir);  // a session of its own, so that there are renewals
  heir.node.listens = false;
  Answer<ResumedSession> gone;
  const CallId call = heir.client->resume_session(session->id(), session->secret(), {}, gone.callback());
  turn();
  heir.client->abandon(call);
  heir.node.listens = true;
  run(20ms);
  EXPECT_TRUE(holder("a"));
  const auto again = resume(heir, session);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT((*again).holds, SizeIs(1));
  run(10s);
  EXPECT_TRUE(valid((*again).session)) << "and is renewed like any other";
}

// Covers: S-45
TEST_F(ResumeTest, AResumeThatTimedOutIsAskedForAgainWhileItIsUnderWay) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  acquire(previous, session, "a");
  previous.cut_off();
  Process& heir = start(2);
  heir.node.speaks = false;
  Answer<ResumedSession> first, again, third, short_of_time;
  const auto ask = [&](Answer<ResumedSession>& answer, const std::string& secret, CallDeadline deadline = {}) {
    heir.client->resume_session(session->id(), secret, {.deadline = deadline}, answer.callback());
    turn();
  };
  ask(first, session->secret(), Process::at(truth).lagging + 100ms);
  ask(third, session->secret());
  EXPECT_EQ(third.reason(), Reason::AlreadyExists) << "the first one waits for it";
  run(200ms);
  EXPECT_EQ(first.reason(), Reason::CallTimeout);
  EXPECT_EQ(first.outcome(), Outcome::Unknown);
  ask(short_of_time, session->secret(), Process::at(truth).lagging + 100ms);
  ask(again, session->secret());
  run(200ms);
  EXPECT_EQ(short_of_time.reason(), Reason::CallTimeout);
  EXPECT_EQ(short_of_time.outcome(), Outcome::NoEffect) << "it was not sent";
  EXPECT_EQ(again.times(), 0);
  heir.node.speaks = true;
  turn();
  EXPECT_EQ(heir.node.commands, 1u);
  EXPECT_EQ(again.times(), 0) << "the first has just taken effect, and was not asked for by this caller";
  run(1s);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(first.times(), 1);
  ASSERT_THAT((*again).holds, SizeIs(1));
  EXPECT_EQ((*again).holds.at(0)->token(), holder("a"));
  run(kResumableTtl + 2s);
  EXPECT_TRUE(valid((*again).holds.at(0)));
}

// Covers: S-45
TEST_F(ResumeTest, WithoutASourceOfSecretsNothingCanBeResumed) {
  FakeNode node(cluster, 5);
  Client client(node, ClientOptions{});
  Answer<SessionRef> opened;
  client.open_session({.ttl = kResumableTtl}, opened.callback());
  EngineEffects effects;
  for (int i = 0; i < 2; ++i) {
    client.before_turn(Process::at(truth));
    node.turn(Process::at(truth), effects);
    client.after_turn(Process::at(truth), effects);
  }
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->secret(), "");
  Process& heir = start(2);
  Answer<ResumedSession> resumed;
  heir.client->resume_session((*opened)->id(), "x", {}, resumed.callback());
  turn();
  EXPECT_EQ(resumed.reason(), Reason::PermissionDenied);
}

// ---- S-57

// A victim that holds a lock, and another that waits for it.
class KillTest : public ResumeTest {
 public:
  KillTest() {
    other.client->acquire(open(other), "a", {.wait = LockWait::endless()}, next.callback());
    turn();
  }
  Process& victim = start(1);
  Process& other = start(2);
  const SessionRef session = open(victim);
  const HoldRef hold = acquire(victim, session, "a");
  Answer<HoldRef> next;
};

// Covers: S-57
TEST_F(KillTest, AKilledHolderIsToldClosesAndFreesTheLockAtOnce) {
  Answer<void> killed;
  other.client->kill_session(session->id(), killed.callback());
  run(10ms);
  EXPECT_TRUE(killed.ok()) << killed.status();
  EXPECT_THAT(victim.phases, ElementsAre(Valid, Lost));
  EXPECT_FALSE(valid(hold));
  ASSERT_TRUE(next.ok());
  EXPECT_GT((*next)->token(), hold->token());
  Answer<void> again;
  other.client->kill_session(session->id(), again.callback());
  turn();
  EXPECT_EQ(again.reason(), Reason::SessionNotFound);
}

// The answer Lost and the event of the mark arrive in one turn, and the answer is processed first.
// Covers: S-57
TEST_F(KillTest, AVictimWhoseCommandIsAnsweredLostClosesAllTheSame) {
  victim.node.listens = false;
  Answer<void> killed, closed;
  Answer<HoldRef> late;
  other.client->kill_session(session->id(), killed.callback());
  turn();
  victim.client->acquire(session, "b", {.wait = LockWait::endless()}, late.callback());
  turn();
  EXPECT_FALSE(next.ok());
  victim.node.listens = true;
  victim.turn(truth);
  EXPECT_EQ(late.reason(), Reason::Lost);
  EXPECT_EQ(session->phase(), Lost);
  victim.client->close(session, closed.callback());
  EXPECT_EQ(holder("a"), hold->token()) << "still there, so no one may be told that it is not";
  victim.client->before_turn(Process::at(truth));
  EXPECT_EQ(closed.times(), 0);
  turn();
  EXPECT_TRUE(closed.ok());
  EXPECT_TRUE(next.ok()) << "closed by its holder, not outlasted";
}

// Covers: S-57 INV_L02
TEST_F(KillTest, AVictimThatCannotHearIsOutlastedByItsTtl) {
  victim.node.listens = false;  // its renewals still arrive, and no answer reaches it
  Answer<SessionId> killed;
  other.client->force_release("a", hold->token(), killed.callback());
  const Duration began = truth;
  run(kResumableTtl - 50ms, [&] { EXPECT_FALSE(next.ok()) << "granted while the victim may trust its hold"; });
  EXPECT_EQ(*killed, session->id());
  run(100ms, [&] { EXPECT_FALSE(next.ok() && valid(hold)); });
  EXPECT_TRUE(next.ok()) << "its renewals did not save it, " << (truth - began).count();
}

// Covers: S-57
TEST_F(ResumeTest, ForceReleaseOfATokenThatIsNotTheHoldIsNotOwner) {
  Process& one = start(1);
  const SessionRef session = open(one);
  const HoldRef hold = acquire(one, session, "a");
  Answer<SessionId> stale, free;
  one.client->force_release("a", Token(hold->token().value() + 1), stale.callback());
  one.client->force_release("b", hold->token(), free.callback());
  turn();
  EXPECT_EQ(stale.reason(), Reason::NotOwner);
  EXPECT_EQ(free.reason(), Reason::NotOwner);
  EXPECT_TRUE(valid(hold));
}

// Covers: S-45 REG_R73
TEST_F(ResumeTest, AnAcquireWhoseSessionWasTakenOverInSkippedEntriesHasLostIt) {
  Process& holder_of_a = start(2);
  const HoldRef other = acquire(holder_of_a, open(holder_of_a), "a");
  Process& previous = start(1);
  const SessionRef session = open(previous);
  Answer<HoldRef> waits, granted;
  const auto ask = [&](const std::string& name, Answer<HoldRef>& answer) {
    previous.client->acquire(session, name, {.wait = LockWait::endless(), .owner_tag = "tag"}, answer.callback());
    turn();
  };
  ask("a", waits);
  const HoldRef released = acquire(holder_of_a, open(holder_of_a), "b");
  ask("b", granted);
  previous.cut_off();
  holder_of_a.client->release_later(released);
  turn();
  Process& heir = start(3);
  const auto resumed = resume(heir, session);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ASSERT_THAT((*resumed).holds, SizeIs(1)) << "granted under the previous process's request";
  const size_t commands = previous.node.commands;
  previous.node.take_state();
  previous.node.speaks = previous.node.listens = true;
  turn();
  EXPECT_EQ(waits.reason(), Reason::Lost);
  EXPECT_EQ(granted.reason(), Reason::Lost);
  EXPECT_EQ(session->phase(), Lost);
  EXPECT_EQ(previous.node.commands, commands);
  EXPECT_EQ(holder("b"), (*resumed).holds[0]->token());
}

// Covers: S-57
TEST_F(ResumeTest, AVictimThatMissedTheNewsLearnsItFromItsNextRenewal) {
  Process& victim = start(1);
  Process& other = start(2);
  const SessionRef session = open(victim);
  open(other);
  victim.cut_off();
  Answer<void> killed;
  other.client->kill_session(session->id(), killed.callback());
  turn();
  victim.node.skip_news();  // as after a checkpoint of a peer
  victim.node.speaks = victim.node.listens = true;
  run(1200ms);
  EXPECT_EQ(session->phase(), Lost);
}

// Found by `./dev sim --profile locks`: it was asked for again and again.
// Covers: S-45 S-58
TEST_F(ResumeTest, AnIdleLockTooManyWaitsUntilThePreviousProcessTrustsItNoMore) {
  Process& previous = start(1);
  const SessionRef session = open(previous);
  Answer<HoldRef> held;
  previous.client->acquire(session, "a", {.wait = LockWait::none(), .sticky = true}, held.callback());
  turn();
  ASSERT_TRUE(held.ok());
  previous.cut_off();
  Process& heir = start(2, 1, {.sticky = {.idle_max = 0}});
  const auto resumed = resume(heir, session);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ASSERT_THAT((*resumed).holds, SizeIs(1));
  heir.client->release_later((*resumed).holds[0]);
  run(100ms);
  EXPECT_NE(holder("a"), Token()) << "the previous process may trust it";
  run(kResumableTtl + 1s);
  EXPECT_EQ(holder("a"), Token());
}

}  // namespace
}  // namespace coordkit::test
