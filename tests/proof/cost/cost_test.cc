// The cost of an acquire and its release, counted and not timed: a change that makes them more expensive fails here, on any
// machine. The bounds are the measured values when they were set, plus a little; when a figure improves, its bound is lowered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/proof/cost/allocations.h"
#include "tests/proof/cost/three_members.h"

namespace coordkit::testkit {
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

// Per cycle, of one replica.
struct Each {
  double allocations = 0, turns = 0, syncs = 0, log_bytes = 0, sends = 0, messages = 0, frame_bytes = 0;
};

struct Bounds {
  size_t callers = 1;
  Each leader;
  Each follower;
  double entry_bytes = 0;  // of the leader
};

void PrintTo(const Bounds& bounds, std::ostream* out) { *out << bounds.callers << " callers"; }

class CallersCostTest : public ::testing::TestWithParam<Bounds> {};

Each each_of(const Cost& cost, double cycles) {
  const auto each = [cycles](uint64_t count) { return static_cast<double>(count) / cycles; };
  return {each(cost.allocations), each(cost.turns),    each(cost.syncs),      each(cost.log_bytes),
          each(cost.sends),       each(cost.messages), each(cost.frame_bytes)};
}

void expect_at_most(const Each& cost, const Each& bounds, const char* whose) {
  std::printf(
      "  %-8s: allocations %6.3f, turns %.3f, syncs %.3f, log bytes %7.1f, sends %.3f, messages %.3f, frame bytes %6.1f\n",
      whose, cost.allocations, cost.turns, cost.syncs, cost.log_bytes, cost.sends, cost.messages, cost.frame_bytes);
  if (counts_allocations()) {
    EXPECT_LE(cost.allocations, bounds.allocations) << whose;
    EXPECT_GT(cost.allocations, 0) << whose << ": nothing was counted";
  }
  EXPECT_LE(cost.turns, bounds.turns) << whose;
  EXPECT_LE(cost.syncs, bounds.syncs) << whose;
  EXPECT_LE(cost.log_bytes, bounds.log_bytes) << whose;
  EXPECT_LE(cost.sends, bounds.sends) << whose;
  EXPECT_LE(cost.messages, bounds.messages) << whose;
  EXPECT_LE(cost.frame_bytes, bounds.frame_bytes) << whose;
}

SessionRef open_session(ThreeMembers& members, Client& client) {
  std::optional<SessionRef> session;
  client.open_session({.ttl = 60s}, [&](absl::StatusOr<SessionRef> opened) { session = *std::move(opened); });
  members.until([&] { return session.has_value(); });
  return *session;
}

struct Measured {
  Each leader;
  Each follower;
  double entries = 0, entry_bytes = 0;
};

// The cost of so many callers in the leader's process once everything has its size.
Measured measure(ThreeMembers& members, const SessionRef& session, size_t count) {
  const size_t leader = members.leader();
  Callers callers(members.client(leader), session, count);
  members.until([&] { return callers.cycles() >= kWarmUp; });
  members.forget_costs();
  const uint64_t before = callers.cycles();
  members.until([&] { return callers.cycles() >= before + kCounted; });
  const auto cycles = static_cast<double>(callers.cycles() - before);
  const Cost of_leader = members.cost(leader);
  const Cost of_follower = members.cost((leader + 1) % 3);
  EXPECT_EQ(members.leader(), leader);
  callers.end();
  return {each_of(of_leader, cycles), each_of(of_follower, cycles), static_cast<double>(of_leader.entries) / cycles,
          static_cast<double>(of_leader.entry_bytes) / cycles};
}

TEST_P(CallersCostTest, OfACycleStaysBelowItsBounds) {
  const Bounds& bounds = GetParam();
  ThreeMembers members;
  const Measured cost = measure(members, open_session(members, members.client(members.leader())), bounds.callers);
  std::printf("%zu callers, per cycle: entries %.3f, bytes of their commands %.1f\n", bounds.callers, cost.entries,
              cost.entry_bytes);
  expect_at_most(cost.leader, bounds.leader, "leader");
  expect_at_most(cost.follower, bounds.follower, "follower");
  EXPECT_LE(cost.entry_bytes, bounds.entry_bytes);
}

// In the order of the fields.
INSTANTIATE_TEST_SUITE_P(
    Of, CallersCostTest,
    ::testing::Values(Bounds{1, {10.6, 4.05, 2.01, 8'250, 2.12, 2.12, 360}, {8.25, 4.05, 2.01, 8'250, 2.02, 2.02, 90}, 92},
                      Bounds{16, {0.95, 0.255, 0.127, 517, 0.19, 0.19, 175}, {0.56, 0.255, 0.127, 517, 0.128, 0.128, 5.7}, 67},
                      Bounds{
                          64, {0.34, 0.064, 0.032, 131, 0.064, 0.064, 169}, {0.2, 0.064, 0.032, 131, 0.032, 0.032, 1.45}, 66}),
    [](const auto& values) { return std::to_string(values.param.callers); });

// ---- among many

Each with_room(Each bounds) {
  constexpr double kRoom = 1.05;
  for (double* one : {&bounds.allocations, &bounds.turns, &bounds.syncs, &bounds.log_bytes, &bounds.sends, &bounds.messages,
                      &bounds.frame_bytes}) {
    *one *= kRoom;
  }
  return bounds;
}

// Begins `count` calls, some at a time, until all are answered.
template <typename Call>
void run_all(ThreeMembers& members, size_t count, Call call) {
  constexpr size_t kAtOnce = 256;
  size_t answered = 0;
  for (size_t i = 0; i < count; ++i) {
    call(i, [&answered](const auto& answer) {
      ASSERT_TRUE(answer.ok()) << answer.status();
      ++answered;
    });
    if (i + 1 == count || i % kAtOnce == kAtOnce - 1) members.until([&] { return answered == i + 1; });
  }
}

Measured among_locks(size_t count) {
  ThreeMembers members;
  Client& client = members.client(members.leader());
  const SessionRef session = open_session(members, client);
  run_all(members, count,
          [&](size_t i, auto answered) { client.acquire(session, "held/" + std::to_string(1'000'000 + i), {}, answered); });
  return measure(members, session, 16);
}

Measured among_sessions(size_t count) {
  ThreeMembers members;
  Client& client = members.client(members.leader());
  const SessionRef session = open_session(members, client);
  run_all(members, count, [&](size_t, auto answered) { client.open_session({.ttl = 60s}, answered); });
  return measure(members, session, 16);
}

void expect_no_growth(const Measured& among_ten, const Measured& among_many) {
  expect_at_most(among_many.leader, with_room(among_ten.leader), "leader");
  expect_at_most(among_many.follower, with_room(among_ten.follower), "follower");
  EXPECT_LE(among_many.entry_bytes, among_ten.entry_bytes + 4) << "tokens and numbers may be longer";
}

TEST(CostTest, OfACycleIsTheSameAmongThousandsOfHeldLocks) { expect_no_growth(among_locks(10), among_locks(4'000)); }
TEST(CostTest, OfACycleIsTheSameAmongThousandsOfSessions) { expect_no_growth(among_sessions(10), among_sessions(4'000)); }

}  // namespace
}  // namespace coordkit::testkit
