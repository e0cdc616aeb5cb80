// Membership changes through the engine: from one member to seven and back, replacements, wiped disks, callers that die, and
// new members that wait to be let in.
#include <gtest/gtest.h>

#include "raft/quorum.h"
#include "tests/unit/engine/engine_cluster.h"

namespace coordkit::engine {
namespace {

using raft::MemberChange;

std::string address(uint64_t id) { return "host-" + std::to_string(id); }
MemberChange learn(uint64_t id) {
  return {MemberChange::Kind::AddLearner, {ReplicaId(id), StoreId(), address(id)}, ReplicaId()};
}
MemberChange promote(uint64_t id) { return {MemberChange::Kind::Promote, {.id = ReplicaId(id)}, ReplicaId()}; }
MemberChange demote(uint64_t id) { return {MemberChange::Kind::Demote, {.id = ReplicaId(id)}, ReplicaId()}; }
MemberChange remove(uint64_t id) { return {MemberChange::Kind::Remove, {.id = ReplicaId(id)}, ReplicaId()}; }
MemberChange replace(uint64_t old, uint64_t id) {
  return {MemberChange::Kind::Replace, {ReplicaId(id), StoreId(), address(id)}, ReplicaId(old)};
}
std::vector<MemberChange> add(std::vector<uint64_t> ids) {
  std::vector<MemberChange> changes;
  for (const uint64_t id : ids) changes.push_back(learn(id)), changes.push_back(promote(id));
  return changes;
}
std::vector<uint64_t> ids_of(const std::vector<raft::Member>& members) {
  std::vector<uint64_t> ids;
  for (const raft::Member& member : members) ids.push_back(member.id.value());
  return ids;
}
using Ids = std::vector<uint64_t>;

// `founders` initialize the cluster; the other replicas list the founders and themselves.
struct Growing {
  explicit Growing(size_t size, uint64_t founders = 1, std::function<void(EngineOptions&)> adjust = {})
      : cluster(size, [founders, adjust](EngineOptions& options) {
          std::erase_if(options.members,
                        [&](const Peer& peer) { return peer.id.value() > founders && peer.id != options.raft.self; });
          if (adjust) adjust(options);
        }) {
    for (uint64_t id = 1; id <= founders; ++id) cluster.start(id);
    leader = cluster.leader();
    EXPECT_NE(leader, 0u);
    for (uint64_t id = 1; id <= founders; ++id) {
      EXPECT_TRUE(cluster.until([&] { return state(id) == ReplicaState::Ready; }));
    }
  }
  ReplicaState state(uint64_t id) { return cluster.engine(id).status().state; }
  const raft::Configuration& configuration(uint64_t id) { return cluster.engine(id).core()->configuration(); }
  Ids voters(uint64_t id) { return ids_of(configuration(id).voters); }
  Ids learners(uint64_t id) { return ids_of(configuration(id).learners); }
  bool ends(uint64_t id, Ticket ticket) {
    return cluster.until([&] { return cluster.answers(id, ticket) > 0; }, 60s);
  }
  absl::Status change(uint64_t id, std::vector<MemberChange> changes, Duration timeout = 20s) {
    const Ticket ticket = cluster.change(id, std::move(changes), timeout);
    EXPECT_TRUE(ends(id, ticket));
    return cluster.ended(id, ticket).status;
  }
  std::optional<Reason> refusal(uint64_t id, std::vector<MemberChange> changes, Duration timeout = 2s) {
    return reason_of(change(id, std::move(changes), timeout));
  }

  Cluster cluster;
  uint64_t leader = 0;
};

// Covers: FLT_M08
TEST(EngineMembershipTest, GrowsFromOneToSevenAndShrinksToOneFromWhoeverIsAsked) {
  Growing group(7);
  Cluster& cluster = group.cluster;
  for (uint64_t id = 2; id <= 7; ++id) cluster.start(id);
  int total = 0;
  const auto works = [&](Ids ids) {
    for (const uint64_t id : ids) {
      ASSERT_EQ(cluster.run(id, "add 1"), std::to_string(++total)) << id;
      EXPECT_EQ(group.state(id), ReplicaState::Ready) << id;
      EXPECT_EQ(group.voters(id), ids) << id;
    }
  };
  works({1});
  ASSERT_TRUE(group.change(1, add({2, 3})).ok());
  works({1, 2, 3});
  ASSERT_TRUE(group.change(2, add({4, 5})).ok());
  works({1, 2, 3, 4, 5});
  ASSERT_TRUE(group.change(5, add({6, 7})).ok());
  works({1, 2, 3, 4, 5, 6, 7});
  ASSERT_TRUE(group.change(3, {remove(4), remove(5), remove(6), remove(7)}).ok());
  works({1, 2, 3});
  for (const uint64_t id : {4, 5, 6, 7}) {
    EXPECT_TRUE(cluster.until([&] { return group.state(id) == ReplicaState::Removed; })) << id;
  }
  ASSERT_TRUE(group.change(2, {remove(1), remove(2)}).ok());
  ASSERT_TRUE(cluster.until([&] { return group.state(3) == ReplicaState::Ready; }));
  works({3});
  EXPECT_EQ(group.refusal(3, {remove(3)}), Reason::NotEnoughVoters);
  works({3});
}

TEST(EngineMembershipTest, ANewMemberWaitsWithAReasonUntilItIsAdded) {
  Growing group(4, 3);
  Cluster& cluster = group.cluster;
  cluster.start(4);
  cluster.pass(200ms);
  EXPECT_EQ(group.state(4), ReplicaState::Uninvited);
  EXPECT_EQ(cluster.engine(4).status().reason,
            "replica 4 is not a member of cluster 'test' yet: add it with change_membership on a running replica (if its disk "
            "was wiped or exchanged, replace it)");
  const Ticket early = cluster.submit(4, "add 1", 60s);
  cluster.pass(2s);
  EXPECT_EQ(reason_of(cluster.ended(4, early).status), Reason::NotMember);
  EXPECT_EQ(outcome_of(cluster.ended(4, early).status), Outcome::NoEffect);
  EXPECT_EQ(cluster.engine(4).core(), nullptr);
  EXPECT_TRUE(cluster.node(4).sent.empty());
  ASSERT_TRUE(group.change(1, {learn(4)}).ok());
  ASSERT_TRUE(cluster.until([&] { return group.state(4) == ReplicaState::Learner; }));
  EXPECT_EQ(cluster.run(4, "add 1"), "1");
  EXPECT_EQ(cluster.read(4), "1");
  ASSERT_TRUE(group.change(4, {promote(4)}).ok());
  EXPECT_EQ(group.state(4), ReplicaState::Ready);
  EXPECT_EQ(cluster.engine(4).status().cluster, cluster.engine(1).status().cluster);
}

TEST(EngineMembershipTest, ANewMemberThatIsNotThereIsWaitedForWithAReason) {
  Growing group(2);
  Cluster& cluster = group.cluster;
  const Ticket ticket = cluster.change(1, add({2}), 20s);
  cluster.pass(2s);
  EXPECT_NE(cluster.engine(1).status().change.find("replica 2 was not met yet at host-2"), std::string::npos)
      << cluster.engine(1).status().change;
  EXPECT_EQ(cluster.run(1, "add 1"), "1");  // FLT_M04, R42: it costs nothing
  cluster.start(2);
  ASSERT_TRUE(group.ends(1, ticket));
  EXPECT_TRUE(cluster.ended(1, ticket).status.ok()) << cluster.ended(1, ticket).status;
  EXPECT_EQ(group.voters(1), (Ids{1, 2}));
  EXPECT_TRUE(cluster.engine(1).status().change.empty());
}

TEST(EngineMembershipTest, ANewMemberThatRefusesIsWaitedForWithWhatItSays) {
  Growing group(2);
  Cluster& cluster = group.cluster;
  const Ticket ticket = cluster.change(1, add({2}), 2s);
  const std::string says = "replica 2 says: replica 1 belongs to another cluster of the same name";
  cluster.pass(100ms);  // it is to be connected with
  cluster.post(1, PeerRefused{ReplicaId(2), says});
  cluster.pass(1s);
  EXPECT_EQ(cluster.engine(1).status().change, "replica 2 was not met yet at host-2: " + says);
  ASSERT_TRUE(group.ends(1, ticket));
  EXPECT_EQ(reason_of(cluster.ended(1, ticket).status), Reason::CallTimeout);
  EXPECT_NE(cluster.ended(1, ticket).status.message().find(says), std::string::npos);
}

// Covers: REG_R42 FLT_M04
TEST(EngineMembershipTest, AnAbsentNewMemberNeverEntersTheQuorum) {
  Growing group(3);
  Cluster& cluster = group.cluster;
  const absl::Status absent = group.change(1, add({2}), 3s);
  EXPECT_EQ(reason_of(absent), Reason::CallTimeout);
  EXPECT_EQ(outcome_of(absent), Outcome::NoEffect);
  EXPECT_EQ(group.voters(1), Ids{1});
  cluster.start(2);
  cluster.filter = [](ReplicaId from, ReplicaId, const Message& message) {  // it never acknowledges anything
    return from != ReplicaId(2) ||
           !(std::holds_alternative<raft::AppendReply>(message) || std::holds_alternative<raft::HeartbeatReply>(message));
  };
  const absl::Status silent = group.change(1, add({2}), 3s);
  EXPECT_EQ(reason_of(silent), Reason::NotEnoughVoters) << silent;
  EXPECT_EQ(outcome_of(silent), Outcome::Done) << silent;  // it is a learner now
  EXPECT_EQ(group.voters(1), Ids{1});
  EXPECT_EQ(group.learners(1), Ids{2});
  EXPECT_EQ(cluster.run(1, "add 1"), "1");
  cluster.filter = nullptr;
  EXPECT_TRUE(group.change(1, {promote(2)}).ok());
}

TEST(EngineMembershipTest, PromotionWaitsUntilTheLearnerHasCaughtUpAndSaysHowFarItIs) {
  Growing group(2, 1, [](EngineOptions& options) { options.raft.promotion_lag_max = 10; });
  Cluster& cluster = group.cluster;
  for (int i = 1; i <= 1500; ++i) ASSERT_EQ(cluster.run(1, "add 1"), std::to_string(i));
  cluster.start(2);
  size_t allowed = 3;
  cluster.filter = [&](ReplicaId, ReplicaId to, const Message& message) {
    const auto* append = std::get_if<raft::AppendRequest>(&message);
    return to != ReplicaId(2) || !append || append->previous.index < Index(3) || allowed-- > 0;
  };
  cluster.node(2).syncs = false;
  const Ticket ticket = cluster.change(1, add({2}), 60s);
  cluster.pass(1s);
  cluster.sync(2);  // the genesis
  cluster.pass(1s);
  EXPECT_NE(cluster.engine(1).status().change.find("entries behind; it is promoted at 10 or fewer"), std::string::npos)
      << cluster.engine(1).status().change;
  EXPECT_NE(cluster.engine(1).status().change.find("replica 2 is 1,5"), std::string::npos) << cluster.engine(1).status().change;
  EXPECT_EQ(group.voters(1), Ids{1});
  cluster.filter = nullptr;
  cluster.node(2).syncs = true;
  cluster.sync(2);
  ASSERT_TRUE(group.ends(1, ticket));
  EXPECT_TRUE(cluster.ended(1, ticket).status.ok());
  EXPECT_EQ(group.voters(2), (Ids{1, 2}));
}

TEST(EngineMembershipTest, BadWishesAreRefusedAndChangeNothing) {
  Growing group(4, 3);
  const raft::Configuration before = group.configuration(1);
  for (const uint64_t caller : {group.leader, group.leader % 3 + 1}) {
    SCOPED_TRACE(caller);
    EXPECT_EQ(group.refusal(caller, {}), Reason::InvalidArgument);
    EXPECT_EQ(group.refusal(caller, {remove(0)}), Reason::InvalidArgument);
    EXPECT_EQ(group.refusal(caller, {remove(9)}), Reason::MemberNotFound);
    EXPECT_EQ(group.refusal(caller, {promote(9)}), Reason::MemberNotFound);
    EXPECT_EQ(group.refusal(caller, {promote(2)}), Reason::AlreadyExists) << "it is a member, and votes";
    EXPECT_EQ(group.refusal(caller, {demote(9)}), Reason::MemberNotFound);
    EXPECT_EQ(group.refusal(caller, {replace(9, 4)}), Reason::MemberNotFound);
    EXPECT_EQ(group.refusal(caller, {learn(2)}), Reason::AlreadyExists);
    EXPECT_EQ(group.refusal(caller, {learn(4), learn(4)}), Reason::AlreadyExists);
    EXPECT_EQ(group.refusal(caller, {{MemberChange::Kind::AddLearner, {ReplicaId(4), StoreId(), address(2)}, ReplicaId()}}),
              Reason::AlreadyExists);
    EXPECT_EQ(group.refusal(caller, {remove(1), remove(2), remove(3)}), Reason::NotEnoughVoters);
    EXPECT_EQ(group.refusal(caller, {demote(1), demote(2), demote(3)}), Reason::NotEnoughVoters);
  }
  EXPECT_EQ(group.configuration(1), before);
}

// It said that the leader is asked, of which there was none.
TEST(EngineMembershipTest, AChangeThatFindsNoLeaderSaysSoAndEndsSo) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  cluster.filter = [](ReplicaId, ReplicaId, const Message&) { return false; };
  cluster.pass(5s);
  const Ticket ticket = cluster.change(1, {remove(2)}, 5s);
  cluster.pass(1s);
  EXPECT_EQ(cluster.engine(1).status().change, "no leader is known, and only a leader can change the members");
  cluster.pass(5s);
  EXPECT_EQ(reason_of(cluster.ended(1, ticket).status), Reason::NoLeader) << cluster.ended(1, ticket).status;
  EXPECT_EQ(outcome_of(cluster.ended(1, ticket).status), Outcome::NoEffect);
}

TEST(EngineMembershipTest, CompareAndChangeTakesOnlyTheConfigurationItWasMeantFor) {
  Growing group(5, 3);
  Cluster& cluster = group.cluster;
  cluster.start(4);
  cluster.start(5);
  const Index seen = cluster.engine(1).core()->configuration_position().index;
  const Ticket first = cluster.change(1, {learn(4)}, 10s, seen);
  ASSERT_TRUE(group.ends(1, first));
  ASSERT_TRUE(cluster.ended(1, first).status.ok());
  EXPECT_GT(cluster.ended(1, first).index, seen);
  const Ticket stale = cluster.change(1, {learn(5)}, 10s, seen);
  ASSERT_TRUE(group.ends(1, stale));
  EXPECT_EQ(reason_of(cluster.ended(1, stale).status), Reason::Conflict);
  EXPECT_EQ(outcome_of(cluster.ended(1, stale).status), Outcome::NoEffect);
  const Ticket fresh = cluster.change(1, {learn(5)}, 10s, cluster.ended(1, first).index);
  ASSERT_TRUE(group.ends(1, fresh));
  EXPECT_TRUE(cluster.ended(1, fresh).status.ok());
}

TEST(EngineMembershipTest, ChangesFromAllSidesAtOnceAllTakeEffect) {
  Growing group(6, 3);
  Cluster& cluster = group.cluster;
  for (uint64_t id = 4; id <= 6; ++id) cluster.start(id);
  std::vector<Ticket> tickets;
  for (uint64_t caller = 1; caller <= 3; ++caller) tickets.push_back(cluster.change(caller, add({caller + 3}), 30s));
  const Ticket second = cluster.change(1, {remove(2)});
  for (uint64_t caller = 1; caller <= 3; ++caller) {
    ASSERT_TRUE(group.ends(caller, tickets[caller - 1]));
    EXPECT_TRUE(cluster.ended(caller, tickets[caller - 1]).status.ok()) << cluster.ended(caller, tickets[caller - 1]).status;
  }
  EXPECT_EQ(reason_of(cluster.ended(1, second).status), Reason::ChangeInProgress);
  EXPECT_EQ(group.voters(1), (Ids{1, 2, 3, 4, 5, 6}));
}

TEST(EngineMembershipTest, OfTwoThatExpectTheSameConfigurationOneIsRefusedForCertain) {
  Growing group(5, 3);
  Cluster& cluster = group.cluster;
  cluster.start(4);
  cluster.start(5);
  const Index seen = cluster.engine(1).core()->configuration_position().index;
  const Ticket a = cluster.change(1, {learn(4)}, 10s, seen);
  const Ticket b = cluster.change(2, {learn(5)}, 10s, seen);
  ASSERT_TRUE(group.ends(1, a) && group.ends(2, b));
  EXPECT_NE(cluster.ended(1, a).status.ok(), cluster.ended(2, b).status.ok());
  const absl::Status loser = cluster.ended(1, a).status.ok() ? cluster.ended(2, b).status : cluster.ended(1, a).status;
  EXPECT_EQ(reason_of(loser), Reason::Conflict);
  EXPECT_EQ(outcome_of(loser), Outcome::NoEffect);
}

TEST(EngineMembershipTest, LostRequestsAndAnswersAreMadeUpFor) {
  Growing group(4, 3);
  Cluster& cluster = group.cluster;
  cluster.start(4);
  int lost = 0;
  cluster.filter = [&](ReplicaId, ReplicaId, const Message& message) {
    const bool ours = std::holds_alternative<ChangeRequest>(message) || std::holds_alternative<ChangeReply>(message);
    return !ours || ++lost % 3 == 0;
  };
  const uint64_t caller = group.leader % 3 + 1;
  EXPECT_TRUE(group.change(caller, add({4}), 60s).ok());
  EXPECT_GT(lost, 3);
  cluster.filter = [&](ReplicaId, ReplicaId, const Message& message) { return !std::holds_alternative<ChangeReply>(message); };
  EXPECT_TRUE(group.change(caller, {remove(4)}, 60s).ok());  // its own log shows it
}

TEST(EngineMembershipTest, AnUnknownOutcomeIsOnlyPossibleAtTheDeadline) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  const uint64_t caller = group.leader % 3 + 1;
  cluster.filter = [&](ReplicaId from, ReplicaId, const Message& message) {  // whatever it asks may have arrived
    return from != ReplicaId(caller) || std::holds_alternative<ChangeRequest>(message);
  };
  cluster.node(group.leader).syncs = false;
  cluster.node(caller % 3 + 1 == group.leader ? caller % 3 + 2 : caller % 3 + 1).syncs = false;
  const Ticket ticket = cluster.change(caller, {demote(caller)}, 100ms);
  ASSERT_TRUE(group.ends(caller, ticket));
  EXPECT_EQ(reason_of(cluster.ended(caller, ticket).status), Reason::CallTimeout);
  EXPECT_EQ(outcome_of(cluster.ended(caller, ticket).status), Outcome::Unknown);
}

// ---- replacing

TEST(EngineMembershipTest, AVoterIsReplacedByAnotherThatHasLearnedFirst) {
  Growing group(4, 3);
  Cluster& cluster = group.cluster;
  ASSERT_EQ(cluster.run(1, "add 5"), "5");
  const uint64_t old = group.leader % 3 + 1;
  cluster.crash(old);
  cluster.start(4);
  ASSERT_TRUE(group.change(group.leader, {replace(old, 4)}).ok());
  EXPECT_EQ(group.voters(4).size(), 3u);
  EXPECT_TRUE(raft::is_voter(group.configuration(4), ReplicaId(4)));
  EXPECT_FALSE(raft::is_member(group.configuration(4), ReplicaId(old)));
  EXPECT_EQ(cluster.read(4), "5");
  cluster.start(old);
  EXPECT_TRUE(cluster.until([&] { return group.state(old) == ReplicaState::Removed; }));
}

// Covers: REG_R47 FLT_P16 FLT_M07 FLT_D20
TEST(EngineMembershipTest, AWipedDiskWaitsAndComesBackThroughReplace) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  ASSERT_EQ(cluster.run(1, "add 7"), "7");
  const uint64_t wiped = group.leader % 3 + 1;
  cluster.crash(wiped);
  cluster.node(wiped).disk = Disk{.store = StoreId(999)};
  cluster.start(wiped);
  cluster.pass(3s);
  EXPECT_EQ(group.state(wiped), ReplicaState::Uninvited);
  EXPECT_TRUE(cluster.node(wiped).sent.empty());
  const auto warnings = cluster.engine(group.leader).status().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("runs with another data directory"), std::string::npos);
  // Without client traffic, in one call.
  ASSERT_TRUE(group.change(group.leader, {replace(wiped, wiped)}).ok());
  EXPECT_EQ(group.voters(group.leader).size(), 3u);
  ASSERT_TRUE(cluster.until([&] { return group.state(wiped) == ReplicaState::Ready; }));
  EXPECT_EQ(cluster.read(wiped), "7");
  EXPECT_TRUE(cluster.engine(group.leader).status().warnings.empty());
  const uint64_t other = 6 - wiped - group.leader;
  cluster.crash(other);
  EXPECT_EQ(cluster.run(wiped, "add 1"), "8");  // it counts
}

// With the wrong id in a call, for instance: the member that runs is the majority's last, and its address is not given up.
// Covers: FLT_M11
TEST(EngineMembershipTest, AMemberThatIsHereIsNotGivenUpForOneThatIsToTakeItsPlace) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  const ReplicaId lost(group.leader % 3 + 1);
  const ReplicaId other(6 - group.leader - lost.value());
  cluster.crash(lost.value());
  MemberChange mistyped = replace(other.value(), other.value());
  mistyped.member.address = "elsewhere";
  const Ticket ticket = cluster.change(group.leader, {mistyped}, 60s);
  cluster.pass(2s);
  const std::map<ReplicaId, std::string>& peers = cluster.node(group.leader).peers;
  EXPECT_EQ(peers.at(other), address(other.value()));
  EXPECT_EQ(cluster.engine(group.leader).status().change,
            "replica " + std::to_string(other.value()) + " still runs with the data directory that is to be replaced");
  cluster.crash(other.value());  // now it may come elsewhere
  cluster.pass(100ms);
  EXPECT_EQ(peers.at(other), "elsewhere");
  cluster.start(other.value());  // the old one again
  cluster.pass(2s);
  EXPECT_EQ(peers.at(other), address(other.value()));
  EXPECT_EQ(cluster.run(group.leader, "add 1"), "1");
  EXPECT_EQ(cluster.answers(group.leader, ticket), 0u);
  cluster.crash(other.value());
  cluster.node(other.value()).disk = Disk{.store = StoreId(999)};
  cluster.start(lost.value());
  cluster.start(other.value());  // a new one, there
  ASSERT_TRUE(group.ends(group.leader, ticket));
  EXPECT_TRUE(cluster.ended(group.leader, ticket).status.ok()) << cluster.ended(group.leader, ticket).status;
  EXPECT_EQ(peers.at(other), "elsewhere");
}

// A caller that asks again for a change left half done when the first caller died is told what is left to do.
// Covers: FLT_M04
TEST(EngineMembershipTest, WhoAddsOrReplacesALearnerThatWasLeftIsToldToPromoteIt) {
  Growing group(4, 3);
  Cluster& cluster = group.cluster;
  cluster.start(4);
  ASSERT_TRUE(group.change(group.leader, {learn(4)}).ok());
  const absl::Status again = group.change(group.leader, {learn(4), promote(4)});
  EXPECT_EQ(reason_of(again), Reason::AlreadyExists);
  EXPECT_EQ(sentence_of(again), "replica 4 is a learner already: promote it");
  cluster.change(group.leader, {replace(4, 4)}, 60s);
  cluster.pass(1s);
  const std::string waits = cluster.engine(group.leader).status().change;
  EXPECT_TRUE(waits.ends_with("end this call and promote the learner")) << waits;
}

// Covers: REG_R03
TEST(EngineMembershipTest, WhatTheOldDiskAcknowledgedDoesNotCountForTheNew) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  const uint64_t leader = group.leader;
  const uint64_t wiped = leader % 3 + 1;
  const uint64_t other = 6 - wiped - leader;
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  raft::AppendReply old;
  for (const Outbound& sent : cluster.node(wiped).sent) {
    if (const auto* reply = std::get_if<raft::AppendReply>(&sent.message)) old = *reply;
  }
  ASSERT_GT(old.match, Index(1));
  cluster.crash(wiped);
  cluster.node(wiped).disk = Disk{.store = StoreId(999)};
  cluster.start(wiped);
  cluster.filter = [&](ReplicaId from, ReplicaId, const Message& message) {  // the new disk acknowledges nothing
    return from != ReplicaId(wiped) || std::holds_alternative<Forward>(message);
  };
  const Ticket ticket = cluster.change(leader, {replace(wiped, wiped)}, 60s);
  ASSERT_TRUE(cluster.until([&] { return group.learners(leader) == Ids{wiped}; }));
  old.match = Index(1'000'000);
  for (int i = 0; i < 3; ++i) {
    cluster.post(leader, MessageReceived{ReplicaId(wiped), old});
    cluster.pass(100ms);
  }
  EXPECT_EQ(group.voters(leader).size(), 2u);
  for (const raft::PeerStatus& peer : cluster.engine(leader).core()->status().peers) {
    if (peer.peer == ReplicaId(wiped)) {
      EXPECT_EQ(peer.match, Index());
    }
  }
  EXPECT_EQ(cluster.answers(leader, ticket), 0u);
  EXPECT_EQ(cluster.run(other, "add 1"), "2");
}

// ---- leaving

// Covers: REG_R40 FLT_M02
TEST(EngineMembershipTest, TheLeaderRemovesItselfAndTheOthersGoOn) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  ASSERT_EQ(cluster.run(1, "add 1"), "1");
  ASSERT_TRUE(group.change(group.leader, {remove(group.leader)}).ok());
  ASSERT_TRUE(cluster.until([&] { return group.state(group.leader) == ReplicaState::Removed; }));
  EXPECT_NE(cluster.engine(group.leader).status().reason.find("was removed from the cluster"), std::string::npos);
  const uint64_t next = cluster.leader();
  EXPECT_NE(next, group.leader);
  EXPECT_EQ(cluster.run(next, "add 1"), "2");
  const Ticket late = cluster.submit(group.leader, "add 1");
  cluster.run_until_idle();
  EXPECT_EQ(reason_of(cluster.ended(group.leader, late).status), Reason::Removed);
}

TEST(EngineMembershipTest, AFollowerRemovesItselfAndIsToldSo) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  const uint64_t caller = group.leader % 3 + 1;
  const absl::Status status = group.change(caller, {remove(caller)});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(cluster.until([&] { return group.state(caller) == ReplicaState::Removed; }));
}

// Covers: REG_R42
TEST(EngineMembershipTest, OfTwoTheLeaderRemovesItselfAndTheOtherLeads) {
  Growing group(2, 2);
  Cluster& cluster = group.cluster;
  const uint64_t other = 3 - group.leader;
  ASSERT_TRUE(group.change(group.leader, {remove(group.leader)}).ok());
  ASSERT_TRUE(cluster.until([&] { return cluster.engine(other).leadership().role == raft::Role::Leader; }));
  EXPECT_EQ(cluster.run(other, "add 1"), "1");
  EXPECT_EQ(group.voters(other), Ids{other});
}

// Covers: REG_R41 FLT_M03
TEST(EngineMembershipTest, ARemovedReplicaThatComesBackIsToldAndRaisesNoTerm) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  const uint64_t gone = group.leader % 3 + 1;
  cluster.crash(gone);
  ASSERT_TRUE(group.change(group.leader, {remove(gone)}).ok());
  const Term term = cluster.engine(group.leader).leadership().term;
  cluster.start(gone);  // its log names it as a voter
  cluster.pass(20s);
  EXPECT_EQ(group.state(gone), ReplicaState::Removed);
  EXPECT_EQ(cluster.engine(group.leader).leadership().term, term);
  EXPECT_EQ(cluster.engine(group.leader).leadership().role, raft::Role::Leader);
  const size_t before = cluster.node(gone).sent.size();
  cluster.pass(20s);
  EXPECT_EQ(cluster.node(gone).sent.size(), before) << "it is quiet";
}

// Covers: REG_R44
TEST(EngineMembershipTest, ARemovedReplicaIsAddedAgainInTheSameProcess) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  const uint64_t one = group.leader % 3 + 1;
  ASSERT_TRUE(group.change(group.leader, {remove(one)}).ok());
  ASSERT_TRUE(cluster.until([&] { return group.state(one) == ReplicaState::Removed; }));
  ASSERT_EQ(cluster.run(group.leader, "add 4"), "4");
  ASSERT_TRUE(group.change(group.leader, add({one})).ok());
  ASSERT_TRUE(cluster.until([&] { return group.state(one) == ReplicaState::Ready; }));
  EXPECT_EQ(cluster.read(one), "4");
  EXPECT_EQ(cluster.run(one, "add 1"), "5");
}

TEST(EngineMembershipTest, ARemovedIdReturnsWithANewDirectory) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  const uint64_t one = group.leader % 3 + 1;
  ASSERT_TRUE(group.change(group.leader, {remove(one)}).ok());
  cluster.crash(one);
  cluster.node(one).disk = Disk{.store = StoreId(999)};
  cluster.start(one);
  ASSERT_TRUE(cluster.until([&] { return group.state(one) == ReplicaState::Uninvited; }));
  ASSERT_TRUE(group.change(group.leader, add({one})).ok());
  EXPECT_TRUE(cluster.until([&] { return group.state(one) == ReplicaState::Ready; }));
}

// Covers: FLT_M09
TEST(EngineMembershipTest, ADeadMajorityCannotBeRemoved) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  const uint64_t a = group.leader % 3 + 1;
  const uint64_t b = a % 3 + 1;
  const raft::Configuration before = group.configuration(group.leader);
  cluster.crash(a);
  cluster.pass(1s);                                                                   // until then it may still be there
  EXPECT_EQ(group.refusal(group.leader, {remove(b)}, 10s), Reason::NotEnoughVoters);  // would leave one of two
  cluster.crash(b);
  const absl::Status status = group.change(group.leader, {remove(a), remove(b)}, 5s);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(ids_of(cluster.engine(group.leader).core()->configuration().outgoing.empty()
                       ? before.voters
                       : cluster.engine(group.leader).core()->configuration().outgoing),
            ids_of(before.voters));
}

// ---- callers and leaders that die

// Covers: REG_R46
TEST(EngineMembershipTest, TheCallerDiesAndWhoeverLeadsCompletesTheChange) {
  Growing group(5, 3);
  Cluster& cluster = group.cluster;
  cluster.start(4);
  cluster.start(5);
  ASSERT_TRUE(group.change(group.leader, {learn(4), learn(5)}).ok());
  const uint64_t caller = group.leader;
  // Every replica has the joint entry, and no acknowledgement has come back, when the caller, who leads, dies.
  cluster.filter = [&](ReplicaId from, ReplicaId, const Message&) { return from == ReplicaId(caller); };
  cluster.change(caller, {promote(4), promote(5)});
  ASSERT_TRUE(cluster.until([&] {
    for (uint64_t id = 1; id <= 3; ++id) {
      if (id != caller && cluster.engine(id).core()->configuration().outgoing.empty()) return false;
    }
    return true;
  }));
  cluster.crash(caller);
  cluster.filter = nullptr;
  const uint64_t next = caller % 3 + 1;
  ASSERT_TRUE(cluster.until([&] { return group.voters(next).size() == 5 && group.configuration(next).outgoing.empty(); }, 30s));
  EXPECT_EQ(cluster.run(next, "add 1"), "1");
}

TEST(EngineMembershipTest, IfTheCallerDiesWhileTheNewMemberLearnsItStaysALearner) {
  Growing group(4, 3);
  Cluster& cluster = group.cluster;
  const uint64_t caller = group.leader % 3 + 1;
  cluster.start(4);
  cluster.filter = [](ReplicaId, ReplicaId to, const Message& message) {
    return to != ReplicaId(4) || !std::holds_alternative<raft::AppendRequest>(message);
  };
  cluster.change(caller, add({4}), 60s);
  ASSERT_TRUE(cluster.until([&] { return group.learners(group.leader) == Ids{4}; }));
  cluster.crash(caller);
  cluster.filter = nullptr;
  cluster.pass(5s);
  EXPECT_EQ(group.learners(group.leader), Ids{4});
  EXPECT_EQ(group.state(4), ReplicaState::Learner);
  EXPECT_TRUE(group.change(4, {promote(4)}).ok());
}

// Covers: REG_R45
TEST(EngineMembershipTest, TheLeaderChangesInMidChangeAndTheCallerStillLearnsTheTruth) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Growing group(5, 3);
    Cluster& cluster = group.cluster;
    cluster.start(4);
    cluster.start(5);
    const uint64_t caller = group.leader % 3 + 1;
    size_t seen = 0;
    cluster.filter = [&](ReplicaId from, ReplicaId, const Message& message) {  // the leader falls silent at some point of it
      seen += std::holds_alternative<ChangeRequest>(message);
      return from != ReplicaId(group.leader) || seen < 1 + seed;
    };
    const Ticket ticket = cluster.change(caller, add({4, 5}), 60s);
    cluster.until([&] { return cluster.engine(caller).leadership().leader != ReplicaId(group.leader); }, 5s);
    cluster.filter = nullptr;
    ASSERT_TRUE(group.ends(caller, ticket));
    EXPECT_TRUE(cluster.ended(caller, ticket).status.ok()) << cluster.ended(caller, ticket).status;
    EXPECT_EQ(group.voters(caller), (Ids{1, 2, 3, 4, 5}));
  }
}

// Covers: REG_R36 FLT_M06
TEST(EngineMembershipTest, AStateBringsTheMembersOfItsIndexAndThatIndex) {
  Growing group(4, 3, [](EngineOptions& options) {
    options.checkpoint_entries = 5;
    options.raft.log_retained_bytes = 0;
  });
  Cluster& cluster = group.cluster;
  const uint64_t away = group.leader % 3 + 1;
  cluster.filter = [away](ReplicaId from, ReplicaId to, const Message&) { return from.value() != away && to.value() != away; };
  cluster.start(4);
  ASSERT_TRUE(group.change(group.leader, add({4})).ok());
  for (int i = 0; i < 30; ++i) cluster.run(group.leader, "add 1");
  cluster.pass(15s);  // the state opened for the absent one is not read: its log is no longer kept
  for (int i = 0; i < 10; ++i) cluster.run(group.leader, "add 1");
  const Index changed = cluster.engine(group.leader).core()->status().configuration_index;
  ASSERT_GT(cluster.node(group.leader).disk.base.index, changed) << "the change must be gone from the log";
  ASSERT_EQ(group.voters(away), (Ids{1, 2, 3}));
  cluster.filter = {};
  ASSERT_TRUE(cluster.until([&] { return cluster.engine(away).applied() == cluster.engine(group.leader).applied(); }, 60s));
  EXPECT_EQ(group.configuration(away), group.configuration(group.leader));
  EXPECT_EQ(group.voters(away), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(cluster.engine(away).core()->status().configuration_index, changed);
}

TEST(EngineMembershipTest, MembersSurviveARestartOfEverybody) {
  Growing group(3, 1, [](EngineOptions& options) { options.checkpoint_entries = 4; });
  Cluster& cluster = group.cluster;
  cluster.start(2);
  cluster.start(3);
  ASSERT_TRUE(group.change(1, add({2, 3})).ok());
  for (int i = 1; i <= 20; ++i) ASSERT_EQ(cluster.run(1 + i % 3, "add 1"), std::to_string(i));
  const Index at = cluster.engine(1).core()->configuration_position().index;
  for (uint64_t id = 1; id <= 3; ++id) cluster.crash(id);
  for (uint64_t id = 1; id <= 3; ++id) cluster.start(id);
  const uint64_t leader = cluster.leader();
  ASSERT_NE(leader, 0u);
  for (uint64_t id = 1; id <= 3; ++id) {
    ASSERT_TRUE(cluster.until([&] { return group.state(id) == ReplicaState::Ready; }));
    EXPECT_EQ(group.voters(id), (Ids{1, 2, 3}));
    EXPECT_EQ(cluster.engine(id).core()->configuration_position().index, at) << "its number is the same everywhere";
  }
  EXPECT_TRUE(group.change(leader % 3 + 1, {remove(leader)}).ok());
}

TEST(EngineMembershipTest, AReplicaThatNoMemberListNamesConnectsByItsOwnList) {
  Growing group(4, 3);
  Cluster& cluster = group.cluster;
  cluster.start(4);
  cluster.pass(100ms);
  EXPECT_EQ(cluster.node(4).peers,
            (std::map<ReplicaId, std::string>{{ReplicaId(1), "host-1"}, {ReplicaId(2), "host-2"}, {ReplicaId(3), "host-3"}}));
  EXPECT_FALSE(cluster.node(1).peers.contains(ReplicaId(4)));
  ASSERT_TRUE(group.change(1, add({4})).ok());
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_TRUE(cluster.node(id).peers.contains(ReplicaId(4))) << id;
  ASSERT_TRUE(group.change(2, {remove(4)}).ok());
  cluster.pass(100ms);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_FALSE(cluster.node(id).peers.contains(ReplicaId(4))) << id;
}

TEST(EngineMembershipTest, APeerThatTheTransportRefusesIsAWarningUntilItConnects) {
  Growing group(3, 3);
  Cluster& cluster = group.cluster;
  cluster.post(1, PeerRefused{ReplicaId(3), "two processes act as replica 3"});
  cluster.run_until_idle();
  EXPECT_EQ(cluster.engine(1).status().warnings, std::vector<std::string>{"two processes act as replica 3"});
  cluster.connect(3, 1);
  cluster.run_until_idle();
  EXPECT_TRUE(cluster.engine(1).status().warnings.empty());
}

}  // namespace
}  // namespace coordkit::engine
