// The applied state of this replica, and the comparison of its digests with those of other replicas (divergence.h).
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/apply/divergence.h"
#include "engine/apply/restored_state.h"
#include "engine/apply/router.h"
#include "engine/loop/consensus.h"

namespace coordkit::engine {

class AppliedState {
 public:
  AppliedState(const EngineOptions& options, std::vector<HostedMachine> machines)
      : options_(options),
        router_(std::move(machines), options.digest_entries),
        divergence_(options.raft.self, options.raft.election_timeout) {
    router_.speak(options.feature_level);
  }

  Router& router() { return router_; }
  const Router& router() const { return router_; }
  Index index() const { return router_.applied().index; }

  // Applies committed entries, a turn's share; null: there are none. Valid until the next call.
  RouterOutput* apply(Consensus& consensus, size_t bytes_max);
  size_t applied_bytes() const { return applied_bytes_; }  // by the last apply()
  bool more_to_apply() const { return more_; }
  // Whether this turn can leave what is committed to the next one: its own write goes first. `awaited`: a caller may wait for
  // it. Asked once a turn.
  bool apply_can_wait(bool awaited, const Turn& turn);
  bool applies_later() const { return later_; }  // the last turn did so
  void stop() { more_ = later_ = false; }
  // Another state replaces ours.
  void replace(RestoredState& restored);

  // Before any answer of the entries of the last apply() leaves. A verdict of Self: this state is the wrong one.
  void compare_digests(const Turn& turn);
  void vote_digest(Turn& turn);
  void leadership_changed() { divergence_.leadership_changed(); }
  LaggingTime next_vote() const { return divergence_.next_deadline(); }
  const std::string& warning() const { return divergence_.warning(); }

 private:
  const EngineOptions& options_;
  Router router_;
  RouterOutput output_;
  size_t applied_bytes_ = 0;
  bool more_ = false;
  bool later_ = false;
  DivergenceCheck divergence_;
};

}  // namespace coordkit::engine
