#include "sim/oracle/model.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/calls/origins.h"
#include "machine/guard.h"
#include "raft/log/entry_codec.h"
#include "sim/world/is_any.h"

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

namespace {

bool administers(const machine::Request& request) {
  return is_any<machine::KillSession, machine::ForceRelease, machine::ClearDelay, machine::Compact, machine::SetKeyQuota,
                machine::SetPermissions>(request.body);
}

}  // namespace

void Model::apply(Index index, Term term, raft::EntryKind kind, std::string_view payload) {
  applied_ = index;
  locks_.begin_entry();
  coordination_.begin_entry(index);
  ended_.clear();
  if (kind == raft::EntryKind::LeaderStart) leader_term_ = term;
  if (kind == raft::EntryKind::Genesis) {
    const auto genesis = decode_genesis(payload);
    COORDKIT_CHECK(genesis.ok());
    counter_ = genesis->token_base;
    level_ = genesis->feature_level;
    origins_.configure(genesis->configuration);
  }
  if (kind == raft::EntryKind::Configuration) {
    const auto configuration = decode_configuration(payload);
    COORDKIT_CHECK(configuration.ok());
    origins_.configure(*configuration);
  }
  if (kind != raft::EntryKind::Command) return;
  const auto command = engine::decode_command(payload);
  COORDKIT_CHECK(command.ok());
  if (const auto* raise = std::get_if<engine::RaiseLevel>(&*command)) level_ = std::max(level_, raise->level);
  const auto* registration = std::get_if<engine::RegisterOrigin>(&*command);
  const bool too_early = registration && is_remote(registration->origin.replica) && level_ < engine::Origins::kRemotesLevel;
  if (registration && !too_early) origins_.enroll(*registration);
  if (const auto* request = std::get_if<engine::Request>(&*command); request && origins_.admit(*request)) execute(*request);
  if (const auto* fired = std::get_if<engine::FireTimers>(&*command)) {
    if (fired->term == leader_term_ && term == leader_term_) fire(*fired);  // INV_L13
  }
  decide_waits();
  history_.record(index, locks_);
  history_.record(index, coordination_);
  history_.record(index, keys_.revision(), keys_.compacted());
}

bool Model::guard_met(const engine::Request& request) {
  if (!request.guard || request.guard->machine != kCoordination) return true;  // by another machine: not checked here
  const auto guard = machine::decode_guard(request.guard->bytes);
  if (!guard.ok()) return false;
  if (const auto* free = std::get_if<machine::LockFree>(&*guard)) return lock_condition(Compare::lock_free(free->name));
  const auto* held = std::get_if<machine::LockHeld>(&*guard);
  if (held == nullptr) return false;
  Compare condition = Compare::lock_held(held->name, held->token);
  if (held->exclusive) condition.target = Compare::Target::LockHeldExclusively;
  return lock_condition(condition);
}

void Model::execute(const engine::Request& request) {
  if (request.machine != kCoordination || !guard_met(request)) return;  // an embedder's; fenced
  const auto decoded = machine::decode_request(request.payload);
  Result result{.code = ResultCode::InvalidArgument};
  if (decoded.ok()) {
    const bool restricted = is_remote(request.id.origin.replica) && level_ >= engine::Origins::kNamesLevel;
    if (restricted && administers(*decoded)) return;  // refused: no remote of this world has a list of permissions
    outcomes_.arrived(*decoded, request.id, applied_);
    result = run(*decoded, request.id);
  }
  result.revision = keys_.revision();
  outcomes_.answered(applied_, result);
  if (result.code != ResultCode::Queued) outcomes_.finish(request.id, result, applied_, keys_.revision());
}

Result Model::run(const machine::Request& request, const RequestId& id) {
  const ResultCode code = machine::validate(request);
  if (code != ResultCode::Ok) return {.code = code};
  const SessionId session = machine::session_of(request);
  if (session && !sessions_.contains(session)) return {.code = ResultCode::SessionNotFound};
  if (session && sessions_.lost_to_sender(request, session, id)) return {.code = ResultCode::Lost};
  for (const machine::PriorRelease& prior : request.prior_releases) {
    const Result released = locks_.release(session, std::nullopt, prior.name, prior.token, prior.number);
    if (released.code == ResultCode::NotOwner) coordination_.release(session, prior.name, prior.token);
  }
  decide_waits();
  return std::visit(
      [&](const auto& body) -> Result {
        using Body = std::decay_t<decltype(body)>;
        // NOLINTNEXTLINE(bugprone-branch-clone): one of them for each body
        if constexpr (std::is_same_v<Body, std::monostate>) {
          return {.code = ResultCode::Unsupported};
        } else if constexpr (requires { run(body, id); }) {
          return run(body, id);
        } else if constexpr (requires { run(body); }) {
          return run(body);
        } else if constexpr (requires { sessions_.run(body, applied_); }) {
          return sessions_.run(body, applied_);
        } else if constexpr (requires { locks_.run(body, applied_); }) {
          return locks_.run(body, applied_);
        } else if constexpr (requires { keys_.run(body); }) {
          return keys_.run(body);
        } else if constexpr (requires { leases_.run(body); }) {
          return leases_.run(body);
        } else {
          return {.code = ResultCode::Unsupported};  // the simulated workload does not use it
        }
      },
      request.body);
}

Result Model::run(const machine::CloseSession& close) {
  end_session(close.session, false);
  return {.code = ResultCode::Ok};
}

Result Model::run(const machine::Acquire& asked, const RequestId& id) {
  return acquire({.session = asked.session,
                  .owner_tag = asked.owner_tag,
                  .names = {{asked.name, asked.mode}},
                  .request = id,
                  .texts = asked.texts,
                  .reentrant = (asked.flags & machine::kReentrant) != 0,
                  .delay = asked.delay,
                  .block = asked.block},
                 asked.wait, asked.flags);
}

Result Model::run(const machine::AcquireAll& asked, const RequestId& id) {
  return acquire({.session = asked.session,
                  .owner_tag = asked.owner_tag,
                  .names = asked.locks,
                  .request = id,
                  .texts = asked.texts,
                  .delay = asked.delay},
                 asked.wait, asked.flags);
}

Result Model::acquire(LockModel::Claim claim, const machine::Wait& wait, uint64_t flags) {
  if (cancelled_.contains(claim.request)) return {.code = ResultCode::Cancelled};
  return locks_.acquire(std::move(claim), wait, flags, applied_);
}

Result Model::run(const machine::Release& asked) {
  const Result result = locks_.release(asked.session, asked.owner_tag, asked.name, asked.token, asked.number);
  const bool other = result.code == ResultCode::NotOwner && coordination_.release(asked.session, asked.name, asked.token);
  return other ? Result{} : result;
}

Result Model::run(const machine::CancelAcquire& cancel) {
  if (const auto other = coordination_.cancel(cancel.session, cancel.acquire)) return *other;
  const Result result = locks_.cancel(cancel.session, cancel.acquire, waits_ended_);
  if (result.code == ResultCode::Cancelled) cancelled_.insert(cancel.acquire);  // even one that has not arrived
  return result;
}

Result Model::run(const machine::CoordinationCommand& command, const RequestId& id) {
  if (cancelled_.contains(id)) return {.code = ResultCode::Cancelled};
  return coordination_.run(command, id);
}

KeyModel::Around Model::around() {
  return {[this](LeaseId lease) { return sessions_.contains(SessionId(lease.value())) || leases_.alive(lease) != nullptr; },
          [this](const Compare& compare) { return lock_condition(compare); }};
}

// S-54.
bool Model::lock_condition(const Compare& compare) {
  if (compare.target == Compare::Target::LockFree) return locks_.holds(compare.key).empty();
  const Token token(compare.number);
  const bool exclusively = compare.target == Compare::Target::LockHeldExclusively;
  if (!locks_.guard_met(compare.key, token)) return !exclusively && coordination_.held(compare.key, token);
  return !exclusively || *locks_.hold(compare.key, token)->mode_on(compare.key) == LockMode::Exclusive;
}

Result Model::run(const machine::Put& put) { return keys_.run(put, applied_, around()); }
Result Model::run(const Transaction& transaction) { return keys_.run(transaction, around()); }

Result Model::run(const machine::GrantLease& grant) {
  return leases_.run(grant, applied_, [this](LeaseId id) { return sessions_.contains(SessionId(id.value())); });
}

Result Model::run(const machine::RevokeLease& revoke) {
  const LeaseModel::Lease* lease = leases_.alive(revoke.id);
  if (lease == nullptr || (revoke.number && revoke.number != lease->number)) return {.code = ResultCode::LeaseNotFound};
  return {.deleted = end_lease(*lease, false)};
}

// The timer of a session has the session's id, that of a lease its number. That of a wait has the index of the entry that
// queued it, top bit set. That of a delay has its own number, from the counter of the session ids.
void Model::fire(const engine::FireTimers& fired) {
  if (fired.machine == kOrigins) {
    for (const FiredTimer& timer : fired.timers) origins_.forget(ReplicaId(timer.id.value()), timer.generation, applied_);
    return;
  }
  std::map<LeaseId, const LeaseModel::Lease*> dead;  // by the id that keys use; null: a session
  for (const FiredTimer& timer : fired.timers) {
    if (sessions_.due(SessionId(timer.id.value()), timer.generation)) dead[LeaseId(timer.id.value())] = nullptr;
    if (const auto* lease = leases_.due(timer.id.value(), timer.generation)) dead[lease->id] = lease;
  }
  for (const auto& [id, lease] : dead) {
    if (lease != nullptr) {
      end_lease(*lease, true);
    } else {
      end_session(SessionId(id.value()), true);
    }
  }
  for (const FiredTimer& timer : fired.timers) {
    if (timer.id.value() >> 63) {
      const Index queued(timer.id.value() << 1 >> 1);
      if (timer.generation != Generation(0)) {  // a claim's, named by its token
        coordination_.end_claim(queued, Token(timer.generation.value()));
        continue;
      }
      locks_.time_out(queued, waits_ended_);
      coordination_.time_out(queued);
    }
    locks_.end_delay(timer.id.value());
  }
}

Result Model::run(const machine::ResumeSession& resume, const RequestId& id) {
  const Result result = sessions_.resume(resume, id, applied_);
  if (result.code != ResultCode::Ok) return result;
  end_waits(resume.id, CoordinationModel::Waiter::MayReturn);
  locks_.regrant_all(resume.id, applied_);
  coordination_.regrant_all(resume.id);
  sessions_.set_held(resume.id, locks_.tokens_of(resume.id));
  return result;
}

Result Model::run(const machine::KillSession& kill) {
  if (!sessions_.contains(kill.victim)) return {.code = ResultCode::SessionNotFound};
  mark_ending(kill.victim);
  return {.code = ResultCode::Ok, .session = kill.victim};
}

Result Model::run(const machine::ForceRelease& force) {
  const LockModel::Claim* hold = locks_.hold(force.name, force.token);
  if (hold == nullptr || (hold->token != force.token && !locks_.current(force.name, force.token)))
    return {.code = ResultCode::NotOwner};
  const SessionId holder = hold->session;
  mark_ending(holder);
  return {.code = ResultCode::Ok, .session = holder};
}

void Model::mark_ending(SessionId id) {
  if (sessions_.mark_ending(id, applied_)) end_waits(id, CoordinationModel::Waiter::IsGone);
}

void Model::end_waits(SessionId id, CoordinationModel::Waiter waiter) {
  locks_.end_waits(id, waits_ended_);
  coordination_.end_waits(id, waiter);
}

// Deaths first, then releases; grants come last, in decide_waits().
void Model::end_session(SessionId id, bool expired) {
  sessions_.end(id, applied_, expired);
  ended_.push_back({id, expired});
  locks_.end(id, expired, waits_ended_);
  coordination_.end(id);
  keys_.end(LeaseId(id.value()));
}

uint64_t Model::end_lease(const LeaseModel::Lease& lease, bool expired) {
  ended_.push_back({lease.number, expired, lease.id});
  leases_.end(lease.id, applied_, expired);
  return keys_.end(lease.id);
}

void Model::decide_waits() {
  locks_.decide_waits(applied_, waits_ended_);
  coordination_.decide_waits(waits_ended_);
  for (const LockModel::Ended& wait : waits_ended_) outcomes_.finish(wait.request, wait.result, applied_, keys_.revision());
  waits_ended_.clear();
}

std::optional<KeyModel::Value> Model::value_at(const std::string& key, Index at) const {
  return keys_.value_at(key, history_.revision_at(at));
}

}  // namespace coordkit::sim
