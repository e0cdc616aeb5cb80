// Machine: leases of keys (docs/semantics.md S-29 to S-33). A lease lives like a session, with the same timers and renewals; it
// differs in its name and in what ends with it (docs/decisions/0012).
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "machine/machine.h"

namespace coordkit::machine {

namespace {

constexpr size_t kNamesBytesMax = 1 << 20;  // of keys in one answer

}  // namespace

ResultCode check(const GrantLease& grant) {
  const bool bound = bool{grant.node};
  if (grant.ttl <= Duration::zero() || bound != bool{grant.boot}) return ResultCode::InvalidArgument;
  return grant.ttl <= kTtlMax ? ResultCode::Ok : ResultCode::TtlTooLarge;
}

// Keys can be attached to a lease, or to a session by its id.
bool Machine::lease_exists(LeaseId lease) const {
  return state_.leases.named(lease).has_value() || state_.sessions.contains(SessionId(lease.value()));
}

Machine::Answer Machine::execute(GrantLease& grant, Step& step) {
  const auto taken = [this](LeaseId id) {
    return state_.leases.named(id).has_value() || state_.sessions.contains(SessionId(id.value()));
  };
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

// Like a resume, an entry that restarts the full TTL and voids earlier proposals of the end (LT-4). An end
// that was applied first wins.
Machine::Answer Machine::execute(RenewLease& renew, Step& step) {
  const std::optional<SessionId> number = state_.leases.named(renew.id);
  if (!number) return Result{.code = ResultCode::LeaseNotFound};
  state_.leases.renew(*number);
  const lease::Session lease = *state_.leases.find(*number);
  step.output.timer_ops.push_back(timer_of(*number, lease));
  return Result{.session = *number, .ttl = lease.group.ttl, .lease = renew.id};
}

Machine::Answer Machine::execute(RevokeLease& revoke, Step& step) {
  const std::optional<SessionId> number = state_.leases.named(revoke.id);
  const bool meant = number && (!revoke.number || revoke.number == *number);
  if (!meant) return Result{.code = ResultCode::LeaseNotFound};
  const size_t before = state_.keys.size();
  end_lease(*number, SessionEnded::Reason::Closed, step);
  return Result{.deleted = before - state_.keys.size()};
}

// S-30: the lease and all its keys, in this apply and one revision.
void Machine::end_lease(SessionId number, SessionEnded::Reason reason, Step& step) {
  const std::optional<lease::Session> lease = state_.leases.find(number);
  COORDKIT_CHECK_MSG(lease.has_value(), "INV_K05");
  step.output.timer_ops.push_back({TimerOp::Kind::Disarm, session_timer(number), lease->generation, {}, {}});
  state_.leases.close(number);
  end_attached(lease->name);
  step.output.events.push_back({step.index, encode(Event(SessionEnded{number, reason}))});
}

namespace {

LeaseRow row_of(SessionId number, const lease::Session& lease) {
  return {lease.name, number, lease.group.ttl, lease.group.node};
}

}  // namespace

Leases Machine::lease(LeaseId id, bool keys, std::string_view after) const {
  Leases reply{.leases = {}, .keys = {}, .more = false, .revision = state_.keys.revision()};
  const std::optional<SessionId> number = state_.leases.named(id);
  if (!number) return reply;
  reply.leases.push_back(row_of(*number, *state_.leases.find(*number)));
  if (!keys) return reply;
  size_t bytes = 0;
  state_.keys.attached(id, after, [&](std::string_view key) {
    reply.more = reply.keys.size() == kRowsMax || (bytes != 0 && bytes + key.size() > kNamesBytesMax);
    if (reply.more) return false;
    bytes += key.size();
    reply.keys.emplace_back(key);
    return true;
  });
  return reply;
}

Leases Machine::leases_after(LeaseId id, uint64_t limit) const {
  Leases reply{.leases = {}, .keys = {}, .more = false, .revision = state_.keys.revision()};
  const uint64_t most = limit == 0 ? kRowsMax : std::min(limit, kRowsMax);
  state_.leases.each_named_after(id, [&](SessionId number, const lease::Session& lease) {
    reply.more = reply.leases.size() == most;
    if (!reply.more) reply.leases.push_back(row_of(number, lease));
    return !reply.more;
  });
  return reply;
}

}  // namespace coordkit::machine
