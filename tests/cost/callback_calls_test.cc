// What calls that are made inside callbacks cost at door 1 (decision 0035): the objects of the calls and of the hold come from
// the thread's shelf, and no closure crosses a queue.
#include <gtest/gtest.h>

#include <cstdio>
#include <future>
#include <memory>
#include <string>

#include "coordkit/coordkit.h"
#include "coordkit/parts.h"
#include "coordkit/transport/loopback_transport.h"
#include "tests/cost/allocations.h"

namespace coordkit::testing {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kFirstCycles = 2'000;
constexpr uint64_t kCountedCycles = 5'000;

// Acquires and releases one lock over and over, on the engine's thread, and counts what that thread allocates meanwhile.
class Chain {
 public:
  explicit Chain(Session session) : session_(std::move(session)) {}

  uint64_t run() {
    acquire();
    ended_.get_future().wait();
    return allocations_;
  }

 private:
  void acquire() {
    session_.acquire_async("lock", {}, [this](absl::StatusOr<Grant> grant) {
      ASSERT_TRUE(grant.ok()) << grant.status();
      grant_ = *std::move(grant);
      grant_.release_async([this](const absl::Status& released) {
        ASSERT_TRUE(released.ok()) << released;
        if (++cycles_ == kFirstCycles) counting_ = std::make_unique<CountAllocations>(allocations_);
        if (cycles_ < kFirstCycles + kCountedCycles) return acquire();
        counting_.reset();
        ended_.set_value();
      });
    });
  }

  Session session_;
  Grant grant_;
  uint64_t cycles_ = 0;
  uint64_t allocations_ = 0;
  std::unique_ptr<CountAllocations> counting_;
  std::promise<void> ended_;
};

TEST(CallbackCallsCostTest, ACycleInCallbacksAllocatesHardlyAnything) {
  LoopbackHub hub;
  const auto replica = Replica::open({.id = 1, .cluster = "alone", .members = {{1, ""}}, .parts = in_memory(hub)});
  ASSERT_TRUE(replica.ok()) << replica.status();
  ASSERT_TRUE((*replica)->wait_ready(60s).ok());
  const auto session = (*replica)->open_session({.ttl = 300s});
  ASSERT_TRUE(session.ok()) << session.status();
  Chain chain(*session);
  const double each = static_cast<double>(chain.run()) / static_cast<double>(kCountedCycles);
  std::printf("  allocations of the engine's thread in a cycle: %.3f\n", each);
  if (!counts_allocations()) return;
  EXPECT_LE(each, 5.6);
  EXPECT_GT(each, 0) << "nothing was counted";
}

}  // namespace
}  // namespace coordkit::testing
