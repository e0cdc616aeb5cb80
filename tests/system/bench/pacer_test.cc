// When the operations of an open loop begin, and from when they count.
#include "bench/cluster/pacer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAreArray;
using TimePoint = Pacer::TimePoint;

Pacer::Plan plan_of(double per_s, Pacer::Duration length, Pacer::Duration patience) {
  const TimePoint now = std::chrono::steady_clock::now();
  return {.per_s = per_s, .first = now, .end = now + length, .patience = patience};
}

// Callers whose operations are done at once.
class QuickCallers {
 public:
  explicit QuickCallers(Pacer& pacer) : pacer_(pacer) {}

  void run(size_t count) {
    running_ = count;
    for (size_t i = 0; i < count; ++i) next();
    all_ended_.get_future().wait();
  }
  std::vector<TimePoint> begun() {
    const std::lock_guard lock(mutex_);
    std::ranges::sort(begun_);
    return begun_;
  }

 private:
  void next() {
    pacer_.wait(
        [this](TimePoint due) {
          {
            const std::lock_guard lock(mutex_);
            begun_.push_back(due);
          }
          next();
        },
        [this] {
          if (--running_ == 0) all_ended_.set_value();
        });
  }

  Pacer& pacer_;
  std::atomic<size_t> running_{0};
  std::promise<void> all_ended_;
  std::mutex mutex_;
  std::vector<TimePoint> begun_;
};

std::vector<TimePoint> all_due(const Pacer& pacer) {
  std::vector<TimePoint> due;
  for (uint64_t number = 0; number < pacer.planned(); ++number) due.push_back(pacer.due(number));
  return due;
}

TEST(PacerTest, EveryOperationBeginsOnceAndCountsFromWhenItWasDue) {
  Pacer pacer(plan_of(10'000, 50ms, 1h));
  QuickCallers callers(pacer);
  callers.run(3);
  EXPECT_EQ(pacer.planned(), 500u);
  EXPECT_EQ(pacer.never_begun(), 0u);
  EXPECT_THAT(callers.begun(), ElementsAreArray(all_due(pacer)));
}

TEST(PacerTest, OperationsAreDueAtTheRate) {
  const Pacer::Plan plan = plan_of(1000, 10ms, 0ms);
  const Pacer pacer(plan);
  EXPECT_EQ(pacer.due(0), plan.first);
  EXPECT_EQ(pacer.due(7), plan.first + 7ms);
}

// Nobody is free until all operations are late: they are made up for, and none counts from later than it was due.
TEST(PacerTest, ALateCallerBeginsTheOperationsThatWereDueBefore) {
  Pacer pacer(plan_of(1000, 20ms, 1h));
  std::this_thread::sleep_for(20ms);
  QuickCallers callers(pacer);
  callers.run(1);
  EXPECT_EQ(pacer.never_begun(), 0u);
  EXPECT_THAT(callers.begun(), ElementsAreArray(all_due(pacer)));
}

TEST(PacerTest, AnOperationThatFindsNoCallerUntilTheEndNeverBegins) {
  Pacer pacer(plan_of(1000, 20ms, 0ms));
  std::this_thread::sleep_for(20ms);
  QuickCallers callers(pacer);
  callers.run(2);
  EXPECT_THAT(callers.begun(), ::testing::IsEmpty());
  EXPECT_EQ(pacer.never_begun(), 20u);
}

}  // namespace
}  // namespace coordkit::bench
