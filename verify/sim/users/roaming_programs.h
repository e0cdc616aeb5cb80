// Programs that belong to no process: each uses the client of the node it is on, moves now and then, and looks for another
// node when that one dies. Here is what they share: coming and going, and the end of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordkit/sim/situations.h"
#include "sim/nodes/caller.h"
#include "sim/oracle/model.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class RoamingPrograms {
 public:
  RoamingPrograms() = default;
  RoamingPrograms(const RoamingPrograms&) = delete;  // clients call back
  RoamingPrograms& operator=(const RoamingPrograms&) = delete;
  virtual ~RoamingPrograms() = default;

  virtual void start() = 0;
  virtual void event(const Event& event) = 0;
  // No more coming and going: each stays until it has received everything.
  void wind_down() { winding_down_ = true; }
  void look_away() { looking_ = false; }  // the run is over, however it went: nothing is checked any more
  virtual bool all_caught_up() const = 0;
  virtual std::string missing() const = 0;  // for the report of a run that does not end

 protected:
  bool winding_down_ = false;
  bool looking_ = true;
};

struct Roamer {
  uint64_t number = 0;
  Random random{0};
  // Where it is.
  uint32_t node = 0;
  uint32_t epoch = 0;
  uint64_t round = 0;  // of what it has open there; results of an older one are ignored
  bool open = false;
};

// `One` is a Roamer plus whatever the program knows.
template <typename One>
class RoamingProgramsOf : public RoamingPrograms {
 public:
  void start() final {
    for (One& one : all_) schedule(one);
  }
  void event(const Event& event) final {
    One& one = all_[event.item];
    if (one.open && !lives(one)) one.open = false;
    act(one);
    schedule(one);
  }

 protected:
  RoamingProgramsOf(World& world, const Callers& nodes, const Model& model, SituationCounts& situations, EventKind kind,
                    Duration pause_max, uint32_t count, Random random)
      : world_(world), nodes_(nodes), model_(model), situations_(situations), all_(count), kind_(kind), pause_max_(pause_max) {
    for (uint64_t number = 0; number < count; ++number) {
      all_[number].number = number;
      all_[number].random = random.fork();
    }
  }

  virtual void act(One& one) = 0;  // `open` is true only if its process lives

  bool lives(const One& one) const { return nodes_[one.node]->up() && nodes_[one.node]->epoch() == one.epoch; }
  void move_to(One& one, uint32_t node) {
    one.node = node;
    one.epoch = nodes_[node]->epoch();
    one.open = true;
    ++one.round;
  }
  void reach(Situation situation) { ++situations_[static_cast<size_t>(situation)]; }

  World& world_;
  const Callers& nodes_;
  const Model& model_;
  SituationCounts& situations_;
  std::vector<One> all_;  // never grows: callbacks refer to its elements

 private:
  void schedule(One& one) {
    const Duration longest = winding_down_ ? std::chrono::milliseconds(100) : pause_max_;
    const Duration after(one.random.below(static_cast<uint64_t>(longest.count()) + 1));
    world_.schedule(world_.now() + after, kind_, kNoNode, 0, one.number);
  }

  const EventKind kind_;
  const Duration pause_max_;
};

}  // namespace coordkit::sim
