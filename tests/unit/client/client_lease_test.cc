// Leases of keys over the real machine: how they are kept, when their holder stops trusting them, and what others learn.
#include "machine/command.h"
#include "tests/unit/client/two_members.h"

namespace coordkit::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Duration kTtl = 3s;

class KeyLeaseTest : public TwoMembersTest {
 public:
  Answer<KeyLeaseRef> keep(Member& member, LeaseId id = {}, Duration ttl = kTtl) {
    Answer<KeyLeaseRef> answer;
    KeepLeaseOptions options{.ttl = ttl, .id = id};
    options.on_phase = [this](SessionPhase phase) { phases.push_back(phase); };
    member.client.leases().keep(std::move(options), answer.callback());
    turn();
    return answer;
  }
  Answer<GrantedLease> grant(LeaseId id, Duration ttl = kTtl) {
    Answer<GrantedLease> answer;
    one.client.leases().grant(id, ttl, answer.callback());
    turn();
    return answer;
  }
  Answer<GrantedLease> renew(Member& member, LeaseId id) {
    Answer<GrantedLease> answer;
    member.client.leases().renew(id, answer.callback());
    turn();
    return answer;
  }
  Answer<RevokedLease> revoke(Member& member, LeaseId id) {
    Answer<RevokedLease> answer;
    member.client.leases().revoke(id, answer.callback());
    turn();
    return answer;
  }
  Answer<LeaseDetails> look(Member& member, LeaseId id, bool keys = false) {
    Answer<LeaseDetails> answer;
    member.client.leases().time_to_live(id, keys, answer.callback());
    turn();
    return answer;
  }
  Answer<PutResult> put(std::string key, LeaseId lease) {
    Answer<PutResult> answer;
    one.client.keys().put({.key = std::move(key), .lease = lease}, answer.callback());
    turn();
    return answer;
  }
  LeadingTime clock(Member& member) const { return member.at(truth).leading; }
  bool valid(Member& member, const KeyLeaseRef& lease) const { return lease->valid(clock(member)); }
  size_t keys() const { return cluster.machine.keys(); }
  size_t leases() const { return cluster.machine.leases(); }

  std::vector<SessionPhase> phases;
};

// Covers: S-29
TEST_F(KeyLeaseTest, ALeaseIsGrantedUnderTheIdOneLikesAndSaysWhatItIs) {
  const auto chosen = keep(one, LeaseId(7));
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ((*chosen)->id(), LeaseId(7));
  EXPECT_EQ((*chosen)->ttl(), kTtl);
  EXPECT_TRUE(valid(one, *chosen));
  EXPECT_FALSE((*chosen)->short_lived());
  EXPECT_THAT(phases, ElementsAre(SessionPhase::Valid));
  EXPECT_EQ(keep(two, LeaseId(7)).reason(), Reason::LeaseExists);
  EXPECT_EQ(grant(LeaseId(7)).reason(), Reason::LeaseExists);

  const auto raised = grant({}, 1ns);
  EXPECT_EQ((*raised).ttl, 50ms);
  EXPECT_TRUE((*raised).short_lived) << "three election timeouts are 900 ms";
  EXPECT_EQ((*raised).revision, Revision(1));
  EXPECT_TRUE((*grant({}, 899ms)).short_lived);
  EXPECT_FALSE((*grant({}, 900ms)).short_lived);
}

// Covers: S-29 REG_F22
TEST_F(KeyLeaseTest, ImpossibleTtlsAreRefusedAtTheDoor) {
  for (const auto& [ttl, reason] : std::vector<std::pair<Duration, Reason>>{{0ns, Reason::InvalidArgument},
                                                                            {-1ns, Reason::InvalidArgument},
                                                                            {machine::kTtlMax + 1ns, Reason::TtlTooLarge},
                                                                            {Duration::max(), Reason::TtlTooLarge}}) {
    EXPECT_EQ(keep(one, {}, ttl).reason(), reason);
    EXPECT_EQ(grant({}, ttl).reason(), reason);
  }
  EXPECT_EQ(cluster.index, 0u);
}

// Covers: S-33
TEST_F(KeyLeaseTest, AKeptLeaseLivesOnWithoutLogEntriesAndOneThatIsNotEnds) {
  const auto kept = keep(one);
  const auto left = grant({});
  put("kept", (*kept)->id());
  put("left", (*left).id);
  const uint64_t index = cluster.index;
  run(kTtl - 1ms);
  EXPECT_EQ(cluster.index, index);
  EXPECT_EQ(keys(), 2u);
  run(10 * kTtl);
  EXPECT_EQ(cluster.index, index + 1) << "the end of the one";
  EXPECT_EQ(keys(), 1u);
  EXPECT_TRUE(valid(one, *kept));
}

// Covers: LT-1
TEST_F(KeyLeaseTest, AHolderThatIsCutOffStopsTrustingItBeforeItsKeysGo) {
  const auto kept = keep(one);
  put("x", (*kept)->id());
  one.node.speaks = false;
  bool trusted = true;
  while (keys() == 1) {
    run(1ms);
    if (!valid(one, *kept)) trusted = false;
    ASSERT_FALSE(keys() == 0 && trusted);
  }
  EXPECT_LE(truth, kTtl + 1s);
  EXPECT_EQ((*kept)->phase(), SessionPhase::Lost) << "it hears of the end";
  EXPECT_THAT(phases, ElementsAre(SessionPhase::Valid, SessionPhase::Jeopardy, SessionPhase::Lost));
}

// Covers: S-30 T8
TEST_F(KeyLeaseTest, ARevokedLeaseIsInvalidAtOnceAndTakesItsKeys) {
  const auto kept = keep(one);
  put("x", (*kept)->id());
  Answer<void> revoked;
  one.client.leases().revoke(*kept, revoked.callback());
  EXPECT_FALSE(valid(one, *kept));
  EXPECT_TRUE((*kept)->revoked());
  EXPECT_EQ(keys(), 1u);
  turn();
  EXPECT_TRUE(revoked.ok());
  EXPECT_EQ(keys(), 0u);
  EXPECT_EQ(leases(), 0u);
  Answer<void> again;
  one.client.leases().revoke(*kept, again.callback());
  turn();
  EXPECT_TRUE(again.ok());
  Answer<void> none;
  one.client.leases().revoke(nullptr, none.callback());
  turn();
  EXPECT_EQ(none.reason(), Reason::InvalidArgument);
}

// Covers: S-30
TEST_F(KeyLeaseTest, WhoeverKnowsTheIdRevokesAtOnceAndTheKeeperIsTold) {
  const auto kept = keep(one, LeaseId(7));
  put("x", LeaseId(7));
  const auto revoked = revoke(two, LeaseId(7));
  EXPECT_EQ((*revoked).deleted, 1u);
  EXPECT_EQ((*revoked).revision, Revision(3));
  EXPECT_EQ((*kept)->phase(), SessionPhase::Lost);
  EXPECT_EQ(revoke(two, LeaseId(7)).reason(), Reason::LeaseNotFound);
  EXPECT_EQ(put("x", LeaseId(7)).reason(), Reason::LeaseNotFound);
}

// Covers: S-31
TEST_F(KeyLeaseTest, ARenewalByAnybodyGivesTheFullTtlAgainAndNoneBringsOneBack) {
  grant(LeaseId(7));
  for (int i = 0; i < 5; ++i) {
    run(kTtl - 1ms);
    const auto renewed = renew(two, LeaseId(7));
    ASSERT_TRUE(renewed.ok());
    EXPECT_EQ((*renewed).ttl, kTtl);
  }
  run(kTtl);
  EXPECT_EQ(leases(), 0u);
  EXPECT_EQ(renew(two, LeaseId(7)).reason(), Reason::LeaseNotFound);
  EXPECT_EQ(renew(two, LeaseId(7)).outcome(), Outcome::NoEffect);
}

// Covers: S-32
TEST_F(KeyLeaseTest, WhatIsLeftIsSaidByTheLeaderAndKeysByTheState) {
  keep(one, LeaseId(9));
  grant(LeaseId(7));
  put("b", LeaseId(7));
  put("a", LeaseId(7));
  run(1s);
  const auto details = look(two, LeaseId(7), true);
  ASSERT_TRUE(details.ok());
  EXPECT_EQ((*details).lease, (LeaseInfo{LeaseId(7), kTtl, kTtl - 1s, ReplicaId(), {"a", "b"}}));
  EXPECT_EQ((*details).revision, Revision(3));
  EXPECT_THAT((*look(two, LeaseId(7))).lease.keys, IsEmpty());
  const auto kept = look(two, LeaseId(9));
  EXPECT_EQ((*kept).lease.keeper, ReplicaId(1));
  EXPECT_GT((*kept).lease.remaining, kTtl - 1s) << "renewed since";
  const auto unknown = look(two, LeaseId(8));
  EXPECT_EQ(unknown.reason(), Reason::LeaseNotFound);
  EXPECT_EQ(look(two, LeaseId()).reason(), Reason::LeaseNotFound);
}

// Covers: S-32
TEST_F(KeyLeaseTest, TheListIsInTheOrderOfWhatIsLeft) {
  for (const auto& [id, ttl] : std::vector<std::pair<uint64_t, Duration>>{{1, 3s}, {2, 1s}, {~uint64_t{0}, 2s}, {4, 1s}}) {
    grant(LeaseId(id), ttl);
  }
  open(one);
  Answer<LeaseList> list;
  two.client.leases().list(list.callback());
  turn();
  std::vector<uint64_t> ids;
  for (const LeaseInfo& lease : (*list).leases) ids.push_back(lease.id.value());
  EXPECT_THAT(ids, ElementsAre(2, 4, ~uint64_t{0}, 1)) << "a session is none of them";
}

// Covers: S-32
TEST_F(KeyLeaseTest, MoreLeasesThanOneLookNamesAreAllListed) {
  for (uint64_t id = 1; id <= kTimerLooksMax + 1; ++id) {
    const machine::Request grant{.body = machine::GrantLease{LeaseId(id), kTtl}};
    cluster.apply({{ReplicaId(9), StoreId(9), BootCounter(1)}, Sequence(id)}, machine::encode(grant));
  }
  Answer<LeaseList> list;
  two.client.leases().list(list.callback());
  run(5ms);
  EXPECT_THAT((*list).leases, SizeIs(kTimerLooksMax + 1));
}

// Covers: S-32 REG_F28
TEST_F(KeyLeaseTest, ALookWaitsForALeaderAndNeverMakesUpAnAnswer) {
  grant(LeaseId(7), 1h);
  two.node.listens = false;
  Answer<LeaseDetails> in_time, late;
  two.client.leases().time_to_live(LeaseId(7), false, in_time.callback());
  two.client.leases().time_to_live(LeaseId(7), false, late.callback(), LaggingTime(1h + 1s));
  run(2s);
  EXPECT_EQ(in_time.times(), 0);
  EXPECT_EQ(late.reason(), Reason::CallTimeout);
  EXPECT_EQ(late.outcome(), Outcome::NoEffect);
  two.node.listens = true;
  run(1s);
  ASSERT_TRUE(in_time.ok());
  EXPECT_LE((*in_time).lease.remaining, 1h - 2s);
}

// The machine's answer arrives, the leader's first one does not.
// Covers: S-32
TEST_F(KeyLeaseTest, ALookIsRepeatedUntilItIsAnsweredOrGivenUp) {
  grant(LeaseId(7), 1h);
  Answer<LeaseDetails> answer;
  two.client.leases().time_to_live(LeaseId(7), false, answer.callback());
  two.turn(truth);
  two.node.listens = false;
  run(250ms);
  EXPECT_EQ(answer.times(), 0);
  two.node.listens = true;
  run(1s);
  EXPECT_TRUE(answer.ok());
  EXPECT_EQ(two.client.status().calls, 0u);
}

// Covers: S-59
TEST_F(KeyLeaseTest, AGrantThatNobodyWaitsForAnyMoreIsRevoked) {
  Answer<KeyLeaseRef> answer;
  one.node.listens = false;
  one.client.leases().keep({.ttl = 1h, .deadline = LaggingTime(1h + 100ms)}, answer.callback());
  run(200ms);
  EXPECT_EQ(answer.reason(), Reason::CallTimeout);
  EXPECT_EQ(answer.outcome(), Outcome::Unknown);
  EXPECT_EQ(leases(), 1u);
  one.node.listens = true;
  run(10ms);
  EXPECT_EQ(leases(), 0u);
}

// Covers: S-45
TEST_F(KeyLeaseTest, ALeaseThatIsGivenUpReallyEnds) {
  Answer<KeyLeaseRef> kept;
  one.client.leases().keep({.ttl = kTtl, .give_up = 1ms}, kept.callback());
  turn();
  put("x", (*kept)->id());
  one.node.listens = false;  // renewals arrive, but the answers do not
  run(kTtl);
  EXPECT_EQ((*kept)->phase(), SessionPhase::Lost);
  run(10ms);
  EXPECT_EQ(leases(), 0u);
  EXPECT_EQ(keys(), 0u);
}

// Its end was in entries that this replica skipped; so was the creation of another one with its id.
TEST_F(KeyLeaseTest, AfterAStateWasTakenOverALeaseThatIsAnothersNowIsLost) {
  const auto mine = keep(one, LeaseId(7));
  const auto other = keep(one, LeaseId(8));
  one.node.listens = false;
  revoke(two, LeaseId(7));
  Answer<GrantedLease> theirs;
  two.client.leases().grant(LeaseId(7), 1h, theirs.callback());
  turn();
  one.node.skip_news();
  one.node.listens = true;
  turn();
  EXPECT_EQ((*mine)->phase(), SessionPhase::Valid) << "it was not told";
  one.restored = Position{Index(cluster.index), Term(1)};
  turn();
  EXPECT_EQ((*mine)->phase(), SessionPhase::Lost);
  EXPECT_EQ((*other)->phase(), SessionPhase::Valid);
  run(10ms);
  EXPECT_EQ(leases(), 2u) << "the other's 7 was not revoked by mistake";
}

// With an engine that does what the test says.
// Covers: S-33
TEST_F(ClientBench, OneMessageRenewsSessionsAndLeasesOfATtl) {
  open(1000);
  Answer<KeyLeaseRef> answer;
  client.leases().keep({.ttl = kTtl}, answer.callback());
  client.before_turn(now);
  engine.complete(engine.take_commands<machine::GrantLease>().at(0).first.ticket,
                  {.session = SessionId(1001), .ttl = kTtl, .lease = LeaseId(5)});
  engine.turn(now, effects);
  client.after_turn(now, effects);
  ASSERT_TRUE(answer.ok());
  const RenewRequest renewal = next_renewal();
  ASSERT_THAT(renewal.groups, SizeIs(1));
  EXPECT_EQ(renewal.groups[0].count, 2u);
  EXPECT_EQ(renewal.groups[0].highest, TimerId(1001));
}

}  // namespace
}  // namespace coordkit::test
