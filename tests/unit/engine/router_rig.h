// A router with two counters, fed entry by entry: for tests of what apply decides.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/apply/router.h"
#include "raft/log/entry_codec.h"
#include "tests/unit/engine/counter.h"

namespace coordkit::engine {

using Stage = ApplyOutput::Stage;

inline constexpr Origin kOne{ReplicaId(1), StoreId(11), BootCounter(1)};
inline constexpr Origin kReborn{ReplicaId(1), StoreId(11), BootCounter(2)};
inline constexpr Origin kTwo{ReplicaId(2), StoreId(22), BootCounter(1)};
inline constexpr MachineId kSecond{2};

inline raft::Genesis genesis() {
  return {ClusterId(5), 77, {.voters = {{ReplicaId(1), StoreId(11), "a"}, {ReplicaId(2), StoreId(22), "b"}}}};
}

struct Rig {
  Rig() : Rig(false) { add(raft::EntryKind::Genesis, coordkit::encode(genesis())); }
  // Before genesis, or to be restored.
  explicit Rig(bool, const std::vector<MachineId>& hosted = {kCoordination, kSecond}, uint64_t digest_entries = 0) {
    std::vector<HostedMachine> machines;
    for (const MachineId id : hosted) {
      auto counter = std::make_unique<Counter>(id);
      counters[id] = counter.get();
      machines.push_back({id, std::move(counter)});
    }
    router = std::make_unique<Router>(std::move(machines), digest_entries);
  }

  void queue(raft::EntryKind kind, std::string payload) {
    queued.push_back({router->applied().index + queued.size() + 1, term, kind, 0, SharedBytes(std::move(payload))});
  }
  const RouterOutput& flush() {
    output.clear();
    router->apply(std::exchange(queued, {}), output);
    return output;
  }
  const RouterOutput& add(raft::EntryKind kind, std::string payload) {
    queue(kind, std::move(payload));
    return flush();
  }
  const RouterOutput& command(std::string payload) { return add(raft::EntryKind::Command, std::move(payload)); }
  const RouterOutput& lead(uint64_t in) {
    term = Term(in);
    return add(raft::EntryKind::LeaderStart, {});
  }
  void enroll(Origin origin) { command(encode(RegisterOrigin{origin})); }
  Answer ask(Origin origin, uint64_t sequence, std::string_view words, uint64_t lowest = 1, MachineId machine = kCoordination,
             std::optional<Request::GuardView> guard = {}) {
    const auto& seen = command(encode(Request{{origin, Sequence(sequence)}, Sequence(lowest), machine, words, guard}));
    EXPECT_FALSE(seen.answers.empty());
    return seen.answers.empty() ? Answer{} : seen.answers.back();
  }
  Counter& counter(MachineId id = kCoordination) { return *counters.at(id); }

  std::map<MachineId, Counter*> counters;
  std::unique_ptr<Router> router;
  Term term{1};
  std::vector<raft::Entry> queued;
  RouterOutput output;
};

}  // namespace coordkit::engine
