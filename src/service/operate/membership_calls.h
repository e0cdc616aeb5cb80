// Door 1's own calls to the engine: membership changes and leadership transfers. The client's tickets have the highest
// bit set, these do not. Owned by the engine's thread; after stop() by the holder of the host's lock.
#pragma once

#include "base/flat_table.h"
#include "coordkit/client/client_options.h"
#include "coordkit/engine/engine.h"
#include "coordkit/operate/members.h"

namespace coordkit {

class MembershipCalls {
 public:
  explicit MembershipCalls(bool host_and_port) : host_and_port_(host_and_port) {}  // the form of addresses

  // A deadline may be years away. Zero: refused, and answered at once.
  Ticket change(Engine& engine, LaggingTime now, const MembershipChange& change, MembershipOptions options,
                Callback<Index> done);
  Ticket transfer(Engine& engine, LaggingTime now, ReplicaId target, Duration timeout, DoneCallback done);
  // Answered CancelPending now, and pursued no further: the leader completes what has begun. An ended call: no effect.
  void abandon(Engine& engine, Ticket call);
  void after_turn(const EngineEffects& effects);
  // Ends every call with Stopped; later ones get Closed. `why`: the replica has failed; then both get ReplicaFailed.
  void stop(const absl::Status& why = absl::OkStatus());

 private:
  Ticket enlist(Callback<Index> done);
  absl::Status refusal(Duration timeout) const;

  const bool host_and_port_;
  FlatMap<Ticket, Callback<Index>> calls_;
  Ticket next_{1};
  bool stopped_ = false;
  absl::Status failure_;  // once stopped; OK: it was closed
};

// The configuration in force, with what the leader knows about each member.
MemberList member_list(const raft::Status& core, ReplicaId self, LaggingTime now);

}  // namespace coordkit
