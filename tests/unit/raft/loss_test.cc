// A network that loses three messages of ten, for a minute of virtual time: leaders stay, and commands are committed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "base/random.h"
#include "raft_cluster.h"

namespace coordkit::raft::testing {
namespace {

struct Minute {
  uint64_t terms = 0;
  uint64_t commits = 0;
  Duration longest_gap{};  // without a commit
};

class LossyCluster {
 public:
  LossyCluster(uint64_t seed, double loss) : cluster_(3, {}, seed), random_(seed), loss_(loss) { cluster_.elect(1); }

  Minute run() {
    constexpr Duration kSlice = milliseconds(5);
    constexpr Duration kBetweenProposals = milliseconds(50);
    const Term before = newest_term();
    Minute minute;
    Index committed = cluster_.committed_anywhere();
    Duration gap{};
    for (Duration done{}; done < std::chrono::minutes(1); done += kSlice) {
      cluster_.advance_all(kSlice);
      const uint64_t leader = cluster_.leader();
      if (leader != 0 && done % kBetweenProposals == Duration()) cluster_.propose(leader, "x");
      settle();
      gap = cluster_.committed_anywhere() == committed ? gap + kSlice : Duration();
      minute.longest_gap = std::max(minute.longest_gap, gap);
      minute.commits += cluster_.committed_anywhere() - committed;
      committed = cluster_.committed_anywhere();
    }
    minute.terms = newest_term().value() - before.value();
    return minute;
  }

 private:
  Term newest_term() {
    Term newest;
    for (auto& [id, node] : cluster_.nodes()) newest = std::max(newest, node.core->leadership().term);
    return newest;
  }
  // Disks and what of the network is not lost are quick.
  void settle() {
    for (bool any = true; any;) {
      for (auto& [id, node] : cluster_.nodes()) cluster_.written_all(id);
      std::erase_if(cluster_.network(), [this](const Flight&) { return random_.chance(loss_); });
      any = !cluster_.network().empty();
      cluster_.deliver_round();
    }
  }

  Cluster cluster_;
  Random random_;
  double loss_;
};

// Covers: FLT_N01
TEST(LossTest, ThreeMessagesOfTenAreLostForAMinute) {
  constexpr uint64_t kSeeds = 10;
  Minute sum;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Minute minute = LossyCluster(seed, 0.3).run();
    sum.terms += minute.terms;
    sum.commits += minute.commits;
    sum.longest_gap = std::max(sum.longest_gap, minute.longest_gap);
  }
  const auto gap = std::chrono::duration_cast<milliseconds>(sum.longest_gap);
  std::printf("%llu minutes: %llu terms, %llu of 20 commits a second, longest gap %lld ms\n",
              static_cast<unsigned long long>(kSeeds), static_cast<unsigned long long>(sum.terms),
              static_cast<unsigned long long>(sum.commits / kSeeds / 60), static_cast<long long>(gap.count()));
  EXPECT_LE(sum.terms, kSeeds / 2);
  EXPECT_GT(sum.commits / kSeeds / 60, 15u);
  EXPECT_LT(gap, milliseconds(1500));
}

}  // namespace
}  // namespace coordkit::raft::testing
