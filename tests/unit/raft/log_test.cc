// The log's parts against naive twins: term runs, the cache, the marks of the disk, a peer's progress.
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "raft/log/entry_codec.h"
#include "raft/log/write_queue.h"
#include "raft/progress.h"
#include "solo.h"

namespace coordkit::raft::testing {
namespace {

TEST(TermRunsTest, AgreeWithAMapThroughAnyHistory) {
  Random random(3);
  for (int run = 0; run < 50; ++run) {
    const Position base = random.chance(0.5) ? Position{} : at(10, 2);
    TermRuns runs(base);
    std::map<uint64_t, uint64_t> twin{{base.index.value(), base.term.value()}};
    for (int i = 0; i < 200; ++i) {
      const Position last = runs.last();
      if (random.chance(0.8)) {
        const Term term(std::max<uint64_t>(1, last.term.value()) + (random.chance(0.2) ? random.between(1, 3) : 0));
        runs.append({last.index.next(), term});
        twin[last.index.value() + 1] = term.value();
      } else if (random.chance(0.5)) {
        const Index keep(random.between(runs.base().index.value(), last.index.value()));
        runs.truncate_after(keep);
        twin.erase(twin.upper_bound(keep.value()), twin.end());
      } else {
        const Index through(random.between(runs.base().index.value(), last.index.value()));
        runs.compact(through);
        twin.erase(twin.begin(), twin.find(through.value()));
      }
      ASSERT_EQ(runs.base().index.value(), twin.begin()->first);
      ASSERT_EQ(runs.last(), at(twin.rbegin()->first, twin.rbegin()->second));
      const uint64_t probe = random.below(twin.rbegin()->first + 3);
      ASSERT_EQ(runs.at(Index(probe)), twin.contains(probe) ? std::optional(Term(twin[probe])) : std::nullopt);
      const uint64_t term = random.below(twin.rbegin()->second + 2);
      Position expected = runs.base();
      for (const auto& [index, t] : twin) {
        if (index <= std::max(probe, twin.begin()->first) && t <= term) expected = at(index, t);
      }
      ASSERT_EQ(runs.last_not_above(Index(probe), Term(term)), expected);
    }
  }
}

TEST(LogCacheTest, EvictsAppliedEntriesOnlyAndKeepsTheirTerms) {
  LogCache log({}, {}, {}, log_of(3, {1, 1, 2, 2, 3}));
  log.evict(Index(3), 0);
  EXPECT_EQ(log.first_cached(), Index(4));
  EXPECT_TRUE(log.cached(Index(3), Index(6), 1000).empty());
  EXPECT_EQ(log.cached(Index(4), Index(6), 1000).size(), 3u);
  EXPECT_EQ(log.cached(Index(4), Index(6), 0).size(), 1u);
  EXPECT_EQ(log.term_at(Index(3)), Term(1));
  log.compact(Index(5));
  EXPECT_EQ(log.base(), at(5, 2));
  EXPECT_EQ(log.term_at(Index(4)), std::nullopt);
  EXPECT_EQ(log.cached(Index(6), Index(6), 1000).front().term, Term(3));
}

// Covers: REG_R34 REG_R38
TEST(LogCacheTest, ConfigurationTakesEffectOnAppendAndIsUndoneByTruncationAlsoAtTheBase) {
  LogCache log({}, {}, {}, log_of(3, {1, 1}));
  EXPECT_EQ(log.in_force().configuration.voters.size(), 3u);
  const std::string five = encode(genesis_of(5).configuration);
  log.append(make_entry(Index(4), Term(2), EntryKind::Configuration, five));
  EXPECT_EQ(log.in_force().configuration.voters.size(), 5u);
  EXPECT_EQ(log.in_force().at.index, Index(4));
  log.compact(Index(3));
  log.truncate_after(Index(3));
  EXPECT_EQ(log.in_force().configuration.voters.size(), 3u);
}

TEST(WriteQueueTest, OneWriteMergesATurnAndCoversExactlyWhatItHolds) {
  LogCache log({}, {}, {}, log_of(3, {1, 1}));
  WriteQueue disk({Term(1), {}}, log.last().index);
  EXPECT_EQ(disk.covering(Index(3)), WriteNumber());
  disk.set_hard_state({Term(2), ReplicaId(2)});
  log.append(command(4, 2));
  EXPECT_EQ(disk.covering(Index(4)), WriteNumber(1));
  EXPECT_EQ(disk.covering(Index(3)), WriteNumber());
  EXPECT_EQ(disk.covering_vote(), WriteNumber(1));
  const auto write = disk.take(log);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->number, WriteNumber(1));
  EXPECT_EQ(write->entries.size(), 1u);
  EXPECT_FALSE(disk.take(log));
  log.append(command(5, 2));
  ASSERT_TRUE(disk.take(log));
  EXPECT_EQ(disk.covering(Index(4)), WriteNumber(1));
  EXPECT_EQ(disk.covering(Index(5)), WriteNumber(2));
  disk.written(WriteNumber(1));
  EXPECT_EQ(disk.durable(), Index(4));
  EXPECT_EQ(disk.covering_vote(), WriteNumber());
}

TEST(WriteQueueTest, ATruncationTakesBackWhatEarlierWritesUnderWayPromise) {
  LogCache log({}, {}, {}, log_of(3, {1}));
  WriteQueue disk({Term(1), {}}, log.last().index);
  for (uint64_t i = 3; i <= 6; ++i) log.append(command(i, 1));
  ASSERT_TRUE(disk.take(log));
  log.truncate_after(Index(4));
  disk.truncated_after(Index(4));
  log.append(command(5, 2));
  const auto write = disk.take(log);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->truncate_after, Index(4));
  EXPECT_EQ(disk.covering(Index(5)), WriteNumber(2));
  disk.written(WriteNumber(1));
  EXPECT_EQ(disk.durable(), Index(4));
  disk.written(WriteNumber(2));
  EXPECT_EQ(disk.durable(), Index(5));
}

// Covers: REG_R26
TEST(WriteQueueTest, AnyOrderOfCompletionsEndsAtTheSameMark) {
  for (const auto& order : {std::vector<uint64_t>{1, 2, 3}, {3}, {2, 1, 3}, {3, 2, 1}, {1, 1, 3, 3}}) {
    LogCache log({}, {}, {}, log_of(3, {}));
    WriteQueue disk({Term(1), {}}, log.last().index);
    for (uint64_t i = 2; i <= 4; ++i) {
      log.append(command(i, 1));
      ASSERT_TRUE(disk.take(log));
    }
    for (const uint64_t number : order) disk.written(WriteNumber(number));
    EXPECT_EQ(disk.durable(), Index(4));
  }
}

// Covers: INV_R03
TEST(WriteQueueTest, HardStateNeverGoesBack) {
  WriteQueue disk({Term(5), ReplicaId(2)}, Index(1));
  EXPECT_THROW(disk.set_hard_state({Term(4), {}}), CheckFailure);
  EXPECT_THROW(disk.set_hard_state({Term(5), ReplicaId(3)}), CheckFailure);
  EXPECT_THROW(disk.set_hard_state({Term(5), ReplicaId()}), CheckFailure);
  EXPECT_NO_THROW(disk.set_hard_state({Term(6), ReplicaId(3)}));
  EXPECT_THROW(disk.written(WriteNumber(2)), CheckFailure);
}

// Covers: REG_R29
TEST(ProgressTest, NextStaysAboveMatchThroughAnyAnswers) {
  Random random(5);
  for (int run = 0; run < 200; ++run) {
    Progress peer(ReplicaId(2), StoreId(), AppendWindow(4, 100), Index(random.between(1, 20)), LaggingTime());
    for (int i = 0; i < 50; ++i) {
      const Index match_before = peer.match;
      bool restarted = false;
      switch (random.below(4)) {
        case 0: peer.accepted(Index(random.below(30)), LaggingTime()); break;
        case 1: {
          const Index rejected(random.below(30));
          if (peer.current_rejection(rejected)) peer.probe_from(Index(random.between(1, rejected.value())));
          break;
        }
        case 2:
          if (peer.state == Progress::State::Stream && !peer.window.full()) {
            peer.next = peer.next.next();
            peer.window.sent(peer.next.previous(), 40, LaggingTime());
          }
          break;
        default:
          restarted = random.chance(0.2);
          if (restarted) peer.restart(peer.stream + 1);
      }
      ASSERT_LT(peer.match, peer.next) << "INV_R18";
      ASSERT_TRUE(restarted || peer.match >= match_before) << "INV_R18";
    }
  }
}

// Covers: FLT_N03
TEST(ProgressTest, RejectionBelowMatchOrOfAnotherProbeIsStale) {
  Progress peer(ReplicaId(2), StoreId(), AppendWindow(4, 100), Index(9), LaggingTime());
  EXPECT_TRUE(peer.current_rejection(Index(8)));
  EXPECT_FALSE(peer.current_rejection(Index(7)));
  peer.accepted(Index(5), LaggingTime());
  EXPECT_FALSE(peer.current_rejection(Index(5)));
  EXPECT_FALSE(peer.current_rejection(Index(8)));
}

}  // namespace
}  // namespace coordkit::raft::testing
