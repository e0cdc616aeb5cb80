// Membership changes and leadership transfers as a service calls them: real sockets, real files.
#include <algorithm>
#include <mutex>

#include "coordkit/coordkit.h"
#include "service/operate/membership_calls.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The first replica initializes the cluster; the others list it and themselves.
class MembershipTest : public ::testing::Test {
 protected:
  ReplicaOptions options(uint64_t id) {
    ReplicaOptions options = cluster_.options(id);
    addresses_ = options.members;
    std::erase_if(options.members, [id](const MemberAddress& member) { return member.id != 1 && member.id != id; });
    return options;
  }
  void open(uint64_t id) { cluster_.open(options(id)); }
  void found() {
    ASSERT_NO_FATAL_FAILURE(open(1));
    ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
  }
  std::string address(uint64_t id) const { return addresses_.at(id - 1).address; }
  void add(uint64_t caller, const std::vector<uint64_t>& ids) {
    MembershipChange change;
    for (const uint64_t id : ids) change.add(id, address(id));
    ASSERT_THAT(cluster_[caller].change_membership(change).status(), IsOk());
  }
  std::vector<uint64_t> voters(uint64_t at) {
    std::vector<uint64_t> ids;
    for (const MemberInfo& member : cluster_[at].members().members) {
      if (member.role == MemberInfo::Role::Voter) ids.push_back(member.id);
    }
    return ids;
  }
  bool becomes(uint64_t id, ReplicaState state) {
    return eventually([&] { return cluster_[id].health().state == state; });
  }

  Cluster cluster_{5};
  std::vector<MemberAddress> addresses_;
};

// Covers: FLT_M08 FLT_M10
TEST_F(MembershipTest, GrowsAndShrinksWhileALockIsHeld) {
  ASSERT_NO_FATAL_FAILURE(found());
  Session session = cluster_.session(1);
  absl::StatusOr<Grant> grant = session.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  for (const uint64_t id : {2, 3, 4, 5}) ASSERT_NO_FATAL_FAILURE(open(id));
  ASSERT_NO_FATAL_FAILURE(add(1, {2, 3}));
  EXPECT_THAT(voters(1), ElementsAre(1, 2, 3));
  for (const uint64_t id : {2, 3}) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  ASSERT_NO_FATAL_FAILURE(add(2, {4, 5}));  // asked at a follower
  EXPECT_THAT(voters(2), ElementsAre(1, 2, 3, 4, 5));
  for (const uint64_t id : {4, 5}) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  EXPECT_TRUE(grant->valid());
  const auto holders = cluster_[5].holders("billing");
  ASSERT_THAT(holders.status(), IsOk());
  ASSERT_EQ(holders->holders.size(), 1u);
  EXPECT_EQ(holders->holders[0].token, grant->token());
  ASSERT_THAT(cluster_[1].change_membership(MembershipChange().remove(4).remove(5)).status(), IsOk());
  EXPECT_THAT(voters(1), ElementsAre(1, 2, 3));
  for (const uint64_t id : {4, 5}) {
    EXPECT_TRUE(becomes(id, ReplicaState::Removed));
    EXPECT_THAT(cluster_[id].health().reason, HasSubstr("was removed from the cluster"));
    EXPECT_THAT(cluster_[id].put("key", "value").status(), Is(Reason::Removed));
    EXPECT_THAT(cluster_[id].wait_ready(kPatience), Is(Reason::Removed));
  }
  EXPECT_TRUE(grant->valid());
  EXPECT_THAT(*grant->check(), true);
  EXPECT_THAT(grant->release(), IsOk());
}

TEST_F(MembershipTest, ANewMemberWaitsAndSaysWhatFor) {
  ASSERT_NO_FATAL_FAILURE(found());
  ASSERT_NO_FATAL_FAILURE(open(2));
  ASSERT_TRUE(becomes(2, ReplicaState::Uninvited));
  EXPECT_THAT(cluster_[2].health().reason, HasSubstr("replica 2 is not a member of cluster 'test' yet"));
  EXPECT_THAT(cluster_[2].members().members, IsEmpty());
  ASSERT_THAT(cluster_[1].change_membership(MembershipChange().add(2, address(2)).as_learner()).status(), IsOk());
  ASSERT_THAT(cluster_[2].wait_ready(kPatience), IsOk());
  EXPECT_EQ(cluster_[2].health().state, ReplicaState::Learner);
  EXPECT_THAT(cluster_[2].put("key", "value").status(), IsOk());
  const MemberList members = cluster_[1].members();
  ASSERT_EQ(members.members.size(), 2u);
  EXPECT_EQ(members.members[1].role, MemberInfo::Role::Learner);
  EXPECT_TRUE(members.members[1].lag.has_value() && members.members[1].silence.has_value());
  EXPECT_FALSE(members.members[0].lag.has_value());
  EXPECT_EQ(members.index, cluster_[2].members().index);
  ASSERT_THAT(cluster_[2].change_membership(MembershipChange().promote(2)).status(), IsOk());
  EXPECT_THAT(voters(2), ElementsAre(1, 2));
}

TEST_F(MembershipTest, WhatAChangeWaitsForIsVisible) {
  ASSERT_NO_FATAL_FAILURE(found());
  std::mutex mutex;
  std::optional<absl::StatusOr<Index>> ended;
  cluster_[1].change_membership_async(MembershipChange().add(2, address(2)), {.timeout = kPatience},
                                      [&](absl::StatusOr<Index> answer) {
                                        const std::lock_guard lock(mutex);
                                        ended = std::move(answer);
                                      });
  const auto waits = [&](const std::string& words) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      if (cluster_[1].health().change.find(words) != std::string::npos) return true;
      std::this_thread::yield();
    }
    return false;
  };
  EXPECT_TRUE(waits("replica 2 was not met yet at " + address(2)));
  EXPECT_THAT(cluster_[1].change_membership(MembershipChange().add(3, address(3))).status(), Is(Reason::ChangeInProgress));
  ASSERT_NO_FATAL_FAILURE(open(2));
  ASSERT_THAT(cluster_[2].wait_ready(kPatience), IsOk());
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (bool over = false; !over && std::chrono::steady_clock::now() < deadline;) {
    std::this_thread::yield();
    const std::lock_guard lock(mutex);
    over = ended.has_value();
  }
  const std::lock_guard lock(mutex);
  ASSERT_TRUE(ended.has_value());
  EXPECT_THAT(ended->status(), IsOk());
}

// Covers: REG_R47
TEST_F(MembershipTest, ALostDiskIsReplacedUnderTheSameId) {
  ASSERT_NO_FATAL_FAILURE(found());
  for (const uint64_t id : {2, 3}) ASSERT_NO_FATAL_FAILURE(open(id));
  ASSERT_NO_FATAL_FAILURE(add(1, {2, 3}));
  ASSERT_THAT(cluster_[2].put("key", "value").status(), IsOk());
  const std::string data = options(3).data_dir;
  cluster_.close(3);
  std::filesystem::remove_all(data);
  ASSERT_NO_FATAL_FAILURE(open(3));
  ASSERT_TRUE(becomes(3, ReplicaState::Uninvited));
  ASSERT_TRUE(eventually([&] { return !cluster_[1].health().warnings.empty(); }));
  EXPECT_THAT(cluster_[1].health().warnings, ElementsAre(HasSubstr("replica 3 runs with another data directory")));
  ASSERT_THAT(cluster_[2].change_membership(MembershipChange().replace(3, 3, address(3))).status(), IsOk());
  ASSERT_THAT(cluster_[3].wait_ready(kPatience), IsOk());
  EXPECT_THAT(voters(1), ElementsAre(1, 2, 3));
  const auto read = cluster_[3].get("key");
  ASSERT_THAT(read.status(), IsOk());
  EXPECT_EQ(read->entry->value, "value");
}

// It dials the others at the addresses in its log, and they answer on that connection.
TEST_F(MembershipTest, AMemberOnItsOldDirectoryAtAnotherAddressHasItsVoteAndIsWarnedOf) {
  Cluster three;
  ASSERT_NO_FATAL_FAILURE(three.open_all());
  three.close(3);
  ReplicaOptions moved = three.options(3);
  moved.members[2].address = support::free_loopback_addresses(1).front();
  ASSERT_NO_FATAL_FAILURE(three.open(moved));
  ASSERT_THAT(three[3].wait_ready(kPatience), IsOk());
  EXPECT_TRUE(eventually([&] {
    const std::vector<std::string> warnings = three[1].health().warnings;
    return std::ranges::any_of(warnings, [](const std::string& one) { return one.find("replica 3") != std::string::npos; });
  })) << "members do not reach it at the address that they know";
  three.close(2);
  EXPECT_THAT(three[1].put("key", "value", {.timeout = kPatience}).status(), IsOk()) << "by its vote";
}

TEST_F(MembershipTest, ARemovedReplicaReturnsWithANewDirectory) {
  ASSERT_NO_FATAL_FAILURE(found());
  ASSERT_NO_FATAL_FAILURE(open(2));
  ASSERT_NO_FATAL_FAILURE(add(1, {2}));
  ASSERT_THAT(cluster_[1].change_membership(MembershipChange().remove(2)).status(), IsOk());
  ASSERT_TRUE(becomes(2, ReplicaState::Removed));
  const std::string data = options(2).data_dir;
  cluster_.close(2);
  ASSERT_NO_FATAL_FAILURE(open(2));  // the old directory: it learns it again
  ASSERT_TRUE(becomes(2, ReplicaState::Removed));
  cluster_.close(2);
  std::filesystem::remove_all(data);
  ASSERT_NO_FATAL_FAILURE(open(2));
  ASSERT_NO_FATAL_FAILURE(add(1, {2}));
  EXPECT_THAT(cluster_[2].wait_ready(kPatience), IsOk());
}

// Covers: S-61
TEST_F(MembershipTest, LeadershipMovesToWhoeverIsAskedForAndHoldsStay) {
  ASSERT_NO_FATAL_FAILURE(found());
  for (const uint64_t id : {2, 3}) ASSERT_NO_FATAL_FAILURE(open(id));
  ASSERT_NO_FATAL_FAILURE(add(1, {2, 3}));
  Session session = cluster_.session(2);
  absl::StatusOr<Grant> grant = session.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  ASSERT_THAT(cluster_[1].transfer_leadership(3, kPatience), IsOk());
  EXPECT_EQ(cluster_[1].health().leader, ReplicaId(3));
  ASSERT_THAT(cluster_[2].transfer_leadership(3, kPatience), IsOk());  // it may not have known the new leader before
  ASSERT_THAT(cluster_[2].transfer_leadership({}, kPatience), IsOk());
  EXPECT_NE(cluster_[2].health().leader, ReplicaId(3));
  EXPECT_TRUE(grant->valid());
  EXPECT_THAT(cluster_[1].transfer_leadership(9), Is(Reason::MemberNotFound));
  EXPECT_THAT(cluster_[1].transfer_leadership(0), Is(Reason::InvalidArgument));
  EXPECT_THAT(cluster_[1].transfer_leadership(2, Duration::zero()), Is(Reason::InvalidArgument));
}

TEST_F(MembershipTest, LeadershipIsObservedFromTheOpeningOn) {
  std::mutex mutex;
  std::vector<raft::Leadership> seen;
  ReplicaOptions first = options(1);
  first.on_leadership = [&](const raft::Leadership& now) {
    const std::lock_guard lock(mutex);
    seen.push_back(now);
  };
  ASSERT_NO_FATAL_FAILURE(cluster_.open(first));
  ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
  EXPECT_TRUE(cluster_[1].health().contact_age.has_value());
  cluster_.close(1);
  const std::lock_guard lock(mutex);
  ASSERT_GE(seen.size(), 2u);
  EXPECT_EQ(seen.front().role, raft::Role::Follower);
  EXPECT_EQ(seen.front().leader, ReplicaId());
  for (size_t i = 1; i < seen.size(); ++i) {
    EXPECT_GE(seen[i].term, seen[i - 1].term);
    EXPECT_NE(seen[i], seen[i - 1]);
  }
}

// Covers: S-61
TEST_F(MembershipTest, BadWishesAreRefusedWithASentence) {
  ASSERT_NO_FATAL_FAILURE(found());
  const auto refused = [&](const MembershipChange& change, MembershipOptions options = {.timeout = 2s}) {
    const absl::Status status = cluster_[1].change_membership(change, options).status();
    EXPECT_GT(status.message().size(), 20u) << status;
    return reason_of(status);
  };
  EXPECT_EQ(refused(MembershipChange()), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().as_learner()), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().remove(1).as_learner()), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().add(0, "127.0.0.1:1")), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().add(2, "nowhere")), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().add(2, "127.0.0.1:70000")), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().add(2, "127.0.0.1:0")), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().add(2, "127.0.0.1:1").add(2, "127.0.0.1:2")), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().add(2, "127.0.0.1:1").add(3, "127.0.0.1:1")), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().add(2, "127.0.0.1:1").remove(2)), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().replace(0, 2, "127.0.0.1:1")), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().add(2, "127.0.0.1:1"), {.timeout = Duration::zero()}), Reason::InvalidArgument);
  EXPECT_EQ(refused(MembershipChange().add(1, "127.0.0.1:1")), Reason::AlreadyExists);
  EXPECT_EQ(refused(MembershipChange().add(2, address(1))), Reason::AlreadyExists);
  EXPECT_EQ(refused(MembershipChange().remove(9)), Reason::MemberNotFound);
  EXPECT_EQ(refused(MembershipChange().promote(9)), Reason::MemberNotFound);
  EXPECT_EQ(refused(MembershipChange().promote(1)), Reason::AlreadyExists);
  EXPECT_EQ(refused(MembershipChange().remove(1)), Reason::NotEnoughVoters);
  EXPECT_EQ(refused(MembershipChange().demote(1)), Reason::NotEnoughVoters);
  EXPECT_EQ(refused(MembershipChange().add(2, "127.0.0.1:1"), {.expected = Index(77), .timeout = 100ms}), Reason::CallTimeout);
  EXPECT_EQ(refused(MembershipChange().add(2, "127.0.0.1:1"), {.timeout = 100ms}), Reason::CallTimeout);
  EXPECT_THAT(voters(1), ElementsAre(1));
  cluster_[1].close().IgnoreError();
  EXPECT_EQ(refused(MembershipChange().remove(1)), Reason::Closed);
}

// It was listed as a learner, too.
TEST(MemberListTest, WhoLosesItsVoteIsListedOnceWhileThatIsUnderWay) {
  raft::Status core;
  core.configuration = {.voters = {{ReplicaId(1)}, {ReplicaId(3)}},
                        .outgoing = {{ReplicaId(1)}, {ReplicaId(2)}, {ReplicaId(3)}},
                        .learners = {{ReplicaId(2)}, {ReplicaId(4)}}};
  const MemberList list = member_list(core, ReplicaId(1), LaggingTime(1s));
  EXPECT_TRUE(list.joint);
  std::vector<std::pair<uint64_t, std::string_view>> roles;
  for (const MemberInfo& member : list.members) roles.emplace_back(member.id, name_of(member.role));
  EXPECT_THAT(roles,
              ElementsAre(std::pair(1, "Voter"), std::pair(2, "Leaving"), std::pair(3, "Voter"), std::pair(4, "Learner")));
}

TEST(MemberListTest, WhoIsReplacedUnderItsOwnIdIsListedBesideWhoTakesItsPlace) {
  raft::Status core;
  core.configuration = {.voters = {{ReplicaId(1), StoreId(10)}},
                        .outgoing = {{ReplicaId(1), StoreId(10)}, {ReplicaId(2), StoreId(20)}},
                        .learners = {{ReplicaId(2), StoreId(21)}}};
  std::vector<std::pair<StoreId, std::string_view>> roles;
  for (const MemberInfo& member : member_list(core, ReplicaId(1), LaggingTime(1s)).members) {
    roles.emplace_back(member.store, name_of(member.role));
  }
  EXPECT_THAT(roles, ElementsAre(std::pair(StoreId(10), "Voter"), std::pair(StoreId(20), "Leaving"),
                                 std::pair(StoreId(21), "Learner")));
}

}  // namespace
}  // namespace coordkit::testkit
