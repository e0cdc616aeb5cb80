#include "engine/peers/reachability.h"

#include <gmock/gmock.h>

#include "tests/unit/engine/lagging_time.h"
#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::vector<Peer> kPeers = {{ReplicaId(1), "a:1", {}}, {ReplicaId(2), "b:1", {}}, {ReplicaId(3), "c:1", {}}};
constexpr ReplicaId kSelf{1};

Hello hello(uint64_t from, uint64_t boot = 1) {
  return {.cluster_name = "", .from = ReplicaId(from), .to = kSelf, .store = StoreId(from), .boot = BootCounter(boot)};
}

std::vector<MissingMember> look(const Reachability& reachability, Duration time, const raft::Status* core = nullptr) {
  return reachability.missing(kPeers, kSelf, core, at(time), 3s);
}

TEST(ReachabilityTest, WhoWasNeverConnectedIsMissingSinceTheBeginning) {
  Reachability reachability;
  reachability.began(at(1s));
  reachability.began(at(2s));
  reachability.connected(hello(2));
  reachability.unreachable(ReplicaId(3), "nobody listens there");
  const std::vector<MissingMember> missing = look(reachability, 6s);
  ASSERT_THAT(missing, SizeIs(1));
  EXPECT_EQ(missing[0].id, ReplicaId(3));
  EXPECT_EQ(missing[0].silence, 5s);
  EXPECT_FALSE(missing[0].received);
  EXPECT_EQ(roll_call(missing),
            "replica 3 at c:1 has not been heard in the 5000 ms since this one was opened: nobody listens there");
}

TEST(ReachabilityTest, ALostPeerIsMissingFromThenUntilItReturns) {
  Reachability reachability;
  reachability.began(at(1s));
  for (const uint64_t id : {2, 3}) reachability.connected(hello(id));
  EXPECT_THAT(look(reachability, 2s), IsEmpty());
  reachability.lost(ReplicaId(2), at(4s));
  EXPECT_EQ(roll_call(look(reachability, 16s)), "replica 2 at b:1 was last heard 12 s ago");
  reachability.refused(ReplicaId(2), "replica 2 names its cluster differently");
  reachability.unreachable(ReplicaId(2), "nobody listens there");
  EXPECT_THAT(roll_call(look(reachability, 16s)), HasSubstr("names its cluster differently"))
      << "what will not pass comes first";
  EXPECT_THAT(reachability.explanations(), ElementsAre("replica 2 names its cluster differently"));
  reachability.connected(hello(2));
  EXPECT_THAT(look(reachability, 17s), IsEmpty());
  EXPECT_THAT(reachability.explanations(), IsEmpty());
}

TEST(ReachabilityTest, TheNewestObstacleAtAnAddressIsReported) {
  Reachability reachability;
  reachability.began(at(1s));
  const auto said = [&] { return look(reachability, 2s).at(0).why; };
  reachability.unreachable(ReplicaId(2), "nothing listens there");
  EXPECT_EQ(said(), "nothing listens there");
  reachability.refused_at_address(ReplicaId(2), "replica 2 names its cluster differently");
  EXPECT_EQ(said(), "replica 2 names its cluster differently");
  reachability.unreachable(ReplicaId(2), "nothing listens there");
  EXPECT_EQ(said(), "nothing listens there");
  EXPECT_THAT(reachability.explanations(), IsEmpty());
}

TEST(ReachabilityTest, ALeaderMissesWhoIsConnectedAndSilent) {
  Reachability reachability;
  reachability.began(at(1s));
  for (const uint64_t id : {2, 3}) reachability.connected(hello(id));
  raft::Status core;
  core.peers = {{.peer = ReplicaId(2), .last_received = at(9s)}, {.peer = ReplicaId(3), .last_received = at(2s)}};
  EXPECT_THAT(look(reachability, 10s, &core), IsEmpty()) << "a follower hears only its leader";
  core.leadership.role = raft::Role::Leader;
  const std::vector<MissingMember> missing = look(reachability, 10s, &core);
  ASSERT_THAT(missing, SizeIs(1));
  EXPECT_EQ(missing[0].id, ReplicaId(3));
  EXPECT_EQ(missing[0].silence, 8s);
  EXPECT_THAT(missing[0].why, HasSubstr("quarantine"));
}

TEST(ReachabilityTest, WhoSaysThatHeIsInQuarantineIsMissingUntilHeIsStartedAgain) {
  Reachability reachability;
  reachability.began(at(1s));
  for (const uint64_t id : {2, 3}) reachability.connected(hello(id));
  reachability.stepped_aside(ReplicaId(3), "its disk\n was set back");
  reachability.connected(hello(3));  // the same start, on another connection
  EXPECT_TRUE(reachability.explained(ReplicaId(3)));
  EXPECT_THAT(reachability.explanations(), ElementsAre("replica 3 is in quarantine and does not vote: its disk? was set back"));
  ASSERT_THAT(look(reachability, 2s), SizeIs(1));
  EXPECT_THAT(look(reachability, 2s)[0].why, HasSubstr("quarantine"));
  reachability.connected(hello(3, 2));
  EXPECT_THAT(reachability.explanations(), IsEmpty());
  EXPECT_THAT(look(reachability, 3s), IsEmpty());
}

// Covers: FLT_N16
TEST(ReachabilityTest, WhoConnectsByItselfAndIsNotReachedIsNamedWithItsAddress) {
  Reachability reachability;
  reachability.unreachable(ReplicaId(3), "nobody listens there");
  EXPECT_THAT(reachability.not_reached(kPeers), IsEmpty()) << "it is missing";
  for (const uint64_t id : {2, 3, 4}) reachability.connected(hello(id));
  EXPECT_THAT(reachability.not_reached(kPeers), IsEmpty()) << "it may be reached again";
  for (const uint64_t id : {3, 4}) reachability.unreachable(ReplicaId(id), "nobody listens there");
  EXPECT_THAT(look(reachability, 2s), IsEmpty());
  EXPECT_THAT(reachability.not_reached(kPeers),
              ElementsAre("replica 3 has connected by itself and is not reached at c:1: nobody listens there"));
  reachability.connected(hello(3));
  EXPECT_THAT(reachability.not_reached(kPeers), IsEmpty());
}

TEST(ReachabilityTest, WithoutALeaderTheVotersAreCounted) {
  raft::Configuration configuration;
  for (const uint64_t id : {1, 2, 3}) configuration.voters.push_back({ReplicaId(id), StoreId(id), ""});
  EXPECT_THAT(why_no_leader(configuration, {}), HasSubstr("every voter is connected"));
  const MissingMember second{.id = ReplicaId(2), .address = "b:1"}, third{.id = ReplicaId(3), .address = "c:1"};
  EXPECT_THAT(why_no_leader(configuration, {second}),
              HasSubstr("1 of 3 voters is missing, the others can elect one without it"));
  EXPECT_THAT(why_no_leader(configuration, {second, third}),
              HasSubstr("2 of 3 voters are missing, and the others are no majority; replica 2 at b:1"));
}

// If three voters become one, both halves elect; it said that every voter is connected and one elected soon.
TEST(ReachabilityTest, WhileMembersChangeTheVotersOfBothHalvesAreCounted) {
  raft::Configuration configuration;
  for (const uint64_t id : {1, 2, 3}) configuration.outgoing.push_back({ReplicaId(id), StoreId(id), ""});
  configuration.voters = {configuration.outgoing.front()};
  const MissingMember second{.id = ReplicaId(2), .address = "b:1"}, third{.id = ReplicaId(3), .address = "c:1"};
  EXPECT_THAT(why_no_leader(configuration, {second}),
              HasSubstr("1 of 3 voters is missing, the others can elect one without it"));
  EXPECT_THAT(why_no_leader(configuration, {second, third}),
              HasSubstr("2 of 3 voters are missing, and the others are no majority both of the voters before the change"));
}

TEST(ReachabilityTest, WhoRunsWithAnotherDataDirectoryIsMissing) {
  Reachability reachability;
  reachability.began(at(1s));
  reachability.connected(hello(2));
  const auto missing = [&](StoreId named) {
    return reachability.missing({{ReplicaId(2), "b:1", named}}, kSelf, nullptr, at(2s), 3s);
  };
  EXPECT_THAT(missing(StoreId(2)), IsEmpty());
  EXPECT_EQ(roll_call(missing(StoreId(9))),
            "replica 2 at b:1 was last heard 0 ms ago: it runs with another data directory than the cluster knows");
}

// ---- in the engine

struct EngineReachabilityTest : ThreeReplicas {};

TEST_F(EngineReachabilityTest, TheLastOneUpSaysThatTheOthersAreMissing) {
  cluster.crash(leader);
  cluster.crash(follower);
  cluster.pass(10s);
  const EngineStatus status = cluster.engine(third).status();
  EXPECT_EQ(status.state, ReplicaState::Starting);
  EXPECT_THAT(status.reason,
              AllOf(HasSubstr("no leader is known yet: 2 of 3 voters are missing"), HasSubstr("was last heard")));
  EXPECT_THAT(status.missing, SizeIs(2));
  EXPECT_THAT(status.warnings, SizeIs(2)) << "it has lasted";
}

TEST_F(EngineReachabilityTest, AWipedDiskIsNoVoterThatCouldElectALeader) {
  cluster.crash(leader);
  cluster.crash(follower);
  cluster.node(follower).disk = Disk{.store = StoreId(999)};
  cluster.start(follower);
  cluster.pass(10s);
  const EngineStatus status = cluster.engine(third).status();
  EXPECT_THAT(status.reason, AllOf(HasSubstr("2 of 3 voters are missing, and the others are no majority"),
                                   HasSubstr("it runs with another data directory than the cluster knows")));
  EXPECT_THAT(status.warnings, SizeIs(2)) << "one about each";
}

// Covers: FLT_P15
TEST_F(EngineReachabilityTest, EveryOtherNamesAVoterInQuarantineAndWhy) {
  const Disk image = cluster.node(third).disk;
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  cluster.pass(1s);
  cluster.crash(third);
  cluster.node(third).disk = image;
  cluster.start(third);
  ASSERT_TRUE(cluster.until([&] { return cluster.engine(third).status().state == ReplicaState::Quarantine; }));
  cluster.run_until_idle();
  const std::string sentence = "replica " + std::to_string(third) + " is in quarantine and does not vote: ";
  for (const uint64_t id : {leader, follower}) {
    EXPECT_THAT(cluster.engine(id).status().warnings, Contains(AllOf(HasSubstr(sentence), HasSubstr("set back")))) << id;
    EXPECT_THAT(cluster.engine(id).status().missing, SizeIs(1)) << id;
  }
  cluster.connect(third, leader);  // it repeats it on every connection
  cluster.run_until_idle();
  EXPECT_THAT(cluster.engine(leader).status().warnings, Contains(HasSubstr(sentence)));
}

TEST_F(EngineReachabilityTest, ALeaderWarnsOfAVoterThatIsConnectedAndSilent) {
  cluster.filter = [&](ReplicaId from, ReplicaId, const Message&) { return from.value() != third; };
  cluster.pass(10s);
  const EngineStatus status = cluster.engine(leader).status();
  ASSERT_THAT(status.missing, SizeIs(1));
  EXPECT_EQ(status.missing[0].id, ReplicaId(third));
  EXPECT_THAT(status.warnings, Contains(HasSubstr("it is connected and answers nothing")));
  cluster.filter = nullptr;
  cluster.pass(10s);
  EXPECT_THAT(cluster.engine(cluster.leader()).status().warnings, IsEmpty());
}

// Ids of strangers, whatever the transport tells of them.
// Covers: FLT_S07
TEST_F(EngineReachabilityTest, OfPeersThatAreNoneOfOursNothingIsKeptOnceTheyAreGone) {
  const auto warnings = [&] { return cluster.engine(leader).status().warnings; };
  for (uint64_t id = 1000; id < 1100; ++id) {
    cluster.post(leader, PeerRefused{ReplicaId(id), "two processes act as it"});
    cluster.post(leader, PeerUnreachable{ReplicaId(id), "nobody listens there"});
  }
  cluster.pass(1s);
  EXPECT_THAT(warnings(), IsEmpty()) << "made-up ids";
  cluster.post(leader, PeerConnected{hello(7)});
  cluster.post(leader, PeerRefused{ReplicaId(7), "two processes act as replica 7"});
  cluster.pass(1s);
  EXPECT_THAT(warnings(), ElementsAre("two processes act as replica 7")) << "a guest, for as long as it is there";
  cluster.post(leader, PeerLost{ReplicaId(7)});
  cluster.pass(1s);
  EXPECT_THAT(warnings(), IsEmpty());
  cluster.crash(third);
  cluster.post(leader, PeerRefused{ReplicaId(third), "it has another secret"});
  cluster.pass(1s);
  EXPECT_THAT(warnings(), ElementsAre("it has another secret")) << "a member is explained while it is away";
}

TEST_F(EngineReachabilityTest, WhoIsRemovedIsNoLongerExplained) {
  cluster.crash(third);
  cluster.post(leader, PeerRefused{ReplicaId(third), "it has another secret"});
  cluster.pass(1s);
  ASSERT_THAT(cluster.engine(leader).status().warnings, ElementsAre("it has another secret"));
  cluster.change(leader, {{raft::MemberChange::Kind::Remove, {.id = ReplicaId(third)}, ReplicaId()}});
  cluster.pass(10s);
  EXPECT_THAT(cluster.engine(leader).status().warnings, IsEmpty());
}

}  // namespace
}  // namespace coordkit::engine
