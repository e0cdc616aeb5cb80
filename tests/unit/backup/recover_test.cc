// New clusters from what a lost majority left: recover from 1 of 3 and 2 of 5, and when not to.
#include "base/sums.h"
#include "coordkit/operate/inspect.h"
#include "log/log.h"
#include "raft/log/entry_codec.h"
#include "storage/posix_file_system.h"
#include "tests/unit/backup/scene.h"

namespace coordkit::testkit {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RecoverTest : public ::testing::Test {
 protected:
  // All replicas write, then stop.
  void run(Cluster& cluster, int keys) {
    for (uint64_t id = 1; id <= cluster.size(); ++id) ASSERT_NO_FATAL_FAILURE(cluster.open(busy(cluster.options(id))));
    for (uint64_t id = 1; id <= cluster.size(); ++id) ASSERT_THAT(cluster[id].wait_ready(kPatience), IsOk());
    ASSERT_NO_FATAL_FAILURE(put_keys(cluster[1], 0, keys));
  }
  // So that everything acknowledged so far is on this replica's disk.
  static void catch_up(Replica& replica) { ASSERT_THAT(Kv(replica).get("key-0", {.timeout = kPatience}).status(), IsOk()); }
  static std::string directory(const Cluster& cluster, uint64_t id) { return cluster.options(id).data_dir; }
  static RecoverOptions accepted(const RestoredCluster& made) {
    return {.restore = made.restore_options(), .accept_loss = true};
  }
};

// Covers: FLT_P20
TEST_F(RecoverTest, OneDirectoryOfThreeBecomesAWholeCluster) {
  Cluster cluster(3);
  ASSERT_NO_FATAL_FAILURE(run(cluster, 40));
  ASSERT_NO_FATAL_FAILURE(catch_up(cluster[2]));
  Session session = cluster.session(2);
  const auto grant = session.acquire("lock", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  for (uint64_t id = 1; id <= 3; ++id) cluster.close(id);
  const auto left = tree(directory(cluster, 2));

  RestoredCluster made(3);
  const auto report = recover_directories({directory(cluster, 2)}, accepted(made));
  ASSERT_THAT(report.status(), IsOk());
  EXPECT_EQ(report->voters, 3u);
  EXPECT_EQ(report->found, 1u);
  EXPECT_THAT(report->losses, Not(IsEmpty()));
  ASSERT_TRUE(report->made);
  EXPECT_EQ(tree(directory(cluster, 2)), left) << "what was left is kept as it was";
  ASSERT_NO_FATAL_FAILURE(made.open_all());
  expect_keys(made[1], 40);
  auto fresh = made[3].open_session({.ttl = 10s, .timeout = kPatience});
  ASSERT_THAT(fresh.status(), IsOk());
  const auto next = fresh->acquire("another", {.timeout = kPatience});
  ASSERT_THAT(next.status(), IsOk());
  EXPECT_GT(next->token(), grant->token());
}

// Two of five are gone for good, one of which held the newest entries; the better of the remaining two is taken.
// Covers: FLT_P20
TEST_F(RecoverTest, TwoOfFiveAndTheBetterOneIsTaken) {
  Cluster cluster(5);
  ASSERT_NO_FATAL_FAILURE(run(cluster, 20));
  for (uint64_t id = 1; id <= 5; ++id) ASSERT_NO_FATAL_FAILURE(catch_up(cluster[id]));
  cluster.close(5);
  const uint64_t last = cluster[1].health().leader == ReplicaId(5) ? 2 : 1;
  ASSERT_THAT(cluster[last].wait_ready(kPatience), IsOk());
  ASSERT_NO_FATAL_FAILURE(put_keys(cluster[last], 20, 20));
  ASSERT_NO_FATAL_FAILURE(catch_up(cluster[4]));
  for (uint64_t id = 1; id <= 4; ++id) cluster.close(id);

  RestoredCluster made(3);
  const auto report = recover_directories({directory(cluster, 5), directory(cluster, 4)}, accepted(made));
  ASSERT_THAT(report.status(), IsOk());
  EXPECT_EQ(report->chosen, 1u);
  EXPECT_EQ(report->voters, 5u);
  EXPECT_EQ(report->found, 2u);
  ASSERT_NO_FATAL_FAILURE(made.open_all());
  expect_keys(made[2], 40);
}

TEST_F(RecoverTest, WhatASurvivorKnowsToBeLostIsSaid) {
  Cluster cluster(3);
  ASSERT_NO_FATAL_FAILURE(run(cluster, 20));
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_NO_FATAL_FAILURE(catch_up(cluster[id]));
  cluster.close(3);  // learns nothing of what follows
  ASSERT_NO_FATAL_FAILURE(put_keys(cluster[1], 20, 20));
  for (uint64_t id = 1; id <= 2; ++id) cluster.close(id);
  RestoredCluster made(1);
  const auto report = recover_directories({directory(cluster, 3)}, accepted(made));
  ASSERT_THAT(report.status(), IsOk());
  EXPECT_THAT(report->losses, Contains(HasSubstr("acknowledged by the other 2 of 3 voters")));
  ASSERT_NO_FATAL_FAILURE(made.open_all());
  expect_keys(made[1], 20);
}

TEST_F(RecoverTest, WithoutTheFlagNothingIsWritten) {
  Cluster cluster(3);
  ASSERT_NO_FATAL_FAILURE(run(cluster, 5));
  for (uint64_t id = 1; id <= 3; ++id) cluster.close(id);
  RestoredCluster made(1);
  const auto report = recover_directories({directory(cluster, 1)}, {.restore = made.restore_options()});
  ASSERT_THAT(report.status(), IsOk());
  EXPECT_FALSE(report->made);
  EXPECT_THAT(report->losses, Not(IsEmpty()));
  EXPECT_THAT(tree(made.folder()), IsEmpty());
}

// Covers: FLT_P20
TEST_F(RecoverTest, AMajorityIsNotRecoveredButStarted) {
  Cluster cluster(3);
  ASSERT_NO_FATAL_FAILURE(run(cluster, 5));
  for (uint64_t id = 1; id <= 3; ++id) cluster.close(id);
  RestoredCluster made(1);
  EXPECT_THAT(recover_directories({directory(cluster, 1), directory(cluster, 3)}, accepted(made)).status(),
              Is(Reason::Conflict));
  // The same directory twice is no majority.
  EXPECT_THAT(recover_directories({directory(cluster, 1), directory(cluster, 1)}, accepted(made)).status(), IsOk());
}

// The last that a leader wrote to its own disk: from all voters to it alone, both halves in force.
void begin_to_leave_alone(const std::string& directory) {
  const auto report = inspect_directory(directory);
  ASSERT_THAT(report.status(), IsOk());
  ASSERT_TRUE(report->log && report->state);
  raft::Configuration joint = report->state->members;
  joint.outgoing = joint.voters;
  std::erase_if(joint.voters, [&](const raft::Member& member) { return member.store != report->store; });
  raft::Entry entry{.index = report->log->last.index.next(),
                    .term = report->log->last.term,
                    .kind = raft::EntryKind::Configuration,
                    .payload = SharedBytes(encode(joint))};
  entry.content_sum = content_sum(kOnlyGroup, entry.term, entry.index, entry.kind, entry.payload.view());
  auto files = storage::PosixFileSystem::open(directory + "/log");
  ASSERT_THAT(files.status(), IsOk());
  auto opened = log::Log::open(**files, {.store = report->store});
  ASSERT_THAT(opened.status(), IsOk());
  const LogWrite write{.number = WriteNumber(1), .entries = {entry}};
  ASSERT_THAT(opened->log->append({&write, 1}), IsOk());
  ASSERT_THAT(opened->log->sync(), IsOk());
}

// It was taken for a majority of one, and the advice was to start it: it waits for the others for ever.
// Covers: FLT_P20
TEST_F(RecoverTest, OneHalfOfAChangeOfMembersIsNoMajority) {
  Cluster cluster(3);
  ASSERT_NO_FATAL_FAILURE(run(cluster, 20));
  ASSERT_NO_FATAL_FAILURE(catch_up(cluster[1]));
  for (uint64_t id = 1; id <= 3; ++id) cluster.close(id);
  ASSERT_NO_FATAL_FAILURE(begin_to_leave_alone(directory(cluster, 1)));
  RestoredCluster made(1);
  const auto report = recover_directories({directory(cluster, 1)}, accepted(made));
  ASSERT_THAT(report.status(), IsOk());
  EXPECT_EQ(report->voters, 3u);
  EXPECT_EQ(report->found, 1u);
  EXPECT_THAT(report->losses, Contains(HasSubstr("acknowledged by the other 2 of 3 voters")));
  ASSERT_NO_FATAL_FAILURE(made.open_all());
  expect_keys(made[1], 20);
}

TEST_F(RecoverTest, DirectoriesOfTwoClustersAreRefused) {
  Cluster one(1), other(1);
  ASSERT_NO_FATAL_FAILURE(run(one, 1));
  ASSERT_NO_FATAL_FAILURE(run(other, 1));
  one.close(1);
  other.close(1);
  RestoredCluster made(1);
  const auto refused = recover_directories({directory(one, 1), directory(other, 1)}, accepted(made)).status();
  EXPECT_THAT(refused, Is(Reason::InvalidArgument));
  EXPECT_THAT(std::string(sentence_of(refused)), HasSubstr("different clusters"));
}

TEST_F(RecoverTest, ADamagedDirectoryIsPassedOverAndSaidSo) {
  Cluster cluster(5);
  ASSERT_NO_FATAL_FAILURE(run(cluster, 30));
  for (uint64_t id = 1; id <= 5; ++id) ASSERT_NO_FATAL_FAILURE(catch_up(cluster[id]));
  for (uint64_t id = 1; id <= 5; ++id) cluster.close(id);
  const fs::path state = fs::path(directory(cluster, 1)) / "state/data.mdb";
  fs::resize_file(state, fs::file_size(state) / 2);
  RestoredCluster made(1);
  const auto report = recover_directories({directory(cluster, 1), directory(cluster, 2)}, accepted(made));
  ASSERT_THAT(report.status(), IsOk());
  EXPECT_EQ(report->chosen, 1u);
  EXPECT_FALSE(report->survivors[0].usable);
  EXPECT_FALSE(report->survivors[0].problem.empty());
  ASSERT_NO_FATAL_FAILURE(made.open_all());
  expect_keys(made[1], 30);
  EXPECT_THAT(recover_directories({directory(cluster, 1)}, accepted(made)).status(), HasCode(absl::StatusCode::kDataLoss));
}

// A directory that cannot be looked at for another reason than damage may be whole, and is not counted as lost.
// Covers: FLT_P20
TEST_F(RecoverTest, OnlyADamagedDirectoryIsPassedOver) {
  Cluster cluster(3);
  ASSERT_NO_FATAL_FAILURE(run(cluster, 10));
  cluster.close(2);
  cluster.close(3);
  const std::string left = directory(cluster, 2);
  RestoredCluster made(1);
  const auto tried = [&](const std::string& beside) { return recover_directories({left, beside}, accepted(made)).status(); };
  EXPECT_THAT(tried(directory(cluster, 1)), Is(Reason::InUse)) << "that of a replica that runs, and makes a majority with it";
  EXPECT_THAT(tried(left + "/nowhere"), Is(Reason::NotFound));
  EXPECT_THAT(tried(left + "/log"), Is(Reason::ForeignData));
  cluster.close(1);
  EXPECT_THAT(tried(directory(cluster, 1)), Is(Reason::Conflict));
}

}  // namespace
}  // namespace coordkit::testkit
