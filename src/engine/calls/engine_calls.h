// Everything that callers of this replica wait for: commands (proposals.h), reads, and changes of members and leader. Here is
// what happens to all of them; each kind does the rest for itself.
#pragma once

#include <string_view>

#include "engine/calls/proposal_path.h"
#include "engine/calls/read_path.h"
#include "engine/members/member_calls.h"

namespace coordkit::engine {

class Calls {
 public:
  Calls(const EngineOptions& options, const Origin& self)
      : path_(options, self), reads_(options, self.boot), members_(options, self) {}

  Proposals& proposals() { return path_.calls(); }
  ProposalPath& proposal_path() { return path_; }
  ReadPath& reads() { return reads_; }
  MemberCalls& members() { return members_; }
  const MemberCalls& members() const { return members_; }

  const Origin& origin() const { return path_.origin(); }
  Proposals::Route route(const Consensus& consensus, const Router& applied) const { return path_.route(consensus, applied); }
  Load load() const { return path_.load() + reads_.load(); }  // of commands and reads

  void forget(Ticket ticket);
  void leadership_changed();
  // Another state took the place of ours.
  void state_replaced(const Router& router, const raft::Leadership& leadership, EngineEffects& effects);
  // Those whose deadline has passed, as many as a turn has time for.
  void expire(LaggingTime now, const Consensus& consensus, const Router& applied, EngineEffects& effects);
  LaggingTime next_deadline(const Consensus& consensus, const Router& applied) const;

  // ---- the end
  // Commands and reads complete with this reason.
  void fail_requests(Reason reason, std::string_view why, EngineEffects& effects);
  // This replica was removed from the cluster.
  void removed(std::string_view why, EngineEffects& effects);
  // Everything ends.
  void stop(Reason reason, std::string_view why, EngineEffects& effects);

 private:
  ProposalPath path_;
  ReadPath reads_;
  MemberCalls members_;
};

}  // namespace coordkit::engine
