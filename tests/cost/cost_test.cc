// What an acquire and its release cost, counted and not timed: a change that makes them more expensive fails here, on any
// machine. The bounds are the measured values when they were set, plus a little; when a figure improves, its bound is lowered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/cost/allocations.h"
#include "tests/cost/three_members.h"

namespace coordkit::testing {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kWarmUp = 3'000;  // cycles, until every table and buffer has its size
constexpr uint64_t kCounted = 4'000;

// Callers with a lock each, acquired and released without end.
class Callers {
 public:
  Callers(Client& client, SessionRef session, size_t count) : client_(client), session_(std::move(session)) {
    for (size_t i = 0; i < count; ++i) names_.push_back("jobs/" + std::to_string(1'000'000 + i));
    for (size_t i = 0; i < count; ++i) begin(i);
  }
  uint64_t cycles() const { return cycles_; }
  void end() {  // ends everything: no further callbacks
    over_ = true;
    client_.stop();
  }

 private:
  void begin(size_t lock) {
    std::string name;
    {
      uint64_t ours = 0;
      const CountAllocations counting(ours);  // the caller's, not the library's
      name = names_[lock];
    }
    client_.acquire(session_, std::move(name), {}, [this, lock](absl::StatusOr<HoldRef> hold) {
      if (over_) return;
      ASSERT_TRUE(hold.ok()) << hold.status();
      client_.release(*hold, [this, lock](const absl::Status& released) {
        if (over_) return;
        ASSERT_TRUE(released.ok()) << released;
        ++cycles_;
        begin(lock);
      });
    });
  }

  Client& client_;
  const SessionRef session_;
  std::vector<std::string> names_;
  uint64_t cycles_ = 0;
  bool over_ = false;
};

struct Bounds {
  size_t callers = 1;
  double leader_allocations = 0;    // per cycle
  double follower_allocations = 0;  // of each
  double log_writes = 0;            // of the leader
  double messages = 0;              // of the leader
  double entry_bytes = 0;
  double message_bytes = 0;  // of the leader, to both
};

void PrintTo(const Bounds& bounds, std::ostream* out) { *out << bounds.callers << " callers"; }

class CostTest : public ::testing::TestWithParam<Bounds> {};

TEST_P(CostTest, OfACycleStaysBelowItsBounds) {
  const Bounds& bounds = GetParam();
  ThreeMembers members;
  const size_t leader = members.leader();
  std::optional<SessionRef> session;
  members.client(leader).open_session({.ttl = 60s}, [&](absl::StatusOr<SessionRef> opened) { session = *std::move(opened); });
  members.until([&] { return session.has_value(); });
  Callers callers(members.client(leader), *session, bounds.callers);
  members.until([&] { return callers.cycles() >= kWarmUp; });
  members.forget_costs();
  const uint64_t before = callers.cycles();
  members.until([&] { return callers.cycles() >= before + kCounted; });
  const auto cycles = static_cast<double>(callers.cycles() - before);
  const auto each = [cycles](uint64_t count) { return static_cast<double>(count) / cycles; };
  const Cost& of_leader = members.cost(leader);
  const Cost& of_follower = members.cost((leader + 1) % 3);
  ASSERT_EQ(members.leader(), leader);
  callers.end();
  std::printf(
      "%3zu callers, per cycle: allocations leader %.2f follower %.2f, log writes %.3f, entries %.3f, messages %.3f,"
      " entry bytes %.1f, message bytes %.1f\n",
      bounds.callers, each(of_leader.allocations), each(of_follower.allocations), each(of_leader.log_writes),
      each(of_leader.entries), each(of_leader.messages), each(of_leader.entry_bytes), each(of_leader.message_bytes));
  if (counts_allocations()) {
    EXPECT_LE(each(of_leader.allocations), bounds.leader_allocations);
    EXPECT_LE(each(of_follower.allocations), bounds.follower_allocations);
    EXPECT_GT(of_leader.allocations, 0u) << "nothing was counted";
  }
  EXPECT_LE(each(of_leader.log_writes), bounds.log_writes);
  EXPECT_LE(each(of_leader.messages), bounds.messages);
  EXPECT_LE(each(of_leader.entry_bytes), bounds.entry_bytes);
  EXPECT_LE(each(of_leader.message_bytes), bounds.message_bytes);
}

INSTANTIATE_TEST_SUITE_P(Callers, CostTest,
                         ::testing::Values(Bounds{1, 27.5, 12.5, 2.01, 4.1, 92, 330}, Bounds{16, 7.8, 1.7, 0.13, 0.26, 67, 175},
                                           Bounds{64, 4.8, 0.65, 0.032, 0.065, 66, 168}),
                         [](const auto& info) { return std::to_string(info.param.callers); });

}  // namespace
}  // namespace coordkit::testing
