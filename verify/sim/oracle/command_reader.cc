#include "sim/oracle/command_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/apply/log_command.h"
#include "machine/command.h"
#include "raft/log/entry_codec.h"

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

// A session's timer has the session's id, that of a wait the index of the entry that queued it, top bit set.
std::string text_of(const engine::FireTimers& fired, const Timeline& timeline) {
  constexpr size_t kNamed = 4;
  constexpr uint64_t kWait = uint64_t{1} << 63;
  std::string text = "time is up for";
  for (size_t i = 0; i < std::min(kNamed, fired.timers.size()); ++i) {
    const uint64_t id = fired.timers[i].id.value();
    text += i == 0 ? " " : ", ";
    text += (id & kWait) != 0 ? fmt::format("the wait of entry {}", id & ~kWait) : "session " + counted(id, timeline);
  }
  if (fired.timers.size() > kNamed) text += fmt::format(" and {} others", fired.timers.size() - kNamed);
  return text;
}

struct Request {
  std::string text;
  std::string key;  // that its caller registered; empty: unknown
};

struct Reading {
  const Timeline& timeline;
  Request operator()(const std::monostate&) const { return {"a request of an unknown kind", {}}; }
  Request operator()(const machine::OpenSession& open) const { return {"open a session", open.metadata}; }
  Request operator()(const machine::CloseSession& close) const {
    return {fmt::format("close session {}", counted(close.session.value(), timeline)), close_key(close.session)};
  }
  Request operator()(const machine::Acquire& acquire) const { return {"acquire " + acquire.name, acquire.texts.value}; }
  Request operator()(const machine::Release& release) const {
    return {fmt::format("release {} with token {}", release.name, counted(release.token.value(), timeline)),
            release_key(release.token)};
  }
  Request operator()(const machine::CancelAcquire& cancel) const { return {"cancel an acquire of " + cancel.name, {}}; }
  Request operator()(const machine::AcquireAll& all) const {
    return {fmt::format("acquire {} locks, {} first", all.locks.size(), all.locks.empty() ? "" : all.locks[0].name),
            all.texts.value};
  }
  Request operator()(const machine::Downgrade& down) const { return {"downgrade " + down.name, {}}; }
  Request operator()(const machine::Upgrade& up) const { return {"upgrade " + up.name, {}}; }
  Request operator()(const machine::UpdateValue& update) const { return {"set the value of " + update.name, update.value}; }
  Request operator()(const machine::ClearDelay& clear) const { return {"clear the delay of " + clear.name, {}}; }
  Request operator()(const machine::RefillBlock& refill) const { return {"more tokens for " + refill.name, {}}; }
  Request operator()(const machine::ResumeSession& resume) const {
    return {fmt::format("resume session {}", counted(resume.id.value(), timeline)), {}};
  }
  Request operator()(const machine::KillSession& kill) const {
    return {fmt::format("kill session {}", counted(kill.victim.value(), timeline)), {}};
  }
  Request operator()(const machine::ForceRelease& force) const {
    return {fmt::format("force the release of {} with token {}", force.name, counted(force.token.value(), timeline)), {}};
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
  Request operator()(const machine::SetPermissions& set) const { return {"set the permissions of " + set.remote, {}}; }
  Request operator()(const machine::Compact& compact) const {
    return {"compact the keys at " + std::to_string(compact.at.value()), {}};
  }
};

}  // namespace

std::string counted(uint64_t number, const Timeline& timeline) {
  const uint64_t base = timeline.token_base;
  return number > base ? fmt::format("+{}", number - base) : fmt::format("{}", number);
}

CommandReader::Description CommandReader::read(std::string_view bytes) const {
  const auto command = engine::decode_command(bytes);
  if (!command.ok()) return {"a command that does not decode", {}};
  if (const auto* registration = std::get_if<engine::RegisterOrigin>(&*command)) {
    return {fmt::format("n{} registers boot {}", registration->origin.replica.value(), registration->origin.boot.value()), {}};
  }
  if (const auto* fired = std::get_if<engine::FireTimers>(&*command)) {
    return {text_of(*fired, timeline_), {}};
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
  Request one = std::visit(Reading{timeline_}, decoded->body);
  Description description{std::move(one.text), {}};
  if (const auto caller = operations_.caller(one.key)) description.operations.push_back(*caller);
  for (const machine::PriorRelease& prior : decoded->prior_releases) {
    description.text +=
        fmt::format(", after a release of {} with token {}", prior.name, counted(prior.token.value(), timeline_));
  }
  return description;
}

CommandReader::Description CommandReader::read(const raft::Entry& entry) const {
  switch (entry.kind) {
    case raft::EntryKind::LeaderStart: return {fmt::format("term {} begins", entry.term.value()), {}};
    case raft::EntryKind::Genesis: return {"genesis", {}};
    case raft::EntryKind::Configuration: {
      const auto configuration = decode_configuration(entry.payload.view());
      return {"members: " + (configuration.ok() ? text_of(*configuration) : "not readable"), {}};
    }
    case raft::EntryKind::Command: return read(entry.payload.view());
  }
  return {};
}

}  // namespace coordkit::sim
