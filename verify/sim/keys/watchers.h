// Programs that watch keys: they come late, are slow, ask for progress, leave, and continue elsewhere after the last revision
// they received. All that each receives is compared with the model's history of the keys (docs/invariants.md INV_W01 to
// INV_W06).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coordkit/client/watch_events.h"
#include "sim/plan.h"
#include "sim/users/roaming_programs.h"

namespace coordkit::sim {

struct Watcher : Roamer {
  // The watch that it wants, on any node.
  WatchOptions wants;
  Revision next;  // it has received everything before; zero: it never began
  bool made = false;
  WatchId watch;
  uint64_t progress_owed = 0;
  std::vector<WatchBatch> kept;  // and not consumed yet
};

class Watchers final : public RoamingProgramsOf<Watcher> {
 public:
  Watchers(World& world, const Plan& plan, const Callers& nodes, const Model& model, SituationCounts& situations,
           Random random);

  bool all_caught_up() const override;
  std::string missing() const override;

 private:
  void act(Watcher& watcher) override;
  void begin_anew(Watcher& watcher);
  void open(Watcher& watcher);
  void close(Watcher& watcher);
  void take(Watcher& watcher, WatchBatch batch);
  void take_events(Watcher& watcher, const WatchBatch& batch);
  void take_progress(Watcher& watcher, Revision revision);
  std::vector<WatchEvent> expected(const Watcher& watcher, Revision upto) const;
  [[noreturn]] void fail(const char* id, const Watcher& watcher, const std::string& what) const;

  const Plan& plan_;
};

}  // namespace coordkit::sim
