// The arithmetic of membership (thesis 4.3): from the configuration in force and a list of requested changes to the next one.
// Pure. A change that touches the voters becomes joint: `outgoing` lists the former voters, and leave() drops it. A change of
// learners alone is simple. A demoted voter is listed as learner from the start, and votes in the outgoing half until that
// half is dropped.
#pragma once

#include <span>
#include <variant>

#include "coordkit/raft/membership.h"

namespace coordkit::raft {

std::variant<Configuration, ChangeOutcome::Kind> next_configuration(const Configuration& current,
                                                                    std::span<const MemberChange> changes);
Configuration leave(Configuration joint);

// The member that may act under this id now: if there are two incarnations, the one that still votes. Null: none.
const Member* member_of(const Configuration& configuration, ReplicaId id);
// The member whose data directory this is, according to the configuration. Null: no member has it, or no store is given.
const Member* owner_of(const Configuration& configuration, StoreId store);

}  // namespace coordkit::raft
