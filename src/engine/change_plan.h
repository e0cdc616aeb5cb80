// How a caller's request becomes changes that the core accepts (decisions/0007). A new member that is to vote learns first, a
// change of its own that puts no quorum at risk (thesis 4.2.1); everything else, including its promotion, follows in one. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordkit/error.h"
#include "coordkit/raft/membership.h"

namespace coordkit::engine {

using Wishes = std::vector<raft::MemberChange>;

// One step, or two if a new member is to vote. `now` is not joint.
std::vector<Wishes> steps_of(const raft::Configuration& now, const Wishes& wishes);

// The member that this change adds, if it does.
const raft::Member* newcomer_of(const raft::Configuration& now, const raft::MemberChange& wish);

// Whether all requested changes could be made together with `now` in force, as far as that tells; else why not.
struct Objection {
  Reason reason;
  std::string sentence;
};
std::optional<Objection> judge_wishes(const raft::Configuration& now, const Wishes& wishes);

// What a refusal by the core means to the caller. Committed, Overwritten and Unknown are none.
Objection explain(raft::ChangeFate::Kind fate, const std::string& about);

// "replica 4, replica 5"
std::string names_of(const Wishes& wishes);

}  // namespace coordkit::engine
