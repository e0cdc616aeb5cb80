// The client over the real machine: lock semantics end to end, and random histories with cut links and skewed clocks.
#include "base/random.h"
#include "tests/unit/client/two_members.h"

namespace coordkit::test {
namespace {

using testing::SizeIs;

class ClusterTest : public TwoMembersTest {
 public:
  Answer<HoldRef> acquire(Member& member, const SessionRef& session, LockWait wait = LockWait::none(), std::string tag = {}) {
    Answer<HoldRef> answer;
    member.client.acquire(session, "a", {.wait = wait, .owner_tag = std::move(tag)}, answer.callback());
    turn();
    return answer;
  }
};

// Covers: S-48
TEST_F(ClusterTest, AReleasedLockGoesToTheFirstWaiterWithALargerToken) {
  const SessionRef mine = open(one);
  const SessionRef theirs = open(two);
  const auto first = acquire(one, mine);
  const auto second = acquire(two, theirs, LockWait::endless());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(second.times(), 0);
  Answer<void> released;
  one.client.release(*first, released.callback());
  turn();
  EXPECT_TRUE(released.ok());
  ASSERT_TRUE(second.ok());
  EXPECT_GT((*second)->token(), (*first)->token());
}

// Covers: S-48
TEST_F(ClusterTest, AFailedTryCostsNoLogEntry) {
  const SessionRef mine = open(one);
  const SessionRef theirs = open(two);
  ASSERT_TRUE(acquire(one, mine).ok());
  const size_t before = cluster.index;
  EXPECT_EQ(acquire(two, theirs).reason(), Reason::Held);
  EXPECT_EQ(cluster.index, before);
}

// Covers: S-38
TEST_F(ClusterTest, AnOwnerThatTriesAgainIsToldThatItHoldsTheLock) {
  const SessionRef mine = open(one);
  ASSERT_TRUE(acquire(one, mine).ok());
  EXPECT_EQ(acquire(one, mine).reason(), Reason::AlreadyHeld);
  EXPECT_EQ(acquire(one, mine, LockWait::none(), "other thread").reason(), Reason::Held);
}

// Covers: S-43
TEST_F(ClusterTest, ATryAfterAReleaseNobodyWaitedForSucceeds) {
  const SessionRef mine = open(one);
  auto held = acquire(one, mine);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(held.ok());
    one.client.release_later(*held);
    held = acquire(one, mine);
  }
}

// Covers: S-36
TEST_F(ClusterTest, ATimedWaitEndsByItsEntryAndLeavesNoTrace) {
  const SessionRef mine = open(one);
  const SessionRef theirs = open(two);
  ASSERT_TRUE(acquire(one, mine).ok());
  const auto waiting = acquire(two, theirs, LockWait::timed(500ms));
  run(501ms);
  EXPECT_EQ(waiting.reason(), Reason::WaitTimeout);
  EXPECT_EQ(waiting.outcome(), Outcome::Done);
  Answer<QueueInfo> queue;
  one.client.queue("a", queue.callback());
  turn();
  EXPECT_THAT((*queue).waiters, SizeIs(0));
}

// Covers: S-56
TEST_F(ClusterTest, HoldersQueueAndSessionsShowTheAppliedState) {
  const SessionRef mine = open(one);
  const SessionRef theirs = open(two);
  const auto held = acquire(one, mine, LockWait::none(), "t");
  const auto waiting = acquire(two, theirs, LockWait::endless());
  Answer<LockInfo> holders;
  Answer<QueueInfo> queue;
  Answer<SessionList> sessions;
  Answer<SessionInfo> info;
  two.client.holders("a", holders.callback());
  two.client.queue("a", queue.callback());
  two.client.sessions({}, 0, sessions.callback());
  two.client.session_info(mine->id(), info.callback());
  turn();
  ASSERT_THAT((*holders).holders, SizeIs(1));
  EXPECT_EQ((*holders).holders[0].token, (*held)->token());
  EXPECT_EQ((*holders).holders[0].owner_tag, "t");
  EXPECT_EQ((*holders).waiters, 1u);
  ASSERT_THAT((*queue).waiters, SizeIs(1));
  EXPECT_EQ((*queue).waiters[0].session, theirs->id());
  EXPECT_THAT((*sessions).sessions, SizeIs(2));
  EXPECT_EQ((*info).node, ReplicaId(1));
  EXPECT_EQ((*info).holds, 1u);
  EXPECT_EQ(waiting.times(), 0);
  EXPECT_FALSE((*holders).more);
}

// Covers: S-56
TEST_F(ClusterTest, ThatALockHasMoreHoldersThanOneAnswerIsSaid) {
  const SessionRef mine = open(one);
  for (int i = 0; i < 1100; ++i) {
    one.client.acquire(mine, "a",
                       {.owner_tag = std::to_string(i), .texts = {.value = std::string(4096, 'v')}, .mode = LockMode::Shared},
                       [](const absl::StatusOr<HoldRef>& held) { EXPECT_TRUE(held.ok()); });
    if (i % 100 == 0) turn();
  }
  Answer<LockInfo> holders;
  two.client.holders("a", holders.callback());
  turn();
  EXPECT_GT((*holders).holders.size(), 1000u);
  EXPECT_LT((*holders).holders.size(), 1100u);
  EXPECT_TRUE((*holders).more);
}

// Covers: REG_F02 INV_L03
TEST_F(ClusterTest, ACutOffHolderIsInvalidBeforeTheNextOneIsGranted) {
  const SessionRef mine = open(one);
  const SessionRef theirs = open(two);
  const auto held = acquire(one, mine);
  const auto waiting = acquire(two, theirs, LockWait::endless());
  run(2s);
  EXPECT_TRUE((*held)->valid(one.at(truth).leading));
  one.node.speaks = one.node.listens = false;
  while (waiting.times() == 0) {
    ASSERT_LT(truth, 20s);
    run(1ms);
  }
  EXPECT_FALSE((*held)->valid(one.at(truth).leading));
  EXPECT_TRUE((*held)->lost_token().stop_requested());
  EXPECT_TRUE((*waiting)->valid(two.at(truth).leading));
  one.node.speaks = one.node.listens = true;
  run(1s);
  EXPECT_EQ(mine->phase(), SessionPhase::Lost);  // learned from the end of the session
  EXPECT_TRUE((*held)->lost());
}

// Covers: REG_F45 REG_F77
TEST_F(ClusterTest, TheHolderIsToldBeforeTheNextOneIsGranted) {
  const SessionRef mine = open(one);
  const SessionRef theirs = open(two);
  const auto held = acquire(one, mine);
  const auto waiting = acquire(two, theirs, LockWait::endless());
  run(2s);
  std::optional<Duration> lost_at;
  const std::stop_callback on_lost((*held)->lost_token(), [&] { lost_at = truth; });
  EXPECT_FALSE(lost_at);
  one.node.speaks = one.node.listens = false;
  while (waiting.times() == 0) {
    ASSERT_LT(truth, 20s);
    run(1ms);
  }
  ASSERT_TRUE(lost_at);
  EXPECT_LT(*lost_at, truth);
}

// Covers: REG_F47
TEST_F(ClusterTest, OfTwoThatSawTheLockFreeTheEntryChoosesOne) {
  const SessionRef mine = open(one);
  const SessionRef theirs = open(two);
  for (int round = 0; round < 10; ++round) {
    Answer<LockInfo> seen_by_one, seen_by_two;
    one.client.holders("a", seen_by_one.callback());
    two.client.holders("a", seen_by_two.callback());
    turn();
    ASSERT_THAT((*seen_by_one).holders, SizeIs(0));
    ASSERT_THAT((*seen_by_two).holders, SizeIs(0));
    Answer<HoldRef> first, second;
    one.client.acquire(mine, "a", {.wait = LockWait::none()}, first.callback());
    two.client.acquire(theirs, "a", {.wait = LockWait::none()}, second.callback());
    turn();
    ASSERT_NE(first.ok(), second.ok()) << round;
    EXPECT_EQ(first.ok() ? second.reason() : first.reason(), Reason::Held);
    Answer<void> released;
    (first.ok() ? one : two).client.release(first.ok() ? *first : *second, released.callback());
    turn();
    ASSERT_TRUE(released.ok());
  }
}

// ---- the family (docs/semantics.md S-46, S-53, S-38, S-49)

// Covers: S-36
TEST_F(ClusterTest, ATryThatCannotBeGrantedWritesNothingToTheLog) {
  const SessionRef mine = open(one), theirs = open(two);
  const auto held = acquire(one, mine);
  const auto asked = [&](auto call) {
    const size_t before = two.node.commands;
    Answer<HoldRef> answer;
    call(answer);
    turn();
    EXPECT_EQ(two.node.commands, before);
    return answer.reason();
  };
  EXPECT_EQ(asked([&](auto& answer) { two.client.acquire(theirs, "a", {}, answer.callback()); }), Reason::Held);
  EXPECT_EQ(asked([&](auto& answer) { two.client.acquire(theirs, "a", {.mode = LockMode::Shared}, answer.callback()); }),
            Reason::Held);
  EXPECT_EQ(asked([&](auto& answer) {
              two.client.acquire_all(theirs, {{"free"}, {"a"}}, {}, answer.callback());
            }),
            Reason::Held);
  Answer<HoldRef> all;
  two.client.acquire_all(theirs, {{"free"}, {"other", LockMode::Shared}}, {}, all.callback());
  turn();
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(asked([&](auto& answer) { two.client.acquire(theirs, "other", {.mode = LockMode::Shared}, answer.callback()); }),
            Reason::AlreadyHeld);
  ASSERT_TRUE(held.ok());
}

// Covers: S-40
TEST_F(ClusterTest, ATryDuringALockDelaySaysSo) {
  const SessionRef mine = open(one), theirs = open(two, 20s);
  Answer<HoldRef> held;
  one.client.acquire(mine, "a", {.delay = 4s}, held.callback());
  turn();
  ASSERT_TRUE(held.ok());
  one.node.speaks = false;
  while (cluster.machine.sessions() == 2) run(10ms);
  const auto refused = acquire(two, theirs);
  EXPECT_EQ(refused.reason(), Reason::Delayed);
  const auto waiting = acquire(two, theirs, LockWait::endless());
  run(3s);
  EXPECT_EQ(waiting.times(), 0);
  run(2s);
  EXPECT_TRUE(waiting.ok());
}

// Covers: S-46
TEST_F(ClusterTest, ReadersShareConvertAndWaitInTurn) {
  const SessionRef mine = open(one), theirs = open(two);
  Answer<HoldRef> writer, reader, shared, conflict, upgraded;
  one.client.acquire(mine, "a", {}, writer.callback());
  turn();
  two.client.acquire(theirs, "a", {.wait = LockWait::endless(), .mode = LockMode::Shared}, reader.callback());
  turn();
  EXPECT_EQ(reader.times(), 0);
  one.client.downgrade(*writer, shared.callback());
  turn();
  ASSERT_TRUE(shared.ok());
  ASSERT_TRUE(reader.ok());
  EXPECT_LT((*shared)->token(), (*reader)->token());
  one.client.upgrade(*shared, conflict.callback());
  turn();
  EXPECT_EQ(conflict.reason(), Reason::UpgradeConflict);
  two.client.release_later(*reader);
  turn();
  one.client.upgrade(*shared, upgraded.callback());
  turn();
  ASSERT_TRUE(upgraded.ok());
  EXPECT_TRUE((*upgraded)->valid(one.at(truth).leading));
  EXPECT_EQ((*upgraded)->terms().mode, LockMode::Exclusive);
  one.client.release_later(*upgraded);
  turn();
  EXPECT_EQ(cluster.machine.lock_names(), 0u);
}

// Covers: S-49
TEST_F(ClusterTest, ACircleIsRefusedToWhoeverClosesIt) {
  const SessionRef mine = open(one), theirs = open(two);
  Answer<HoldRef> x, y, waits, closes, exempt;
  one.client.acquire(mine, "x", {}, x.callback());
  two.client.acquire(theirs, "y", {}, y.callback());
  turn();
  one.client.acquire(mine, "y", {.wait = LockWait::endless()}, waits.callback());
  turn();
  two.client.acquire(theirs, "x", {.wait = LockWait::endless()}, closes.callback());
  turn();
  EXPECT_EQ(closes.reason(), Reason::Deadlock);
  EXPECT_EQ(closes.outcome(), Outcome::NoEffect);
  two.client.release_later(*y);
  turn();
  EXPECT_TRUE(waits.ok());
}

// Covers: S-38 REG_F76
TEST_F(ClusterTest, ManyEntriesAndReleasesOfOneHoldLeaveNothing) {
  const SessionRef mine = open(one);
  for (int round = 0; round < 200; ++round) {
    std::vector<HoldRef> holds;
    for (int i = 0; i <= round % 5; ++i) {
      Answer<HoldRef> answer;
      one.client.acquire(mine, "a", {.wait = LockWait::endless(), .reentrant = true}, answer.callback());
      if (i % 2 == 0 && !holds.empty()) one.client.release_later(holds.back());
      turn();
      ASSERT_TRUE(answer.ok()) << round;
      holds.push_back(*answer);
    }
    for (const HoldRef& hold : holds) one.client.release_later(hold);
    turn();
    ASSERT_EQ(cluster.machine.lock_names(), 0u) << round;
    ASSERT_EQ(one.client.status().holds + one.client.status().releases, 0u);
  }
}

// Both hold for longer than either waits, so that their waits end all the time; still each of them gets its turns.
// Covers: REG_F49
TEST_F(ClusterTest, SymmetricContendersBothGetAhead) {
  struct Contender {
    Member& member;
    SessionRef session;
    Answer<HoldRef> wanted = {};
    Duration until{};
    int grants = 0, timeouts = 0;
  };
  Contender both[] = {{one, open(one)}, {two, open(two)}};
  const auto want = [](Contender& contender) {
    contender.wanted = {};
    contender.member.client.acquire(contender.session, "a", {.wait = LockWait::timed(7ms)}, contender.wanted.callback());
  };
  for (Contender& contender : both) want(contender);
  while (truth < 1s) {
    run(1ms);
    for (Contender& contender : both) {
      if (contender.wanted.times() == 0) continue;
      if (!contender.wanted.ok()) {
        ASSERT_EQ(contender.wanted.reason(), Reason::WaitTimeout);
        ++contender.timeouts;
        want(contender);
      } else if (contender.until == Duration(0)) {
        ++contender.grants;
        contender.until = truth + 10ms;
      } else if (truth >= contender.until) {
        contender.until = {};
        contender.member.client.release_later(*contender.wanted);
        want(contender);
      }
    }
  }
  for (const Contender& contender : both) {
    EXPECT_GT(contender.grants, 30);
    EXPECT_GT(contender.timeouts, 30);
  }
}

// Covers: REG_F69
TEST_F(ClusterTest, ALostSessionReallyEndsOnceItsNodeIsBack) {
  const SessionRef mine = open(one, 200ms);
  ASSERT_TRUE(acquire(one, mine).ok());
  one.node.listens = false;  // its renewals still arrive, so that nothing expires
  run(5s);
  EXPECT_EQ(mine->phase(), SessionPhase::Lost);
  one.node.listens = true;
  run(1s);
  EXPECT_EQ(cluster.machine.sessions(), 0u);
  EXPECT_EQ(cluster.machine.lock_claims(), 0u);
}

// If the machine no longer knows, this replica's own state decides: without the session there is nothing to hold.
// Covers: REG_R73
TEST_F(ClusterTest, AnAcquireWhoseSessionEndedInSkippedEntriesIsToldSoAndCancelsNothing) {
  const SessionRef theirs = open(two);
  const auto holder = acquire(two, theirs);
  const SessionRef mine = open(one);
  const auto first = acquire(one, mine, LockWait::endless(), "first");
  const auto second = acquire(one, mine, LockWait::endless(), "second");
  one.node.speaks = one.node.listens = false;
  run(5s);
  ASSERT_EQ(cluster.machine.sessions(), 1u);
  ASSERT_EQ(mine->phase(), SessionPhase::Jeopardy) << "it does not know yet";
  ASSERT_EQ(first.times() + second.times(), 0);
  const size_t commands = one.node.commands;
  one.node.take_state();
  one.restored = Position{Index(cluster.index), Term(1)};
  one.node.speaks = one.node.listens = true;
  turn();
  for (const auto& waited : {first, second}) {
    EXPECT_EQ(waited.times(), 1);
    EXPECT_EQ(waited.reason(), Reason::Lost);
    EXPECT_EQ(waited.outcome(), Outcome::Done);
  }
  EXPECT_EQ(mine->phase(), SessionPhase::Lost);
  EXPECT_EQ(one.node.commands, commands);
  EXPECT_EQ(cluster.machine.lock_claims(), 1u);
}

// Covers: REG_R73
TEST_F(ClusterTest, AnAcquireThatIsOverInSkippedEntriesIsUnknownWhileItsSessionLives) {
  const SessionRef theirs = open(two), mine = open(one);
  const auto holder = acquire(two, theirs);
  Answer<HoldRef> timed;
  one.client.acquire(mine, "a", {.wait = LockWait::timed(200ms)}, timed.callback());
  turn();
  const auto waits = acquire(one, mine, LockWait::endless(), "waits");
  one.node.listens = false;
  run(300ms);
  ASSERT_EQ(timed.times() + waits.times(), 0);
  one.node.take_state();
  one.node.listens = true;
  turn();
  EXPECT_EQ(timed.reason(), Reason::SequenceRetired);
  EXPECT_EQ(timed.outcome(), Outcome::Unknown);
  EXPECT_EQ(waits.times(), 0) << "it still waits, and the state says so";
  two.client.release_later(*holder);
  turn();
  EXPECT_TRUE(waits.ok()) << waits.status();
}

// The tightest case of the time rules: the holder's clock as slow and the leader's as fast as rho permits, and the holder
// cut off right after a renewal.
// Covers: REG_F79 FLT_P06
TEST(ClusterRateTest, NoOverlapWithAnyRatesWithinRho) {
  for (const Duration ttl : {Duration(50ms), Duration(300ms), Duration(2s)}) {
    for (const double leader_rate : {0.99, 1.0, 1.01}) {
      for (const double holder_rate : {0.99, 1.0, 1.01}) {
        FakeCluster cluster;
        Member holder(cluster, 1, holder_rate, holder_rate);
        Member waiter(cluster, 2);
        Duration truth{};
        const auto step = [&](Duration by) {
          truth += by;
          cluster.tick(LaggingTime(Duration(static_cast<int64_t>(static_cast<double>(truth.count()) * leader_rate))));
          holder.turn(truth);
          waiter.turn(truth);
        };
        Answer<SessionRef> mine, theirs;
        holder.client.open_session({.ttl = ttl}, mine.callback());
        waiter.client.open_session({.ttl = 1h}, theirs.callback());
        step(1ms);
        Answer<HoldRef> held, wanted;
        holder.client.acquire(*mine, "a", {}, held.callback());
        step(1ms);
        waiter.client.acquire(*theirs, "a", {.wait = LockWait::endless()}, wanted.callback());
        const uint64_t renewals = holder.client.status().attempts + 5;
        while (holder.client.status().attempts < renewals) step(ttl / 1000);
        ASSERT_TRUE((*held)->valid(holder.at(truth).leading));
        holder.node.speaks = false;
        holder.node.listens = false;
        while (wanted.times() == 0) {
          ASSERT_LT(truth, 10 * ttl);
          step(ttl / 1000);
        }
        EXPECT_FALSE((*held)->valid(holder.at(truth).leading)) << ttl.count() << " " << leader_rate << " " << holder_rate;
        holder.client.stop();
        waiter.client.stop();
      }
    }
  }
}

// Everything at random: sessions, locks, cancels, callers that give up, links cut in either direction, and clocks at both
// ends of the permitted rates (F-79). At every moment of true time a name has at most one valid hold; every call ends
// once; and when all is calm again, nothing is held or open that no client knows (S-59).
class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {
    const double rates[] = {0.99, 1.0, 1.01};
    for (uint64_t id = 1; id <= 3; ++id) {
      members_.push_back(std::make_unique<Member>(cluster_, id, rates[random_.below(3)], rates[random_.below(3)]));
    }
    leader_rate_ = rates[random_.below(3)];
  }
  ~History() {
    for (auto& member : members_) member->client.stop();
  }

  void play() {
    for (int step = 0; step < 3000; ++step) {
      truth_ += Duration(random_.between(1'000, 5'000'000));
      act();
      turn();
      ASSERT_NO_FATAL_FAILURE(check());
    }
    calm();
  }
  int grants() const { return grants_; }
  int hand_overs() const { return hand_overs_; }

 private:
  struct Owned {
    SessionRef session;
    Member* member = nullptr;
    std::vector<HoldRef> holds;
  };

  template <typename T>
  Callback<T> expect(std::function<void(T)> then = {}) {
    ++made_;
    return [this, then = std::move(then), answered = std::make_shared<bool>(false)](absl::StatusOr<T> value) {
      EXPECT_FALSE(std::exchange(*answered, true));
      ++ended_;
      if (value.ok() && then) then(*value);
    };
  }
  DoneCallback expect_done() {
    ++made_;
    return [this, answered = std::make_shared<bool>(false)](absl::Status) {
      EXPECT_FALSE(std::exchange(*answered, true));
      ++ended_;
    };
  }

  void act() {
    Member& member = *members_[random_.below(members_.size())];
    if (random_.chance(0.004)) member.node.speaks = !member.node.speaks;
    if (random_.chance(0.004)) member.node.listens = !member.node.listens;
    if (random_.chance(0.02)) member.node.speaks = member.node.listens = true;
    if (owned_.size() < 6 && random_.chance(0.1)) open(member);
    if (owned_.empty()) return;
    Owned& owned = *owned_[random_.below(owned_.size())];
    const uint64_t what = random_.below(100);
    if (what < 25) {
      acquire(owned);
    } else if (what < 45 && !owned.holds.empty()) {
      release(owned);
    } else if (what < 50 && !calls_.empty()) {
      const auto& [client, call] = calls_[random_.below(calls_.size())];
      random_.chance(0.5) ? client->cancel(call) : client->abandon(call);
    } else if (what < 52) {
      owned.member->client.close(owned.session, expect_done());
      std::erase_if(owned_, [&](const auto& each) { return each.get() == &owned; });
    }
  }
  void open(Member& member) {
    const Duration ttl = std::chrono::milliseconds(random_.between(50, 800));
    const CallId call = member.client.open_session({.ttl = ttl, .deadline = soon(member)},
                                                   expect<SessionRef>([this, &member](SessionRef session) {
                                                     owned_.push_back(std::make_unique<Owned>(Owned{session, &member, {}}));
                                                   }));
    remember(member, call);
  }
  void acquire(Owned& owned) {
    const LockWait waits[] = {LockWait::none(), LockWait::timed(std::chrono::milliseconds(random_.between(1, 400))),
                              LockWait::endless()};
    const std::string name = random_.chance(0.7) ? "a" : "b";
    AcquireOptions options{.wait = waits[random_.below(3)],
                           .owner_tag = random_.chance(0.5) ? "x" : "y",
                           .deadline = random_.chance(0.5) ? soon(*owned.member) : CallDeadline{}};
    const CallId call = owned.member->client.acquire(owned.session, name, std::move(options),
                                                     expect<HoldRef>([this, session = owned.session](HoldRef hold) {
                                                       ++grants_;
                                                       for (auto& each : owned_) {
                                                         if (each->session == session) return each->holds.push_back(hold);
                                                       }
                                                     }));
    remember(*owned.member, call);
  }
  void release(Owned& owned) {
    HoldRef hold = owned.holds.back();
    owned.holds.pop_back();
    if (random_.chance(0.5)) {
      owned.member->client.release_later(hold);
    } else {
      owned.member->client.release(hold, expect_done(), soon(*owned.member));
    }
    EXPECT_FALSE(hold->valid(owned.member->at(truth_).leading));
  }
  CallDeadline soon(const Member& member) {
    return member.at(truth_).lagging + std::chrono::milliseconds(random_.between(1, 600));
  }
  void remember(Member& member, CallId call) {
    calls_.emplace_back(&member.client, call);
    if (calls_.size() > 20) calls_.erase(calls_.begin());
  }

  void turn() {
    cluster_.tick(LaggingTime(Duration(static_cast<int64_t>(static_cast<double>(truth_.count()) * leader_rate_))));
    for (auto& member : members_) {
      if (random_.chance(0.5) || member->due(truth_)) member->turn(truth_);
    }
  }
  void check() {
    std::map<std::string, Token> valid;
    for (const auto& owned : owned_) {
      for (const HoldRef& hold : owned->holds) {
        if (!hold->valid(owned->member->at(truth_).leading)) continue;
        const auto [other, fresh] = valid.emplace(hold->name(), hold->token());
        ASSERT_TRUE(fresh) << "two valid holds of " << hold->name() << ": " << other->second.value() << " and "
                           << hold->token().value() << " at " << truth_.count();
        Token& last = last_[hold->name()];
        if (hold->token() > last) last = hold->token(), ++hand_overs_;
        ASSERT_EQ(hold->token(), last) << "an older hold became valid again";
      }
    }
  }
  // All links whole, no requests: everything must end and agree.
  void calm() {
    for (auto& member : members_) member->node.speaks = member->node.listens = true;
    for (auto& [client, call] : calls_) client->abandon(call);
    for (int step = 0; step < 12'000; ++step) {
      truth_ += 1ms;
      turn();
      ASSERT_NO_FATAL_FAILURE(check());
    }
    for (auto& owned : owned_) {  // a forever wait ends with its session
      for (const HoldRef& hold : owned->holds) owned->member->client.release_later(hold);
    }
    for (int step = 0; step < 10; ++step) truth_ += 1ms, turn();
    size_t sessions = 0;
    size_t holds = 0;
    for (auto& member : members_) {
      const ClientStatus status = member->client.status();
      EXPECT_EQ(status.opens, 0u);
      EXPECT_EQ(status.releases, 0u);
      EXPECT_EQ(status.orphans, 0u);
      EXPECT_EQ(status.tickets, status.calls);
      sessions += status.sessions;
      holds += status.holds;
      pending_ += status.calls;
    }
    EXPECT_EQ(cluster_.machine.sessions(), sessions);
    EXPECT_EQ(cluster_.machine.lock_claims(), holds + pending_);  // what remains waits forever by request
    for (auto& member : members_) member->client.stop();
    EXPECT_EQ(ended_, made_);
  }

  Random random_;
  FakeCluster cluster_;
  std::vector<std::unique_ptr<Member>> members_;
  double leader_rate_ = 1;
  Duration truth_{};
  std::vector<std::unique_ptr<Owned>> owned_;
  std::vector<std::pair<Client*, CallId>> calls_;
  std::map<std::string, Token> last_;
  int made_ = 0;
  int ended_ = 0;
  int grants_ = 0;
  int hand_overs_ = 0;
  size_t pending_ = 0;
};

// Covers: S-52 S-59 REG_F79
TEST(ClusterHistoryTest, RandomHistoriesKeepLocksExclusiveAndLeakNothing) {
  int grants = 0;
  int hand_overs = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    History history(seed);
    history.play();
    grants += history.grants();
    hand_overs += history.hand_overs();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(grants, 1000);
  EXPECT_GT(hand_overs, 500);
}

// Covers: S-25
TEST_F(ClusterTest, WhoAsksForProgressNeedsNoOtherReasonForATurn) {
  std::vector<WatchBatch::What> told;
  const WatchId watch =
      one.client.watch(WatchOptions::of("k"), [&told](const WatchBatch& batch) { told.push_back(batch.what); });
  turn();
  ASSERT_FALSE(one.due(truth)) << "nothing is left to do";
  one.client.ask_progress(watch);
  EXPECT_TRUE(one.due(truth));
  one.turn(truth);
  EXPECT_EQ(told, (std::vector{WatchBatch::What::Created, WatchBatch::What::Progress}));
  one.client.ask_progress(WatchId(watch.value() + 1));
  EXPECT_FALSE(one.due(truth)) << "there is no such watch";
  one.client.end_watch(watch, [](const absl::Status&) {});
}

// A long history is read in steps, one a turn, and what keeps sessions alive goes out in every turn.
// Covers: REG_F27
TEST_F(ClusterTest, AWatchThatCatchesUpDelaysNoRenewal) {
  constexpr uint64_t kChanges = 150'000;
  for (uint64_t i = 1; i <= kChanges; ++i) {
    const machine::Request put{.body = machine::Put{.key = "k", .value = std::to_string(i)}};
    cluster.apply({{ReplicaId(9), StoreId(9), BootCounter(1)}, Sequence(i)}, machine::encode(put));
  }
  const SessionRef mine = open(one, 300ms);
  const uint64_t before = one.client.status().attempts;
  uint64_t events = 0;
  one.client.watch({.key = "k", .from = Revision(2)}, [&events](WatchBatch batch) { events += batch.events.size(); });
  uint64_t steps = 0;
  for (; events < kChanges; ++steps) {
    ASSERT_LT(steps, 1000u);
    truth += 60ms;
    turn();
    ASSERT_TRUE(mine->valid(one.at(truth).leading));
  }
  EXPECT_GT(steps, 1u) << "else it was read at once, and whatever came meanwhile had to wait for it";
  EXPECT_GE(one.client.status().attempts - before, steps / 2) << "renewed about every 98 ms";
}

}  // namespace
}  // namespace coordkit::test
