#include "storage/log/sync_pace.h"

#include <gtest/gtest.h>

namespace coordkit {
namespace {

using namespace std::chrono_literals;

TEST(SyncPaceTest, ASlowSyncEndsItUntilManyWereQuickAgain) {
  SyncPace pace(2ms);
  EXPECT_TRUE(pace.quick());
  pace.took(100us);
  EXPECT_TRUE(pace.quick());
  pace.took(2ms + 1us);
  for (uint32_t i = 0; i < SyncPace::kInARow; ++i) {
    EXPECT_FALSE(pace.quick()) << "it has to show anew that it is";
    pace.took(2ms);
  }
  EXPECT_TRUE(pace.quick());
}

TEST(SyncPaceTest, WithoutALimitNothingIsQuick) {
  SyncPace pace(0ms);
  for (uint32_t i = 0; i < 2 * SyncPace::kInARow; ++i) pace.took(0ms);
  EXPECT_FALSE(pace.quick());
}

}  // namespace
}  // namespace coordkit
