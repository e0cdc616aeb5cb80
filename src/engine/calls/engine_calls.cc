#include "engine/calls/engine_calls.h"

#include <algorithm>

namespace coordkit::engine {

void Calls::forget(Ticket ticket) {
  path_.calls().forget(ticket);
  reads_.forget(ticket);
  members_.forget(ticket);
}

void Calls::leadership_changed() {
  path_.leadership_changed();
  reads_.leadership_changed();
  members_.leadership_changed();
}

void Calls::state_replaced(const Router& router, const raft::Leadership& leadership, EngineEffects& effects) {
  members_.state_replaced(router, leadership, effects);
  path_.calls().state_replaced(router, effects.completions);
}

void Calls::expire(LaggingTime now, const Consensus& consensus, const Router& applied, EngineEffects& effects) {
  const bool commands_left = path_.calls().expire(now, route(consensus, applied), effects.completions);
  const bool reads_left = reads_.expire(now, effects.completions);
  effects.more_expired = commands_left || reads_left;
  members_.expire(now, consensus.knows_leader(), effects);
}

LaggingTime Calls::next_deadline(const Consensus& consensus, const Router& applied) const {
  const bool led = consensus.knows_leader();
  return std::min(
      {path_.calls().next_deadline(route(consensus, applied)), reads_.next_deadline(led), members_.next_deadline(led)});
}

void Calls::fail_requests(Reason reason, std::string_view why, EngineEffects& effects) {
  path_.calls().fail_all(reason, why, effects.completions);
  reads_.fail_all(reason, why, effects.completions);
}

void Calls::removed(std::string_view why, EngineEffects& effects) {
  members_.removed(why, effects);
  fail_requests(Reason::Removed, why, effects);
}

void Calls::stop(Reason reason, std::string_view why, EngineEffects& effects) {
  fail_requests(reason, why, effects);
  members_.fail(reason, why, effects);
  reads_.stop();
}

}  // namespace coordkit::engine
