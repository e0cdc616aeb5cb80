#include "bench/cluster/doors.h"

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/cluster/load.h"
#include "bench/cluster/load_loop.h"
#include "coordkit/ports/parts.h"
#include "coordkit/transport/loopback_transport.h"
#include "examples/07_own_loop/loop.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

// One caller at door 2: it acquires and releases its own lock.
class LoopCaller {
 public:
  LoopCaller(Client& client, SessionRef session, LoadLoop& load, size_t number)
      : client_(client), session_(std::move(session)), load_(load), lock_("lock-" + std::to_string(number)) {}

  void begin(TimePoint at) {
    if (load_.over(at)) {
      ended = true;
      return load_.caller_ended();
    }
    started_ = at;
    client_.acquire(session_, lock_, {.wait = LockWait::endless()}, [this](absl::StatusOr<HoldRef> hold) {
      if (!hold.ok()) return failed(hold.status());
      client_.release(*hold, [this](const absl::Status& released) {
        if (!released.ok()) return failed(released);
        const TimePoint now = Clock::now();
        load_.cycle(started_, now);
        begin(now);
      });
    });
  }
  bool ended = false;

 private:
  void failed(const absl::Status& why) {
    load_.error(why);
    begin(Clock::now());
  }

  Client& client_;
  const SessionRef session_;
  LoadLoop& load_;
  const std::string lock_;
  TimePoint started_;
};

}  // namespace

ordered_json run_one_thread(const LoadOptions& options) {
  Loop loop;
  loop.until([&] { return static_cast<bool>(loop.node(1).engine().leadership().leader); });
  Client& client = loop.node(loop.node(1).engine().leadership().leader.value()).client();
  const auto session = loop.wait_for<SessionRef>([&](auto done) { client.open_session({.ttl = 10s}, std::move(done)); });
  LoadLoop load(options.callers, Seconds(options.warmup_s), Seconds(options.seconds));
  std::vector<std::unique_ptr<LoopCaller>> callers;
  for (size_t i = 0; i < options.callers; ++i) {
    callers.push_back(std::make_unique<LoopCaller>(client, session, load, i));
    callers.back()->begin(Clock::now());
  }
  loop.until([&] { return std::ranges::all_of(callers, [](const auto& caller) { return caller->ended; }); });
  client.stop();
  return load.wait();
}

namespace {

ordered_json with_threads(const LoadOptions& options) {
  LoopbackHub hub;
  std::vector<std::unique_ptr<Replica>> replicas;
  for (uint64_t id = 1; id <= 3; ++id) {
    auto replica =
        Replica::open({.id = id, .cluster = "doors", .members = {{1, ""}, {2, ""}, {3, ""}}, .parts = in_memory(hub)});
    if (!replica.ok()) throw std::runtime_error(replica.status().ToString());
    replicas.push_back(*std::move(replica));
  }
  for (const auto& replica : replicas) {
    if (const absl::Status ready = replica->wait_ready(60s); !ready.ok()) throw std::runtime_error(ready.ToString());
  }
  return run_load(*replicas.at(replicas[0]->health().leader.value() - 1), options);
}

}  // namespace

bool run_doors(const Suite& suite, const std::vector<size_t>& callers, const PrintLine& print) {
  std::map<std::pair<size_t, std::string>, std::vector<double>> seen;
  bool passed = true;
  LoadOptions options = suite.load;
  options.kind = "lock";
  options.where = "embedded";
  for (uint32_t round = 1; round <= suite.rounds; ++round) {
    for (const size_t count : callers) {
      options.callers = count;
      for (const bool threads : {false, true}) {
        const std::string door = threads ? "1, its own threads" : "2, one thread";
        ordered_json line = {{"name", "coordkit/doors"}, {"door", door}, {"callers", count}, {"round", round}};
        const ordered_json result = threads ? with_threads(options) : run_one_thread(options);
        line.update(result);
        print(line);
        passed = passed && result["errors"].get<uint64_t>() == 0;
        seen[{count, door}].push_back(result["cycles_per_s"].get<double>());
      }
    }
  }
  for (const auto& [key, cycles] : seen) {
    if (suite.rounds < 2) break;
    print({{"name", "coordkit/doors/median"}, {"door", key.second}, {"callers", key.first}, {"cycles_per_s", median(cycles)}});
  }
  return passed;
}

}  // namespace coordkit::bench
