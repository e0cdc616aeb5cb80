// The memory of a process for each waiting caller and each session, counted and not sampled. The bounds are the measured
// values when they were set, plus a little; when a figure improves, its bound is lowered.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <latch>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "coordkit/ports/parts.h"
#include "coordkit/replica.h"
#include "coordkit/transport/loopback_transport.h"
#include "tests/proof/cost/allocations.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

constexpr int kLooks = 40;
constexpr auto kBetweenLooks = 25ms;
constexpr uint64_t kAtOnce = 256;

class MemoryTest : public ::testing::Test {
 protected:
  MemoryTest() {
    absl::StatusOr<std::unique_ptr<Replica>> opened = Replica::open(
        {.id = 1, .cluster = "alone", .data_dir = data_, .members = {{1, "1"}}, .parts = {.transport = loopback(hub_)}});
    if (!opened.ok()) throw std::runtime_error(opened.status().ToString());
    replica_ = *std::move(opened);
    EXPECT_TRUE(replica_->wait_ready(60s).ok());
  }
  ~MemoryTest() override {
    replica_.reset();
    std::filesystem::remove_all(data_);
  }

  Session session() {
    absl::StatusOr<Session> opened = replica_->open_session({.ttl = 300s});
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }
  // The least of several looks: what is under way for a moment, as a checkpoint is, is not what something costs.
  uint64_t held() const {
    uint64_t least = std::numeric_limits<uint64_t>::max();
    for (int look = 0; look < kLooks; ++look) {
      std::this_thread::sleep_for(kBetweenLooks);
      least = std::min(least, live_bytes() - replica_->metrics()->memory.log_bytes);
    }
    return least;
  }
  void expect_each(const char* what, uint64_t before, uint64_t count, double bound) {
    const double each = (static_cast<double>(held()) - static_cast<double>(before)) / static_cast<double>(count);
    std::printf("  %s: %.0f bytes\n", what, each);
    if (!counts_allocations()) return;
    EXPECT_LE(each, bound);
    EXPECT_GT(each, 0) << "nothing was counted";
  }

  const std::string data_ = ::testing::TempDir() + "/memory-" + std::to_string(::getpid());
  LoopbackHub hub_;
  std::unique_ptr<Replica> replica_;
};

TEST_F(MemoryTest, ACallerThatWaitsInLineCostsAtMostItsBound) {
  constexpr uint64_t kCallers = 4'096;
  Session session = this->session();
  const absl::StatusOr<Grant> holder = session.acquire("lock");
  ASSERT_TRUE(holder.ok()) << holder.status();
  const auto ask = [&session](uint64_t first) {
    for (uint64_t asked = first; asked < first + kAtOnce; ++asked) {
      session.acquire_async("lock", {.owner = std::to_string(asked)}, [](const absl::StatusOr<Grant>&) {});
    }
    ASSERT_TRUE(session.acquire("another").ok());  // behind them in the log: now they are in line
  };
  ask(kCallers);  // what a batch of calls needs is there from here on
  const uint64_t before = held();
  for (uint64_t asked = 0; asked < kCallers; asked += kAtOnce) ask(asked);
  expect_each("a waiting caller", before, kCallers, 580);
  session.close().IgnoreError();
}

// Some at a time, each of which counts the latch down when it is answered: a batch of calls costs one sync.
template <typename Call>
void in_batches(uint64_t first, uint64_t end, Call call) {
  while (first < end) {
    const auto answered = std::make_shared<std::latch>(kAtOnce);  // outlives the last answer
    for (const uint64_t until = first + kAtOnce; first < until; ++first) call(first, answered);
    answered->wait();
  }
}

TEST_F(MemoryTest, ASessionWithALockCostsAtMostItsBound) {
  constexpr uint64_t kSessions = 4'096;
  std::vector<std::optional<Session>> sessions(kAtOnce + kSessions);
  std::vector<std::optional<Grant>> grants(kAtOnce + kSessions);
  const auto open = [&](uint64_t i, const std::shared_ptr<std::latch>& answered) {
    replica_->open_session_async({.ttl = 300s}, [&, i, answered](absl::StatusOr<Session> opened) {
      EXPECT_TRUE(opened.ok()) << opened.status();
      if (opened.ok()) sessions[i] = *std::move(opened);
      answered->count_down();
    });
  };
  const auto acquire = [&](uint64_t i, const std::shared_ptr<std::latch>& answered) {
    const auto keep = [&, i, answered](absl::StatusOr<Grant> grant) {
      EXPECT_TRUE(grant.ok()) << grant.status();
      if (grant.ok()) grants[i] = *std::move(grant);
      answered->count_down();
    };
    sessions[i].value().acquire_async("held/" + std::to_string(1'000'000 + i), {}, keep);
  };
  in_batches(0, kAtOnce, open);  // what a batch of calls needs is there from here on
  in_batches(0, kAtOnce, acquire);
  const uint64_t before = held();
  in_batches(kAtOnce, kAtOnce + kSessions, open);
  in_batches(kAtOnce, kAtOnce + kSessions, acquire);
  expect_each("a session with a lock", before, kSessions, 620);
}

}  // namespace
}  // namespace coordkit::testkit
