// A replica's word about the members that are settled, and its reaction to a peer's word that newer ones are.
#include <gtest/gtest.h>

#include "solo.h"

namespace coordkit::raft::testing {
namespace {

Configuration of_voters(std::initializer_list<uint64_t> ids, std::initializer_list<uint64_t> outgoing = {}) {
  Configuration configuration;
  for (const uint64_t id : ids) configuration.voters.push_back(member(id));
  for (const uint64_t id : outgoing) configuration.outgoing.push_back(member(id));
  return configuration;
}

Entry members_entry(uint64_t index, uint64_t term, const Configuration& configuration) {
  return make_entry(Index(index), Term(term), EntryKind::Configuration, encode(configuration));
}

// ---- what it says: the log has the genesis, one entry, a joint configuration of 1, 2, 4 and 1, 2, 3, and its end

struct SettledTest : ::testing::Test {
  Recovered with(std::vector<Entry> changes) {
    std::vector<Entry> entries = log_of(3, {1});
    for (Entry& entry : changes) entries.push_back(std::move(entry));
    return {.hard_state = {Term(4), {}}, .entries = std::move(entries)};
  }
  const Configuration founders = decode_genesis(genesis_entry(3).payload.view())->configuration;
  const Configuration joint = of_voters({1, 2, 4}, {1, 2, 3});
  const Configuration left = of_voters({1, 2, 4});
};

TEST_F(SettledTest, OfAChangeOfWhichNothingIsKnownTheOneBeforeIs) {
  Solo solo(with({members_entry(3, 2, joint)}));
  EXPECT_EQ(solo.core().configuration(), joint);
  EXPECT_EQ(solo.core().settled_members(), (SettledMembers{at(1, 1), founders, Term(4)}));
}

TEST_F(SettledTest, OnceItIsCommittedItIsSettled) {
  Solo solo(with({members_entry(3, 2, joint)}));
  solo.receive(2, solo.append(4, at(3, 2), {}, 3));
  ASSERT_EQ(solo.core().commit(), Index(3));
  EXPECT_EQ(solo.core().settled_members(), (SettledMembers{at(3, 2), joint, Term(4)}));
}

// The next configuration is not known to be committed, but nothing else can follow the joint one.
TEST_F(SettledTest, AJointOneThatHasASuccessorIsOver) {
  Solo solo(with({members_entry(3, 2, joint), members_entry(4, 2, left)}));
  EXPECT_EQ(solo.core().settled_members(), (SettledMembers{at(3, 2), left, Term(4)}));
}

// ---- what it makes of a peer's word

struct ToldTest : SettledTest {
  Solo solo{with({})};  // goes by 1, 2, 3, its log ends at entry 2 of term 1
  const Configuration newer = of_voters({1, 4, 5});
  void told(Position where, const Configuration& configuration) { solo.step(SettledMembers{where, configuration, Term(6)}); }
  Answer asked_by(uint64_t candidate, uint64_t term, Position last) {
    solo.receive(candidate, VoteRequest{.kind = VoteKind::Real, .term = Term(term), .round = term, .last = last});
    return solo.only<VoteReply>(candidate).granted;
  }
};

// Covers: FLT_M12
TEST_F(ToldTest, NewerMembersAreInForceUntilTheLogHasThem) {
  told(at(4, 2), newer);
  EXPECT_EQ(solo.core().configuration(), newer);
  EXPECT_EQ(solo.core().configuration_position(), at(4, 2));
  EXPECT_EQ(solo.core().settled_members(), (SettledMembers{at(1, 1), founders, Term(4)})) << "hearsay is not passed on";
  const Configuration last = of_voters({1, 4, 6});
  solo.receive(4, solo.append(5, at(2, 1), {command(3, 2), members_entry(4, 2, newer), members_entry(5, 5, last)}));
  EXPECT_EQ(solo.core().configuration(), last);
  solo.receive(4, solo.append(6, at(4, 2), {command(5, 6)}));
  EXPECT_EQ(solo.core().configuration_position(), at(4, 2)) << "of the log, after a part of it was cut off";
}

// An overtaken leader had appended a change, at a higher index, which is committed nowhere.
// Covers: FLT_M12
TEST_F(ToldTest, MembersOfALaterTermAreNewerAtALowerIndexToo) {
  Solo overtaken(with({command(3, 2), members_entry(4, 2, joint)}));
  ASSERT_EQ(overtaken.core().configuration(), joint);
  overtaken.step(SettledMembers{at(3, 3), newer, Term(6)});
  EXPECT_EQ(overtaken.core().configuration(), newer);
  EXPECT_EQ(overtaken.core().configuration_position(), at(3, 3));
  overtaken.receive(4, overtaken.append(6, at(2, 1), {members_entry(3, 3, newer)}));
  EXPECT_EQ(overtaken.core().configuration_position(), at(3, 3)) << "of the log";
}

// Covers: FLT_P15
TEST_F(ToldTest, ALogThatEndsBeforeThemGetsNoVoteAndDoesNotCampaign) {
  told(at(4, 2), newer);
  EXPECT_EQ(asked_by(2, 7, at(2, 1)), Answer::No);
  EXPECT_EQ(asked_by(2, 8, at(9, 1)), Answer::No);
  EXPECT_EQ(asked_by(4, 9, at(4, 2)), Answer::Yes);
  for (int i = 0; i < 3; ++i) solo.timeout();
  EXPECT_EQ(solo.role(), Role::Follower);
}

// Replica 2 had another disk before, and that one has the vote. The members that name the new disk are known to be committed in
// term 6 only.
// Covers: FLT_M07
TEST_F(ToldTest, AVoteIsNotRepeatedForAnotherDisk) {
  ASSERT_EQ(asked_by(2, 5, at(2, 1)), Answer::Yes);
  EXPECT_EQ(asked_by(2, 5, at(2, 1)), Answer::Yes) << "the same disk asks again";
  Configuration newer_disk = founders;
  newer_disk.voters[1] = member(2, 1);
  told(at(4, 2), newer_disk);
  EXPECT_EQ(asked_by(2, 5, at(4, 2)), Answer::No);
  EXPECT_EQ(asked_by(2, 6, at(4, 2)), Answer::No);
  EXPECT_EQ(asked_by(2, 7, at(4, 2)), Answer::Yes);
}

// A peer whose log starts after their entry knows an upper bound of its term only.
// Covers: FLT_M03
TEST_F(ToldTest, AReplicaOutsideTheSettledMembersAcceptsItsRemoval) {
  const Configuration others = of_voters({2, 4, 5});
  told(at(4, 5), others);
  ASSERT_EQ(solo.core().configuration(), others);
  solo.receive(2, Removed{Term(4), at(1, 1)});
  EXPECT_FALSE(solo.core().removed()) << "of older members";
  solo.receive(2, Removed{Term(6), at(4, 2)});
  EXPECT_TRUE(solo.core().removed());
}

// Members that were in the term that no vote is given in may be gone, and terms rise by real campaigns only.
// Covers: FLT_M12
TEST_F(ToldTest, APreVoteIsGivenInATermThatGetsNoVote) {
  told(at(4, 2), newer);
  const auto asks = [&](VoteKind kind, uint64_t term, uint64_t round) {
    solo.receive(4, VoteRequest{.kind = kind, .term = Term(term), .round = round, .last = at(4, 2)});
    return solo.only<VoteReply>(4).granted;
  };
  EXPECT_EQ(asks(VoteKind::Pre, 6, 1), Answer::Yes);
  EXPECT_EQ(asks(VoteKind::Real, 6, 2), Answer::No);
  EXPECT_EQ(asks(VoteKind::Pre, 7, 3), Answer::Yes);
  EXPECT_EQ(asks(VoteKind::Real, 7, 4), Answer::Yes);
}

// The joint state is over where it was told, but the end of it may be on no disk that is left.
TEST_F(ToldTest, AJointConfigurationOfTheLogIsLeftByWhoLeads) {
  Solo leader(with({members_entry(3, 2, joint), command(4, 3)}));
  leader.step(SettledMembers{at(3, 3), left, Term(4)});  // by one whose log starts after entry 4
  leader.lead({2, 3});
  leader.written();
  for (const uint64_t peer : {2, 3}) leader.accept(peer, 5);
  EXPECT_EQ(leader.core().configuration(), left);
  EXPECT_EQ(leader.last(), Index(6));
}

TEST_F(ToldTest, OlderAndImpossibleOnesChangeNothing) {
  for (const Position where : {at(1, 1), at(0, 0)}) {
    told(where, newer);
    EXPECT_EQ(solo.core().configuration(), founders) << where.index.value();
  }
  solo.step(SettledMembers{at(4, 2), newer, Term(kTermLeapMax + 9)});
  EXPECT_EQ(solo.core().configuration(), founders);
  told(at(4, 2), newer);
  told(at(3, 2), founders);
  EXPECT_EQ(solo.core().configuration(), newer);
}

TEST_F(ToldTest, ACandidateOfOlderMembersStepsDown) {
  solo.timeout();
  ASSERT_NE(solo.role(), Role::Follower);
  told(at(4, 2), newer);
  EXPECT_EQ(solo.role(), Role::Follower);
}

TEST_F(ToldTest, ALeaderGoesByItsLog) {
  solo.lead({2});
  told(at(40, 200), newer);
  EXPECT_EQ(solo.role(), Role::Leader);
  EXPECT_EQ(solo.core().configuration(), founders);
}

}  // namespace
}  // namespace coordkit::raft::testing
