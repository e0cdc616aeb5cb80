#include "bench/cluster/takeover.h"

#include <malloc.h>

#include <array>
#include <chrono>
#include <string>

#include "bench/cluster/sessions.h"
#include "engine/timer_keeper.h"
#include "machine/machine.h"

namespace coordkit::bench {
namespace {

using machine::Machine;

constexpr Duration kTtl = std::chrono::seconds(5);
constexpr uint64_t kProcesses = 3;

size_t allocated() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

class Leader {
 public:
  Leader() { machine_.bootstrap(ClusterId(1), uint64_t{1} << 31); }

  void apply(const Origin& origin, machine::Request::Body body) {
    const std::string payload = machine::encode(machine::Request{std::move(body), {}});
    const Command command{index_ = index_.next(), {origin, Sequence(++sequence_)}, payload};
    output_.results.clear();
    output_.events.clear();
    machine_.apply({&command, 1}, output_);
  }
  SessionId opened() const { return machine::decode_result(output_.results.back().bytes.view())->session; }
  // The timers go to the keeper later, so that the two can be measured separately.
  const std::vector<TimerOp>& timer_ops() const { return output_.timer_ops; }
  void forget_output() { output_ = {}; }

  Machine machine_;
  engine::TimerKeeper keeper_;

 private:
  ApplyOutput output_;
  Index index_;
  uint64_t sequence_ = 0;
};

}  // namespace

nlohmann::ordered_json run_takeover(uint64_t sessions) {
  Leader leader;
  std::array<RenewRequest::Group, kProcesses> asked;
  std::vector<TimerOp> timers;
  timers.reserve(sessions);
  const size_t before = allocated();
  for (uint64_t i = 0; i < sessions; ++i) {
    const Origin origin{ReplicaId(1 + i % kProcesses), StoreId(1 + i % kProcesses), BootCounter(1)};
    leader.apply(origin, machine::OpenSession{kTtl, "", origin.replica, origin.boot, origin.store.value(),
                                              lease::hash_of_secret("secret " + std::to_string(i))});
    timers.push_back(leader.timer_ops().back());
    const SessionId id = leader.opened();
    leader.apply(origin, machine::Acquire{id, "", lock_name_of(i), machine::Wait::none(), "", 0});
    leader.forget_output();
    RenewRequest::Group& group = asked[i % kProcesses];
    group.group = timers.back().group;
    group.highest = timers.back().id;
    group.count += 1;
    group.sum += timer_set_hash(timers.back().id);
  }
  CheckpointBatch batch;
  leader.machine_.checkpoint(batch);  // pending checkpoint rows are not the cost of a session
  batch = {};
  const size_t loaded = allocated();
  for (const TimerOp& op : timers) leader.keeper_.apply(kCoordination, op, LaggingTime(Duration(0)));
  const size_t armed = allocated();

  LaggingTime now{std::chrono::seconds(1)};
  const auto started = std::chrono::steady_clock::now();
  leader.keeper_.lead(now);
  for (int turn = 0; turn < 100; ++turn) {
    now += std::chrono::milliseconds(60);
    for (const RenewRequest::Group& group : asked) {
      if (group.count > 0) leader.keeper_.renew(kCoordination, group, now);
    }
    while (leader.keeper_.collect(now, 1024)) {
    }
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - started;
  const auto each = [sessions](size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(sessions); };
  return {{"name", "coordkit/takeover"},
          {"sessions", sessions},
          {"machine_bytes_per_session", each(loaded - before)},
          {"timer_bytes_per_session", each(armed - loaded)},
          {"takeover_us", took.count()},
          {"timers_looked_at", leader.keeper_.looks()}};
}

}  // namespace coordkit::bench
