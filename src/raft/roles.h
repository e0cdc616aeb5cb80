// The leader, as this replica sees it, and the replica's own role. Handlers never change the role: they request it, and the
// step performs the request when they are done.
#pragma once

#include <optional>
#include <utility>

#include "coordkit/raft/core.h"

namespace coordkit::raft {

struct Transition {
  Role role = Role::Follower;
  Term term;
  ReplicaId leader = {};
  Cause cause = Cause::Silence;  // of a campaign
};

class Roles {
 public:
  explicit Roles(Term term) : now_{.term = term}, reported_(now_) {}

  const Leadership& now() const { return now_; }
  Role role() const { return now_.role; }
  ReplicaId leader() const { return now_.leader; }

  // If there are two requests within one step, the later term wins, then the later request.
  void request(const Transition& transition) {
    if (!requested_ || transition.term >= requested_->term) requested_ = transition;
  }
  void step_down(Term term) { request({Role::Follower, term}); }
  bool requested() const { return requested_.has_value(); }
  Transition take_request() { return *std::exchange(requested_, std::nullopt); }

  void enter(const Leadership& next) { now_ = next; }
  // For the host: the change since the last call.
  std::optional<Leadership> take_change() {
    if (now_ == reported_) return std::nullopt;
    return reported_ = now_;
  }

 private:
  Leadership now_;
  Leadership reported_;
  std::optional<Transition> requested_;
};

}  // namespace coordkit::raft
