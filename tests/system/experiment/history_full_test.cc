// The history experiment, briefly. All that the callers of killed and stopped processes saw could have come from one service.
// Holders who do not ask whether they still hold are caught. A fault beyond the fault model is not silent. Real processes;
// nothing asserts how long it took.
#include "tests/system/experiment/report_of.h"

namespace coordkit {
namespace {

// Covers: INV_K01 INV_L01
TEST(HistoryTest, WhatCallersOfKilledAndStoppedProcessesSawIsLinearizable) {
  const nlohmann::json result = testkit::report_of("history --seconds 30 --seed 1", "history");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["keys"], "linearizable");
  EXPECT_EQ(result["locks"], "linearizable");
  EXPECT_EQ(result["watch_errors"], 0);
  EXPECT_GT(result["answered"], 0);
  EXPECT_FALSE(result["gaps"].empty());
}

// Covers: FLT_P18 FLT_P27
TEST(HistoryTest, DirectoriesSetBackOrCopiedAreNotSilentAndInventNothing) {
  const nlohmann::json result = testkit::report_of("history --seconds 60 --seed 3 --beyond", "history-beyond");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["keys"], "linearizable");
  EXPECT_EQ(result["locks"], "linearizable");
  EXPECT_EQ(result["watch_errors"], 0);
  EXPECT_FALSE(result["beyond"].empty());
  EXPECT_FALSE(result["beyond"].contains("wrong"));
}

TEST(HistoryTest, HoldersWhoDoNotAskAreCaught) {
  const nlohmann::json result = testkit::report_of("history --seconds 30 --seed 2 --without-check", "history-without-check");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["locks"], "violation");
  EXPECT_EQ(result["keys"], "linearizable");
}

}  // namespace
}  // namespace coordkit
