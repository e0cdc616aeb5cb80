// How what a caller wishes becomes changes that the core takes (decisions/0007). A newcomer that is to vote learns first, as a
// change of its own that puts no quorum at risk (thesis 4.2.1); everything else, its promotion included, follows in one. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordkit/error.h"
#include "coordkit/raft/membership.h"

namespace coordkit::engine {

using Wishes = std::vector<raft::MemberChange>;

// One step, or two if a newcomer is to vote. `now` is not joint.
std::vector<Wishes> steps_of(const raft::Configuration& now, const Wishes& wishes);

// The member that this wish brings in, if it does.
const raft::Member* newcomer_of(const raft::Configuration& now, const raft::MemberChange& wish);

// Whether all wishes together could be taken where `now` is in force, as far as that tells; else why not.
struct Objection {
  Reason reason;
  std::string sentence;
};
std::optional<Objection> judge_wishes(const raft::Configuration& now, const Wishes& wishes);

// What a refusal of the core means to the caller. Committed, Overwritten and Unknown are none.
Objection explain(raft::ChangeFate::Kind fate, const std::string& about);

// "replica 4, replica 5"
std::string names_of(const Wishes& wishes);

}  // namespace coordkit::engine
