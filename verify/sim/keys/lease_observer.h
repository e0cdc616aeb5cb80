// Watches what keepers of leases may believe, in true time: a lease that may be trusted has not expired (a revoke by another
// client is a different matter). (docs/invariants.md: INV_L10, INV_K05.)
#pragma once

#include <memory>
#include <vector>

#include "coordkit/client/leases.h"
#include "sim/locks/trust_check.h"
#include "sim/nodes/caller.h"
#include "sim/oracle/model.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class LeaseObserver {
 public:
  LeaseObserver(World& world, const Model& model, const Callers& nodes, TrustCheck beliefs)
      : world_(world), model_(model), nodes_(nodes), beliefs_(beliefs) {}

  // A lease that a worker of that node was given. No two kept leases have one id.
  void kept(uint32_t node, const KeyLeaseRef& lease);
  void process_died(uint32_t node);
  void entry_applied();        // after each entry the model applied: the first apply anywhere
  void looked(uint32_t node);  // after each turn of that node

 private:
  struct Known {
    uint32_t node;
    KeyLeaseRef lease;
    bool expired = false;
  };
  void refuse_valid(const Known& known) const;

  World& world_;
  const Model& model_;
  const Callers& nodes_;
  const TrustCheck beliefs_;
  std::vector<Known> known_;
};

}  // namespace coordkit::sim
