#include "bench/cluster/takeover.h"

#include <array>
#include <chrono>
#include <string>

#include "bench/cluster/lone_machine.h"
#include "bench/cluster/measure.h"
#include "bench/cluster/sessions.h"
#include "engine/timers/timer_keeper.h"

namespace coordkit::bench {
namespace {

constexpr Duration kTtl = std::chrono::seconds(5);
constexpr uint64_t kProcesses = 3;

}  // namespace

nlohmann::ordered_json run_takeover(uint64_t sessions) {
  LoneMachine state;
  engine::TimerKeeper keeper;  // the leader's; it gets the timers later, so that the two can be weighed apart
  std::array<RenewRequest::Group, kProcesses> asked;
  std::vector<TimerOp> timers;
  timers.reserve(sessions);
  const size_t before = allocated_bytes();
  for (uint64_t i = 0; i < sessions; ++i) {
    const Origin origin{ReplicaId(1 + i % kProcesses), StoreId(1 + i % kProcesses), BootCounter(1)};
    state.apply(origin, machine::OpenSession{kTtl, "", origin.replica, origin.boot, origin.store.value(),
                                             lease::hash_of_secret("secret " + std::to_string(i))});
    timers.push_back(state.timer_ops().back());
    const SessionId id = state.opened();
    state.apply(origin, machine::Acquire{id, "", lock_name_of(i), machine::Wait::none(), {}, 0});
    state.forget_output();
    RenewRequest::Group& group = asked[i % kProcesses];
    group.group = timers.back().group;
    group.highest = timers.back().id;
    group.count += 1;
    group.sum += timer_set_hash(timers.back().id);
  }
  state.forget_changes();  // they are not what a session costs
  const size_t loaded = allocated_bytes();
  for (const TimerOp& op : timers) keeper.apply(kCoordination, op, LaggingTime(Duration(0)));
  const size_t armed = allocated_bytes();

  LaggingTime now{std::chrono::seconds(1)};
  const auto started = std::chrono::steady_clock::now();
  keeper.lead(now);
  for (int turn = 0; turn < 100; ++turn) {
    now += std::chrono::milliseconds(60);
    for (const RenewRequest::Group& group : asked) {
      if (group.count > 0) keeper.renew(kCoordination, group, now);
    }
    while (keeper.collect(now, 1024)) {
    }
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - started;
  const auto each = [sessions](size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(sessions); };
  return {{"name", "coordkit/takeover"},
          {"sessions", sessions},
          {"machine_bytes_per_session", each(loaded - before)},
          {"timer_bytes_per_session", each(armed - loaded)},
          {"takeover_us", took.count()},
          {"timers_looked_at", keeper.looks()}};
}

}  // namespace coordkit::bench
