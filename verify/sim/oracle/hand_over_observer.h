// INV_R24: how long a leader refuses commands because leadership is to be handed over. One hand-over lasts at most two election
// timeouts. The next one begins after a rest of four times as long, whatever callers and peers ask (FLT_P26).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/nodes/node.h"

namespace coordkit::sim {

class HandOverObserver {
 public:
  HandOverObserver(Duration election_timeout, Duration turn_latency_max, const std::vector<std::unique_ptr<Node>>& nodes)
      : longest_(2 * election_timeout), slack_(8 * turn_latency_max), nodes_(nodes) {}

  void turned(uint32_t node);
  void stopped(uint32_t node);

 private:
  struct Seen {
    std::optional<LaggingTime> since;  // a hand-over is under way
    LaggingTime rest_until = LaggingTime::min();
  };
  void ended(Seen& seen, LaggingTime now) const;

  const Duration longest_;
  const Duration slack_;  // turns read the clock before they are looked at
  const std::vector<std::unique_ptr<Node>>& nodes_;
  std::vector<Seen> seen_;
};

}  // namespace coordkit::sim
