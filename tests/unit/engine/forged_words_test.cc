// A member that lies. Its acts while it is there are outside of the promise; its words must not outlive it.
#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

constexpr Index kNever{uint64_t{1} << 62};

struct ForgedWordsTest : ThreeReplicas {
  ReplicaState state(uint64_t id) { return cluster.engine(id).status().state; }
  std::string reason(uint64_t id) { return cluster.engine(id).status().reason; }
  bool becomes(uint64_t id, ReplicaState wanted) {
    return cluster.until([&] { return state(id) == wanted; });
  }
  bool warns(uint64_t id, const std::string& what) {
    const std::vector<std::string> warnings = cluster.engine(id).status().warnings;
    return std::ranges::any_of(warnings, [&](const std::string& one) { return one.find(what) != std::string::npos; });
  }
  void say(uint64_t from, uint64_t to, Message message) {
    cluster.post(to, MessageReceived{ReplicaId(from), std::move(message)});
    cluster.run_until_idle();
  }
  void lose_answers_of(std::set<uint64_t> silent) {
    cluster.filter = [silent](ReplicaId by, ReplicaId, const Message& message) {
      return !std::holds_alternative<RecallReply>(message) || !silent.contains(by.value());
    };
  }
  // `follower` starts again, and `third` is the first to answer, with a lie.
  void restart_and_hear(const PeerMark& lie) {
    cluster.crash(follower);
    lose_answers_of({leader, third});
    cluster.start(follower);
    cluster.run_until_idle();
    remember(lie);
  }
  RecallRequest question() {
    for (const Outbound& out : cluster.node(follower).sent) {
      if (const auto* asked = std::get_if<RecallRequest>(&out.message)) return *asked;
    }
    ADD_FAILURE() << "nobody was asked";
    return {};
  }
  void remember(PeerMark known) {
    known.store = question().store;
    say(third, follower, RecallReply{question(), known, {}});
  }
  // The leader, which has lied, is gone.
  void leader_goes() {
    cluster.crash(leader);
    ASSERT_TRUE(cluster.until([&] {
      return cluster.engine(follower).leadership().leader && cluster.engine(third).leadership().leader &&
             cluster.engine(follower).leadership().leader != ReplicaId(leader);
    }));
  }
};

// Covers: FLT_S12
TEST_F(ForgedWordsTest, AClaimThatNoDiskCanHaveHeldIsIgnored) {
  const Term term = cluster.engine(follower).leadership().term;
  for (const PeerMark& known : {PeerMark{.term = term, .match = {kNever, term}}, PeerMark{.term = Term(kNever.value())},
                                PeerMark{.boot = BootCounter(kNever.value())}}) {
    restart_and_hear(known);
    EXPECT_EQ(state(follower), ReplicaState::Starting) << reason(follower);
    EXPECT_TRUE(warns(follower,
                      "replica " + std::to_string(third) + " claims to remember something of this disk that was never there"));
    cluster.filter = {};
    ASSERT_TRUE(becomes(follower, ReplicaState::Ready)) << reason(follower);
  }
}

// Covers: FLT_S12
TEST_F(ForgedWordsTest, AClaimKeepsADiskAsideUntilItIsTakenBack) {
  const Term term = cluster.engine(follower).leadership().term;
  restart_and_hear({.term = term, .match = {Index(1000), term}});
  ASSERT_EQ(state(follower), ReplicaState::Quarantine);
  lose_answers_of({third});
  cluster.pass(5s);
  ASSERT_EQ(state(follower), ReplicaState::Quarantine) << "whatever the others say";
  EXPECT_TRUE(warns(leader, "is in quarantine and does not vote")) << "and they say it";
  const Ticket refused = cluster.submit(follower, "add 1");
  cluster.pass(100ms);
  EXPECT_EQ(reason_of(cluster.ended(follower, refused).status), Reason::NotReady);
  cluster.filter = {};  // the liar is gone, and an honest process has its place
  ASSERT_TRUE(becomes(follower, ReplicaState::Ready)) << reason(follower);
  EXPECT_FALSE(warns(leader, "is in quarantine"));
  EXPECT_EQ(cluster.run(follower, "add 1"), "1");
}

// Covers: FLT_S12
TEST_F(ForgedWordsTest, AnOfferedStateIsNotWaitedForUnderTheNextLeader) {
  const Term term = cluster.engine(leader).leadership().term;
  for (const uint64_t id : {follower, third}) {
    say(leader, id, StateOffer{.term = term, .at = {kNever, term}});
    EXPECT_EQ(state(id), ReplicaState::CatchingUp);
  }
  leader_goes();
  ASSERT_TRUE(becomes(follower, ReplicaState::Ready)) << reason(follower);
  ASSERT_TRUE(becomes(third, ReplicaState::Ready)) << reason(third);
}

// Covers: FLT_S12
TEST_F(ForgedWordsTest, ACommitIndexThatIsNeverReachedEndsWithItsLeader) {
  const Term term = cluster.engine(leader).leadership().term;
  for (const uint64_t id : {follower, third}) {
    say(leader, id, raft::Heartbeat{.term = term, .stream = 1, .round = 1, .committed = kNever});
  }
  leader_goes();
  cluster.pass(10s);
  for (const uint64_t id : {follower, third}) {
    EXPECT_EQ(state(id), ReplicaState::Ready) << reason(id);
    EXPECT_LT(cluster.engine(id).core()->leader_commit(), kNever);
    EXPECT_LE(cluster.now() - cluster.engine(id).core()->fresh_at().value_or(LaggingTime()), 1s);
  }
}

// Covers: FLT_S12
TEST_F(ForgedWordsTest, AReadThatALeaderSentToNowhereIsAskedAgain) {
  cluster.filter = [](ReplicaId, ReplicaId, const Message& message) {
    return !std::holds_alternative<ReadIndexReply>(message);
  };
  const Ticket read = cluster.ask(follower, "total", Consistency::Linearizable, 60s);
  cluster.run_until_idle();
  uint64_t asked = 0;
  for (const Outbound& out : cluster.node(follower).sent) {
    if (const auto* question = std::get_if<ReadIndexRequest>(&out.message)) asked = question->id;
  }
  ASSERT_NE(asked, 0u);
  say(leader, follower, ReadIndexReply{asked, raft::Answer::Yes, kNever});
  cluster.filter = {};
  cluster.pass(2s);
  EXPECT_EQ(cluster.answers(follower, read), 0u);
  leader_goes();
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, read) > 0; }));
  EXPECT_TRUE(cluster.ended(follower, read).status.ok()) << cluster.ended(follower, read).status;
}

}  // namespace
}  // namespace coordkit::engine
