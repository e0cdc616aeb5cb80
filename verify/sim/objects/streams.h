// Programs that observe leaders, counters, latches and groups (docs/semantics.md S-37): they come, receive a snapshot
// and every change after it, leave, and continue elsewhere. All that each receives is compared with the model at that index,
// and so is all that it did not receive (docs/invariants.md INV_W01, INV_W02).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/client/coordination.h"
#include "sim/plan.h"
#include "sim/users/roaming_programs.h"

namespace coordkit::sim {

// As far as its kind shows it.
struct Picture {
  std::optional<LeaderInfo> leader;
  std::optional<int64_t> number;
  std::map<Index, GroupMember> members;
  friend bool operator==(const Picture&, const Picture&) = default;
};
struct StreamObserver : Roamer {
  coordination::Kind kind = coordination::Kind::Lock;  // for a lock: its leader
  std::string name;
  ObserverId id;
  bool received = false;
  Index at;  // of the last change it received
  Picture picture;
};

class Streams final : public RoamingProgramsOf<StreamObserver> {
 public:
  Streams(World& world, const Plan& plan, const Callers& nodes, const Model& model, SituationCounts& situations, Random random);

  bool all_caught_up() const override;
  std::string missing() const override;

 private:
  void act(StreamObserver& observer) override;
  void open(StreamObserver& observer);
  void close(StreamObserver& observer);
  template <typename T>
  Observer<T> telling(StreamObserver& observer);
  void take(StreamObserver& observer, Seen how, Index index, const std::function<void(Picture&)>& change);
  void demand_nothing_missed(const StreamObserver& observer, Index before) const;
  static std::string shown(const Picture& picture);
  bool complete(const StreamObserver& observer) const;
  Picture picture_at(const StreamObserver& observer, Index at) const;
  std::vector<Index> changes_after(const StreamObserver& observer, Index at) const;
  [[noreturn]] void fail(const char* id, const StreamObserver& observer, const std::string& what) const;

  const Plan& plan_;
};

}  // namespace coordkit::sim
