// A call from the client until its answer, by a replica that is its own cluster: all that is done for it but disk and network.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "bench/micro/lone_replica.h"

namespace coordkit::bench {
namespace {

// That many callers at once, each with a lock of its own.
void call_acquire_release(benchmark::State& state) {
  LoneReplica replica;
  const SessionRef session = replica.open_session();
  std::vector<std::string> names;
  for (int64_t i = 0; i < state.range(0); ++i) names.push_back("jobs/" + std::to_string(1'000'000 + i));
  for ([[maybe_unused]] auto _ : state) {
    size_t over = 0;
    for (const std::string& name : names) {
      replica.client().acquire(session, name, {}, [&](absl::StatusOr<HoldRef> hold) {
        COORDKIT_CHECK(hold.ok());
        replica.client().release(*hold, [&over](const absl::Status&) { ++over; });
      });
    }
    replica.until([&] { return over == names.size(); });
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(call_acquire_release)->Arg(1)->Arg(16)->Arg(64);

// One put, which that many watches of its prefix hear of.
void watch_fan_out(benchmark::State& state) {
  LoneReplica replica;
  uint64_t received = 0;
  for (int64_t i = 0; i < state.range(0); ++i) {
    replica.client().watch(WatchOptions::prefix("config/"), [&received](const WatchBatch& batch) {
      if (batch.what == WatchBatch::What::Events) received += batch.events.size();
    });
  }
  const auto watches = static_cast<uint64_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    const uint64_t wanted = received + watches;
    bool done = false;
    replica.client().put("config/colour", "red", [&done](const absl::StatusOr<PutResult>& put) {
      COORDKIT_CHECK(put.ok());
      done = true;
    });
    replica.until([&] { return done && received >= wanted; });
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(watch_fan_out)->Arg(1)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace coordkit::bench
