// The first start of replicas whose lists of members differ, over real files and loopback TCP: nobody founds a cluster, every
// replica says how the lists differ, and the corrected lists found it on the same directories (FLT_A19).
#include <map>
#include <utility>

#include "coordkit/coordkit.h"
#include "coordkit/operate/inspect.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

class ListsThatDifferTest : public ::testing::Test {
 protected:
  std::vector<MemberAddress> list(const std::vector<uint64_t>& ids) const {
    std::vector<MemberAddress> members;
    for (const uint64_t id : ids) members.push_back({id, address(id)});
    return members;
  }
  std::string address(uint64_t id) const { return cluster_.options(1).members[id - 1].address; }

  void open_all() {
    for (uint64_t id = 1; id <= 3; ++id) {
      ReplicaOptions options = cluster_.options(id);
      if (const auto own = lists_.find(id); own != lists_.end()) options.members = own->second;
      ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(options)));
    }
  }
  void close_all() {
    for (uint64_t id = 1; id <= 3; ++id) cluster_.close(id);
  }

  // Waits until the replica says this of the peer's list, with the cure, and that nobody founds.
  void says(uint64_t id, uint64_t peer, const std::string& how) {
    const std::string words = "replica " + std::to_string(peer) + " was started with another list of members: " + how +
                              "; give all members one list, and restart those that had another";
    EXPECT_TRUE(eventually([&] {
      const Health health = cluster_[id].health();
      return ::testing::Matches(Contains(HasSubstr(words)))(health.warnings);
    })) << "replica "
        << id << " of " << words << "\nit says: " << ::testing::PrintToString(cluster_[id].health().warnings);
  }
  void nothing_is_founded() {
    for (uint64_t id = 1; id <= 3; ++id) {
      const Health health = cluster_[id].health();
      EXPECT_EQ(health.state, ReplicaState::WaitingForMembers) << id;
      EXPECT_EQ(health.cluster, ClusterId()) << id;
      EXPECT_THAT(health.reason, HasSubstr("no replica founds the cluster: replica ")) << id;
      EXPECT_EQ(fault_of_words(health.reason), "") << id;
      for (const std::string& warning : health.warnings) EXPECT_EQ(fault_of_words(warning), "") << id;
      EXPECT_THAT(cluster_[id].wait_ready(0s), Is(Reason::CallTimeout)) << id;
    }
    close_all();
    for (uint64_t id = 1; id <= 3; ++id) {
      const absl::StatusOr<DirectoryReport> directory = inspect_directory(cluster_.options(id).data_dir);
      ASSERT_THAT(directory.status(), IsOk()) << id;
      EXPECT_TRUE(!directory->log || directory->log->last == Position()) << "the log of " << id << " has an entry";
    }
  }
  // On the directories that are there.
  void the_corrected_lists_serve() {
    lists_.clear();
    ASSERT_NO_FATAL_FAILURE(open_all());
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk()) << id;
    for (uint64_t id = 1; id <= 3; ++id) {
      EXPECT_TRUE(eventually([&] { return cluster_[id].health().members.members.size() == 3; })) << id;
      EXPECT_EQ(cluster_[id].health().cluster, cluster_[1].health().cluster) << id;
      EXPECT_TRUE(eventually([&] {
        return ::testing::Matches(Each(Not(HasSubstr("another list of members"))))(cluster_[id].health().warnings);
      })) << id;
    }
    EXPECT_THAT(cluster_.session(3).acquire("jobs", {.timeout = kPatience}).status(), IsOk());
    EXPECT_THAT(cluster_[2].put("k", "v").status(), IsOk());
  }

  std::map<uint64_t, std::vector<MemberAddress>> lists_;  // of those that have another list than all three
  Cluster cluster_;
};

// Covers: FLT_A19
TEST_F(ListsThatDifferTest, TheFoundersListLeavesOutAMember) {
  lists_[1] = list({1, 2});
  ASSERT_NO_FATAL_FAILURE(open_all());
  says(1, 2, "it lists replica 3, which this one does not");
  says(1, 3, "it lists replica 3, which this one does not");
  says(2, 1, "it does not list replica 3 at " + address(3));
  says(3, 1, "it does not list replica 3 at " + address(3));
  nothing_is_founded();
  the_corrected_lists_serve();
}

// Covers: FLT_A19
TEST_F(ListsThatDifferTest, TheFoundersListSwapsTwoAddresses) {
  lists_[1] = list({1, 2, 3});
  std::swap(lists_[1][1].address, lists_[1][2].address);
  ASSERT_NO_FATAL_FAILURE(open_all());
  const auto swapped = [&](uint64_t of, uint64_t other, const std::string& there) {
    return "lists replica " + std::to_string(of) + " at the address that replica " + std::to_string(other) + " at " + there +
           " has here";
  };
  const std::string founder = "it " + swapped(2, 3, address(2)) + ", " + swapped(3, 2, address(3));
  for (const uint64_t id : {2, 3}) {
    says(1, id, founder);
    says(id, 1, "it " + swapped(2, 3, address(3)) + ", " + swapped(3, 2, address(2)));
  }
  nothing_is_founded();
  the_corrected_lists_serve();
}

// Covers: FLT_A19
TEST_F(ListsThatDifferTest, TheOthersListsLeaveEachOtherOut) {
  lists_ = {{2, list({1, 2})}, {3, list({1, 3})}};
  ASSERT_NO_FATAL_FAILURE(open_all());
  says(1, 2, "it does not list replica 3 at " + address(3));
  says(1, 3, "it does not list replica 2 at " + address(2));
  says(2, 1, "it lists replica 3, which this one does not");
  says(3, 1, "it lists replica 2, which this one does not");
  nothing_is_founded();
  the_corrected_lists_serve();
}

}  // namespace
}  // namespace coordkit::testkit
