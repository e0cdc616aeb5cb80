#include "bench/report/targets.h"

namespace coordkit::bench {
namespace {

constexpr auto kLess = Better::Less;

Subject ours(std::string kind, uint64_t callers, std::string where = "embedded") {
  return {"coordkit", std::move(kind), std::move(where), callers};
}
Subject skeleton(std::string kind, uint64_t callers) { return {"skeleton", std::move(kind), "embedded", callers}; }
Subject client_of(std::string who, std::string kind, uint64_t callers) {
  return {std::move(who), std::move(kind), "client", callers};
}

Quantity rate(Subject of) { return {std::move(of), "cycles_per_s"}; }
Quantity median_us(Subject of) { return {std::move(of), "p50_us"}; }

// Cycles per second of ours, as a multiple of the other's.
Target against(std::string group, std::string name, Subject subject, Subject other, double floor, double aim) {
  return {.group = std::move(group),
          .name = std::move(name),
          .ours = rate(std::move(subject)),
          .against = rate(std::move(other)),
          .floor = floor,
          .aim = aim,
          .unit = "/s"};
}

// A figure that is judged by itself.
Target alone(std::string group, std::string name, Quantity quantity, Better better, double floor, double aim,
             std::string unit) {
  return {.group = std::move(group),
          .name = std::move(name),
          .ours = std::move(quantity),
          .better = better,
          .floor = floor,
          .aim = aim,
          .unit = std::move(unit)};
}

std::string counted(uint64_t count) {
  return count % 1'000'000 == 0 ? std::to_string(count / 1'000'000) + " million" : std::to_string(count);
}

void add_locks(std::vector<Target>& rows) {
  const auto cycles = [&](uint64_t callers, double floor, double aim) {
    const std::string name =
        "cycles, " + std::to_string(callers) + (callers == 1 ? " caller" : " callers") + ", vs the skeleton";
    rows.push_back(against("cycles", name, ours("lock", callers), skeleton("lock", callers), floor, aim));
  };
  cycles(1, 0.80, 0.95);
  cycles(16, 0.60, 0.75);
  cycles(64, 0.50, 0.70);
  cycles(256, 0.35, 0.60);
  rows.push_back(against("unwaited", "release nobody waits for, 1 caller, vs the waiting cycle", ours("unwaited", 1),
                         ours("lock", 1), 1.7, 1.95));
  rows.push_back(against("unwaited", "release nobody waits for, 64 callers, vs the waiting cycle", ours("unwaited", 64),
                         ours("lock", 64), 1.3, 1.8));
  rows.push_back(against("follower", "64 callers in a follower's process vs in the leader's", ours("lock", 64, "follower"),
                         ours("lock", 64), 0.70, 0.85));
  rows.push_back(against("remote", "64 callers in a process without a replica vs in a follower's", ours("lock", 64, "remote"),
                         ours("lock", 64, "follower"), 0.70, 0.90));
  rows.push_back({.group = "remote",
                  .name = "cycle p50, 1 caller without a replica, vs a follower's",
                  .ours = median_us(ours("lock", 1, "remote")),
                  .against = median_us(ours("lock", 1, "follower")),
                  .better = kLess,
                  .floor = 1.5,
                  .aim = 1.2,
                  .unit = "us"});
  rows.push_back({.group = "handoff",
                  .name = "hand-over p50, 2 callers, vs the skeleton",
                  .ours = median_us(ours("handoff", 2)),
                  .against = median_us(skeleton("handoff", 2)),
                  .better = kLess,
                  .floor = 1.3,
                  .aim = 1.1,
                  .unit = "us"});
}

void add_peers(std::vector<Target>& rows) {
  rows.push_back(against("peers", "cycles, 64 callers, vs etcd", ours("lock", 64), client_of("etcd", "lock", 64), 20, 35));
  rows.push_back(against("peers", "cycles, 64 callers without a replica, vs etcd", ours("lock", 64, "remote"),
                         client_of("etcd", "lock", 64), 15, 25));
  rows.push_back(
      against("peers", "cycles, 64 callers, vs ZooKeeper", ours("lock", 64), client_of("zookeeper", "lock", 64), 22, 38));
  rows.push_back(
      against("peers", "cycles, 64 callers, vs Redlock on 3", ours("lock", 64), client_of("redlock", "lock", 64), 2, 3));
  const auto keys = [&](const std::string& kind, const std::string& plural, uint64_t callers, double floor, double aim) {
    const std::string name = plural + ", " + std::to_string(callers) + " callers, vs etcd";
    rows.push_back(against("keys", name, ours(kind, callers), client_of("etcd", kind, callers), floor, aim));
  };
  keys("put", "puts", 64, 10, 25);
  keys("put", "puts", 256, 10, 30);
  keys("txn", "transactions", 64, 10, 25);
  keys("txn", "transactions", 256, 10, 30);
  keys("read", "linearizable reads", 64, 30, 50);
}

void add_counted(std::vector<Target>& rows, const TargetOptions& options) {
  rows.push_back(against(
      "renewals", "renewals of " + counted(options.sessions) + " sessions, TTL 250 ms, at their own pace, vs etcd keep-alives",
      ours("renewals", options.sessions, "follower"), client_of("etcd", "renewals", 64), 20, 100));
  const Subject failover = ours("failover", 10, "another process");
  rows.push_back(alone("failover", "failover after kill -9, timers of 150 to 300 ms: longest time without a grant, median",
                       {failover, "longest_gap_ms"}, kLess, 400, 250, "ms"));
  rows.push_back(alone("failover", "the same, 90th percentile", {failover, "longest_gap_ms", 0.9}, kLess, 500, 350, "ms"));
  rows.push_back(alone("one-thread", "three replicas in one process and thread, in memory, 64 callers: cycles",
                       rate(ours("one-thread", 64)), Better::More, 300'000, 1'000'000, "/s"));
  rows.push_back(alone("cycles", "log bytes of a cycle beyond its names, all that is written, 64 callers",
                       {ours("lock", 64), "log_bytes_per_cycle"}, kLess, 160, 96, "B"));
}

void add_memory(std::vector<Target>& rows, const TargetOptions& options) {
  const auto bytes = [&](const std::string& name, const std::string& kind, uint64_t count, double floor, double aim) {
    rows.push_back(alone("memory", "memory of " + name, {ours(kind, count, "memory"), "bytes_each"}, kLess, floor, aim, "B"));
  };
  bytes("a session and its lock, in the state", "session", options.sessions, 119, 96);
  bytes("a key, in the state", "key", options.keys, 132, 110);
  bytes("a waiting caller, in its process", "waiter", options.waiters, 512, 256);
  const uint64_t sessions = options.process_sessions;
  const std::string extrapolated = sessions >= 1'000'000 ? "" : " (of a million, extrapolated)";
  bytes("a process for each of " + counted(sessions) + " sessions" + extrapolated, "process", sessions, 600, 250);
}

}  // namespace

std::vector<Target> targets(const TargetOptions& options) {
  std::vector<Target> rows;
  add_locks(rows);
  add_peers(rows);
  add_counted(rows, options);
  add_memory(rows, options);
  return rows;
}

}  // namespace coordkit::bench
