#include "machine/keys/machine_leases.h"

#include "base/check.h"

namespace coordkit::machine {

Objection check(const GrantLease& grant) {
  const bool bound = bool{grant.node};
  Objection ttl = check_ttl(grant.ttl);
  return ttl.code != ResultCode::InvalidArgument && bound != bool{grant.boot} ? invalid() : ttl;
}

Answer MachineLeases::execute(GrantLease& grant, ApplyStep& step) {
  const auto taken = [this](LeaseId id) { return state_.lease_exists(id); };
  if (grant.id && taken(grant.id)) return Result{.code = ResultCode::LeaseExists};
  LeaseId name = grant.id ? grant.id : LeaseId(kDrawnLease + step.index.value());
  while (!grant.id && taken(name)) name = name.next();
  const SessionId number(state_.counter.next());
  const Duration ttl = lease::granted_ttl(grant.ttl);
  const lease::Session lease{.group = {grant.node, grant.boot, grant.incarnation, ttl}, .name = name};
  step.output.timer_ops.push_back(timer_of(number, lease));
  state_.leases.open(number, lease);
  return Result{.session = number, .ttl = ttl, .lease = name};
}

// Like a resume, this entry starts the full TTL over and voids earlier proposals to end the lease (LT-4). An end that was
// applied first has won.
Answer MachineLeases::execute(RenewLease& renew, ApplyStep& step) {
  const std::optional<SessionId> number = state_.leases.named(renew.id);
  if (!number) return Result{.code = ResultCode::LeaseNotFound};
  state_.leases.renew(*number);
  const lease::Session lease = *state_.leases.find(*number);
  step.output.timer_ops.push_back(timer_of(*number, lease));
  return Result{.session = *number, .ttl = lease.group.ttl, .lease = renew.id};
}

Answer MachineLeases::execute(RevokeLease& revoke, ApplyStep& step) {
  const std::optional<SessionId> number = state_.leases.named(revoke.id);
  const bool meant = number && (!revoke.number || revoke.number == *number);
  if (!meant) return Result{.code = ResultCode::LeaseNotFound};
  const size_t before = state_.keys.size();
  end(*number, SessionEnded::Reason::Closed, step);
  return Result{.deleted = before - state_.keys.size()};
}

void MachineLeases::end(SessionId number, SessionEnded::Reason reason, ApplyStep& step) {
  const std::optional<lease::Session> lease = state_.leases.find(number);
  COORDKIT_CHECK_MSG(lease.has_value(), "INV_K05");
  step.output.timer_ops.push_back({TimerOp::Kind::Disarm, session_timer(number), lease->generation, {}, {}});
  state_.leases.close(number);
  keys_.end_attached(lease->name);
  step.output.events.push_back({step.index, encode(Event(SessionEnded{number, reason, lease->group.node}))});
}

}  // namespace coordkit::machine
