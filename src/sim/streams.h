// Programs that observe leaders, counters, latches and groups (docs/semantics.md section 10): they come, are told a snapshot
// and every change after it, go, and go on elsewhere. What each is told is held against what the model has at that index, and
// so is what it was not told of (docs/invariants.md INV_W01, INV_W02).
//
// Like a watcher, an observer is nobody's process: it uses the client of whatever node it is on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordkit/client/coordination.h"
#include "coordkit/sim/marks.h"
#include "sim/model.h"
#include "sim/node.h"
#include "sim/plan.h"
#include "sim/world.h"

namespace coordkit::sim {

class Streams {
 public:
  Streams(World& world, const Plan& plan, std::vector<std::unique_ptr<Node>>& nodes, const Model& model, MarkCounts& marks,
          Random random);

  void start();
  void event(const Event& event);
  void wind_down() { winding_down_ = true; }
  void look_away() { looking_ = false; }  // the run is over, however it went: nothing is judged any more
  bool all_told() const;
  std::string missing() const;  // for the report of a run that does not end

 private:
  enum class Of : uint8_t { Leader, Counter, Latch, Group };
  // As far as its kind shows it.
  struct Picture {
    std::optional<LeaderInfo> leader;
    std::optional<int64_t> number;
    std::map<Index, GroupMember> members;
    friend bool operator==(const Picture&, const Picture&) = default;
  };
  struct Observer {
    uint64_t number = 0;
    Random random{0};
    Of of = Of::Leader;
    std::string name;
    // Where it is.
    uint32_t node = 0;
    uint32_t epoch = 0;
    uint64_t round = 0;  // of the observation that is open; what comes of an older one is of no account
    bool open = false;
    ObserverId id;
    // What it was told.
    bool told = false;
    Index at;
    Picture picture;
  };

  void schedule(Observer& observer);
  void act(Observer& observer);
  void open(Observer& observer);
  void close(Observer& observer);
  template <typename T>
  coordkit::Observer<T> telling(Observer& observer);
  void take(Observer& observer, Seen how, Index index, const std::function<void(Picture&)>& change);
  void demand_nothing_untold(const Observer& observer, Index before) const;
  static std::string shown(const Picture& picture);
  bool lives(const Observer& observer) const;
  bool complete(const Observer& observer) const;
  Picture picture_at(const Observer& observer, Index at) const;
  std::vector<Index> changes_after(const Observer& observer, Index at) const;
  [[noreturn]] void fail(const char* id, const Observer& observer, const std::string& what) const;

  World& world_;
  const Plan& plan_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  const Model& model_;
  MarkCounts& marks_;
  std::vector<Observer> observers_;
  bool winding_down_ = false;
  bool looking_ = true;
};

}  // namespace coordkit::sim
