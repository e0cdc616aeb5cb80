// How a caller's request becomes changes that the core accepts (decisions/0007). A new member that is to vote learns first, a
// change of its own that puts no quorum at risk (thesis 4.2.1); everything else, including its promotion, follows in one. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordkit/error.h"
#include "coordkit/raft/membership.h"

namespace coordkit::engine {

using Changes = std::vector<raft::MemberChange>;

// One step, or two if a new member is to vote. `now` is not joint.
std::vector<Changes> steps_of(const raft::Configuration& now, const Changes& changes);

// The member that this change adds, if it does.
const raft::Member* new_member_of(const raft::Configuration& now, const raft::MemberChange& change);

// Whether all requested changes could be made together with `now` in force, as far as that tells; else why not.
struct Objection {
  Reason reason;
  std::string sentence;
};
std::optional<Objection> judge_changes(const raft::Configuration& now, const Changes& changes);

// Explains a refusal by the core to the caller. Committed, Overwritten and Unknown are none.
Objection explain(raft::ChangeOutcome::Kind outcome, const std::string& about);

// "replica 4, replica 5"
std::string names_of(const Changes& changes);

}  // namespace coordkit::engine
