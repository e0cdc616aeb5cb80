// The members: the arithmetic against a naive twin, and how the core uses it.
#include <gtest/gtest.h>

#include "base/random.h"
#include "raft/members/configuration_rules.h"
#include "raft/quorum.h"
#include "solo.h"

namespace coordkit::raft::testing {
namespace {

using ChangeKind = ChangeOutcome::Kind;

// ---- the naive twin: each id has a role

using Roles = std::map<uint64_t, char>;  // 'v' or 'l'

std::optional<ChangeKind> naive(Roles& roles, const MemberChange& change) {
  const uint64_t id = change.member.id.value();
  const auto role = [&](uint64_t who) { return roles.contains(who) ? roles[who] : '-'; };
  switch (change.kind) {
    case MemberChange::Kind::AddLearner:
      if (role(id) != '-') return ChangeKind::AlreadyMember;
      return roles[id] = 'l', std::nullopt;
    case MemberChange::Kind::Promote:
      if (role(id) != 'l') return ChangeKind::UnknownMember;
      return roles[id] = 'v', std::nullopt;
    case MemberChange::Kind::Demote:
      if (role(id) != 'v') return ChangeKind::UnknownMember;
      return roles[id] = 'l', std::nullopt;
    case MemberChange::Kind::Remove: return roles.erase(id) == 1 ? std::nullopt : std::optional(ChangeKind::UnknownMember);
    case MemberChange::Kind::Replace: {
      const char was = role(change.replaced.value());
      if (was == '-') return ChangeKind::UnknownMember;
      roles.erase(change.replaced.value());
      if (was == 'v' && role(id) == 'l') return roles[id] = 'v', std::nullopt;
      if (role(id) != '-') return ChangeKind::AlreadyMember;
      return roles[id] = 'l', std::nullopt;
    }
  }
  return ChangeKind::UnknownMember;
}

Roles roles_of(const Configuration& configuration) {
  Roles roles;
  for (const Member& voter : configuration.voters) roles[voter.id.value()] = 'v';
  for (const Member& learner : configuration.learners) roles[learner.id.value()] = 'l';
  return roles;
}

TEST(MembershipTest, RandomChangesAgreeWithTheNaiveTwin) {
  Random random(3);
  for (int run = 0; run < 20'000; ++run) {
    Configuration current = genesis_of(random.between(1, 5)).configuration;
    for (uint64_t id = 6; id <= 8; ++id) {
      if (random.chance(0.5)) current.learners.push_back(member(id));
    }
    std::vector<MemberChange> changes;
    for (uint64_t n = random.below(4); n > 0; --n) {
      changes.push_back(
          {static_cast<MemberChange::Kind>(random.below(5)), member(random.between(1, 9)), ReplicaId(random.between(1, 9))});
    }
    Roles roles = roles_of(current);
    std::optional<ChangeKind> refusal;
    for (const MemberChange& change : changes) {
      if (!refusal) refusal = naive(roles, change);
    }
    const bool voters_left = std::any_of(roles.begin(), roles.end(), [](const auto& one) { return one.second == 'v'; });
    if (!refusal && !voters_left) refusal = ChangeKind::LastVoter;
    if (!refusal && roles == roles_of(current)) refusal = ChangeKind::AlreadyMember;
    const auto next = next_configuration(current, changes);
    ASSERT_EQ(std::holds_alternative<ChangeKind>(next), refusal.has_value());
    if (refusal) {
      ASSERT_EQ(std::get<ChangeKind>(next), *refusal);
      continue;
    }
    const auto& made = std::get<Configuration>(next);
    ASSERT_EQ(roles_of(made), roles);
    ASSERT_EQ(made.outgoing, made.voters == current.voters ? std::vector<Member>() : current.voters);
    ASSERT_TRUE(decode_configuration(encode(made)).ok());
    ASSERT_TRUE(decode_configuration(encode(leave(made))).ok());
    if (!made.outgoing.empty()) {
      ASSERT_EQ(std::get<ChangeKind>(next_configuration(made, changes)), ChangeKind::ChangeInProgress);
    }
  }
}

// Covers: FLT_P18
TEST(MembershipTest, ADataDirectoryBelongsToOneMember) {
  const Configuration three = genesis_of(3).configuration;
  Member copy = member(4);
  copy.store = member(1).store;
  for (const MemberChange& change : {MemberChange{MemberChange::Kind::AddLearner, copy, {}}, replace(2, copy)}) {
    EXPECT_EQ(std::get<ChangeKind>(next_configuration(three, std::vector{change})), ChangeKind::AlreadyMember);
  }
  EXPECT_TRUE(std::holds_alternative<Configuration>(next_configuration(three, std::vector{replace(1, copy)})));
  EXPECT_EQ(owner_of(three, member(2).store)->id, ReplicaId(2));
  EXPECT_EQ(owner_of(three, member(4).store), nullptr);
  EXPECT_EQ(owner_of({.voters = {{ReplicaId(1), StoreId(), ""}}}, StoreId()), nullptr) << "no store has no owner";
}

// ---- in the core

void run_a_while(Cluster& cluster) { cluster.run(milliseconds(200)); }
size_t voters(Cluster& cluster, uint64_t id) { return cluster.core(id).status().configuration.voters.size(); }

// Covers: FLT_M08
TEST(MembershipTest, GrowsFromOneToFiveAndBack) {
  Cluster cluster(1, {}, 1, 4);
  cluster.elect(1);
  for (uint64_t id = 2; id <= 5; ++id) cluster.change(1, {add(id)}), run_a_while(cluster);
  cluster.change(1, {promote(2), promote(3)});
  run_a_while(cluster);
  EXPECT_EQ(voters(cluster, 3), 3u);
  cluster.change(1, {promote(4), promote(5)});
  run_a_while(cluster);
  EXPECT_EQ(voters(cluster, 5), 5u);
  cluster.change(1, {remove(4), remove(5)});
  run_a_while(cluster);
  cluster.change(1, {remove(2), remove(3)});
  run_a_while(cluster);
  EXPECT_EQ(voters(cluster, 1), 1u);
  cluster.change(1, {remove(1)});
  EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::LastVoter);
  cluster.node(1).changes.pop_back();
  for (const ChangeOutcome& outcome : cluster.node(1).changes) EXPECT_EQ(outcome.kind, ChangeKind::Committed);
  EXPECT_EQ(cluster.node(1).changes.size(), 8u);
  EXPECT_TRUE(cluster.converged());
}

// Covers: REG_R33
TEST(MembershipTest, NoneBeforeAnOwnEntryIsCommittedAndOnlyFromTheExpectedIndex) {
  Solo solo(3);
  solo.lead({2, 3});
  const auto ask = [&](Index expected) {
    return solo.step(ChangeMembership{Ticket(1), {add(4)}, expected}).changes.at(0).kind;
  };
  EXPECT_EQ(ask(Index(1)), ChangeKind::ChangeInProgress);
  solo.accept(2, 2);
  solo.written();
  EXPECT_EQ(ask(Index(2)), ChangeKind::Conflict);
  solo.step(ChangeMembership{Ticket(2), {add(4)}, Index(1)});
  EXPECT_EQ(solo.core().status().configuration.learners.size(), 1u) << "REG_R34: in force from append on";
  EXPECT_EQ(solo.sent<AppendRequest>(4).size(), 1u);
  EXPECT_EQ(ask(Index(3)), ChangeKind::ChangeInProgress);
}

// Covers: REG_R38 REG_R36
TEST(MembershipTest, RollbackAcrossARestartAndACompactionFindsTheOneBefore) {
  Cluster cluster(3, {}, 1, 1);
  cluster.elect(1);
  cluster.change(1, {add(4)});
  run_a_while(cluster);
  const Index before = cluster.core(1).status().configuration_index;
  for (uint64_t id = 1; id <= 4; ++id) cluster.checkpoint(id);
  run_a_while(cluster);
  for (uint64_t id = 1; id <= 4; ++id) cluster.checkpoint(id);
  cluster.isolate(1);
  cluster.change(1, {remove(4)});
  cluster.written_all(1);
  EXPECT_TRUE(cluster.core(1).status().configuration.learners.empty());
  cluster.restart(1);
  EXPECT_TRUE(cluster.core(1).status().configuration.learners.empty());
  cluster.elect(2);
  cluster.heal();
  run_a_while(cluster);
  EXPECT_EQ(cluster.core(1).status().configuration.learners.size(), 1u);
  EXPECT_EQ(cluster.core(1).status().configuration_index, before);
  cluster.restart(1);
  EXPECT_EQ(cluster.core(1).status().configuration_index, before);
}

// Covers: REG_R40 REG_R42
TEST(MembershipTest, OfTwoTheLeaderRemovesItselfAndTheOtherLeads) {
  Cluster cluster(2);
  cluster.elect(1);
  cluster.change(1, {remove(1)});
  cluster.quiesce();
  EXPECT_EQ(cluster.leader(), 2u) << "handed over, no silence waited for";
  EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::Committed);
  EXPECT_EQ(cluster.core(1).leadership().role, Role::Follower);
  EXPECT_EQ(voters(cluster, 2), 1u);
}

// Covers: REG_R40 REG_R06
TEST(MembershipTest, ARemovedLeaderDoesNotCountItself) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.change(1, {remove(1)});
  for (int i = 0; i < 100 && !cluster.core(1).status().configuration.outgoing.empty(); ++i) {
    cluster.written_all(1), cluster.deliver_round(), cluster.written_all(2), cluster.written_all(3);
  }
  cluster.isolate(3);  // the final entry of {2, 3} is on 1 and 2 now at most
  cluster.quiesce();
  EXPECT_EQ(cluster.leader(), 1u);
  EXPECT_LT(cluster.core(1).commit(), cluster.core(1).status().configuration_index);
  cluster.heal();
  run_a_while(cluster);
  EXPECT_NE(cluster.leader(), 1u);
  EXPECT_NE(cluster.leader(), 0u);
}

// Replica 1 was added and removed; the entry that removes it is only on its own disk. After a restart it knows of no commit
// later than that of the checkpoint, where it was not a member yet. No other can be elected against its longer log.
// Covers: REG_R40
TEST(MembershipTest, WhoLeavesByAnEntryThatMayNotBeCommittedCampaignsAfterARestartToo) {
  const auto entry = [](uint64_t index, const Configuration& configuration) {
    return make_entry(Index(index), Term(2), EntryKind::Configuration, encode(configuration));
  };
  const Configuration without{.voters = {member(2)}};
  const Configuration with{.voters = {member(1), member(2)}};
  Recovered recovered{.hard_state = {Term(2), ReplicaId()}, .base = {Index(5), Term(1)}, .configuration = without};
  recovered.applied = recovered.base;
  recovered.entries = {entry(6, {.voters = with.voters, .outgoing = without.voters}), entry(7, with),
                       entry(8, {.voters = without.voters, .outgoing = with.voters}), entry(9, without)};
  Solo solo(std::move(recovered));
  solo.timeout();
  solo.timeout();
  EXPECT_EQ(solo.role(), Role::PreCandidate);
  EXPECT_EQ(solo.only<VoteRequest>(2).last, (Position{Index(9), Term(2)}));
}

// Covers: REG_R41
TEST(MembershipTest, ARemovedMemberIsToldAndBecomesQuiet) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.isolate(3);
  cluster.change(1, {remove(3)});
  cluster.run(milliseconds(100));
  EXPECT_EQ(voters(cluster, 1), 2u);
  cluster.heal();
  const Term term = cluster.core(1).leadership().term;
  cluster.run(milliseconds(2000));
  EXPECT_EQ(cluster.core(1).leadership().term, term);
  EXPECT_EQ(cluster.core(3).leadership().role, Role::Follower);
  int letters = 0;
  cluster.on_delivery = [&](const Flight& flight) { letters += flight.from == ReplicaId(3); };
  cluster.run(milliseconds(3000));
  EXPECT_EQ(letters, 0);
  cluster.on_delivery = nullptr;
  cluster.change(1, {add(3)});  // and it may come back
  run_a_while(cluster);
  cluster.change(1, {promote(3)});
  run_a_while(cluster);
  EXPECT_EQ(voters(cluster, 3), 3u);
}

TEST(MembershipTest, WhoBecameALearnerInItsAbsenceIsNotToldThatItWasRemoved) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.isolate(3);
  cluster.change(1, {demote(3)});
  cluster.run(milliseconds(100));
  EXPECT_EQ(voters(cluster, 2), 2u);
  const Term term = cluster.core(2).leadership().term;
  cluster.heal();
  cluster.isolate(1);  // nobody leads, and the one who remains knows of it
  cluster.run(milliseconds(3000));
  EXPECT_FALSE(cluster.core(3).removed());
  EXPECT_EQ(cluster.core(2).leadership().term, term);
  EXPECT_EQ(cluster.core(3).leadership().term, term);
  cluster.heal();
  run_a_while(cluster);
  EXPECT_EQ(voters(cluster, 3), 2u);
}

// Covers: REG_R42
TEST(MembershipTest, TheQuorumGrowsOnlyByWhoAnswersAndHasCaughtUp) {
  Options options;
  options.promotion_lag_max = 3;
  Cluster cluster(1, options, 1, 1);
  cluster.elect(1);
  cluster.isolate(2);
  cluster.change(1, {add(2)});
  cluster.quiesce();
  EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::Committed) << "a learner blocks no one";
  cluster.change(1, {promote(2)});
  EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::LearnerLags);
  cluster.heal();
  run_a_while(cluster);
  cluster.cut(1, 2);
  for (int i = 0; i < 5; ++i) cluster.propose(1, "x"), cluster.quiesce();
  cluster.change(1, {promote(2)});
  EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::LearnerLags);
  cluster.heal();
  run_a_while(cluster);
  cluster.change(1, {promote(2)});
  run_a_while(cluster);
  EXPECT_EQ(voters(cluster, 2), 2u);
}

// A leader's news of a learner from before it lost the connection, or slept, may be about a disk that is gone.
// Covers: REG_R42 REG_F82
TEST(MembershipTest, WhoWasLostIsNotCountedUntilItAnswersAgain) {
  for (const ReplicaId down : {ReplicaId(2), ReplicaId()}) {
    Cluster cluster(1, {}, 1, 1);
    cluster.elect(1);
    cluster.change(1, {add(2)});
    run_a_while(cluster);
    cluster.isolate(2);
    cluster.step(1, PeerDown{down});
    cluster.change(1, {promote(2)});
    EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::LearnerLags) << down.value();
    cluster.heal();
    cluster.change(1, {promote(2)});
    EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::LearnerLags) << "connected is not answered";
    run_a_while(cluster);
    cluster.change(1, {promote(2)});
    run_a_while(cluster);
    EXPECT_EQ(voters(cluster, 2), 2u);
  }
}

TEST(MembershipTest, AnotherPeerThatWasLostHoldsUpNoPromotion) {
  Cluster cluster(3, {}, 1, 1);
  cluster.elect(1);
  cluster.change(1, {add(4)});
  run_a_while(cluster);
  cluster.step(1, PeerDown{ReplicaId(3)});
  cluster.change(1, {promote(4)});
  run_a_while(cluster);
  EXPECT_EQ(voters(cluster, 4), 4u);
}

TEST(MembershipTest, AMajorityOfTheNewVotersMustAnswer) {
  Cluster cluster(5);
  cluster.elect(1);
  cluster.isolate(4);
  cluster.isolate(5);
  cluster.run(milliseconds(400));
  cluster.change(1, {remove(2), remove(3)});
  EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::NotEnoughVoters);
}

// Covers: REG_R45
TEST(MembershipTest, ATransferKeepsTheChangeAndTheNewLeaderLeavesTheJointState) {
  Cluster cluster(3, {}, 1, 1);
  cluster.elect(1);
  cluster.change(1, {add(4)});
  run_a_while(cluster);
  cluster.change(1, {promote(4), remove(3)});
  cluster.transfer(1, 2, milliseconds(300));
  cluster.quiesce();
  EXPECT_EQ(cluster.leader(), 2u);
  run_a_while(cluster);
  EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::Committed) << "known from the log, whoever asked";
  EXPECT_EQ(cluster.node(1).changes.back().configuration, cluster.core(2).status().configuration_index);
  EXPECT_TRUE(cluster.core(2).status().configuration.outgoing.empty());
}

// Covers: REG_R46 REG_R37
TEST(MembershipTest, AnyLeaderObeysAndLeavesTheJointStateItFinds) {
  Cluster cluster(3, {}, 1, 1);
  cluster.elect(1);
  cluster.change(1, {add(4)});
  run_a_while(cluster);
  cluster.change(1, {promote(4)});
  cluster.deliver_round();  // the joint entry is everywhere, uncommitted
  for (uint64_t id = 2; id <= 4; ++id) cluster.written_all(id);
  cluster.crash(1);
  cluster.clear_network();
  EXPECT_FALSE(cluster.core(2).status().configuration.outgoing.empty());
  cluster.run(milliseconds(2000));
  ASSERT_NE(cluster.leader(), 0u);
  EXPECT_TRUE(cluster.core(cluster.leader()).status().configuration.outgoing.empty());
  EXPECT_EQ(voters(cluster, cluster.leader()), 4u);
}

// The smallest steps of a change that enters and leaves a joint state: a message that arrives, or a write that is done.
struct ChangeInSteps {
  explicit ChangeInSteps(Options options = {}) : cluster(3, options, 1, 1) {
    cluster.elect(1);
    cluster.change(1, {add(4)});
    run_a_while(cluster);
    cluster.change(1, {promote(4), remove(3)});
  }
  bool step() {
    for (auto& [id, node] : cluster.nodes()) {
      if (node.writes.empty()) continue;
      cluster.written(id);
      return true;
    }
    return cluster.deliver_one();
  }
  // All that go by the newest configuration, and nobody by another one.
  bool settles() {
    for (int i = 0; i < 40 && !cluster.converged(); ++i) run_a_while(cluster);
    return cluster.converged();
  }
  Cluster cluster;
};

// At each of its entries and between any two steps: one member or all of them at once. They restart with what they had written
// on their disks or without it, with a checkpoint of just then or without one.
// Covers: REG_R86
TEST(MembershipTest, RestartsAtEveryStepOfAJointChangeLeaveOneConfiguration) {
  constexpr uint64_t kAll = 0;
  size_t steps = 0, joint_at_restart = 0, done = 0, undone = 0;
  for (const bool stored : {false, true}) {
    for (const bool checkpointed : {false, true}) {
      for (uint64_t who = kAll; who <= 4; ++who) {
        for (steps = 0;; ++steps) {
          ChangeInSteps change({.log_retained_bytes = 0});
          Cluster& cluster = change.cluster;
          size_t taken = 0;
          while (taken < steps && change.step()) ++taken;
          if (taken < steps) break;
          for (auto& [id, node] : cluster.nodes()) {
            if (checkpointed) cluster.checkpoint(id);
            joint_at_restart += !cluster.core(id).configuration().outgoing.empty();
          }
          const auto struck = [&](uint64_t id) { return who == kAll || who == id; };
          for (uint64_t id = 1; id <= 4; ++id) {
            if (struck(id)) cluster.crash(id, stored ? 100 : 0);
          }
          if (who == kAll) cluster.clear_network();
          for (uint64_t id = 1; id <= 4; ++id) {
            if (struck(id)) cluster.start(id);
          }
          ASSERT_TRUE(change.settles()) << "step " << steps << " of " << who;
          const uint64_t leader = cluster.leader();
          cluster.propose(leader, "afterwards");
          run_a_while(cluster);
          ASSERT_TRUE(cluster.converged()) << "step " << steps << " of " << who;
          const Configuration& members = cluster.core(leader).configuration();
          const bool changed = is_voter(members, ReplicaId(4));
          EXPECT_EQ(changed, !is_member(members, ReplicaId(3))) << "half of a change, after step " << steps << " of " << who;
          ++(changed ? done : undone);
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(steps, 20u);
  EXPECT_GT(joint_at_restart, 100u);
  EXPECT_GT(done, 100u);
  EXPECT_GE(undone, 10u);
}

TEST(MembershipTest, ALostChangeIsToldSo) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.isolate(1);
  cluster.change(1, {demote(3)});
  cluster.elect(2);
  cluster.heal();
  run_a_while(cluster);
  EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::Overwritten);
  EXPECT_EQ(voters(cluster, 1), 3u);
}

// Covers: REG_R47
TEST(MembershipTest, AnotherDiskUnderTheSameIdHasAcknowledgedNothing) {
  Solo solo(3);
  solo.lead({2, 3});
  solo.accept(2, 2);
  solo.accept(3, 2);
  solo.written();
  solo.step(ChangeMembership{Ticket(1), {replace(3, member(3, 1))}, Index(1)});
  ASSERT_EQ(solo.core().status().configuration.voters.size(), 2u);
  solo.accept(2, 3);
  solo.written();  // the joint entry is committed, the final one appended
  EXPECT_TRUE(solo.core().status().configuration.outgoing.empty());
  EXPECT_EQ(solo.core().status().configuration.learners.at(0), member(3, 1));
  EXPECT_EQ(solo.core().status().peers.at(1).match, Index());
  EXPECT_EQ(solo.step(ChangeMembership{Ticket(2), {promote(3)}, Index(4)}).changes.at(0).kind, ChangeKind::ChangeInProgress);
}

// Covers: REG_R03
TEST(MembershipTest, AnAckFromBeforeAMemberWasRemovedAndAddedAgainCountsForNothing) {
  Solo solo(3);
  solo.lead({2, 3});
  solo.accept(2, 2);
  solo.accept(3, 2);
  solo.written();
  const uint64_t old = solo.streams[3];
  solo.step(ChangeMembership{Ticket(1), {remove(3)}, Index(1)});
  solo.accept(2, 3);
  solo.written();  // the joint entry is committed, the final one appended
  solo.accept(2, 4);
  solo.written();
  solo.step(ChangeMembership{Ticket(2), {add(3)}, Index(4)});
  ASSERT_EQ(solo.core().status().configuration.learners.size(), 1u);
  const uint64_t fresh = solo.only<AppendRequest>(3).stream;
  EXPECT_NE(fresh, old);
  const auto match = [&solo] { return solo.core().status().peers.at(1).match; };
  solo.receive(3, AppendReply{.term = solo.term(), .stream = old, .match = Index(5), .round = 1});
  solo.receive(3, HeartbeatReply{.term = solo.term(), .stream = old, .match = Index(5), .round = 1});
  EXPECT_EQ(match(), Index());
  EXPECT_EQ(solo.step(ChangeMembership{Ticket(3), {promote(3)}, Index(5)}).changes.at(0).kind, ChangeKind::ChangeInProgress)
      << "nor is the entry that adds it committed by it";
  solo.receive(3, AppendReply{.term = solo.term(), .stream = fresh, .match = Index(5), .round = 1});
  EXPECT_EQ(match(), Index(5));
}

// Two changes are in two logs at once, and each could have found its own majority.
// Covers: REG_R33
TEST(MembershipTest, AChangeThatNobodyElseHasGivesWayToTheNextLeaders) {
  Cluster cluster(4);
  cluster.elect(1);
  cluster.isolate(1);
  cluster.change(1, {remove(4)});
  cluster.quiesce();
  cluster.elect(3);
  cluster.change(3, {remove(2)});
  run_a_while(cluster);
  EXPECT_EQ(cluster.node(3).changes.back().kind, ChangeKind::Committed);
  EXPECT_TRUE(cluster.node(1).changes.empty());
  cluster.heal();
  run_a_while(cluster);
  EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::Overwritten);
  EXPECT_EQ(cluster.core(1).status().configuration, cluster.core(3).status().configuration);
  EXPECT_FALSE(is_member(cluster.core(1).status().configuration, ReplicaId(2)));
}

// Covers: REG_R33
TEST(MembershipTest, AChangeThatTheNextLeaderFindsIsFinishedBeforeAnother) {
  Cluster cluster(4);
  cluster.elect(1);
  cluster.cut(1, 3), cluster.cut(1, 4);
  cluster.change(1, {remove(4)});
  cluster.quiesce();  // on 1 and 2, which is no majority of the four
  EXPECT_TRUE(cluster.node(1).changes.empty());
  cluster.heal();
  cluster.isolate(1);
  cluster.elect(2);
  run_a_while(cluster);
  cluster.heal();
  run_a_while(cluster);
  EXPECT_EQ(cluster.node(1).changes.back().kind, ChangeKind::Committed) << "known from the log";
  EXPECT_EQ(voters(cluster, 2), 3u);
  cluster.change(2, {demote(3)});
  run_a_while(cluster);
  EXPECT_EQ(cluster.node(2).changes.back().kind, ChangeKind::Committed);
}

// Covers: REG_R44
TEST(MembershipTest, BackInTheSameProcessAReplicaDoesNotObeyItsOldRemoval) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.change(1, {remove(3)});
  run_a_while(cluster);
  cluster.run(milliseconds(2000));
  ASSERT_EQ(voters(cluster, 1), 2u);
  cluster.change(1, {add(3)});
  run_a_while(cluster);
  cluster.change(1, {promote(3)});
  run_a_while(cluster);
  cluster.isolate(1);
  cluster.elect(3);  // its log holds its own removal, committed, and its return
  EXPECT_EQ(cluster.leader(), 3u);
  cluster.propose(3, "x");
  cluster.quiesce();
  cluster.heal();
  run_a_while(cluster);
  EXPECT_TRUE(cluster.converged());
}

// Covers: REG_R44
TEST(MembershipTest, NewsOfARemovalOlderThanItsOwnConfigurationIsNone) {
  Solo solo(3);
  solo.receive(2, Removed{Term(2), Position()});
  EXPECT_FALSE(solo.core().removed());
  solo.written();  // of the term
  solo.timeout();
  EXPECT_EQ(solo.sent<VoteRequest>(2).size(), 1u);
  solo.receive(2, Removed{Term(2), solo.core().configuration_position()});
  EXPECT_TRUE(solo.core().removed());
}

// Covers: REG_R47
TEST(MembershipTest, AWipedDiskUnderTheOldIdComesBackAsALearnerWithoutTraffic) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.propose(1, "x");
  run_a_while(cluster);
  cluster.crash(3);
  Node& wiped = cluster.node(3);
  wiped.options.store = member(3, 1).store;
  wiped.disk = Image();
  wiped.disk.apply({.entries = {genesis_entry(3)}});
  wiped.checkpoint = Position();
  cluster.start(3);
  run_a_while(cluster);
  cluster.isolate(1), cluster.cut(2, 3);
  cluster.run(milliseconds(2000));
  EXPECT_EQ(cluster.core(3).leadership().role, Role::Follower) << "another disk than the named one never campaigns";
  EXPECT_NE(cluster.core(2).leadership().role, Role::Leader) << "nor votes";
  cluster.heal();
  run_a_while(cluster);
  const uint64_t leader = cluster.leader();
  ASSERT_NE(leader, 0u);
  cluster.change(leader, {replace(3, member(3, 1))});
  run_a_while(cluster);
  EXPECT_EQ(cluster.node(leader).changes.back().kind, ChangeKind::Committed);
  EXPECT_EQ(cluster.core(3).commit(), cluster.core(leader).commit()) << "nothing was proposed";
  cluster.change(leader, {promote(3)});
  run_a_while(cluster);
  EXPECT_EQ(voters(cluster, 3), 3u);
}

TEST(MembershipTest, ANonmembersAppendIsHeardItsHeartbeatOnlyOnceItIsFollowed) {
  Solo solo(3);
  solo.receive(9, Heartbeat{.term = Term(5)});
  EXPECT_EQ(solo.term(), Term(1));
  solo.receive(9, solo.append(5, at(1, 1), {command(2, 5)}));
  EXPECT_EQ(solo.core().leadership(), (Leadership{Role::Follower, Term(5), ReplicaId(9)}));
  EXPECT_EQ(solo.only<AppendReply>(9).match, Index(2));
  solo.receive(9, Heartbeat{.term = Term(5)});
  EXPECT_EQ(solo.sent<HeartbeatReply>(9).size(), 1u);
  solo.receive(8, solo.append(4, at(1, 1), {}));
  EXPECT_TRUE(solo.effects.sends.empty()) << "a term that is over";
}

}  // namespace
}  // namespace coordkit::raft::testing
