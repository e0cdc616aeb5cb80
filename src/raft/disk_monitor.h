// Detects a leader whose own disk stalls while followers store promptly (faults P10, P11). Such a leader can lead forever
// without its disk (thesis 10.2.1), but then one more failure would cost more than a disk. Where all disks are slow, stepping
// down would pass leadership round in circles. So the monitor counts the peers that promptly stored the entries that this
// disk did not.
#pragma once

#include <optional>
#include <vector>

#include "raft/peers.h"

namespace coordkit::raft {

class DiskMonitor {
 public:
  explicit DiskMonitor(const Options& options) : options_(options) {}

  // Called with each heartbeat. Either the entries that were in the log when the lag began are durable, which ends the lag,
  // or we learn which peers are prompt.
  void look(Index last, Index durable, const Peers& peers, LaggingTime now);
  bool stalls(LaggingTime now) const;
  bool prompt(ReplicaId id) const;  // it has kept up throughout
  // A transfer is tried for one timeout. Then nothing is done for another timeout.
  void handing_over(LaggingTime until);
  bool handed_over_in_vain() const { return lag_->tried; }

 private:
  Duration lag_max() const;
  bool off() const { return lag_max() == Duration::max(); }

  const Options& options_;
  struct Lag {
    Index upto;  // in the log at `since`, not yet durable here
    LaggingTime since;
    Index asked;  // in the log at `asked_at`: a peer that has it half an election timeout later is prompt
    LaggingTime asked_at;
    std::vector<ReplicaId> prompt;
    bool tried = false;
  };
  std::optional<Lag> lag_;
};

}  // namespace coordkit::raft
