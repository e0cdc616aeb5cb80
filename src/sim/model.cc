#include "sim/model.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "machine/guard.h"
#include "raft/entry_codec.h"
#include "sim/is_any.h"

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

void Model::apply(Index index, Term term, raft::EntryKind kind, std::string_view payload) {
  applied_ = index;
  locks_.begin_entry();
  coordination_.begin_entry();
  ended_.clear();
  if (kind == raft::EntryKind::LeaderStart) leader_term_ = term;
  if (kind == raft::EntryKind::Genesis) {
    const auto genesis = decode_genesis(payload);
    COORDKIT_CHECK(genesis.ok());
    counter_ = genesis->token_base;
    configure(genesis->configuration);
  }
  if (kind == raft::EntryKind::Configuration) {
    const auto configuration = decode_configuration(payload);
    COORDKIT_CHECK(configuration.ok());
    configure(*configuration);
  }
  if (kind != raft::EntryKind::Command) return;
  const auto command = engine::decode_command(payload);
  COORDKIT_CHECK(command.ok());
  if (const auto* registration = std::get_if<engine::RegisterOrigin>(&*command)) enroll(*registration);
  if (const auto* request = std::get_if<engine::Request>(&*command); request && admit(*request)) execute(*request);
  if (const auto* fired = std::get_if<engine::FireTimers>(&*command)) {
    if (fired->term == leader_term_ && term == leader_term_) fire(*fired);  // INV_L13
  }
  decide_waits();
  remember_locks();
  grants_ += locks_.granted().size();
  record(revision_history_, index, keys_.revision());
  record(compaction_history_, index, keys_.compacted());
}

// Of two disks under one id the one that still votes may act.
void Model::configure(const raft::Configuration& configuration) {
  members_.clear();
  for (const auto* list : {&configuration.learners, &configuration.outgoing, &configuration.voters}) {
    for (const raft::Member& member : *list) members_[member.id] = member;
  }
}

void Model::enroll(const engine::RegisterOrigin& registration) {
  const Origin& origin = registration.origin;
  const auto member = members_.find(origin.replica);
  if (member == members_.end() || member->second.store != origin.store) return;
  Origins& known = origins_[origin.replica];
  if (known.store != origin.store || known.boot < origin.boot)
    known = {origin.store, origin.boot, registration.lowest_unanswered, {}};
}

bool Model::admit(const engine::Request& request) {
  const Origin& origin = request.id.origin;
  const auto it = origins_.find(origin.replica);
  if (it == origins_.end() || it->second.store != origin.store || it->second.boot != origin.boot) return false;
  Origins& known = it->second;
  known.retired = std::max(known.retired, request.lowest_unanswered);
  return request.id.sequence >= known.retired && known.executed.insert(request.id.sequence).second;
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
    label(*decoded, request.id);
    result = run(*decoded, request.id);
  }
  result.revision = keys_.revision();
  answers_[applied_] = result;
  if (result.code != ResultCode::Queued) finish(request.id, result);
}

std::string Model::key_of(ReplicaId sender, const machine::Request::Body& body) {
  machine::Request said{.body = body};
  if (auto* resume = std::get_if<machine::ResumeSession>(&said.body)) resume->generation = {};  // only the client's own claim
  return std::to_string(sender.value()) + " " + machine::encode(said);
}

void Model::label(const machine::Request& request, const RequestId& id) {
  const bool known_by_its_words =
      is_any<machine::CoordinationCommand, machine::ResumeSession, machine::KillSession, machine::ForceRelease,
             machine::Compact, machine::Delete, Transaction, machine::GrantLease, machine::RenewLease, machine::RevokeLease>(
          request.body);
  if (known_by_its_words) {
    std::string key = key_of(id.origin.replica, request.body);
    std::vector<Execution>& same = executions_[key];
    executing_[id] = {std::move(key), same.size()};
    same.push_back({.request = id});
  }
  const std::string* text = nullptr;
  if (const auto* open = std::get_if<machine::OpenSession>(&request.body)) text = &open->metadata;
  if (const auto* acquire = std::get_if<machine::Acquire>(&request.body)) text = &acquire->value;
  if (const auto* all = std::get_if<machine::AcquireAll>(&request.body)) text = &all->value;
  if (const auto* put = std::get_if<machine::Put>(&request.body)) text = &put->value;
  if (text == nullptr || text->empty()) return;
  CommandOutcome& outcome = outcomes_[*text];
  ++outcome.executions;
  outcome.request = id;
  outcome.arrived = applied_;
  labels_[id] = *text;
}

void Model::finish(const RequestId& id, Result result) {
  if (const auto execution = executing_.find(id); execution != executing_.end()) {
    Execution& known = executions_[execution->second.first][execution->second.second];
    known.result = result;
    known.index = applied_;
  }
  const auto label = labels_.find(id);
  if (label == labels_.end()) return;
  CommandOutcome& outcome = outcomes_[label->second];
  result.revision = keys_.revision();
  outcome.result = result;
  outcome.index = applied_;
}

Result Model::run(const machine::Request& request, const RequestId& id) {
  const ResultCode code = machine::validate(request);
  if (code != ResultCode::Ok) return {.code = code};
  const SessionId session = machine::session_of(request);
  if (session && !sessions_.contains(session)) return {.code = ResultCode::SessionNotFound};
  if (session && lost_to_sender(request, session, id)) return {.code = ResultCode::Lost};
  for (const machine::PriorRelease& prior : request.prior_releases) {
    const Result released = locks_.release(session, std::nullopt, prior.name, prior.token, prior.number);
    if (released.code == ResultCode::NotOwner) coordination_.release(session, prior.name, prior.token);
  }
  decide_waits();
  return std::visit(
      [&](const auto& body) -> Result {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, std::monostate>) {
          return {.code = ResultCode::Unsupported};
        } else if constexpr (requires { run(body, id); }) {
          return run(body, id);
        } else if constexpr (requires { run(body); }) {
          return run(body);
        } else {
          return {.code = ResultCode::Unsupported};  // the simulated workload does not use it
        }
      },
      request.body);
}

Result Model::run(const machine::OpenSession& open) {
  const SessionId id(++counter_);
  const Duration ttl = std::max(open.ttl, machine::kTtlMin);
  sessions_[id] = {ttl, open.node, open.boot, open.incarnation, applied_, open.metadata, open.secret, {}};
  lives_.push_back({id, applied_, Index{}});
  return {.code = ResultCode::Ok, .session = id, .ttl = ttl};
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
                  .label = asked.value,
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
                  .label = asked.value,
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
  if (const auto other = coordination_.cancel(cancel.session, cancel.acquire, waits_ended_)) return *other;
  const Result result = locks_.cancel(cancel.session, cancel.acquire, waits_ended_);
  if (result.code == ResultCode::Cancelled) cancelled_.insert(cancel.acquire);  // even one that has not arrived
  return result;
}

Result Model::run(const machine::Downgrade& downgrade) { return locks_.downgrade(downgrade, applied_); }
Result Model::run(const machine::Upgrade& upgrade) { return locks_.upgrade(upgrade, applied_); }
Result Model::run(const machine::UpdateValue& update) { return locks_.update_value(update); }
Result Model::run(const machine::ClearDelay& clear) { return locks_.clear_delay(clear.name); }

Result Model::run(const machine::CoordinationCommand& command, const RequestId& id) {
  if (cancelled_.contains(id)) return {.code = ResultCode::Cancelled};
  return coordination_.run(command, id, applied_);
}
Result Model::run(const machine::RefillBlock& refill) { return locks_.refill(refill); }

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

// The timer of a session has the session's id, that of a lease its number; that of a wait the index of the entry that queued
// it, top bit set; that of a delay its own number, from the counter of the session ids.
void Model::fire(const engine::FireTimers& fired) {
  std::map<LeaseId, const LeaseModel::Lease*> dead;  // by the id that keys use; null: a session
  for (const FiredTimer& timer : fired.timers) {
    const auto session = sessions_.find(SessionId(timer.id.value()));
    const bool session_due = session != sessions_.end() && session->second.generation == timer.generation;
    if (session_due) dead[LeaseId(timer.id.value())] = nullptr;
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
      coordination_.time_out(queued, waits_ended_);
    }
    locks_.end_delay(timer.id.value());
  }
}

// Deaths first, then releases; grants come last, in decide_waits().
void Model::end_session(SessionId id, bool expired) {
  sessions_.erase(id);
  ended_.push_back({id, expired});
  expiries_ += expired ? 1 : 0;
  for (Life& life : lives_) {
    if (life.id == id) life.until = applied_;
  }
  locks_.end(id, expired, waits_ended_);
  coordination_.end(id, waits_ended_);
  keys_.end(LeaseId(id.value()));
}

uint64_t Model::end_lease(const LeaseModel::Lease& lease, bool expired) {
  ended_.push_back({lease.number, expired, lease.id});
  leases_.end(lease.id, applied_, expired);
  return keys_.end(lease.id);
}

void Model::decide_waits() {
  locks_.decide_waits(applied_, waits_ended_);
  coordination_.decide_waits(applied_, waits_ended_);
  for (const LockModel::Ended& wait : waits_ended_) finish(wait.request, wait.result);
  waits_ended_.clear();
}

void Model::remember_locks() {
  for (const std::string& name : locks_.touched()) {
    LockLook look{.holds = locks_.holds(name), .waiters = {}, .delayed = locks_.delayed(name)};
    for (const LockModel::Claim& wait : locks_.queue(name)) look.waiters.push_back(wait.request);
    record(lock_history_[name], applied_, std::move(look));
  }
  for (const CoordinationModel::Object& object : coordination_.touched()) {
    record(object_history_[object], applied_, coordination_.look(object));
  }
}

const Model::CommandOutcome* Model::outcome_of(const std::string& label) const {
  const auto it = outcomes_.find(label);
  return it == outcomes_.end() ? nullptr : &it->second;
}

const std::vector<Model::Execution>& Model::executions(const std::string& key) const {
  static const std::vector<Execution> kNone;
  const auto found = executions_.find(key);
  return found == executions_.end() ? kNone : found->second;
}

const Result* Model::answered_at(Index index) const {
  const auto it = answers_.find(index);
  return it == answers_.end() ? nullptr : &it->second;
}

const Model::Session* Model::session(SessionId id) const {
  const auto it = sessions_.find(id);
  return it == sessions_.end() ? nullptr : &it->second;
}

template <typename T>
void Model::record(History<T>& history, Index at, T value) {
  if (!history.empty() && history.back().first == at) {
    history.back().second = std::move(value);
  } else {
    history.emplace_back(at, std::move(value));
  }
}

template <typename T>
const T* Model::look(const History<T>& history, Index at) {
  const auto after =
      std::upper_bound(history.begin(), history.end(), at, [](Index index, const auto& item) { return index < item.first; });
  return after == history.begin() ? nullptr : &std::prev(after)->second;
}

std::optional<Model::Value> Model::value_at(const std::string& key, Index at) const {
  return keys_.value_at(key, revision_at(at));
}

Revision Model::revision_at(Index at) const {
  const Revision* revision = look(revision_history_, at);
  return revision ? *revision : Revision(1);
}

Revision Model::compacted_at(Index at) const {
  const Revision* compacted = look(compaction_history_, at);
  return compacted ? *compacted : Revision();
}

Model::LockLook Model::lock_at(const std::string& name, Index at) const {
  const auto history = lock_history_.find(name);
  if (history == lock_history_.end()) return {};
  const LockLook* found = look(history->second, at);
  return found ? *found : LockLook{};
}

machine::ObjectView Model::object_at(const CoordinationModel::Object& object, Index at) const {
  const auto history = object_history_.find(object);
  if (history == object_history_.end()) return {};
  const machine::ObjectView* found = look(history->second, at);
  return found ? *found : machine::ObjectView{};
}

template <typename T>
bool Model::was(const History<T>* history, Index from, const std::function<bool(const T&)>& like_this) {
  const T* at_first = history ? look(*history, from) : nullptr;
  if (like_this(at_first ? *at_first : T{})) return true;
  return history &&
         std::ranges::any_of(*history, [&](const auto& item) { return item.first > from && like_this(item.second); });
}

bool Model::object_was(const CoordinationModel::Object& object, Index from,
                       const std::function<bool(const machine::ObjectView&)>& like_this) const {
  const auto history = object_history_.find(object);
  return was<machine::ObjectView>(history == object_history_.end() ? nullptr : &history->second, from, like_this);
}

bool Model::lock_was(const std::string& name, Index from, const std::function<bool(const LockLook&)>& like_this) const {
  const auto history = lock_history_.find(name);
  return was<LockLook>(history == lock_history_.end() ? nullptr : &history->second, from, like_this);
}

template <typename T>
std::vector<Index> Model::changes(const History<T>& history, Index from) {
  std::vector<Index> out;
  for (const auto& [index, value] : history) {
    if (index > from) out.push_back(index);
  }
  return out;
}

std::vector<Index> Model::object_changes(const CoordinationModel::Object& object, Index from) const {
  const auto history = object_history_.find(object);
  return history == object_history_.end() ? std::vector<Index>() : changes(history->second, from);
}

std::vector<Index> Model::lock_changes(const std::string& name, Index from) const {
  const auto history = lock_history_.find(name);
  return history == lock_history_.end() ? std::vector<Index>() : changes(history->second, from);
}

std::vector<SessionId> Model::sessions_at(Index at) const {
  std::vector<SessionId> ids;
  for (const Life& life : lives_) {
    if (life.from <= at && (!life.until || life.until > at)) ids.push_back(life.id);
  }
  return ids;
}

}  // namespace coordkit::sim
