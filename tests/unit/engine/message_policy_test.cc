// The gate: which peer may send which message, and what happens to a non-member that sends everything.
#include "engine/peers/message_policy.h"

#include <gtest/gtest.h>

#include <set>

#include "base/sums.h"
#include "engine/members/capacities.h"
#include "raft/log/entry_codec.h"
#include "tests/unit/engine/engine_cluster.h"

namespace coordkit::engine {
namespace {

template <size_t... I>
std::vector<Message> one_of_each(std::index_sequence<I...>) {
  return {Message(std::in_place_index<I>)...};
}
const std::vector<Message>& all_kinds() {
  static const auto kinds = one_of_each(std::make_index_sequence<std::variant_size_v<Message>>());
  return kinds;
}

template <typename... Kinds>
std::set<size_t> kinds() {
  return {Message(Kinds{}).index()...};
}
std::set<size_t> together(std::initializer_list<std::set<size_t>> sets) {
  std::set<size_t> all;
  for (const auto& one : sets) all.insert(one.begin(), one.end());
  return all;
}
std::set<size_t> accepted_from(Speaker speaker) {
  std::set<size_t> accepted;
  for (const Message& message : all_kinds()) {
    if (may_say(speaker, message)) accepted.insert(message.index());
  }
  return accepted;
}

// A second copy, by hand: what is not in a list here is not accepted.
// Covers: FLT_S07
TEST(MessagePolicyTest, EachMessageIsHeardOfThoseWhoMaySayItAndOfNobodyElse) {
  const auto everything = [] {
    std::set<size_t> all;
    for (const Message& message : all_kinds()) all.insert(message.index());
    all.erase(Message(GenesisOffer{}).index());
    return all;
  }();
  const auto unknown = kinds<raft::VoteRequest, raft::AppendRequest, raft::Removed, RecallRequest, RecallReply>();
  const auto of_a_leader = kinds<raft::Heartbeat, raft::TimeoutNow, Refusal, ReadIndexReply, RenewReply, StateOffer, StateChunk,
                                 ChangeReply, TransferReply>();
  const auto calls = kinds<Forward, ReadIndexRequest, RenewRequest, ChangeRequest, TransferRequest>();
  const auto of_another_disk = kinds<raft::AppendRequest, RecallRequest, RecallReply>();
  EXPECT_EQ(accepted_from({.capacity = Capacity::Member, .belongs = true}), everything);
  EXPECT_EQ(accepted_from({.capacity = Capacity::Acquaintance, .belongs = true}), unknown);
  EXPECT_EQ(accepted_from({.capacity = Capacity::Acquaintance, .belongs = true, .leads = true}),
            together({unknown, of_a_leader}));
  EXPECT_EQ(accepted_from({.capacity = Capacity::Acquaintance, .belongs = true, .leaving = true}), together({unknown, calls}));
  EXPECT_EQ(accepted_from({.capacity = Capacity::Impostor, .belongs = true}), of_another_disk);
  EXPECT_EQ(accepted_from({.capacity = Capacity::Impostor, .belongs = true, .leads = true}),
            together({of_another_disk, of_a_leader}));
  for (const Capacity capacity : {Capacity::Uninvited, Capacity::NewMember, Capacity::Impostor}) {
    EXPECT_EQ(accepted_from({.capacity = capacity, .leads = true, .leaving = true}), std::set<size_t>());
  }
}

Hello hello(uint64_t id, uint64_t store, uint64_t cluster) {
  return {.cluster_name = "test",
          .from = ReplicaId(id),
          .store = StoreId(store),
          .boot = BootCounter(9),
          .cluster = ClusterId(cluster)};
}

TEST(MembersTest, CapacityIsTheDirectoryTheConfigurationAndTheKnowledgeOfTheCluster) {
  Members members;
  const raft::Configuration configuration{.voters = {{ReplicaId(1), StoreId(101), "a"}, {ReplicaId(2), StoreId(102), "b"}}};
  const auto capacity = [&](const Hello& one) {
    members.connected(one);
    return members.capacity(one.from);
  };
  members.follow(configuration, ClusterId(7));
  EXPECT_EQ(capacity(hello(2, 102, 7)), Capacity::Member);
  EXPECT_EQ(capacity(hello(2, 102, 0)), Capacity::NewMember);
  EXPECT_EQ(members.uninitiated(), std::vector<ReplicaId>{ReplicaId(2)});
  EXPECT_EQ(capacity(hello(2, 102, 8)), Capacity::NewMember);
  EXPECT_TRUE(members.uninitiated().empty()) << "it has a cluster, if another one";
  EXPECT_EQ(capacity(hello(2, 999, 7)), Capacity::Impostor);
  EXPECT_EQ(capacity(hello(3, 103, 7)), Capacity::Acquaintance);
  EXPECT_EQ(capacity(hello(3, 103, 0)), Capacity::Uninvited);
  EXPECT_EQ(capacity(hello(3, 103, 8)), Capacity::Uninvited);
  EXPECT_EQ(members.capacity(ReplicaId(4)), Capacity::Uninvited);
}

// ---- a cluster at work, and an intruder

std::vector<Message> lies(Term term, Position last) {
  raft::Entry entry{.index = last.index.next(), .term = term, .payload = SharedBytes("lie")};
  entry.content_sum = content_sum(kOnlyGroup, entry.term, entry.index, entry.kind, entry.payload.view());
  const raft::MemberChange remove{raft::MemberChange::Kind::Remove, {.id = ReplicaId(2)}, ReplicaId()};
  std::vector<Message> messages = all_kinds();  // empty ones too
  messages.insert(messages.end(),
                  {raft::VoteRequest{.kind = raft::VoteKind::Real, .term = term, .last = {last.index, term}},
                   raft::VoteRequest{.kind = raft::VoteKind::Pre, .term = term, .last = {last.index, term}},
                   raft::VoteReply{.kind = raft::VoteKind::Real, .term = term, .granted = raft::Answer::Yes},
                   raft::AppendRequest{.term = term, .stream = 1, .previous = last, .entries = {entry}},
                   raft::AppendReply{.term = term, .stream = 1, .match = last.index},
                   raft::Heartbeat{.term = term, .stream = 1, .commit = last.index},
                   raft::HeartbeatReply{.term = term, .stream = 1}, raft::TimeoutNow{.term = term}, raft::Removed{term, last},
                   ChangeRequest{.attempt = 1, .expected = Index(1), .changes = {remove}},
                   TransferRequest{.attempt = 1, .target = ReplicaId(3), .time_left = 1s}, StateOffer{term, last, 1},
                   RecallRequest{StoreId(102), BootCounter(50), 1}, Refusal{Refusal::Why::NotLeader, term, ReplicaId(9)}});
  return messages;
}

struct Attacked {
  Attacked() : cluster(3) {
    cluster.start_all();
    leader = cluster.leader();
    EXPECT_NE(leader, 0u);
    EXPECT_EQ(cluster.run(1, "add 1"), "1");
    before = cluster.engine(leader).leadership();
  }
  // Everything, to every replica, in this role.
  void say(const Hello& who) {
    const Position last = cluster.engine(leader).status().core->last;
    for (uint64_t id = 1; id <= 3; ++id) {
      if (who.from == ReplicaId(id)) continue;
      cluster.post(id, PeerConnected{who});
      for (const Term term : {before.term, before.term.next(), Term(before.term.value() + kLeap), Term(uint64_t{1} << 62)}) {
        for (Message& lie : lies(term, last)) cluster.post(id, MessageReceived{who.from, std::move(lie)});
      }
    }
    cluster.run_until_idle();
  }
  void expect_no_effect() {
    for (uint64_t id = 1; id <= 3; ++id) {
      const EngineStatus status = cluster.engine(id).status();
      EXPECT_EQ(status.core->leadership.term, before.term) << id;
      EXPECT_EQ(status.core->leadership.leader, before.leader) << id;
      EXPECT_EQ(status.core->configuration.voters.size(), 3u) << id;
      for (const Outbound& sent : cluster.node(id).sent) EXPECT_LE(sent.to.value(), 3u) << "no answer is sent";
    }
    EXPECT_EQ(cluster.run(2, "add 1"), "2");
  }
  static constexpr uint64_t kLeap = 1000;

  Cluster cluster;
  uint64_t leader = 0;
  raft::Leadership before;
};

// Covers: FLT_S07
TEST(MessagePolicyTest, TheUninvitedAreHeardInNothing) {
  Attacked attacked;
  attacked.say(hello(9, 109, 0));
  attacked.say(hello(9, 109, 4711));
  EXPECT_GT(attacked.cluster.engine(1).status().rejected, 50u);
  attacked.expect_no_effect();
}

// Covers: FLT_S07
TEST(MessagePolicyTest, AnUnprovenClaimOfMembershipHasNoEffectAndTakesNoPlace) {
  Attacked attacked;
  const uint64_t victim = attacked.leader == 3 ? 2 : 3;
  attacked.say(hello(victim, 100 + victim, 0));
  attacked.expect_no_effect();
}

// Covers: FLT_S07
TEST(MessagePolicyTest, MessagesOfAFormerMemberHaveNoEffect) {
  Attacked attacked;
  const Hello previous = hello(9, 109, attacked.cluster.engine(1).status().cluster.value());
  const raft::MemberChange remove{raft::MemberChange::Kind::Remove, {.id = ReplicaId(2)}, ReplicaId()};
  const Index expected = attacked.cluster.engine(1).status().core->configuration_index;
  for (uint64_t id = 1; id <= 3; ++id) {
    attacked.cluster.post(id, PeerConnected{previous});
    for (Message message : {Message(ChangeRequest{.attempt = 1, .expected = expected, .changes = {remove}}),
                            Message(TransferRequest{.attempt = 1, .target = ReplicaId(2), .time_left = 1s}),
                            Message(Forward{{SharedBytes("x")}})}) {
      attacked.cluster.post(id, MessageReceived{previous.from, std::move(message)});
    }
  }
  attacked.cluster.pass(1s);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(attacked.cluster.engine(id).core()->configuration().voters.size(), 3u);
  EXPECT_EQ(attacked.cluster.leader(), attacked.leader);
}

// Covers: FLT_S08
TEST(MessagePolicyTest, ATermOutOfAllReachIsAWarningThatNamesItsSayer) {
  Attacked attacked;
  const uint64_t liar = attacked.leader == 3 ? 2 : 3;
  attacked.cluster.post(1 == liar ? 2 : 1,
                        MessageReceived{ReplicaId(liar), raft::AppendRequest{.term = Term(uint64_t{1} << 62)}});
  attacked.cluster.run_until_idle();
  const std::vector<std::string> warnings = attacked.cluster.engine(1).status().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("replica " + std::to_string(liar) + " claimed term"), std::string::npos) << warnings[0];
  attacked.expect_no_effect();
}

// Founders start out blank; until they have proved that they belong, only an invitation is sent to them.
TEST(MessagePolicyTest, ABlankReplicaIsSentOnlyAnInvitation) {
  Cluster cluster(3);
  cluster.filter = [&](ReplicaId, ReplicaId to, const Message& message) {
    const bool blank = !cluster.engine(to.value()).status().cluster;
    EXPECT_TRUE(!blank || std::holds_alternative<GenesisOffer>(message)) << message.index();
    return true;
  };
  cluster.start_all();
  EXPECT_NE(cluster.leader(), 0u);
}

}  // namespace
}  // namespace coordkit::engine
