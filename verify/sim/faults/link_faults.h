// Faults of the network: links are cut, clogged, or hold back messages of one kind, and storms lower the quality of all.
// Several may strike the same link; it passes again when the last of them is over.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "coordkit/sim/sim_options.h"
#include "sim/oracle/situation_observer.h"
#include "sim/plan.h"
#include "sim/world/network.h"
#include "sim/world/world.h"

namespace coordkit::sim {

using Links = std::vector<std::pair<uint32_t, uint32_t>>;  // directed: from, to

constexpr bool of_links(FaultKind kind) { return kind <= FaultKind::HeldKind; }

// The links around `one` that a fault of this kind strikes, among at least two nodes.
Links draw_links(FaultKind kind, uint32_t nodes, uint32_t one, Random& random);

class LinkFaults {
 public:
  LinkFaults(World& world, const Plan& plan, Network& network, SituationObserver& situations)
      : world_(world), plan_(plan), network_(network), situations_(situations) {}

  void begin_storm();
  void end_storm();
  void cut(const Links& links);
  void mend(const Links& links);
  // Some ends of a cut connection notice it; the others only see silence.
  void notice_cuts(const Links& links, Random& random);
  void clog(const Links& links);
  void unclog(const Links& links);
  void hold_kind(const Links& links, size_t message_kind);
  void release_kind(const Links& links, size_t message_kind);

 private:
  World& world_;
  const Plan& plan_;
  Network& network_;
  SituationObserver& situations_;
  uint64_t storms_ = 0;  // in force
};

}  // namespace coordkit::sim
