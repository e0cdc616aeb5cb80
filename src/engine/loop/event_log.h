// Derives the events for operators (coordkit/operate/replica_event.h) from the inputs and effects of a replica's engine. It
// only observes: nothing goes back to the engine. Used around an engine by its driver, in the order of a turn:
//
//   for each input: log.arrived(input, now); engine.post(input)
//   engine.turn(now, effects); log.turned(engine, effects, now)
//
// Threads: the engine's.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "coordkit/engine/engine.h"
#include "coordkit/operate/replica_event.h"

namespace coordkit::engine {

class EventLog {
 public:
  // `told` is called at once and must not call back.
  // As passed to the engine: `agreement`, EngineOptions::agreement.
  EventLog(Duration election_timeout, std::optional<Agreement> agreement, OnReplicaEvent on_event)
      : election_timeout_(election_timeout), agreement_(std::move(agreement)), on_event_(std::move(on_event)) {}

  void opened(const Engine& engine, LaggingTime now);
  void arrived(const EngineInput& input, LaggingTime now);
  void turned(const Engine& engine, const EngineEffects& effects, LaggingTime now);
  void threw(const absl::Status& why, LaggingTime now);  // code of the host (EngineEffects::threw, or a callback)
  void held_up(std::string sentence, LaggingTime now);   // the engine's thread, by a callback

 private:
  class Arrival;
  struct Write {
    WriteNumber number;
    LaggingTime handed;
  };
  struct Connected {
    StoreId store;
    BootCounter boot;
    std::string differs;  // settings: the sentence that was reported
  };
  struct Leaderless {
    enum class How { Led, Short, Reported } how = How::Short;
    LaggingTime since{};
  };
  // All that was reported of each.
  struct Peers {
    absl::btree_map<ReplicaId, std::string> complaints;
    absl::btree_map<ReplicaId, Connected> connected;  // a pair of members has up to two connections
    absl::btree_set<ReplicaId> silent;
    absl::btree_map<ReplicaId, std::string> lists;  // that differ
  };
  struct Repair {
    std::string sentence;  // as reported; empty: nothing is wrong
    Index by;              // the checkpoint that repairs it; zero: not taken yet
    bool taken(Index applied) const { return !sentence.empty() && by && applied >= by; }
  };
  struct Disk {
    Repair rot;    // of the checkpoint or the log
    Repair error;  // of a call for the checkpoint
    bool spare_fails = false;
  };
  void report(ReplicaEventKind kind, Severity severity, std::string sentence, ReplicaId peer = {});
  void connected(const Hello& hello);
  void lost(ReplicaId peer);
  void peer_reported(ReplicaEventKind kind, Severity severity, ReplicaId peer, const std::string& why);
  void written(WriteNumber number);
  void waits(std::string& for_room, const absl::Status& why);
  void damaged(const std::string& what, const absl::Status& why);
  void checkpoint_fails(const absl::Status& why);
  void spare_fails(const absl::Status& why);
  void checkpointed(Index applied);
  void look_at_acts(const EngineEffects& effects);
  void look_at_leader(const EngineEffects& effects);
  void look_at_disk(const EngineEffects& effects);
  void look_at_states(const EngineEffects& effects);
  void look_at_status(const EngineStatus& status);
  void look_for_leader(const EngineStatus& status);
  void look_at_missing(const std::vector<MissingMember>& missing);
  void look_at_lists(const std::vector<DifferingList>& differing);

  const Duration election_timeout_;
  const std::optional<Agreement> agreement_;
  const OnReplicaEvent on_event_;
  ReplicaEvent next_;  // fields common to all events of this moment
  uint64_t feature_level_ = 0;
  ReplicaState state_ = ReplicaState::Starting;
  LaggingTime look_again_{};
  Leaderless leaderless_;
  LaggingTime slow_reported_ = LaggingTime::min();
  std::deque<Write> writes_;                  // not durable yet, in their order
  std::string log_waits_, checkpoint_waits_;  // for room; empty: no
  Disk disk_;
  Peers peers_;
};

}  // namespace coordkit::engine
