// Programs that watch keys: they come late, are slow, ask for marks, go, and go on elsewhere with the revision after the last
// one they were told of. What each is told is held against the history of the keys that the model has (docs/invariants.md
// INV_W01 to INV_W06).
//
// A watcher is nobody's process: it uses the client of whatever node it is on, and looks for another when that one dies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordkit/client/watch.h"
#include "coordkit/sim/marks.h"
#include "sim/model.h"
#include "sim/node.h"
#include "sim/plan.h"
#include "sim/world.h"

namespace coordkit::sim {

class Watchers {
 public:
  Watchers(World& world, const Plan& plan, std::vector<std::unique_ptr<Node>>& nodes, const Model& model, MarkCounts& marks,
           Random random);

  void start();
  void event(const Event& event);
  // No more coming and going: each goes on until it has been told everything.
  void wind_down() { winding_down_ = true; }
  void look_away() { looking_ = false; }  // the run is over, however it went: nothing is judged any more
  bool all_told() const;
  std::string missing() const;  // for the report of a run that does not end

 private:
  struct Watcher {
    uint64_t number = 0;
    Random random{0};
    // What it wants to know, on whichever node.
    WatchOptions wants;
    Revision next;  // it has been told everything before; zero: it never began
    // Where it is.
    uint32_t node = 0;
    uint32_t epoch = 0;
    uint64_t round = 0;  // of the watch that is open; what comes of an older one is wrong
    bool open = false;
    bool made = false;
    WatchId watch;
    uint64_t marks_owed = 0;
    std::vector<WatchBatch> kept;  // and not taken yet
  };

  void schedule(Watcher& watcher);
  void act(Watcher& watcher);
  void begin_anew(Watcher& watcher);
  void open(Watcher& watcher);
  void close(Watcher& watcher);
  void take(Watcher& watcher, WatchBatch batch);
  void take_events(Watcher& watcher, const WatchBatch& batch);
  void take_mark(Watcher& watcher, Revision revision);
  bool lives(const Watcher& watcher) const;
  std::vector<WatchEvent> expected(const Watcher& watcher, Revision upto) const;
  void reach(Mark mark) { ++marks_[static_cast<size_t>(mark)]; }
  [[noreturn]] void fail(const char* id, const Watcher& watcher, const std::string& what) const;

  World& world_;
  const Plan& plan_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  const Model& model_;
  MarkCounts& marks_;
  std::vector<Watcher> watchers_;
  bool winding_down_ = false;
  bool looking_ = true;
};

}  // namespace coordkit::sim
