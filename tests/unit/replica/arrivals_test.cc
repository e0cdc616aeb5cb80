// The mail that other threads leave for the engine's thread.
#include "service/loop/arrivals.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace coordkit {
namespace {

// Counts what it is given and runs none of it.
class CountingExecutor final : public Executor {
 public:
  void post(Task) override { ++posted; }
  void post_after(Duration, Task) override {}

  int posted = 0;
};

class ArrivalsTest : public ::testing::Test {
 protected:
  std::shared_ptr<CountingExecutor> executor_ = std::make_shared<CountingExecutor>();
  TurnLoop loop_{executor_, [] { return Duration::zero(); }};
  Arrivals arrivals_{loop_, /*mail_bytes_max=*/10};
  std::vector<Arrivals::Arrival> inputs_;
  std::vector<Arrivals::Call> calls_;
};

TEST_F(ArrivalsTest, MailBeyondItsBoundIsLostAndCounted) {
  arrivals_.received(ReplicaId(2), "1234567");
  arrivals_.received(ReplicaId(2), "12345");
  arrivals_.received(ReplicaId(3), "123");
  EXPECT_EQ(arrivals_.waiting().arrivals, 2u);
  EXPECT_EQ(arrivals_.waiting().mail_bytes, 10u);
  EXPECT_EQ(arrivals_.waiting().mails_lost, 1u);
  arrivals_.take(inputs_);
  ASSERT_EQ(inputs_.size(), 2u);
  EXPECT_EQ(std::get<Arrivals::Mail>(inputs_[1]).body, "123");
  arrivals_.received(ReplicaId(2), "1234567890");
  EXPECT_EQ(arrivals_.waiting().mails_lost, 1u) << "there is room again";
}

TEST_F(ArrivalsTest, ATurnTakesAShareOfTheLineAndOfTheOtherCalls) {
  constexpr size_t kShare = 1024;
  for (size_t i = 0; i < kShare + 1; ++i) {
    EXPECT_FALSE(arrivals_.add_in_line([](Client&) {}));
    EXPECT_FALSE(arrivals_.add([](Client&) {}));
  }
  EXPECT_EQ(arrivals_.admission().ahead(), kShare + 1);
  arrivals_.take_calls(calls_);
  EXPECT_EQ(calls_.size(), 2 * kShare);
  EXPECT_EQ(arrivals_.admission().ahead(), 1u);
  EXPECT_TRUE(arrivals_.any());
  calls_.clear();
  arrivals_.take_calls(calls_);
  EXPECT_EQ(calls_.size(), 2u);
  EXPECT_FALSE(arrivals_.any());
}

TEST_F(ArrivalsTest, AfterTheEndInputsAreDroppedAndCallsHandedBack) {
  arrivals_.peer_down(ReplicaId(2));
  EXPECT_FALSE(arrivals_.add([](Client&) {}));
  EXPECT_FALSE(arrivals_.add_in_line([](Client&) {}));
  arrivals_.close(inputs_, calls_);
  EXPECT_EQ(inputs_.size(), 1u);
  EXPECT_EQ(calls_.size(), 2u);
  arrivals_.peer_down(ReplicaId(3));
  EXPECT_TRUE(arrivals_.add([](Client&) {}));
  EXPECT_TRUE(arrivals_.add_in_line([](Client&) {}));
  EXPECT_FALSE(arrivals_.any());
  EXPECT_EQ(arrivals_.admission().ahead(), 0u) << "nobody stands in line any more";
}

}  // namespace
}  // namespace coordkit
