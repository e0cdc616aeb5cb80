// A voter is away for long, switched off or stopped. Meanwhile an operator exchanges the others that it knows, one after the
// other: a blank machine takes the place of a member, and the machine that is free then is made blank. Back again, the one that
// was away may know nobody any more.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/nodes/node.h"
#include "sim/oracle/membership_observer.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Absence {
 public:
  Absence(World& world, std::vector<std::unique_ptr<Node>>& nodes, const MembershipObserver& members,
          SituationCounts& situations, Random random)
      : world_(world), nodes_(nodes), members_(members), situations_(situations), random_(random) {}

  void begin(Duration longest);  // some voter's, if its machine is up
  void end();
  void end_for_good() {
    end();
    over_ = true;
  }
  bool lasts() const { return away_.has_value(); }
  bool is_of(uint32_t node) const { return away_ == node; }
  bool due() const { return lasts() && world_.now() >= until_; }

  std::optional<uint32_t> free_machine() const;  // whose member was exchanged, and which is not blank
  struct Exchange {
    uint32_t machine = 0;  // a blank one
    ReplicaId replaced;
  };
  std::optional<Exchange> next() const;  // to be asked for now

 private:
  bool free(uint32_t node) const;  // the newest committed configuration does not name it, and no change is half done
  bool blank(uint32_t node) const;
  bool majority_is_gone() const;

  World& world_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  const MembershipObserver& members_;
  SituationCounts& situations_;
  Random random_;
  std::optional<uint32_t> away_;
  TrueTime until_{};
  bool over_ = false;  // no more of it
};

}  // namespace coordkit::sim
