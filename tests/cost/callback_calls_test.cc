// What calls that are made inside callbacks cost at door 1 (decision 0035): the objects of the calls and of the hold come from
// the thread's shelf, and no closure crosses a queue.
#include <gtest/gtest.h>

#include <cstdio>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

#include "coordkit/coordkit.h"
#include "coordkit/kv.h"
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

// The same with puts of one key.
class Puts {
 public:
  explicit Puts(const Replica& replica) : kv_(replica) {}

  uint64_t run() {
    put();
    ended_.get_future().wait();
    return allocations_;
  }

 private:
  void put() {
    kv_.put_async({.key = "key", .value = "value"}, {}, [this](const absl::StatusOr<PutResult>& done) {
      ASSERT_TRUE(done.ok()) << done.status();
      if (++puts_ == kFirstCycles) counting_ = std::make_unique<CountAllocations>(allocations_);
      if (puts_ < kFirstCycles + kCountedCycles) return put();
      counting_.reset();
      ended_.set_value();
    });
  }

  Kv kv_;
  uint64_t puts_ = 0;
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
  const auto session = replica_->open_session({.ttl = 300s});
  ASSERT_TRUE(session.ok()) << session.status();
  Chain chain(*session);
  expect_each("cycle", chain.run(), 5.6);
}

TEST_F(CallbackCallsCostTest, APutInCallbacksAllocatesHardlyMoreThanTheChangeItself) {
  Puts puts(*replica_);
  expect_each("put", puts.run(), 4.8);
}

}  // namespace
}  // namespace coordkit::testing
