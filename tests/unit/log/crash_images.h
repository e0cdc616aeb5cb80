// Every image that a crash may leave. For each prefix of a log's life it takes each subset of the pages and name changes not
// synced by then, in any order, up to twelve of them. Beyond that it takes random subsets, torn at sectors.
#pragma once

#include <gtest/gtest.h>

#include "tests/unit/log/log_workload.h"

namespace coordkit::testkit {

inline constexpr size_t kExhaustiveMax = 12;  // pieces: up to 4096 images per point of time

inline absl::StatusOr<log::OpenedLog> open(RecordingFs& disk) { return log::Log::open(disk, tiny_segments()); }

// For one image: recovery finds what was acknowledged and nothing that was never begun, and repeating it changes nothing,
// not even if the power fails as soon as it has returned.
inline void expect_recovers(const LogWorkload& work, size_t count, const Image& image) {
  RecordingFs after(image);
  const auto opened = open(after);
  ASSERT_TRUE(opened.ok()) << "after " << count << " changes: " << opened.status().ToString();
  ASSERT_TRUE(opened->damaged.empty()) << "after " << count << " changes a hole, at " << opened->damaged.front().index.value();
  ASSERT_TRUE(work.allows(count, *opened)) << "after " << count << " changes, up to "
                                           << opened->log->state().last.index.value();
  RecordingFs again(after.crash(after.changes().size(), [] { return false; }));
  const auto twice = open(again);
  ASSERT_TRUE(twice.ok()) << "after " << count << " changes: " << twice.status().ToString();
  ASSERT_TRUE(same(*opened, *twice)) << "recovering twice is not recovering once, after " << count << " changes";
}

class CrashImagesTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  void whole_pages() {
    ASSERT_NO_FATAL_FAILURE(live(30));
    EXPECT_GT(check_all(20, {.bytes = kPageBytes, .names_in_order = false}), 500u);
  }

  void torn_sectors() {
    ASSERT_NO_FATAL_FAILURE(live(60));
    EXPECT_GT(check_all(10, {.bytes = kSectorBytes, .names_in_order = false}), 500u);
  }

 private:
  // Appends, truncations, resets, compactions, rolls, spares, marks; a restart in between, so that segments are replaced.
  void live(int steps) {
    ASSERT_TRUE(work_.open().ok());
    for (int i = 0; i < steps; ++i) {
      ASSERT_TRUE(work_.step().ok());
      if (i == steps / 2) {
        ASSERT_TRUE(work_.open().ok());
      }
    }
  }

  size_t check_all(size_t samples, Pieces of) {
    size_t images = 0;
    const auto check = [&](size_t count, const Image& image) {
      if (HasFatalFailure()) return;
      ++images;
      expect_recovers(work_, count, image);
    };
    for_each_crash(disk_, kExhaustiveMax, samples, GetParam(), check, of);
    return images;
  }

  RecordingFs disk_;
  LogWorkload work_{disk_, GetParam()};
};

}  // namespace coordkit::testkit
