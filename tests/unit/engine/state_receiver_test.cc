#include "engine/transfer/state_receiver.h"

#include <gtest/gtest.h>

#include <map>

#include "base/row_map.h"
#include "base/row_sums.h"

namespace coordkit::engine {
namespace {

using namespace std::chrono_literals;

// A leader's rows, and a store that does what it is told.
struct StateReceiverTest : ::testing::Test {
  static constexpr Term kTerm{7};
  const ReplicaId leader{2};
  EngineOptions options;
  StateReceiver receiver{options};
  RowsByKey rows{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}};
  RowsByKey staged;
  LaggingTime now{1s};
  std::optional<InstallState> install;
  std::vector<Outbound> sends;
  size_t forgotten = 0;
  bool stages = true;  // false: the store is slow
  std::vector<Ticket> unstaged;
  StateReceiver::May may = StateReceiver::May::Install;

  StateOffer offer(uint64_t index, Term term = kTerm) { return {term, {Index(index), Term(3)}, digest_of(rows)}; }
  void collect(ReplicaId peer = ReplicaId(2), Term term = kTerm) {
    sends.clear();
    std::vector<StagingOrder> orders;
    receiver.collect(peer, term, may, now, orders, sends);
    for (const StagingOrder& order : orders) {
      if (const auto* stage = std::get_if<StageRange>(&order)) {
        if (!stages) {
          unstaged.push_back(stage->ticket);
          continue;
        }
        std::erase_if(staged, [&](const auto& row) { return stage->rows.range.contains(row.first); });
        for (const auto& row : stage->rows.rows) staged[row.key] = *row.value;
        receiver.staged(stage->ticket);
      } else if (const auto* wanted = std::get_if<InstallState>(&order)) {
        install = *wanted;
      } else {
        staged.clear();
        ++forgotten;
      }
    }
  }
  const StateRequest* question() const { return sends.empty() ? nullptr : std::get_if<StateRequest>(&sends.back().message); }
  // The answer of a sender with `per_chunk` rows at a time.
  StateChunk answer(const StateRequest& asked, size_t per_chunk = 2) const {
    StateChunk chunk{asked.term, asked.at, {.range = asked.range}};
    auto& out = chunk.rows;
    bool whole = true;
    for (const auto& [key, value] : rows) {
      if (!asked.range.contains(key)) continue;
      if (out.rows.size() == per_chunk) {
        whole = false;
        break;
      }
      out.rows.push_back({key, value});
    }
    if (!whole) out.range.upto = out.rows.back().key;
    out.sum = chunk_sum(out.range, out.rows);
    out.same = whole && asked.sum == out.sum;
    if (out.same) out.rows.clear();
    return chunk;
  }
  // Questions and answers until nothing is asked; returns how many chunks had rows.
  size_t fetch(Term term = kTerm) {
    size_t with_rows = 0;
    for (collect(leader, term); question(); collect(leader, term)) {
      StateChunk chunk = answer(*question());
      with_rows += !chunk.rows.same;
      receiver.received(leader, std::move(chunk));
    }
    collect(leader, term);
    return with_rows;
  }
};

TEST_F(StateReceiverTest, FetchesRangeByRangeAndInstalls) {
  receiver.offered(leader, offer(50), now);
  EXPECT_EQ(fetch(), 3u);
  EXPECT_EQ(staged, rows);
  ASSERT_TRUE(install);
  EXPECT_EQ(install->at, offer(50).at);
  EXPECT_EQ(install->digest, digest_of(rows));
  EXPECT_TRUE(receiver.installing());
}

TEST_F(StateReceiverTest, TheNextRangeIsFetchedWhileOneIsStagedAndNoneAfterThat) {
  stages = false;
  receiver.offered(leader, offer(50), now);
  collect();
  receiver.received(leader, answer(*question(), 1));
  collect();
  ASSERT_TRUE(question());
  receiver.received(leader, answer(*question(), 1));
  collect();
  EXPECT_EQ(unstaged.size(), 2u);
  EXPECT_FALSE(question()) << "memory is bounded";
  receiver.staged(unstaged[0]);
  collect();
  ASSERT_TRUE(question());
  receiver.received(leader, answer(*question(), 5));
  collect();
  receiver.staged(unstaged[1]);
  collect();
  EXPECT_FALSE(install) << "the last one is still on its way to the disk";
  receiver.staged(unstaged[2]);
  collect();
  EXPECT_TRUE(install);
}

TEST_F(StateReceiverTest, AnotherPositionIsComparedAndOnlyWhatChangedIsFetched) {
  receiver.offered(leader, offer(50), now);
  may = StateReceiver::May::Wait;
  fetch();
  rows["c"] = "33";
  rows["dd"] = "new";
  rows.erase("a");
  const StateOffer next = offer(60, Term(8));
  receiver.offered(leader, next, now);
  may = StateReceiver::May::Install;
  EXPECT_EQ(fetch(Term(8)), 3u) << "(,b] and (b,d], which is cut in two";
  EXPECT_EQ(staged, rows);
  ASSERT_TRUE(install);
  EXPECT_EQ(install->at, next.at);
}

// Covers: REG_R70
TEST_F(StateReceiverTest, AnOfferOfANewerTermReplacesOneThatStandsStill) {
  receiver.offered(leader, offer(50), now);
  collect();
  ASSERT_TRUE(question());
  receiver.offered(ReplicaId(3), offer(40, Term(9)), now);
  collect(ReplicaId(3), Term(9));
  ASSERT_TRUE(question());
  EXPECT_EQ(sends.back().to, ReplicaId(3));
  EXPECT_EQ(question()->at.index, Index(40));
}

// Covers: REG_R69
TEST_F(StateReceiverTest, NothingReplacesAnInstall) {
  receiver.offered(leader, offer(50), now);
  fetch();
  ASSERT_TRUE(install);
  rows["z"] = "9";
  receiver.offered(leader, offer(60, Term(8)), now);
  receiver.drop();
  EXPECT_EQ(receiver.offer()->at.index, Index(50));
  receiver.installed();
  EXPECT_TRUE(receiver.building());
  receiver.restored();
  EXPECT_FALSE(receiver.offer());
}

TEST_F(StateReceiverTest, ACheckpointUnderWayIsWaitedFor) {
  may = StateReceiver::May::Wait;
  receiver.offered(leader, offer(50), now);
  fetch();
  EXPECT_FALSE(install);
  may = StateReceiver::May::Install;
  collect();
  EXPECT_TRUE(install);
}

// Covers: REG_R72
TEST_F(StateReceiverTest, QuestionsAreRepeatedEverMoreSlowly) {
  receiver.offered(leader, offer(50), now);
  size_t asked = 0;
  for (int i = 0; i < 600; ++i, now += 1s) {
    collect();
    asked += question() != nullptr;
  }
  EXPECT_GE(asked, 10u);
  EXPECT_LE(asked, 20u);
  receiver.reconnected(leader);
  collect();
  EXPECT_TRUE(question()) << "at once over a new connection";
}

TEST_F(StateReceiverTest, ALoaderSaysSoAgainAndAgain) {
  receiver.offered(leader, offer(50), now);
  fetch();
  size_t loading = 0;
  for (int i = 0; i < 100; ++i, now += options.raft.election_timeout / 2) {
    collect();
    loading += !sends.empty() && std::holds_alternative<StateLoading>(sends.back().message);
  }
  EXPECT_GE(loading, 49u);
  EXPECT_LE(loading, 51u);
}

TEST_F(StateReceiverTest, WhatDoesNotAnswerTheQuestionIsNotStaged) {
  receiver.offered(leader, offer(50), now);
  collect();
  const StateRequest asked = *question();
  const StateChunk good = answer(asked);
  std::vector<StateChunk> bad(9, good);
  bad[0].term = Term(6);
  bad[1].at.index = Index(51);
  bad[2].rows.range.after = "A";
  bad[3].rows.sum ^= 1;
  *bad[4].rows.rows[0].value += "?";
  bad[5].rows.rows[0].key = "z";
  std::swap(bad[6].rows.rows[0], bad[6].rows.rows[1]);
  bad[7].rows.same = true;
  bad[7].rows.rows.clear();
  bad[8].rows.rows[0].value.reset();
  for (StateChunk& chunk : bad) receiver.received(leader, std::move(chunk));
  receiver.received(ReplicaId(3), good);
  collect();
  EXPECT_TRUE(staged.empty());
  receiver.received(leader, good);
  collect();
  EXPECT_EQ(staged.size(), 2u);
}

TEST_F(StateReceiverTest, ARefusedInstallBeginsAnewWithTheNextOffer) {
  receiver.offered(leader, offer(50), now);
  fetch();
  receiver.refused();
  install.reset();
  staged.clear();
  collect();
  EXPECT_FALSE(question());
  receiver.offered(leader, offer(50), now);
  EXPECT_EQ(fetch(), 3u);
  EXPECT_TRUE(install);
}

TEST_F(StateReceiverTest, DroppingForgetsWhatIsStagedAndNothingIsAskedAnyMore) {
  receiver.offered(leader, offer(50), now);
  collect();
  receiver.received(leader, answer(*question()));
  collect();
  receiver.drop();
  collect();
  EXPECT_EQ(forgotten, 1u);
  EXPECT_FALSE(question());
  EXPECT_EQ(receiver.next_deadline(), LaggingTime::max());
}

TEST_F(StateReceiverTest, NobodyIsAskedButTheOneWhoOffered) {
  receiver.offered(leader, offer(50), now);
  collect(ReplicaId(3), kTerm);
  EXPECT_FALSE(question());
  collect(leader, Term(8));
  EXPECT_FALSE(question());
  EXPECT_EQ(receiver.next_deadline(), LaggingTime::max());
  collect();
  EXPECT_TRUE(question());
}

}  // namespace
}  // namespace coordkit::engine
