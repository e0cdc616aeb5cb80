// Counts what passes through a host (coordkit/operate/metrics.h).
//
// Threads: the engine's.
#pragma once

#include <deque>
#include <utility>

#include "coordkit/engine/engine.h"
#include "coordkit/operate/metrics.h"
#include "coordkit/ports/clock.h"
#include "coordkit/ports/transport.h"

namespace coordkit {

class Meter {
 public:
  void received(size_t bytes, bool well_formed);
  // Before it is posted into the engine.
  void arrived(const EngineInput& input, LaggingTime now);
  void turned(const EngineEffects& effects, LaggingTime now);
  void sent(const Frame& frame);
  void took(Duration turn) { metrics_.turns.took.add(turn); }

  // Counters kept elsewhere are left as they are.
  Metrics read() const;

 private:
  Metrics metrics_;
  std::deque<std::pair<WriteNumber, LaggingTime>> writes_;  // not durable yet
  std::optional<LaggingTime> checkpoint_;                   // the one in progress
  Term term_;
};

}  // namespace coordkit
