// More calls at once than a replica can begin.
#include <atomic>
#include <future>

#include "coordkit/coordkit.h"
#include "tests/replica/cluster.h"

namespace coordkit::testing {
namespace {

constexpr uint64_t kCalls = 150'000;

// All of them wait together, because they are made while the engine's thread is busy with the callback that makes them.
TEST(FloodTest, FLT_O01_WhatCannotBeBegunSoonIsRefusedWithoutEffectAndReleasesPass) {
  Cluster cluster{1};
  ASSERT_NO_FATAL_FAILURE(cluster.open_all());
  Session session = cluster.session(1);
  absl::StatusOr<Grant> grant = session.acquire("lock", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  const uint64_t before = cluster[1].put("key", "first")->revision.value();

  Kv kv(cluster[1]);
  std::atomic<uint64_t> done{0}, refused{0}, otherwise{0}, left{kCalls};
  std::promise<void> all;
  std::promise<absl::Status> released;
  const auto ended = [&](const absl::StatusOr<PutResult>& answer) {
    if (answer.ok()) {
      ++done;
    } else if (reason_of(answer.status()) == Reason::TooManyRequests && outcome_of(answer.status()) == Outcome::None) {
      ++refused;
    } else {
      ++otherwise;
    }
    if (--left == 0) all.set_value();
  };
  cluster[1].put_async("key", "second", {}, [&](const absl::StatusOr<PutResult>&) {
    for (uint64_t call = 0; call < kCalls; ++call) kv.put_async({.key = "key", .value = "v"}, {.timeout = kPatience}, ended);
    grant->release_async([&](absl::Status status) { released.set_value(std::move(status)); });
  });
  EXPECT_THAT(released.get_future().get(), IsOk());
  all.get_future().wait();

  EXPECT_GT(refused, 0u);
  EXPECT_GT(done, 0u);
  EXPECT_EQ(otherwise, 0u);
  EXPECT_EQ(done + refused, kCalls);
  EXPECT_EQ(cluster[1].put("key", "last")->revision.value(), before + 1 + done + 1) << "each that was refused left nothing";
}

}  // namespace
}  // namespace coordkit::testing
