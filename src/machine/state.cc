#include "machine/state.h"

namespace coordkit::machine {

TimerOp timer_of(SessionId id, const lease::Session& session) {
  const bool renewable = bool{session.group.node} && !session.ending;
  return {TimerOp::Kind::Arm, session_timer(id), session.generation, session.group.ttl,
          renewable ? session.group : TimerGroup{}};
}

bool State::lease_exists(LeaseId lease) const {
  return leases.named(lease).has_value() || sessions.contains(SessionId(lease.value()));
}

void ApplyStep::answer(Result&& result, ApplyOutput::Stage stage) {
  result.revision = state.keys.revision();
  if (result.code == ResultCode::Compacted) result.compacted = state.keys.compacted();
  encode(result, scratch);
  output.answer(index, request, scratch, stage);
}

}  // namespace coordkit::machine
