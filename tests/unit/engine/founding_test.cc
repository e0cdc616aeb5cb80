#include "engine/members/founding.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/sums.h"
#include "raft/log/entry_codec.h"

namespace coordkit::engine {
namespace {

constexpr ClusterId kCluster{99};
StoreId store_of(uint64_t id) { return StoreId(100 + id); }

EngineOptions options(uint64_t self, const std::vector<uint64_t>& members) {
  EngineOptions made{.new_cluster = ClusterId(self), .token_base = self * 1000};
  made.raft.self = ReplicaId(self);
  for (const uint64_t id : members) made.members.push_back({ReplicaId(id), "host-" + std::to_string(id)});
  return made;
}

Hello blank(uint64_t from) { return {.from = ReplicaId(from), .store = store_of(from), .boot = BootCounter(1)}; }
Hello founded(uint64_t from) {
  Hello hello = blank(from);
  hello.cluster = kCluster;
  return hello;
}

raft::Genesis genesis_of(const std::vector<uint64_t>& members) {
  raft::Genesis made{kCluster, 7, {}};
  for (const uint64_t id : members) made.configuration.voters.push_back({ReplicaId(id), store_of(id), ""});
  return made;
}

TEST(FoundingTest, ASingleMemberFoundsAtOnce) {
  const EngineOptions mine = options(1, {1});
  Founding founding(mine, store_of(1));
  const auto made = founding.take_pending();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->cluster, ClusterId(1));
  EXPECT_EQ(made->token_base, 1000u);
  EXPECT_EQ(made->configuration.voters, (std::vector<raft::Member>{{ReplicaId(1), store_of(1), "host-1"}}));
  EXPECT_FALSE(founding.take_pending());
}

TEST(FoundingTest, TheLowestIdFoundsWhenAllAreHereAndBlank) {
  const EngineOptions mine = options(1, {3, 1, 2});
  Founding founding(mine, store_of(1));
  EXPECT_FALSE(founding.take_pending());
  EXPECT_NE(founding.reason().find("not seen yet: 3, 2"), std::string::npos) << founding.reason();
  founding.hello(blank(2));
  founding.hello(blank(2));
  EXPECT_FALSE(founding.take_pending());
  founding.hello(blank(3));
  const auto made = founding.take_pending();
  ASSERT_TRUE(made);
  ASSERT_EQ(made->configuration.voters.size(), 3u);
  for (uint64_t id = 1; id <= 3; ++id) {  // ascending, each with its own store
    EXPECT_EQ(made->configuration.voters[id - 1], (raft::Member{ReplicaId(id), store_of(id), "host-" + std::to_string(id)}));
  }
}

TEST(FoundingTest, OthersWaitForTheLowestId) {
  const EngineOptions mine = options(2, {1, 2});
  Founding founding(mine, store_of(2));
  founding.hello(blank(1));
  EXPECT_FALSE(founding.take_pending());
  EXPECT_NE(founding.reason().find("replica 1"), std::string::npos) << founding.reason();
  EXPECT_FALSE(founding.uninvited());
}

TEST(FoundingTest, NobodyFoundsBesideAClusterThatExists) {
  const EngineOptions mine = options(1, {1, 2});
  Founding founding(mine, store_of(1));
  founding.hello(founded(2));
  EXPECT_FALSE(founding.take_pending());
  EXPECT_TRUE(founding.uninvited());
}

TEST(FoundingTest, TheNewestHelloOfAMemberCounts) {
  const EngineOptions mine = options(1, {1, 2, 3});
  Founding founding(mine, store_of(1));
  founding.hello(blank(2));
  Hello replaced = blank(2);
  replaced.store = StoreId(777);
  founding.hello(replaced);
  founding.hello(blank(3));
  const auto made = founding.take_pending();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->configuration.voters[1].store, StoreId(777));
}

TEST(FoundingTest, TheUninvitedAreNotCounted) {
  const EngineOptions mine = options(1, {1, 2});
  Founding founding(mine, store_of(1));
  founding.hello(blank(9));
  EXPECT_FALSE(founding.take_pending());
}

TEST(FoundingTest, ABlankMemberAdoptsTheGenesisThatNamesItsStore) {
  const EngineOptions mine = options(2, {1, 2});
  Founding founding(mine, store_of(2));
  founding.offered(ReplicaId(1), {genesis_of({1, 2})});
  EXPECT_EQ(founding.take_pending(), genesis_of({1, 2}));
  founding.offered(ReplicaId(1), {genesis_of({1, 2})});  // a second copy
  EXPECT_FALSE(founding.take_pending());
}

TEST(FoundingTest, TheOfferOfABlankMembersPeerComesFromAnyMember) {
  const EngineOptions mine = options(3, {1, 2, 3});
  Founding founding(mine, store_of(3));
  founding.offered(ReplicaId(2), {genesis_of({1, 2, 3})});
  EXPECT_EQ(founding.take_pending(), genesis_of({1, 2, 3}));
}

TEST(FoundingTest, AnOfferOfSomebodyTheGenesisDoesNotNameIsIgnored) {
  const EngineOptions mine = options(2, {1, 2});
  Founding founding(mine, store_of(2));
  founding.offered(ReplicaId(9), {genesis_of({1, 2})});
  EXPECT_FALSE(founding.take_pending());
  EXPECT_FALSE(founding.uninvited());
}

// Covers: FLT_P16
TEST(FoundingTest, AnotherDataDirectoryUnderAKnownIdIsNotBornIntoTheCluster) {
  const EngineOptions mine = options(2, {1, 2});
  Founding founding(mine, StoreId(555));  // wiped
  founding.hello(founded(1));
  founding.offered(ReplicaId(1), {genesis_of({1, 2})});
  founding.offered(ReplicaId(1), {genesis_of({1, 2}), store_of(2)});  // meant for the disk that was lost
  EXPECT_FALSE(founding.take_pending());
  EXPECT_TRUE(founding.uninvited());
  EXPECT_NE(founding.reason().find("replica 2 is not a member of cluster"), std::string::npos) << founding.reason();
}

// Covers: FLT_S02
TEST(FoundingTest, AGenesisThatLeavesNoTokensIsNotTaken) {
  const EngineOptions mine = options(2, {1, 2});
  Founding founding(mine, store_of(2));
  raft::Genesis genesis = genesis_of({1, 2});
  for (const uint64_t base : {~uint64_t{0}, ~uint64_t{0} - 1, uint64_t{1} << 63, (uint64_t{1} << 63) - 1}) {
    genesis.token_base = base;
    founding.offered(ReplicaId(1), {genesis});
    founding.offered(ReplicaId(1), {genesis, store_of(2)});
    EXPECT_FALSE(founding.take_pending()) << base;
  }
  genesis.token_base = (uint64_t{1} << 63) - 2;
  founding.offered(ReplicaId(1), {genesis});
  EXPECT_EQ(founding.take_pending(), genesis);
}

TEST(FoundingTest, AnInvitationIsTakenWhoeverTheGenesisNames) {
  const EngineOptions mine = options(4, {1, 4});
  Founding founding(mine, store_of(4));
  founding.hello(founded(1));
  EXPECT_TRUE(founding.uninvited());
  founding.offered(ReplicaId(9), {genesis_of({1, 2, 3}), store_of(4)});  // the leader may be no founder, nor listed here
  EXPECT_EQ(founding.take_pending(), genesis_of({1, 2, 3}));
  EXPECT_FALSE(founding.uninvited());
}

TEST(FoundingTest, NobodyIsBornIntoAClusterThatItsListDoesNotDescribe) {
  const EngineOptions mine = options(3, {2, 3});
  Founding founding(mine, store_of(3));
  founding.offered(ReplicaId(2), {genesis_of({1, 2, 3})});
  founding.offered(ReplicaId(2), {genesis_of({2})});
  founding.offered(ReplicaId(1), {genesis_of({1, 3})});
  EXPECT_FALSE(founding.take_pending());
  founding.offered(ReplicaId(2), {genesis_of({2, 3})});
  EXPECT_TRUE(founding.take_pending());
}

// Covers: FLT_A19
TEST(MemberListsTest, ADifferenceIsNamedByMemberAndAddress) {
  const std::vector<Peer> mine = {{ReplicaId(1), "a:1"}, {ReplicaId(2), "b:1"}, {ReplicaId(3), "c:1"}};
  const auto compare = [&](const std::vector<Peer>& theirs) { return compare_lists(mine, list_for_hello(theirs)); };
  EXPECT_EQ(compare({mine[2], mine[0], mine[1]}).how, "");
  EXPECT_EQ(compare_lists(mine, {}).how, "") << "a hello that says no list";
  const ListComparison renamed = compare({mine[0], {ReplicaId(2), "other:1"}, mine[2]});
  EXPECT_EQ(renamed.how, "it lists replica 2 at another address than b:1");
  EXPECT_FALSE(renamed.parts);
  const ListComparison swapped = compare({mine[0], {ReplicaId(2), "c:1"}, {ReplicaId(3), "b:1"}});
  EXPECT_TRUE(swapped.parts);
  EXPECT_EQ(
      swapped.how,
      "it lists replica 2 at the address that replica 3 at c:1 has here, lists replica 3 at the address that replica 2 at "
      "b:1 has here");
  const ListComparison others = compare({mine[0], mine[1], {ReplicaId(4), "d:1"}});
  EXPECT_TRUE(others.parts);
  EXPECT_EQ(others.how, "it does not list replica 3 at c:1, lists replica 4, which this one does not");
}

// Covers: FLT_A19
TEST(FoundingTest, ADirectoryThatShowedAClusterAndIsStartedAgainWithoutOneHasGivenItUp) {
  const EngineOptions mine = options(1, {1, 2});
  Founding founding(mine, store_of(1));
  founding.hello(founded(2));
  founding.hello(blank(2));  // of the same start, and late
  EXPECT_TRUE(founding.uninvited());
  Hello other = blank(2);
  other.store = StoreId(777);
  other.boot = BootCounter(2);
  founding.hello(other);
  EXPECT_TRUE(founding.uninvited());
  Hello again = blank(2);
  again.boot = BootCounter(2);
  founding.hello(again);
  EXPECT_FALSE(founding.uninvited());
  EXPECT_TRUE(founding.take_pending());
}

// Covers: FLT_A19
TEST(FoundingTest, AGenesisGivesWayOnlyToOneThatNamesItsDirectories) {
  const EngineOptions mine = options(1, {1, 2, 3});
  Founding founding(mine, store_of(1));
  RecoveredLog log{
      .store = store_of(1), .hard_state = {Term(1), {}}, .entries = {genesis_entry(kOnlyGroup, genesis_of({1, 2}))}};
  ASSERT_TRUE(founding.gives_way(log));
  Hello exchanged = blank(2);
  exchanged.store = StoreId(777);
  founding.hello(exchanged);
  founding.hello(blank(3));
  EXPECT_FALSE(founding.take_pending());
  EXPECT_NE(founding.reason().find("bring these back"), std::string::npos) << founding.reason();
  founding.hello(blank(2));
  EXPECT_TRUE(founding.take_pending());
}

// Covers: FLT_A19
TEST(FoundingTest, AGenesisGivesWayOnlyAsLongAsItIsAllThatThereIs) {
  const EngineOptions mine = options(1, {1, 2, 3});
  const RecoveredLog alone{
      .store = store_of(1), .hard_state = {Term(1), {}}, .entries = {genesis_entry(kOnlyGroup, genesis_of({1, 2}))}};
  const std::vector<std::function<void(RecoveredLog&)>> changes = {
      [](RecoveredLog& log) {
        log.hard_state = {Term(1), ReplicaId(2)};
      },
      [](RecoveredLog& log) { log.hard_state.term = Term(2); },
      [](RecoveredLog& log) {
        log.entries.push_back({Index(2), Term(2), raft::EntryKind::LeaderStart});
      },
      [](RecoveredLog& log) { log.damaged.push_back({Index(2)}); },
      [](RecoveredLog& log) {
        log.entries = {genesis_entry(kOnlyGroup, genesis_of({2, 3}))};
      },  // it does not name this one
      [](RecoveredLog& log) {
        log.entries = {genesis_entry(kOnlyGroup, genesis_of({1, 4}))};
      },  // and 4 may have a leader
  };
  EXPECT_TRUE(Founding(mine, store_of(1)).gives_way(alone));
  EXPECT_FALSE(Founding(mine, StoreId(777)).gives_way(alone));
  for (size_t i = 0; i < changes.size(); ++i) {
    RecoveredLog log = alone;
    changes[i](log);
    EXPECT_FALSE(Founding(mine, store_of(1)).gives_way(log)) << i;
  }
}

// Covers: FLT_A19
TEST(FoundingTest, NobodyIsBornIntoAClusterThatGivesItsAddressToAnother) {
  const EngineOptions mine = options(2, {1, 2, 3});
  Founding founding(mine, store_of(2));
  raft::Genesis swapped = genesis_of({1, 2, 3});
  swapped.configuration.voters[1].address = "host-3";
  swapped.configuration.voters[2].address = "host-2";
  founding.offered(ReplicaId(1), {swapped});
  EXPECT_FALSE(founding.take_pending());
  founding.offered(ReplicaId(1), {swapped, store_of(2)});  // it has a leader
  EXPECT_TRUE(founding.take_pending());
}

TEST(FoundingTest, GenesisEntryIsTheSameBytesEverywhere) {
  const raft::Entry entry = genesis_entry(kOnlyGroup, genesis_of({1, 2}));
  EXPECT_EQ(entry, genesis_entry(kOnlyGroup, genesis_of({1, 2})));
  EXPECT_EQ(entry.position(), (Position{Index(1), Term(1)}));
  EXPECT_EQ(entry.kind, raft::EntryKind::Genesis);
  EXPECT_TRUE(content_intact(kOnlyGroup, entry));
  EXPECT_EQ(*decode_genesis(entry.payload.view()), genesis_of({1, 2}));
}

}  // namespace
}  // namespace coordkit::engine
