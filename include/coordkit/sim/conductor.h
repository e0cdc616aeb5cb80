// Faults on purpose, beside (or instead of) those that the profile draws: a script says which and
// when. Every action may be called from the script itself, from at(), and from programs that were
// handed the conductor.
//
//   options.profile = "calm";                                  // nothing else happens
//   options.script = [](sim::Conductor& run) {
//     run.at(2s, [&run] { run.crash(run.leader()); });
//     run.at(5s, [&run] { run.start_all(); });
//   };
//
// Actions that do not apply (crashing a process that is down, replica zero) change nothing. Once
// the hostile part of the run ends, all of it is undone: processes started, links restored, clocks
// within their bound.
#pragma once

#include <functional>

#include "coordkit/types.h"

namespace coordkit::sim {

class Conductor {
 public:
  virtual ~Conductor() = default;
  virtual Duration now() const = 0;                               // true time since the start
  virtual void at(Duration when, std::function<void()> act) = 0;  // once; a past time: at once
  virtual uint64_t nodes() const = 0;                             // replicas are 1 to nodes()
  virtual ReplicaId leader() const = 0;                           // zero: none, or it is down

  virtual void crash(ReplicaId node) = 0;   // unsynced writes may be lost
  virtual void start(ReplicaId node) = 0;   // if it is down, on the disk that it left
  virtual void freeze(ReplicaId node) = 0;  // the process is frozen, its machine continues
  // The machine stops with all its clocks, like a virtual one that is moved: no process in it can
  // notice. No lock promises to survive that; see SimOptions::watch_holders. resume() ends it.
  virtual void stop_machine(ReplicaId node) = 0;
  virtual void resume(ReplicaId node) = 0;              // ends freeze() or stop_machine()
  virtual void cut(ReplicaId from, ReplicaId to) = 0;   // one direction
  virtual void mend(ReplicaId from, ReplicaId to) = 0;  // ends cut(), in the same direction
  // Legal: within 10'000 of true time.
  virtual void clock_rate(ReplicaId node, int64_t parts_per_million) = 0;

  // The run has seen enough: its hostile part ends now, and everything after it is done and checked
  // as usual.
  virtual void end_run() = 0;

  void cut_off(ReplicaId node);  // both directions, for everybody
  void rejoin(ReplicaId node);   // ends cut_off(): both directions, with everybody
  void start_all();              // start(), for every replica
};

}  // namespace coordkit::sim
