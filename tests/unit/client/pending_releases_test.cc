#include "client/locks/pending_releases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace coordkit::client {
namespace {

// The same as a vector, where everything is searched linearly.
struct Twin {
  struct Release {
    ReleaseNumber number;
    ReleaseId id;
    bool posted = false;
  };
  std::vector<Release> all;
  auto find(ReleaseNumber number) { return std::ranges::find(all, number, &Release::number); }
};

TEST(PendingReleasesTest, AreFoundEndedAndListedAsInAVector) {
  Random random(17);
  PendingReleases releases;
  Twin twin;
  for (uint64_t step = 1; step < 20'000; ++step) {
    const ReleaseId id{Token(step / 2 + 1), step % 2};
    if (random.chance(0.5)) {
      const PendingRelease& added = releases.add("lock", id);
      EXPECT_EQ(added.id, id);
      EXPECT_EQ(twin.find(added.number), twin.all.end());
      twin.all.push_back({added.number, id});
    }
    if (!twin.all.empty()) {
      Twin::Release& one = twin.all[random.below(twin.all.size())];
      ASSERT_NE(releases.find(one.number), nullptr);
      EXPECT_EQ(releases.find(one.number)->id, one.id);
      one.posted = random.chance(0.7);
      releases.set_posted(*releases.find(one.number), one.posted);
    }
    if (!twin.all.empty() && random.chance(0.5)) {
      const ReleaseNumber over = twin.all[random.below(twin.all.size())].number;
      releases.erase(over);
      twin.all.erase(twin.find(over));
      EXPECT_EQ(releases.find(over), nullptr);
    }
    ASSERT_EQ(releases.size(), twin.all.size());
    ASSERT_EQ(releases.all_posted(), std::ranges::all_of(twin.all, &Twin::Release::posted));
    if (step % 100 != 0) continue;
    std::vector<ReleaseId> listed, expected;
    releases.each([&](const PendingRelease& release) {
      listed.push_back(release.id);
      return true;
    });
    for (const Twin::Release& release : twin.all) expected.push_back(release.id);
    ASSERT_EQ(listed, expected);
  }
}

}  // namespace
}  // namespace coordkit::client
