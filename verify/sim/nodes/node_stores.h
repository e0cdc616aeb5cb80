// The stores of a node: its log, its checkpoint, and what concerns both. They outlive every incarnation of the node.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "coordkit/ports/store_events.h"
#include "sim/nodes/inbox.h"
#include "sim/nodes/node_parts.h"
#include "sim/world/disk.h"
#include "sim/world/state_disk.h"

namespace coordkit::sim {

class NodeStores {
 public:
  NodeStores(const NodeParts& parts, uint32_t node, Random& random);

  struct Recovered {
    RecoveredLog log;
    std::unique_ptr<CheckpointView> view;
  };
  // Not OK: one of them cannot be opened, and neither is open.
  absl::StatusOr<Recovered> open(StoreEvents& sink);
  // An engine resumes from what was recovered. Throws a Violation if it should have refused the pair.
  void taken_up();
  void crash(CrashKind kind);

  SimLogStore& log() { return log_; }
  const SimLogStore& log() const { return log_; }
  SimStateStore& state() { return state_; }
  const SimStateStore& state() const { return state_; }
  void set_quality(const DiskQuality& quality);
  void hurry();                                  // slow writes in progress continue at the present quality
  bool failed() const { return log_.failed(); }  // and ended the process
  // The disk has everything it should.
  bool intact() const { return log_.disk().damage().intact() && state_.disk().intact(); }

  // Reads all that is stored, and reports what does not verify.
  void scrub(Inbox& inbox);
  // Something stored cannot be read until it is rewritten or the process ends; false: nothing stored.
  bool rot_passing(Random& random, Index applied);
  bool rots() const { return log_.disk().rots() || state_.disk().rots(); }
  bool rots_in_use() const { return log_.disk().rots_in_use() || state_.disk().rots(); }

  struct Copy {
    LogDisk::Image log;
    RowMap state;
  };
  Copy copy() const { return {log_.disk().image(), state_.disk().image()}; }
  // Only between two processes.
  void set_back(const Copy& copy);
  void lose(StoreId replacement);                // they are blank then
  bool were_lost() const { return were_lost_; }  // ever

 private:
  const NodeParts& parts_;
  const uint32_t node_;
  SimLogStore log_;
  SimStateStore state_;
  bool were_lost_ = false;
};

}  // namespace coordkit::sim
