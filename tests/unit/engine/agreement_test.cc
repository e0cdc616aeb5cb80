// Settings that must be equal: which differences are found, and what two replicas that differ do with each other.
#include "coordkit/engine/agreement.h"

#include <gmock/gmock.h>

#include "tests/unit/engine/engine_cluster.h"

namespace coordkit::engine {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Agreement usual() {
  return {.rate_error_ppm = 10'000,
          .election_timeout = 300ms,
          .digest_entries = 65'536,
          .machines = {{.id = MachineId(16), .version = 1}, {.id = MachineId(17), .version = 4}}};
}

Disagreement found(const std::function<void(Agreement&)>& change) {
  Agreement theirs = usual();
  change(theirs);
  return compare(usual(), ReplicaId(2), theirs);
}

// Covers: FLT_A14
TEST(AgreementTest, EqualSettingsAreNothingToTell) {
  const Disagreement none = found([](Agreement&) {});
  EXPECT_THAT(none.dangerous, IsEmpty());
  EXPECT_THAT(none.tolerable, IsEmpty());
}

// Covers: FLT_A14
TEST(AgreementTest, ClocksAndLeasesAreDangerousAndBothValuesAreTold) {
  const Disagreement clocks = found([](Agreement& theirs) { theirs.rate_error_ppm = 20'000; });
  EXPECT_EQ(
      clocks.dangerous,
      "replica 2 has other settings than this one: rate_error_ppm is 20000 there and 10000 here; with these two processes "
      "could trust one lock, so neither hears the other: restart one of them with the other's settings");
  EXPECT_THAT(clocks.tolerable, IsEmpty());
  const Disagreement leases = found([](Agreement& theirs) { theirs.leader_leases = true; });
  EXPECT_THAT(leases.dangerous, HasSubstr("leader_leases is on there and off here"));
}

// Covers: FLT_A14
TEST(AgreementTest, ElectionTimeoutsAreDangerousWithLeasesOnly) {
  const auto longer = [](Agreement& theirs) { theirs.election_timeout = 500ms; };
  EXPECT_THAT(found(longer).dangerous, IsEmpty());
  EXPECT_THAT(found(longer).tolerable, HasSubstr("election_timeout is 500 ms there and 300 ms here"));
  Agreement mine = usual();
  mine.leader_leases = true;
  Agreement theirs = mine;
  longer(theirs);
  EXPECT_THAT(compare(mine, ReplicaId(2), theirs).dangerous, HasSubstr("election_timeout is 500 ms there and 300 ms here"));
}

// Covers: FLT_A14
TEST(AgreementTest, TheRestIsAWarningThatNamesEveryDifference) {
  const Disagreement many = found([](Agreement& theirs) {
    theirs.digest_entries = 0;
    theirs.revisions_kept = 7;
    theirs.history_kept = 1h;
    theirs.machines = {{.id = MachineId(16), .version = 2}, {.id = MachineId(40)}};
  });
  EXPECT_THAT(many.dangerous, IsEmpty());
  EXPECT_THAT(
      many.tolerable,
      AllOf(HasSubstr("digest_entries is 0 there and 65536 here"), HasSubstr("compaction.revisions is 7 there and 0 here"),
            HasSubstr("compaction.age is 3600000 ms there and 0 ms here"),
            HasSubstr("the version of machine 16 is 2 there and 1 here"), HasSubstr("machine 40 is there and not here"),
            HasSubstr("machine 17 is here and not there")));
}

// The third one returns with another bound on clocks.
struct OneOfThree : ::testing::Test {
  uint32_t thirds_error = 10'000;
  uint64_t thirds_digests = 65'536;
  Cluster cluster{3, [this](EngineOptions& options) {
                    options.agreement = usual();
                    if (options.raft.self != ReplicaId(3)) return;
                    options.agreement->rate_error_ppm = thirds_error;
                    options.agreement->digest_entries = thirds_digests;
                  }};
  bool ready(uint64_t id) {
    return cluster.until([&] { return cluster.engine(id).status().state == ReplicaState::Ready; });
  }
  void restart_third() {
    cluster.crash(3);
    cluster.start(3);
  }
};

// Covers: FLT_A14
TEST_F(OneOfThree, AReplicaWithDangerousSettingsNeitherHearsNorIsHeardUntilTheyAgree) {
  cluster.start_all();
  ASSERT_TRUE(ready(3));
  thirds_error = 20'000;
  restart_third();
  cluster.pass(20s);
  EXPECT_EQ(cluster.engine(3).status().state, ReplicaState::Starting);
  EXPECT_THAT(cluster.engine(3).status().reason, HasSubstr("rate_error_ppm is 10000 there and 20000 here"));
  ASSERT_TRUE(ready(1) && ready(2)) << "the two that agree go on";
  EXPECT_EQ(cluster.run(1, "add 5"), "5");
  for (const uint64_t id : {1, 2}) {
    const EngineStatus status = cluster.engine(id).status();
    ASSERT_EQ(status.missing.size(), 1u);
    EXPECT_EQ(status.missing[0].id, ReplicaId(3));
    EXPECT_THAT(status.missing[0].why, HasSubstr("rate_error_ppm is 20000 there and 10000 here"));
  }
  thirds_error = 10'000;
  restart_third();
  EXPECT_TRUE(ready(3));
  EXPECT_EQ(cluster.run(3, "add 2"), "7");
}

// Covers: FLT_A14
TEST_F(OneOfThree, ATolerableDifferenceOfSettingsIsAWarningUntilItIsCorrected) {
  cluster.start_all();
  ASSERT_TRUE(ready(3));
  thirds_digests = 0;
  restart_third();
  ASSERT_TRUE(ready(3)) << "a tolerable difference keeps no one out";
  EXPECT_THAT(cluster.engine(1).status().warnings, Contains(HasSubstr("digest_entries is 0 there and 65536 here")));
  EXPECT_THAT(cluster.engine(3).status().warnings, Contains(HasSubstr("digest_entries is 65536 there and 0 here")));
  thirds_digests = 65'536;
  restart_third();
  ASSERT_TRUE(ready(3));
  EXPECT_THAT(cluster.engine(1).status().warnings, IsEmpty());
}

// Covers: FLT_A14
TEST_F(OneOfThree, ReplicasWithDangerouslyDifferentSettingsFoundNoCluster) {
  thirds_error = 20'000;
  cluster.start_all();
  cluster.pass(20s);
  for (const uint64_t id : {1, 2, 3}) {
    EXPECT_EQ(cluster.engine(id).status().state, ReplicaState::WaitingForMembers) << id;
    EXPECT_THAT(cluster.engine(id).status().reason, HasSubstr("rate_error_ppm")) << id;
  }
}

}  // namespace
}  // namespace coordkit::engine
