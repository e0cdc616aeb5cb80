// The cost at door 1 of calls that are made inside callbacks (decision 0035): the objects of the calls and of the hold come
// from the thread's shelf, and no closure crosses a queue.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>

#include "coordkit/coordkit.h"
#include "coordkit/keys/kv.h"
#include "coordkit/ports/parts.h"
#include "coordkit/transport/loopback_transport.h"
#include "tests/proof/cost/allocations.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kFirstCycles = 2'000;
constexpr uint64_t kCountedCycles = 5'000;

// Begins `once` over and over, on the engine's thread, each from the callback of the one before, and counts what that thread
// allocates meanwhile.
class Loop {
 public:
  explicit Loop(std::function<void(Loop&)> once) : once_(std::move(once)) {}

  uint64_t run() {
    once_(*this);
    ended_.get_future().wait();
    return allocations_;
  }
  void again() {
    if (++times_ == kFirstCycles) counting_ = std::make_unique<CountAllocations>(allocations_);
    if (times_ < kFirstCycles + kCountedCycles) return once_(*this);
    counting_.reset();
    ended_.set_value();
  }

 private:
  const std::function<void(Loop&)> once_;
  uint64_t times_ = 0;
  uint64_t allocations_ = 0;
  std::unique_ptr<CountAllocations> counting_;
  std::promise<void> ended_;
};

class CallbackCallsCostTest : public ::testing::Test {
 protected:
  CallbackCallsCostTest() {
    auto opened = Replica::open({.id = 1, .cluster = "alone", .members = {{1, ""}}, .parts = in_memory(hub_)});
    if (!opened.ok()) throw std::runtime_error(opened.status().ToString());
    replica_ = *std::move(opened);
    EXPECT_TRUE(replica_->wait_ready(60s).ok());
  }
  static void expect_each(const char* what, uint64_t allocations, double bound) {
    const double each = static_cast<double>(allocations) / static_cast<double>(kCountedCycles);
    std::printf("  allocations of the engine's thread in a %s: %.3f\n", what, each);
    if (!counts_allocations()) return;
    EXPECT_LE(each, bound);
    EXPECT_GT(each, 0) << "nothing was counted";
  }

  LoopbackHub hub_;
  std::unique_ptr<Replica> replica_;
};

TEST_F(CallbackCallsCostTest, ACycleInCallbacksAllocatesHardlyAnything) {
  auto session = replica_->open_session({.ttl = 300s});
  ASSERT_TRUE(session.ok()) << session.status();
  Grant held;
  Loop cycles([&](Loop& loop) {
    session->acquire_async("lock", {}, [&](absl::StatusOr<Grant> grant) {
      ASSERT_TRUE(grant.ok()) << grant.status();
      held = *std::move(grant);
      held.release_async([&](const absl::Status& released) {
        ASSERT_TRUE(released.ok()) << released;
        loop.again();
      });
    });
  });
  expect_each("cycle", cycles.run(), 5.6);
}

TEST_F(CallbackCallsCostTest, APutInCallbacksAllocatesHardlyMoreThanTheChangeItself) {
  Kv kv(*replica_);
  Loop puts([&](Loop& loop) {
    kv.put_async({.key = "key", .value = "value"}, {}, [&](const absl::StatusOr<PutResult>& done) {
      ASSERT_TRUE(done.ok()) << done.status();
      loop.again();
    });
  });
  expect_each("put", puts.run(), 4.8);
}

}  // namespace
}  // namespace coordkit::testkit
