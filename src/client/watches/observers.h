// The observers of each name, and how far each has seen. The class is pure, so that the rules of observation streams are in
// one place.
//
// An observer is in one of three states. Asking: a snapshot is awaited, and events are ignored, because the snapshot will be
// newer. Following: every event above the snapshot's index is delivered. Behind: it has not consumed its queue; once it has,
// a snapshot is requested again. A snapshot after the first is a Resync.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/any_invocable.h"
#include "client/calls/deliveries.h"
#include "coordination/step.h"
#include "coordkit/client/coordination.h"
#include "machine/questions.h"

namespace coordkit::client {

// The question of a snapshot to the machine, and its answer.
using SnapshotQuestion = std::variant<machine::HoldersOf, machine::ObjectOf, machine::MembersOf>;
using SnapshotAnswer = std::variant<machine::Holders, machine::ObjectView, std::vector<machine::ObjectRow>>;

// The two things that an observer receives, by kind: a snapshot of the machine's state, or a change.
struct ObserverTarget {
  coordination::Kind kind = coordination::Kind::Counter;
  std::string name;
  size_t waiting_max = 1;
  SnapshotQuestion question = {};
  // Each function returns the task that runs the observer's own code.
  std::function<absl::AnyInvocable<void()>(const SnapshotAnswer& state, Seen how, Index index)> snapshot;
  std::function<absl::AnyInvocable<void()>(const coordination::Change& change, Index index)> change;
};

struct WantedSnapshot {
  ObserverId id;
  uint64_t round = 0;  // an answer to an earlier round is ignored
  SnapshotQuestion question = {};
};

class Observers {
 public:
  using Target = ObserverTarget;
  // Called when the first observer of a name is added, and when the last one is removed.
  using Interest = absl::AnyInvocable<void(coordination::Kind, const std::string& name, bool wanted)>;
  Observers(Deliveries& deliveries, Interest interest) : deliveries_(deliveries), interest_(std::move(interest)) {}

  ObserverId add(Target target);
  void remove(ObserverId id);
  void clear();

  // Observers that need a snapshot; they count as asking from here on.
  std::vector<WantedSnapshot> to_ask();
  bool any_to_ask() const { return !wanting_.empty(); }
  void answered(const WantedSnapshot& wanted, const SnapshotAnswer& answer, Index index);
  void failed(const WantedSnapshot& wanted);  // no snapshot came: retry() requests it again
  void changed(const coordination::Change& change, Index index);
  void skipped(Index upto);  // entries were applied without events

  void retry();  // lets observers ask again that failed, or that were too slow and have caught up
  bool any_to_retry() const { return !waiting_.empty(); }
  size_t size() const { return all_.size(); }

 private:
  enum class State : uint8_t { Wanting, Asking, Following, Failed, Behind };
  struct One {
    Target target;
    State state = State::Wanting;
    uint64_t round = 0;                                                                       // of its last question
    bool seen = false;                                                                        // it had a snapshot
    Index index;                                                                              // of the snapshot
    Index changed;                                                                            // of the last change delivered
    std::shared_ptr<std::atomic<size_t>> waiting = std::make_shared<std::atomic<size_t>>(0);  // tasks that have not begun
  };
  using Place = std::pair<coordination::Kind, std::string>;

  One* asking(const WantedSnapshot& wanted);
  void deliver(One& one, absl::AnyInvocable<void()> task);

  Deliveries& deliveries_;
  Interest interest_;
  absl::btree_map<ObserverId, One> all_;
  absl::btree_map<Place, absl::btree_set<ObserverId>> by_place_;
  absl::btree_set<ObserverId> wanting_;
  absl::btree_set<ObserverId> waiting_;  // Failed or Behind
  uint64_t last_id_ = 0;
};

}  // namespace coordkit::client
