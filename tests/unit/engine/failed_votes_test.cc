// A vote and a term are promises only once they are on disk: an error at each single write that stores one of them.
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/engine/engine_cluster.h"

namespace coordkit::engine {
namespace {

enum class Failed : uint8_t { NotWritten, WrittenAllTheSame };

// The leader is cut off twice, so that all vote, campaign and learn of later terms.
struct FailedVotes {
  FailedVotes(size_t at, Failed how) {
    cluster.fails = [this, at, how](ReplicaId id, const LogWrite& write) {
      if (!write.hard_state || seen++ != at) return Cluster::Write::Succeeds;
      victim = id.value();
      lost = *write.hard_state;
      return how == Failed::NotWritten ? Cluster::Write::Fails : Cluster::Write::FailsAfterAll;
    };
    cluster.filter = [this](ReplicaId from, ReplicaId to, const Message& message) {
      note(from, message);
      return from.value() != cut && to.value() != cut;
    };
  }
  void run() {
    cluster.start_all();
    for (int round = 0; round < 2; ++round) {
      cluster.pass(3s);
      cut = cluster.leader();
      cluster.pass(3s);
      cut = 0;
    }
    cluster.pass(3s);
  }
  // A vote that leaves must be on its voter's disk; and a leader of its term is known to all by its messages.
  void note(ReplicaId from, const Message& message) {
    const raft::HardState& disk = cluster.node(from.value()).disk.hard_state;
    if (const auto* vote = std::get_if<raft::VoteReply>(&message)) {
      if (vote->kind != raft::VoteKind::Real || vote->granted != raft::Answer::Yes) return;
      EXPECT_TRUE(disk.term > vote->term || (disk.term == vote->term && disk.vote)) << "a vote that is on no disk";
    } else if (const auto* request = std::get_if<raft::VoteRequest>(&message)) {
      EXPECT_TRUE(request->kind == raft::VoteKind::Pre || disk.term >= request->term) << "a campaign in a term on no disk";
    } else if (const auto* beat = std::get_if<raft::Heartbeat>(&message)) {
      const auto [leader, first] = leaders.try_emplace(beat->term, from);
      EXPECT_EQ(leader->second, from) << "two leaders in term " << beat->term.value();
    }
  }

  Cluster cluster{3};
  size_t seen = 0;      // writes of hard states
  uint64_t victim = 0;  // whose write failed; zero: none did
  uint64_t cut = 0;
  raft::HardState lost;
  std::map<Term, ReplicaId> leaders;
};

// Covers: REG_R88
TEST(FailedVotesTest, AnErrorAtAnyWriteOfAVoteOrATermEndsTheReplicaAndNothingWasPromised) {
  size_t failed = 0;
  for (const Failed how : {Failed::NotWritten, Failed::WrittenAllTheSame}) {
    for (size_t at = 0;; ++at) {
      FailedVotes run(at, how);
      run.run();
      if (run.victim == 0) break;
      ++failed;
      Cluster& cluster = run.cluster;
      ASSERT_TRUE(cluster.node(run.victim).halted) << at;
      EXPECT_EQ(cluster.node(run.victim).sent_after_halt, 0u);
      const bool stored = how == Failed::WrittenAllTheSame;
      EXPECT_EQ(cluster.node(run.victim).disk.hard_state == run.lost, stored) << at;

      bool founded = true;  // or the others wait for the founder
      for (uint64_t id = 1; id <= 3; ++id) founded = founded && !cluster.node(id).disk.entries.empty();
      EXPECT_TRUE(cluster.leader() != 0 || !founded) << "the others go on, after write " << at;
      cluster.crash(run.victim);
      cluster.start(run.victim);
      ASSERT_TRUE(cluster.until([&] { return cluster.engine(run.victim).status().state == ReplicaState::Ready; })) << at;
      const std::string before = cluster.read(run.victim);
      EXPECT_EQ(cluster.run(run.victim, "add 1"), std::to_string(std::stoi(before) + 1));
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(failed, 20u);
}

}  // namespace
}  // namespace coordkit::engine
