#include "sim/oracle/origin_model.h"

#include <algorithm>

namespace coordkit::sim {

// If two disks have one id, the one that still votes may act.
void OriginModel::configure(const raft::Configuration& configuration) {
  members_.clear();
  for (const auto* list : {&configuration.learners, &configuration.outgoing, &configuration.voters}) {
    for (const raft::Member& member : *list) members_[member.id] = member;
  }
}

void OriginModel::enroll(const engine::RegisterOrigin& registration) {
  const Origin& origin = registration.origin;
  const auto member = members_.find(origin.replica);
  const bool is_member = member != members_.end() && member->second.store == origin.store;
  if (!is_member && !is_remote(origin.replica)) return;
  if (is_remote(origin.replica) && registration.as_of < forgotten_at_) return;
  came_back_ += forgotten_.erase(origin.replica);
  Known& known = origins_[origin.replica];
  if (known.store != origin.store || known.boot < origin.boot)
    known = {origin.store, origin.boot, registration.lowest_unanswered, {}};
}

void OriginModel::forget(ReplicaId remote, Generation generation, Index at) {
  const auto known = origins_.find(remote);
  if (known == origins_.end() || Generation(known->second.boot.value()) != generation) return;
  origins_.erase(known);
  forgotten_.insert(remote);
  forgotten_at_ = at;
}

bool OriginModel::admit(const engine::Request& request) {
  const Origin& origin = request.id.origin;
  const auto it = origins_.find(origin.replica);
  if (it == origins_.end() || it->second.store != origin.store || it->second.boot != origin.boot) return false;
  Known& known = it->second;
  known.retired = std::max(known.retired, request.lowest_unanswered);
  if (request.after >= known.retired && !known.executed.contains(request.after)) return false;  // it overtakes; sent again
  return request.id.sequence >= known.retired && known.executed.insert(request.id.sequence).second;
}

}  // namespace coordkit::sim
