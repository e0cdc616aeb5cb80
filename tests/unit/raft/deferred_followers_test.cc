// Followers that get entries at once, and those that get them a moment later (docs/decisions/0038).
#include <gtest/gtest.h>

#include <array>

#include "solo.h"

namespace coordkit::raft::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class SparesTest : public ::testing::Test {
 protected:
  static Options options() {
    Options options;
    options.append_delay = milliseconds(3);
    return options;
  }

  // A leader of three, or more, that has been quiet for a while: everybody has everything.
  static Solo leader(size_t voters = 3, Options options = SparesTest::options()) {
    Solo solo(voters, {}, {}, options);
    if (voters == 3) solo.lead({2});
    if (voters == 5) solo.lead({2, 3});
    solo.written();
    for (uint64_t peer = 2; peer <= voters; ++peer) solo.accept(peer, 2);
    solo.now += milliseconds(70);
    solo.step(Tick{});
    return solo;
  }
  // As this peer answers when it has stored it.
  static void store(Solo& solo, uint64_t peer, const AppendRequest& append) {
    const Index last = append.previous.index + append.entries.size();
    solo.receive(peer, AppendReply{.term = solo.term(), .stream = append.stream, .match = last, .round = append.round});
  }
  // One command, 200 us after the last, which these followers store 100 us later, if they got it.
  static void work(Solo& solo, std::initializer_list<uint64_t> by = {2, 3}) {
    solo.now += microseconds(200);
    solo.propose("x");
    std::map<uint64_t, AppendRequest> got;
    for (const uint64_t peer : by) {
      if (gets(solo, peer)) got[peer] = solo.only<AppendRequest>(peer);
    }
    solo.now += microseconds(100);
    solo.written();
    for (const auto& [peer, append] : got) store(solo, peer, append);
  }
  // One command, 100 us after the last, which one follower stores 100 us later and the other after `more`. Whether the first
  // was enough.
  static bool work_apart(Solo& solo, uint64_t quick, uint64_t slow, Duration more) {
    solo.now += microseconds(100);
    solo.propose("x");
    const auto of_quick = solo.sent<AppendRequest>(quick);
    const auto of_slow = solo.sent<AppendRequest>(slow);
    solo.written();
    solo.now += microseconds(100);
    for (const AppendRequest& append : of_quick) store(solo, quick, append);
    const bool committed = solo.core().commit() == solo.last();
    solo.now += more;
    for (const AppendRequest& append : of_slow) store(solo, slow, append);
    return committed;
  }
  static void expect_second_is_spare(Solo& solo) {
    int to_second = 0;
    for (int i = 0; i < 20; ++i) {
      solo.now += microseconds(200);
      solo.propose("x");
      const AppendRequest append = solo.only<AppendRequest>(3);
      to_second += gets(solo, 2);
      solo.written();
      store(solo, 3, append);
    }
    EXPECT_LE(to_second, 2) << "every three milliseconds";
  }
  static bool gets(const Solo& solo, uint64_t peer) { return !solo.sent<AppendRequest>(peer).empty(); }
};

TEST_F(SparesTest, UnderLoadOneOfTwoFollowersGetsEntriesLaterAndTogether) {
  Solo solo = leader();
  solo.propose("a");
  EXPECT_TRUE(gets(solo, 2) && gets(solo, 3)) << "there is no load yet";
  for (const uint64_t peer : {2, 3}) solo.accept(peer, 3);
  solo.written();
  const Index known = solo.last();
  LaggingTime first;
  for (int i = 0; i < 5; ++i) {
    solo.now += microseconds(500);
    if (i == 0) first = solo.now;
    solo.propose("b");
    EXPECT_EQ(solo.only<AppendRequest>(2).entries.size(), 1u);
    EXPECT_FALSE(gets(solo, 3)) << i;
    EXPECT_LE(solo.core().next_deadline(), first + milliseconds(3));
    solo.written();
    solo.accept(2, solo.last().value());
    EXPECT_EQ(solo.core().commit(), solo.last());
  }
  solo.now = first + milliseconds(3);
  solo.step(Tick{});
  const AppendRequest all = solo.only<AppendRequest>(3);
  EXPECT_EQ(all.previous.index, known);
  EXPECT_EQ(all.entries.size(), 5u);
  EXPECT_EQ(all.commit, solo.last());
  EXPECT_FALSE(gets(solo, 2));
}

// Covers: FLT_P10
TEST_F(SparesTest, WhatIsNotCommittedInTimeGoesToAllAndSoDoesWhatFollows) {
  Solo solo = leader();
  for (int i = 0; i < 6; ++i) {  // one by one, and both take two milliseconds
    solo.now += milliseconds(4);
    solo.propose("x");
    const std::array got = {solo.only<AppendRequest>(2), solo.only<AppendRequest>(3)};
    solo.now += milliseconds(2);
    solo.written();
    store(solo, 2, got[0]);
    store(solo, 3, got[1]);
  }
  for (int i = 0; i < 2; ++i) {
    solo.propose("not answered");
    ASSERT_FALSE(gets(solo, 3));
    solo.written();
    solo.now += microseconds(1500);
  }
  solo.step(Tick{});
  EXPECT_TRUE(gets(solo, 3));
  solo.accept(3, solo.last().value());
  EXPECT_EQ(solo.core().commit(), solo.last());
  for (int i = 0; i < 3; ++i) {
    solo.now += microseconds(100);
    solo.propose("b");
    EXPECT_TRUE(gets(solo, 2) && gets(solo, 3));
  }
}

// Covers: FLT_P10
TEST_F(SparesTest, AFollowerThatStallsIsDeferred) {
  Solo solo = leader();
  for (int i = 0; i < 4; ++i) work(solo);
  solo.propose("not answered by 2");
  solo.written();
  solo.now += milliseconds(3);
  solo.step(Tick{});
  solo.accept(3, solo.last().value());
  for (int i = 0; i < 220; ++i) work(solo, {3});  // beyond a heartbeat interval; 2 says nothing
  expect_second_is_spare(solo);
}

TEST_F(SparesTest, TheOneThatTakesLongerIsTheSpare) {
  Solo solo = leader();
  for (int i = 0; i < 300; ++i) work_apart(solo, 3, 2, milliseconds(1));
  expect_second_is_spare(solo);
}

// Covers: FLT_P10
TEST_F(SparesTest, WhereTheLeadersOwnDiskIsSlowTheFollowersAreEnough) {
  Solo solo = leader();
  for (int i = 0; i < 100; ++i) {
    solo.now += microseconds(100);
    solo.propose("x");
    std::map<uint64_t, AppendRequest> got;
    for (const uint64_t peer : {2, 3}) {
      if (gets(solo, peer)) got[peer] = solo.only<AppendRequest>(peer);
    }
    const WriteNumber write = solo.last_write;
    solo.now += microseconds(100);
    for (const auto& [peer, append] : got) store(solo, peer, append);
    if (i >= 50) {
      EXPECT_EQ(solo.core().commit(), solo.last()) << i;
    }
    solo.now += microseconds(900);
    solo.step(Written{write});
  }
}

TEST_F(SparesTest, AFollowerThatWaitsForACommitIsNotDeferredButTheOtherIs) {
  Solo solo = leader();
  for (int i = 0; i < 4; ++i) work(solo);
  solo.now += microseconds(200);
  solo.propose("a");
  ASSERT_FALSE(gets(solo, 3));
  solo.step(SendCommit{ReplicaId(3)});
  EXPECT_TRUE(gets(solo, 3)) << "with what was kept from it";
  for (const uint64_t peer : {2, 3}) solo.accept(peer, solo.last().value());
  solo.written();
  solo.now += microseconds(200);
  solo.propose("b");
  EXPECT_TRUE(gets(solo, 3));
  EXPECT_FALSE(gets(solo, 2));
}

TEST_F(SparesTest, WhoWaitsAndIsSlowIsNotReliedOnAlone) {
  for (const Duration more : {Duration(microseconds(200)), Duration(milliseconds(1))}) {
    Solo solo = leader();
    for (int i = 0; i < 200; ++i) {
      solo.step(SendCommit{ReplicaId(3)});
      const bool second_was_enough = work_apart(solo, 2, 3, more);
      if (i >= 100) {
        EXPECT_TRUE(second_was_enough) << i;
      }
    }
  }
}

TEST_F(SparesTest, WhenAConnectionComesOrGoesAllGetAll) {
  for (const bool lost : {false, true}) {
    Solo solo = leader();
    for (int i = 0; i < 4; ++i) work(solo);
    if (lost) solo.step(PeerDown{ReplicaId(2)});
    if (!lost) solo.step(PeerUp{ReplicaId(2), BootCounter(2)});
    solo.now += microseconds(200);
    solo.propose("a");
    EXPECT_TRUE(gets(solo, 3)) << lost;
  }
}

TEST_F(SparesTest, WhoCatchesUpIsNeitherReliedOnNorKeptWaiting) {
  Options narrow = options();
  narrow.append_messages_in_flight = 1;
  narrow.append_bytes_max = 60;
  Solo solo = leader(3, narrow);
  for (int i = 0; i < 4; ++i) work(solo);
  const auto next_of_third = [&] { return solo.core().status().peers.at(1).next; };
  const Index kept_from = next_of_third();
  for (int i = 0; i < 20 && next_of_third() == kept_from; ++i) work(solo, {2});
  ASSERT_EQ(next_of_third(), kept_from.next()) << "its window takes one at a time";
  ASSERT_GT(solo.last(), kept_from + 5);
  while (next_of_third() <= solo.last()) {
    const Index next = next_of_third();
    solo.accept(3, next.previous().value());
    ASSERT_EQ(next_of_third(), next.next());
  }
}

TEST_F(SparesTest, OfFiveTwoAreReliedOn) {
  Solo solo = leader(5);
  for (int i = 0; i < 4; ++i) work(solo, {2, 3, 4, 5});
  solo.now += microseconds(200);
  solo.propose("a");
  EXPECT_TRUE(gets(solo, 2) && gets(solo, 3));
  EXPECT_FALSE(gets(solo, 4) || gets(solo, 5));
  solo.written();
  for (const uint64_t peer : {2, 3}) solo.accept(peer, solo.last().value());
  EXPECT_EQ(solo.core().commit(), solo.last());
}

TEST_F(SparesTest, WhileMembersChangeAllGetAll) {
  Solo solo = leader();
  for (int i = 0; i < 4; ++i) work(solo);
  const MemberChange demotion{.kind = MemberChange::Kind::Demote, .member = {ReplicaId(3), StoreId(), ""}};
  ASSERT_TRUE(solo.step(ChangeMembership{Ticket(9), {demotion}, Index(1)}).changes.empty()) << "it waits for a quorum of both";
  solo.now += milliseconds(100);  // beyond the heartbeat interval after the change was logged
  solo.step(Tick{});
  solo.propose("a");
  solo.now += microseconds(200);
  solo.propose("b");
  EXPECT_TRUE(gets(solo, 2) && gets(solo, 3));
}

TEST_F(SparesTest, WithoutADelayNothingIsKept) {
  Solo solo = leader(3, {});
  for (int i = 0; i < 8; ++i) {
    solo.now += microseconds(200);
    solo.propose("x");
    EXPECT_TRUE(gets(solo, 2) && gets(solo, 3));
  }
}

}  // namespace
}  // namespace coordkit::raft::testing
