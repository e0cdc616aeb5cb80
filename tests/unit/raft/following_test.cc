// The follower's half: what it accepts, what it acknowledges, what it never gives up.
#include <gtest/gtest.h>

#include "base/check.h"
#include "solo.h"

namespace coordkit::raft::testing {
namespace {

// Covers: REG_R05
TEST(FollowerTest, AFollowerAcknowledgesWhatTheRequestProvedNotItsOwnSuffix) {
  Solo solo(3, {2, 2, 2, 2});  // last 5@2
  solo.receive(2, solo.append(3, at(2, 2), {command(3, 2, "e2")}));
  EXPECT_EQ(solo.only<AppendReply>(2).match, Index(3));
  EXPECT_EQ(solo.last(), Index(5)) << "nothing contradicted the rest";
  solo.receive(2, Heartbeat{.term = Term(3), .stream = 1, .round = 1});
  EXPECT_EQ(solo.only<HeartbeatReply>(2).match, Index(3));
}

// Covers: REG_R17
TEST(FollowerTest, AcceptanceWaitsForEveryEntryUpToItsMatchAlsoIfThisRequestWroteNothing) {
  Solo solo(3);
  solo.receive(2, solo.append(1, at(1, 1), {command(2, 1)}));
  ASSERT_TRUE(solo.effects.write);
  const WriteNumber write = solo.effects.write->number;
  EXPECT_EQ(solo.effects.sends.at(0).after, write);
  solo.receive(2, solo.append(1, at(1, 1), {command(2, 1)}));  // repeated
  EXPECT_FALSE(solo.effects.write);
  EXPECT_EQ(solo.effects.sends.at(0).after, write);
  solo.written();
  solo.receive(2, solo.append(1, at(1, 1), {command(2, 1)}));
  EXPECT_EQ(solo.effects.sends.at(0).after, WriteNumber());
}

// Covers: REG_R19
TEST(FollowerTest, ADelayedAppendCutsNothingThatMatches) {
  Solo solo(3, {2, 2, 2});  // last 4@2
  solo.receive(2, solo.append(2, at(1, 1), {command(2, 2, "e2")}));
  EXPECT_EQ(solo.last(), Index(4));
  EXPECT_FALSE(solo.effects.write);
  solo.receive(2, solo.append(3, at(2, 2), {command(3, 3)}));
  EXPECT_EQ(solo.last(), Index(3));
  EXPECT_EQ(solo.effects.write->truncate_after, Index(2));
}

// Covers: REG_R19 INV_R10
TEST(FollowerTest, CommittedEntriesAreNeverTruncated) {
  Solo solo(3, {2, 2, 2});
  solo.receive(2, solo.append(2, at(4, 2), {}, 4));
  ASSERT_EQ(solo.core().commit(), Index(4));
  solo.receive(2, solo.append(9, at(1, 1), {command(2, 9)}));
  EXPECT_EQ(solo.effects.contradiction, (Contradiction{ReplicaId(2), Term(9), at(2, 9), at(2, 2)}));
  EXPECT_EQ(solo.last(), Index(4));
  EXPECT_TRUE(solo.sent<AppendReply>(2).empty());
}

// 4@2 is the base; 5@2 and 6@2 are committed.
// Covers: FLT_P27
TEST(FollowerTest, WhatContradictsACommittedEntryIsNeverAcknowledgedAlsoBeforeTheBase) {
  Recovered recovered{
      .hard_state = {Term(2), {}}, .base = at(4, 2), .configuration = genesis_of(3).configuration, .applied = at(4, 2)};
  for (uint64_t i = 5; i <= 7; ++i) recovered.entries.push_back(command(i, 2));
  struct Case {
    Position previous = {};
    std::vector<uint64_t> terms = {};     // of the entries after it
    std::optional<Position> theirs = {};  // that contradicts
    Position ours = {};
  };
  const Case cases[] = {{at(0, 0), {1, 2, 2}},
                        {at(3, 1), {}},
                        {at(3, 2), {2, 2, 2, 5}},
                        {at(6, 2), {5}},
                        {at(7, 3), {5}},  // not committed: a conflict like any other
                        {at(6, 3), {}, at(6, 3), at(6, 2)},
                        {at(5, 1), {5}, at(5, 1), at(5, 2)},
                        {at(4, 3), {5}, at(4, 3), at(4, 2)},
                        {at(3, 3), {5}, at(3, 3), at(4, 2)},
                        {at(2, 1), {3}, at(3, 3), at(4, 2)},
                        {at(1, 1), {1, 1, 1}, at(4, 1), at(4, 2)},
                        {at(4, 2), {2, 5}, at(6, 5), at(6, 2)}};
  for (const Case& c : cases) {
    Solo solo(recovered);
    solo.receive(2, solo.append(3, at(6, 2), {}, 6));
    ASSERT_EQ(solo.core().commit(), Index(6));
    std::vector<Entry> entries;
    for (const uint64_t term : c.terms) entries.push_back(command(c.previous.index.value() + entries.size() + 1, term));
    solo.receive(3, solo.append(5, c.previous, entries));
    const std::string name = std::to_string(c.previous.index.value()) + "@" + std::to_string(c.previous.term.value());
    EXPECT_EQ(solo.effects.contradiction.has_value(), c.theirs.has_value()) << name;
    EXPECT_EQ(solo.sent<AppendReply>(3).size(), c.theirs ? 0U : 1U) << name;
    if (!c.theirs || !solo.effects.contradiction) continue;
    EXPECT_EQ(*solo.effects.contradiction, (Contradiction{ReplicaId(3), Term(5), *c.theirs, c.ours})) << name;
    EXPECT_EQ(solo.last(), Index(7)) << name;
  }
}

// One place in the log, one term, other contents: that term had two leaders.
// Covers: FLT_P27
TEST(FollowerTest, OtherContentsAtAnEqualPositionAreNeverAcknowledged) {
  const Contradiction found{ReplicaId(3), Term(5), at(3, 2), at(3, 2)};
  {
    Solo solo(3, {2, 2});
    solo.receive(3, solo.append(5, at(2, 2), {command(3, 2, "other"), command(4, 5)}));
    EXPECT_EQ(solo.effects.contradiction, found);
    EXPECT_TRUE(solo.sent<AppendReply>(3).empty());
  }
  const uint64_t own = command(3, 2, "e2").content_sum, others = command(3, 2, "other").content_sum;
  for (const uint64_t sum : {uint64_t{0}, own, others}) {
    Solo solo(3, {2, 2});
    AppendRequest probe = solo.append(5, at(3, 2), {command(4, 5)});
    probe.previous_sum = sum;
    solo.receive(3, probe);
    EXPECT_EQ(solo.effects.contradiction, sum == others ? std::optional(found) : std::nullopt) << sum;
    EXPECT_EQ(solo.sent<AppendReply>(3).size(), sum == others ? 0U : 1U) << sum;
  }
}

// 4@2 is the base. A leader of the term in which it was committed had it from then on, and so has one of any later term.
// Covers: FLT_P27
TEST(FollowerTest, ALeaderWhoseLogEndsBeforeWhatWasCommittedIsNotAcknowledged) {
  const Recovered recovered{
      .hard_state = {Term(2), {}}, .base = at(4, 2), .configuration = genesis_of(3).configuration, .applied = at(4, 2)};
  for (const uint64_t term : {2, 3}) {
    for (const uint64_t last : {0, 3, 4, 9}) {  // 0: an older build does not say it
      Solo solo(recovered);
      AppendRequest probe = solo.append(term, at(3, 2), {});
      probe.last = Index(last);
      solo.receive(2, probe);
      const bool ends_early = last == 3;
      const Contradiction found{ReplicaId(2), Term(term), {Index(3), Term()}, at(4, 2)};
      EXPECT_EQ(solo.effects.contradiction, ends_early ? std::optional(found) : std::nullopt) << term << ' ' << last;
      EXPECT_EQ(solo.sent<AppendReply>(2).size(), ends_early ? 0U : 1U) << term << ' ' << last;
    }
  }
}

// A delayed probe of the one leader of the term, from before it had what it committed since.
// Covers: FLT_P27
TEST(FollowerTest, AProbeThatWasSentBeforeTheLeaderHadMoreContradictsNothing) {
  Solo solo(3, {2, 2});
  AppendRequest probe = solo.append(2, at(2, 2), {});
  probe.last = Index(2);
  solo.receive(2, solo.append(2, at(3, 2), {command(4, 2)}, 4));
  ASSERT_EQ(solo.core().commit(), Index(4));
  solo.receive(2, probe);
  EXPECT_FALSE(solo.effects.contradiction);
  probe.term = Term(3);
  solo.receive(3, probe);
  EXPECT_TRUE(solo.effects.contradiction) << "a later term began, and its leader must have all that was committed before";
}

// What the first leader of a term has proved must not count for a second one, not even when the first is gone.
// Covers: FLT_P27
TEST(FollowerTest, ASecondLeaderOfTheTermIsNeverFollowed) {
  for (const bool leads : {false, true}) {
    Solo solo(3);
    leads ? solo.lead({2}) : void(solo.receive(2, Heartbeat{.term = Term(4)}));
    const Term term = solo.term();
    solo.written();
    for (int i = 0; i < 20 && solo.core().leadership().leader; ++i) leads ? solo.heartbeat_interval() : solo.timeout();
    ASSERT_EQ(solo.core().leadership().leader, ReplicaId());
    ASSERT_EQ(solo.term(), term);
    const Index last = solo.last();
    solo.receive(3, Heartbeat{.term = term});
    solo.receive(3, solo.append(term.value(), at(1, 1), {command(2, term.value())}));
    EXPECT_TRUE(solo.effects.sends.empty());
    EXPECT_EQ(solo.last(), last);
    EXPECT_EQ(solo.core().leadership().leader, ReplicaId());
    solo.receive(3, Heartbeat{.term = term.next()});
    EXPECT_EQ(solo.core().leadership().leader, ReplicaId(3));
  }
}

// Covers: REG_R21
TEST(FollowerTest, APreviousPositionAtZeroOrTheBaseIsJudgedLikeAnyOther) {
  Recovered recovered{
      .hard_state = {Term(2), {}}, .base = at(4, 2), .configuration = genesis_of(3).configuration, .applied = at(5, 2)};
  for (uint64_t i = 5; i <= 6; ++i) recovered.entries.push_back(command(i, 2));
  struct Case {
    Position previous = {};
    size_t entries = 0;
    AppendVerdict verdict = AppendVerdict::Accepted;
    uint64_t match = 0;
  };
  using V = AppendVerdict;
  const Case cases[] = {{at(0, 0), 0, V::Accepted, 0}, {at(0, 0), 2, V::Accepted, 2}, {at(2, 1), 4, V::Accepted, 6},
                        {at(3, 1), 0, V::Accepted, 3}, {at(3, 2), 2, V::Accepted, 5}, {at(4, 2), 2, V::Accepted, 6},
                        {at(4, 2), 4, V::Accepted, 8}, {at(5, 2), 0, V::Accepted, 5}, {at(6, 2), 1, V::Accepted, 7},
                        {at(6, 3), 0, V::Conflict, 0}, {at(7, 2), 0, V::Conflict, 0}};
  for (const Case& c : cases) {
    Solo solo(recovered);
    std::vector<Entry> entries;
    for (size_t i = 1; i <= c.entries; ++i) entries.push_back(command(c.previous.index.value() + i, 2));
    solo.receive(2, solo.append(3, c.previous, entries));
    const AppendReply reply = solo.only<AppendReply>(2);
    EXPECT_EQ(reply.verdict, c.verdict) << c.previous.index.value();
    EXPECT_EQ(reply.match, Index(c.match)) << c.previous.index.value();
    if (reply.verdict == V::Conflict) {
      EXPECT_EQ(reply.hint, at(6, 2));
    }
    EXPECT_EQ(solo.last(), Index(std::max<uint64_t>(6, c.match)));
  }
}

// Covers: REG_R24
TEST(FollowerTest, CommitIsClampedToWhatIsKnownToBeTheLeaders) {
  Solo solo(3, {2, 2, 2});  // 2..4 may not be the leader's
  solo.receive(2, Heartbeat{.term = Term(3), .commit = Index(4)});
  EXPECT_EQ(solo.core().commit(), Index(1));
  solo.receive(2, solo.append(3, at(2, 2), {}, 4));
  EXPECT_EQ(solo.core().commit(), Index(2));
  solo.receive(2, solo.append(3, at(4, 2), {}, 1000));
  EXPECT_EQ(solo.core().commit(), Index(4));
  solo.receive(2, Heartbeat{.term = Term(4), .commit = Index(2)});
  EXPECT_EQ(solo.core().commit(), Index(4)) << "INV_R03";
}

// Covers: INV_R17
TEST(FollowerTest, AnswersOfANewTermWaitUntilItIsDurable) {
  Solo solo(3);
  solo.receive(2, Heartbeat{.term = Term(5)});
  ASSERT_TRUE(solo.effects.write);
  EXPECT_EQ(solo.effects.sends.at(0).after, solo.effects.write->number);
  solo.written();
  solo.receive(2, Heartbeat{.term = Term(5)});
  EXPECT_EQ(solo.effects.sends.at(0).after, WriteNumber());
}

TEST(FollowerTest, AnOldLeaderIsToldOfTheNewTerm) {
  Solo solo(3, {}, {Term(5), {}});
  solo.receive(2, solo.append(3, at(1, 1), {command(2, 3)}));
  EXPECT_EQ(solo.only<AppendReply>(2).term, Term(5));
  EXPECT_EQ(solo.only<AppendReply>(2).verdict, AppendVerdict::Conflict);
  solo.receive(2, Heartbeat{.term = Term(3)});
  EXPECT_EQ(solo.only<HeartbeatReply>(2).term, Term(5));
  EXPECT_EQ(solo.last(), Index(1));
}

TEST(FollowerTest, ATurnMakesOneWriteHoweverManyStepsItTakes) {
  Solo solo(3, {1, 1});
  solo.core().step(Received{ReplicaId(2), solo.append(2, at(1, 1), {command(2, 2), command(3, 2)})}, solo.now);
  solo.core().step(Received{ReplicaId(2), solo.append(2, at(3, 2), {command(4, 2)})}, solo.now);
  solo.core().step(Received{ReplicaId(3), solo.append(3, at(2, 2), {command(3, 3)})}, solo.now);
  solo.drain();
  ASSERT_TRUE(solo.effects.write);
  EXPECT_EQ(solo.effects.write->number, WriteNumber(1));
  EXPECT_EQ(solo.effects.write->hard_state, (HardState{Term(3), {}}));
  EXPECT_EQ(solo.effects.write->truncate_after, Index(1));
  ASSERT_EQ(solo.effects.write->entries.size(), 2u);
  EXPECT_EQ(solo.effects.write->entries[1], command(3, 3));
}

}  // namespace
}  // namespace coordkit::raft::testing
