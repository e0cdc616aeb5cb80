// Calls and their outcomes: requests recognised in commands and entries, answers, holds and sessions.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/log_command.h"
#include "machine/command.h"
#include "raft/entry_codec.h"
#include "sim/recorder.h"

namespace coordkit::sim {
namespace {

std::string members_text(const std::vector<raft::Member>& members) {
  std::string text;
  for (const raft::Member& member : members) text += fmt::format("{}n{}", text.empty() ? "" : " ", member.id.value());
  return text;
}

std::string text_of(const raft::Configuration& configuration) {
  std::string text = "voters " + members_text(configuration.voters);
  if (!configuration.outgoing.empty()) text += ", outgoing " + members_text(configuration.outgoing);
  if (!configuration.learners.empty()) text += ", learners " + members_text(configuration.learners);
  return text;
}

std::string release_key(Token token) { return fmt::format("release of {}", token.value()); }
std::string close_key(SessionId session) { return fmt::format("close of {}", session.value()); }

// Tokens and session ids come from one counter.
std::string counted(uint64_t number, uint64_t base) {
  return number > base ? fmt::format("+{}", number - base) : fmt::format("{}", number);
}

// A session's timer has the session's id, that of a wait the index of the entry that queued it, top bit set.
std::string text_of(const engine::FireTimers& fired, uint64_t base) {
  constexpr size_t kNamed = 4;
  constexpr uint64_t kWait = uint64_t{1} << 63;
  std::string text = "time is up for";
  for (size_t i = 0; i < std::min(kNamed, fired.timers.size()); ++i) {
    const uint64_t id = fired.timers[i].id.value();
    text += i == 0 ? " " : ", ";
    text += (id & kWait) != 0 ? fmt::format("the wait of entry {}", id & ~kWait) : "session " + counted(id, base);
  }
  if (fired.timers.size() > kNamed) text += fmt::format(" and {} others", fired.timers.size() - kNamed);
  return text;
}

struct Request {
  std::string text;
  std::string key;  // that its caller registered; empty: unknown
};

struct Reading {
  uint64_t base;
  Request operator()(const std::monostate&) const { return {"a request of an unknown kind", {}}; }
  Request operator()(const machine::OpenSession& open) const { return {"open a session", open.metadata}; }
  Request operator()(const machine::CloseSession& close) const {
    return {fmt::format("close session {}", counted(close.session.value(), base)), close_key(close.session)};
  }
  Request operator()(const machine::Acquire& acquire) const { return {"acquire " + acquire.name, acquire.value}; }
  Request operator()(const machine::Release& release) const {
    return {fmt::format("release {} with token {}", release.name, counted(release.token.value(), base)),
            release_key(release.token)};
  }
  Request operator()(const machine::CancelAcquire& cancel) const { return {"cancel an acquire of " + cancel.name, {}}; }
  Request operator()(const machine::AcquireAll& all) const {
    return {fmt::format("acquire {} locks, {} first", all.locks.size(), all.locks.empty() ? "" : all.locks[0].name), all.value};
  }
  Request operator()(const machine::Downgrade& down) const { return {"downgrade " + down.name, {}}; }
  Request operator()(const machine::Upgrade& up) const { return {"upgrade " + up.name, {}}; }
  Request operator()(const machine::UpdateValue& update) const { return {"set the value of " + update.name, update.value}; }
  Request operator()(const machine::ClearDelay& clear) const { return {"clear the delay of " + clear.name, {}}; }
  Request operator()(const machine::RefillBlock& refill) const { return {"more tokens for " + refill.name, {}}; }
  Request operator()(const machine::ResumeSession& resume) const {
    return {fmt::format("resume session {}", counted(resume.id.value(), base)), {}};
  }
  Request operator()(const machine::KillSession& kill) const {
    return {fmt::format("kill session {}", counted(kill.victim.value(), base)), {}};
  }
  Request operator()(const machine::ForceRelease& force) const {
    return {fmt::format("force the release of {} with token {}", force.name, counted(force.token.value(), base)), {}};
  }
  Request operator()(const machine::CoordinationCommand& command) const {
    return {std::visit([](const auto& one) { return "command on " + one.name; }, command), {}};
  }
  Request operator()(const machine::Put& put) const { return {"put " + put.key, put.value}; }
  Request operator()(const machine::Delete& erase) const { return {"erase " + erase.key, {}}; }
  Request operator()(const Transaction&) const { return {"a transaction", {}}; }
  Request operator()(const machine::GrantLease& grant) const { return {"grant lease " + std::to_string(grant.id.value()), {}}; }
  Request operator()(const machine::RenewLease& renew) const { return {"renew lease " + std::to_string(renew.id.value()), {}}; }
  Request operator()(const machine::RevokeLease& revoke) const {
    return {"revoke lease " + std::to_string(revoke.id.value()), {}};
  }
  Request operator()(const machine::SetKeyQuota& quota) const {
    return {"limit the keys to " + std::to_string(quota.bytes) + " bytes", {}};
  }
  Request operator()(const machine::Compact& compact) const {
    return {"compact the keys at " + std::to_string(compact.at.value()), {}};
  }
};

}  // namespace

// ---- calls

void Recorder::called(uint64_t call, uint32_t node, const char* kind, const std::string& subject, const std::string& label) {
  if (const std::string* oldest = keys_.next_to_go()) by_key_.erase(*oldest);
  Timeline::Operation row;
  row.id = call;
  row.lane = node;
  row.worker = worker_;
  row.kind = kind;
  row.subject = subject;
  row.label = label;
  row.called = now();
  operations_.add(std::move(row));
  keys_.add({});
  if (!label.empty()) name_request(call, label);
}

void Recorder::name_request(uint64_t call, std::string key) {
  std::string* kept = keys_.find(call);
  if (kept == nullptr) return;
  by_key_[key] = call;
  *kept = std::move(key);
}

void Recorder::releases(uint64_t call, Token token) {
  name_request(call, release_key(token));
  if (Timeline::Operation* row = operations_.find(call)) row->token = token;
}

void Recorder::closes(uint64_t call, SessionId session) { name_request(call, close_key(session)); }

void Recorder::answered(uint64_t call) {
  Timeline::Operation* row = operations_.find(call);
  if (row == nullptr) return;
  row->ended = now();
  row->outcome = "ok";
}

// Nothing in an erase identifies its caller: the index in its answer does.
void Recorder::answered_at(uint64_t call, Index index) {
  Timeline::Operation* row = operations_.find(call);
  if (row == nullptr) return;
  row->decided = index;
  if (row->kind != "erase") return;
  row->carried = index;
  for (auto it = entries_.items().rbegin(); it != entries_.items().rend(); ++it) {
    if (it->index == index) return it->operations.push_back(call);
  }
}

void Recorder::refused(uint64_t call, Reason reason) {
  if (Timeline::Operation* row = operations_.find(call)) row->outcome = name_of(reason);
}

// ---- the log

std::vector<uint64_t> Recorder::callers(const std::string& key) const {
  const auto found = by_key_.find(key);
  if (key.empty() || found == by_key_.end()) return {};
  return {found->second};
}

Recorder::Said Recorder::read_command(std::string_view bytes) const {
  const auto command = engine::decode_command(bytes);
  if (!command.ok()) return {"a command that does not decode", {}};
  if (const auto* registration = std::get_if<engine::RegisterOrigin>(&*command)) {
    return {fmt::format("n{} registers boot {}", registration->origin.replica.value(), registration->origin.boot.value()), {}};
  }
  if (const auto* fired = std::get_if<engine::FireTimers>(&*command)) {
    return {text_of(*fired, timeline_.token_base), {}};
  }
  if (const auto* vote = std::get_if<engine::DigestVote>(&*command)) {
    return {fmt::format("n{} tells its digest after {}", vote->replica.value(), vote->index.value()), {}};
  }
  if (const auto* raise = std::get_if<engine::RaiseLevel>(&*command)) {
    return {fmt::format("feature level {}", raise->level), {}};
  }
  const auto& request = std::get<engine::Request>(*command);
  const auto decoded = machine::decode_request(request.payload);
  if (!decoded.ok()) return {"a request that does not decode", {}};
  Request one = std::visit(Reading{timeline_.token_base}, decoded->body);
  Said said{std::move(one.text), callers(one.key)};
  for (const machine::PriorRelease& prior : decoded->prior_releases) {
    said.text +=
        fmt::format(", after a release of {} with token {}", prior.name, counted(prior.token.value(), timeline_.token_base));
  }
  return said;
}

Recorder::Said Recorder::read(const raft::Entry& entry) const {
  switch (entry.kind) {
    case raft::EntryKind::LeaderStart: return {fmt::format("term {} begins", entry.term.value()), {}};
    case raft::EntryKind::Genesis: return {"genesis", {}};
    case raft::EntryKind::Configuration: {
      const auto configuration = decode_configuration(entry.payload.view());
      return {"members: " + (configuration.ok() ? text_of(*configuration) : "not readable"), {}};
    }
    case raft::EntryKind::Command: return read_command(entry.payload.view());
  }
  return {};
}

void Recorder::writes(uint32_t node, const LogWrite& write) {
  for (const raft::Entry& entry : write.entries) {
    if (entries_seen_.contains({entry.index, entry.term})) continue;
    if (const Timeline::Entry* oldest = entries_.next_to_go()) entries_seen_.erase({oldest->index, oldest->term});
    if (entry.kind == raft::EntryKind::Genesis) {
      const auto genesis = decode_genesis(entry.payload.view());
      if (genesis.ok()) timeline_.token_base = genesis->token_base;
    }
    Said said = read(entry);
    if (entry.kind == raft::EntryKind::Configuration) note(node, Timeline::Weight::Members, "appends " + said.text);
    entries_seen_[{entry.index, entry.term}] =
        entries_.add({entry.index, entry.term, node, now(), std::move(said.text), std::move(said.operations)});
  }
}

void Recorder::applied(const Model& model, Term term) {
  const Index index = model.applied();
  const auto seen = entries_seen_.find({index, term});
  const Timeline::Entry* entry = seen == entries_seen_.end() ? nullptr : entries_.find(seen->second);
  const machine::Result* answer = model.outcomes().answered_at(index);
  if (entry != nullptr) {
    for (uint64_t call : entry->operations) {
      Timeline::Operation* row = operations_.find(call);
      if (row == nullptr || row->carried) continue;
      row->carried = index;
      if (answer != nullptr && answer->code != machine::ResultCode::Queued) row->decided = index;
    }
  }
  follow_sessions(model);
  end_holds(model);
  begin_holds(model);
}

// ---- sessions and holds

void Recorder::follow_sessions(const Model& model) {
  const auto& sessions = model.sessions().all();
  const SessionId newest = session_lanes_.empty() ? SessionId() : session_lanes_.rbegin()->first;
  for (auto it = sessions.upper_bound(newest); it != sessions.end(); ++it) {
    session_lanes_[it->first] = static_cast<uint32_t>(it->second.node.value() - 1);
  }
  for (const Model::Ended& ended : model.ended()) {
    const auto lane = session_lanes_.find(ended.session);
    if (!ended.expired || lane == session_lanes_.end()) continue;
    note(lane->second, Timeline::Weight::Loss,
         fmt::format("session {} expires", counted(ended.session.value(), timeline_.token_base)));
  }
}

void Recorder::end_holds(const Model& model) {
  for (auto it = held_.begin(); it != held_.end();) {
    const auto& [place, held] = *it;
    if (model.locks().hold(place.first, place.second) != nullptr) {
      ++it;
      continue;
    }
    const auto with_session = [session = held.session](const Model::Ended& ended) { return ended.session == session; };
    const auto ended = std::find_if(model.ended().begin(), model.ended().end(), with_session);
    if (Timeline::Grant* row = grants_.find(held.grant)) {
      row->ended = now();
      row->end = ended == model.ended().end() ? "released" : ended->expired ? "its session expired" : "its session was closed";
      row->end += fmt::format(" by entry {}", model.applied().value());
    }
    it = held_.erase(it);
  }
}

void Recorder::begin_holds(const Model& model) {
  for (const LockModel::Claim& hold : model.locks().granted()) {
    for (const NamedLock& each : hold.names) begin_hold(model, hold, each.name);
  }
}

void Recorder::begin_hold(const Model& model, const LockModel::Claim& hold, const std::string& lock) {
  Timeline::Grant row;
  row.lock = lock;
  row.token = hold.token;
  row.index = model.applied();
  row.granted = now();
  const auto lane = session_lanes_.find(hold.session);
  if (lane != session_lanes_.end()) row.lane = lane->second;
  const std::vector<uint64_t> caller = callers(hold.label);
  if (!caller.empty()) {
    row.operation = caller.front();
    if (Timeline::Operation* call = operations_.find(caller.front())) {
      call->decided = row.index;
      call->token = row.token;
    }
  }
  if (const Timeline::Grant* oldest = grants_.next_to_go()) grants_by_token_.erase(oldest->token);
  const uint64_t number = grants_.add(std::move(row));
  grants_by_token_.emplace(hold.token, number);
  held_[{lock, hold.token}] = {number, hold.session};
}

void Recorder::told(uint32_t node, const HoldRef& hold) {
  const auto [first, last] = grants_by_token_.equal_range(hold->token());
  for (auto it = first; it != last; ++it) {
    if (Timeline::Grant* row = grants_.find(it->second)) row->trusted_from = row->trusted_from.value_or(now());
    trusted_.push_back({node, hold, it->second});
  }
}

// What its own clock will say: a frozen holder may believe in its hold until its deadline.
void Recorder::looked(uint32_t node, const NodeClock& clock) {
  const LeadingTime reading = clock.read(world_.now()).leading;
  std::erase_if(trusted_, [&](const Trusted& trusted) {
    if (trusted.node != node) return false;
    Timeline::Grant* row = grants_.find(trusted.grant);
    if (row == nullptr) return true;
    const bool over = trusted.hold->released() || trusted.hold->lost();
    if (!over && trusted.hold->valid(reading)) {
      row->trusted_until = clock.when(trusted.hold->session()->validity_deadline(), world_.now()).time_since_epoch();
    } else if (row->trusted_until) {
      row->trusted_until = std::min(*row->trusted_until, now());
    } else {
      row->trusted_from.reset();  // over before it was known
    }
    return over;
  });
}

// Accepted writes are many and normal; one that broke an invariant is named by the invariant.
void Recorder::resource(const std::string& lock, Token token, bool accepted) {
  const auto number = grants_by_token_.find(token);
  const Timeline::Grant* grant = number == grants_by_token_.end() ? nullptr : grants_.find(number->second);
  note(grant ? std::optional(grant->lane) : std::nullopt, accepted ? Timeline::Weight::Plain : Timeline::Weight::Refused,
       fmt::format("a write to the resource of {} with token {} is {}", lock, counted(token.value(), timeline_.token_base),
                   accepted ? "taken" : "refused"));
}

void Recorder::stop_trusting(uint32_t node) {
  std::erase_if(trusted_, [&](const Trusted& trusted) {
    if (trusted.node != node) return false;
    Timeline::Grant* row = grants_.find(trusted.grant);
    if (row != nullptr && row->trusted_from) row->trusted_until = std::min(row->trusted_until.value_or(now()), now());
    return true;
  });
}

// ---- the violation

// A call that never ends is identified as the oldest one.
void Recorder::violated(const std::string& id, const std::string& what, const Culprit& culprit) {
  Timeline::Violation row{id, what, now(), std::nullopt, culprit.operation, culprit.index, culprit.lock, culprit.token};
  if (world_.node() != kNoNode) row.lane = world_.node();
  if (id == "INV_L08" && !row.operation) {
    for (const Timeline::Operation& operation : operations_.items()) {
      if (!operation.ended && !row.operation) row.operation = operation.id;
    }
  }
  timeline_.violation = std::move(row);
}

}  // namespace coordkit::sim
