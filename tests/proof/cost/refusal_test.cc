// The cost of a call that is refused because too much is in progress.
#include <gtest/gtest.h>

#include <optional>

#include "coordkit/error.h"
#include "coordkit/keys/kv.h"
#include "service/calls/call_forms.h"
#include "tests/proof/cost/allocations.h"

namespace coordkit::testkit {
namespace {

// A replica without room for more calls.
class FullHouse final : public CallRunner, private Clock {
 public:
  void call(Call) override { ++called; }
  bool on_engine_thread() const override { return engine_thread; }
  const Clock& clock() const override { return *this; }
  bool admit(LaggingTime deadline) override {
    asked = deadline;
    return false;
  }
  void leave(Served) override { ++left; }

  uint64_t called = 0, left = 0;
  bool engine_thread = false;
  LaggingTime asked;

 private:
  Now now() const noexcept override { return {}; }
};

struct Seen {
  std::optional<Reason> reason;
  Outcome outcome = Outcome::Done;
  uint64_t times = 0;
};

struct RefusalTest : ::testing::Test {
  void put(PutOperation operation) {
    const WriteOptions options{.deadline = LaggingTime(Duration(7))};
    begin_by(std::shared_ptr<CallRunner>(host), absl::AnyInvocable<void(absl::StatusOr<PutResult>)>([this](auto answer) {
               seen.reason = reason_of(answer.status());
               seen.outcome = outcome_of(answer.status());
               ++seen.times;
             }),
             &KeyCalls::put, std::move(operation), kAnswer, options);
  }
  PutOperation operation() const { return {.key = std::string(100, 'k'), .value = std::string(1000, 'v')}; }

  const std::shared_ptr<FullHouse> host = std::make_shared<FullHouse>();
  Seen seen;
};

// Covers: FLT_O01
TEST_F(RefusalTest, ItAllocatesNothingAndReachesNobody) {
  put(operation());  // the first one builds the sentence
  PutOperation second = operation();
  uint64_t allocations = 0;
  {
    const CountAllocations counting(allocations);
    put(std::move(second));
  }
  EXPECT_EQ(seen.times, 2u);
  EXPECT_EQ(seen.reason, Reason::TooManyRequests);
  EXPECT_EQ(seen.outcome, Outcome::NoEffect);
  EXPECT_EQ(allocations, 0u);
  EXPECT_EQ(host->called, 0u) << "the engine's thread hears nothing of it";
  EXPECT_EQ(host->left, 0u) << "it had no place";
  EXPECT_EQ(host->asked, LaggingTime(Duration(7))) << "admission knows how much time it has";
}

// Covers: FLT_A01
TEST_F(RefusalTest, OnTheEnginesThreadItIsAnsweredByTheNextTurn) {
  host->engine_thread = true;
  put(operation());
  EXPECT_EQ(seen.times, 0u) << "a callback never runs inside the call that was given it";
  EXPECT_EQ(host->called, 1u);
}

}  // namespace
}  // namespace coordkit::testkit
