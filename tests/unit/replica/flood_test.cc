// More calls at once than a replica can begin.
#include <atomic>
#include <future>
#include <thread>

#include "coordkit/coordkit.h"
#include "service/calls/call_admission.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

constexpr uint64_t kCalls = 150'000;
const ProposeOptions kPut{.timeout = kPatience};

bool is_refusal(const absl::Status& status) {
  return reason_of(status) == Reason::TooManyRequests && outcome_of(status) == Outcome::NoEffect;
}

constexpr Duration kTtl = 1h;  // outlives a stand-still on any machine

// The engine's thread is blocked inside a callback until released.
class StandStill {
 public:
  explicit StandStill(Replica& replica) {
    replica.put_async("still", "v", kPut, [this](const absl::StatusOr<PutResult>&) {
      stands_.set_value();
      go_.get_future().wait();
    });
    stands_.get_future().wait();
  }
  void let_go() { go_.set_value(); }

 private:
  std::promise<void> stands_, go_;
};

// As many puts as are admitted.
class FullHouse {
 public:
  explicit FullHouse(Replica& replica) : kv_(replica) {
    for (size_t call = 0; call < CallAdmission::kInsideMax; ++call) {
      kv_.put_async({.key = "key", .value = "v"}, kPut, [this](const absl::StatusOr<PutResult>& answer) {
        if (!answer.ok()) ++failed;
        if (++answered == CallAdmission::kInsideMax) all_.set_value();
      });
    }
  }
  void wait() { all_.get_future().wait(); }

  std::atomic<uint64_t> answered{0}, failed{0};

 private:
  Kv kv_;
  std::promise<void> all_;
};

// Covers: FLT_O01
TEST(FloodTest, ARefusedCallIsAnsweredOnTheThreadOfItsCaller) {
  Cluster cluster{1};
  ASSERT_NO_FATAL_FAILURE(cluster.open_all());
  Session session = cluster.session(1, kTtl);
  StandStill still(cluster[1]);
  FullHouse house(cluster[1]);
  EXPECT_EQ(house.answered, 0u);

  std::thread::id thread;
  const auto note = [&thread](const absl::Status& status) {
    EXPECT_TRUE(is_refusal(status)) << status;
    thread = std::this_thread::get_id();
  };
  cluster[1].put_async("key", "v", kPut, [&](const absl::StatusOr<PutResult>& put) { note(put.status()); });
  EXPECT_EQ(std::exchange(thread, {}), std::this_thread::get_id());
  session.acquire_async("lock", {}, [&](const absl::StatusOr<Grant>& grant) { note(grant.status()); });
  EXPECT_EQ(std::exchange(thread, {}), std::this_thread::get_id());
  cluster[1].open_session_async({}, [&](const absl::StatusOr<Session>& opened) { note(opened.status()); });
  EXPECT_EQ(thread, std::this_thread::get_id());
  EXPECT_TRUE(is_refusal(cluster[1].put("key", "v").status()));

  still.let_go();
  house.wait();
  EXPECT_EQ(house.failed, 0u) << "every admitted call is served";
  EXPECT_THAT(cluster[1].put("key", "v").status(), IsOk()) << "and leaves his place to others";
}

// Covers: FLT_O01
TEST(FloodTest, ReleasesAndClosesOvertakeEveryWaitingCall) {
  Cluster cluster{1};
  ASSERT_NO_FATAL_FAILURE(cluster.open_all());
  Session session = cluster.session(1, kTtl), other = cluster.session(1, kTtl);
  absl::StatusOr<Grant> grant = session.acquire("lock", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  StandStill still(cluster[1]);
  FullHouse house(cluster[1]);
  std::promise<uint64_t> released, closed;
  grant->release_async([&](const absl::Status& status) {
    EXPECT_THAT(status, IsOk());
    released.set_value(house.answered);
  });
  other.close_async([&](const absl::Status& status) {
    EXPECT_THAT(status, IsOk());
    closed.set_value(house.answered);
  });
  still.let_go();
  // A few turns, each of which also handles a share of the others.
  EXPECT_LT(released.get_future().get(), CallAdmission::kInsideMax / 8);
  EXPECT_LT(closed.get_future().get(), CallAdmission::kInsideMax / 8);
  house.wait();
}

// Covers: FLT_A01 FLT_O01
TEST(FloodTest, TryingAgainAtOnceInsideTheRefusalEndsNoStack) {
  Cluster cluster{1};
  ASSERT_NO_FATAL_FAILURE(cluster.open_all());
  StandStill still(cluster[1]);
  FullHouse house(cluster[1]);
  std::atomic<uint64_t> refused{0};
  std::promise<void> done;
  std::function<void()> again = [&] {
    cluster[1].put_async("key", "v", kPut, [&](const absl::StatusOr<PutResult>& put) {
      if (put.ok()) return done.set_value();
      ++refused;
      again();
    });
  };
  again();
  EXPECT_EQ(refused, 1u) << "here; the one inside is answered on the engine's thread";
  still.let_go();
  done.get_future().wait();
  house.wait();
}

// All of them wait together, because they are made while the engine's thread is busy with the callback that makes them.
// Covers: FLT_O01
TEST(FloodTest, WhatIsTooMuchIsRefusedWithoutEffectAndReleasesPass) {
  Cluster cluster{1};
  ASSERT_NO_FATAL_FAILURE(cluster.open_all());
  Session session = cluster.session(1, kTtl);
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
    } else if (is_refusal(answer.status())) {
      ++refused;
    } else {
      ++otherwise;
    }
    if (--left == 0) all.set_value();
  };
  cluster[1].put_async("key", "second", {}, [&](const absl::StatusOr<PutResult>&) {
    for (uint64_t call = 0; call < kCalls; ++call) kv.put_async({.key = "key", .value = "v"}, kPut, ended);
    grant->release_async([&](absl::Status status) { released.set_value(std::move(status)); });
  });
  EXPECT_THAT(released.get_future().get(), IsOk());
  all.get_future().wait();

  EXPECT_EQ(done, CallAdmission::kInsideMax);
  EXPECT_EQ(refused, kCalls - CallAdmission::kInsideMax);
  EXPECT_EQ(otherwise, 0u);
  EXPECT_EQ(cluster[1].put("key", "last")->revision.value(), before + 1 + done + 1) << "each that was refused left nothing";
}

}  // namespace
}  // namespace coordkit::testkit
