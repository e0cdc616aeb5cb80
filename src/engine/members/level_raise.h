// Raises the cluster's feature level, on its leader, once every member supports a higher one (docs/upgrading.md).
#pragma once

#include "engine/apply/router.h"
#include "engine/loop/consensus.h"
#include "engine/peers/peer_set.h"

namespace coordkit::engine {

class LevelRaise {
 public:
  explicit LevelRaise(const EngineOptions& options) : options_(options) {}

  void propose(const Router& router, const PeerSet& peers, Turn& turn);
  LaggingTime next_deadline(const Consensus& consensus, const Router& router) const;

 private:
  const EngineOptions& options_;
  LaggingTime look_again_ = LaggingTime::min();
};

}  // namespace coordkit::engine
