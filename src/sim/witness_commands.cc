// The witness for commands without a label: sessions that change hands, semaphores, barriers and the like. A caller's answer
// must be what the log decided for one command with exactly these contents from its node, each matched to one call.
#include <fmt/format.h>

#include <algorithm>

#include "sim/witness.h"

namespace coordkit::sim {

Witness::CallNumber Witness::begin_command(uint32_t node, Kind kind, std::string subject, const machine::Request::Body& body) {
  const CallNumber number = begin(node, kind, std::move(subject));
  calls_[number].command = CommandOutcomes::key_of(ReplicaId(node + 1), body);
  return number;
}

// The oldest that fits: which of several equal ones it was makes no difference.
std::optional<Index> Witness::match(const Call& call, const Told& told) {
  for (const CommandOutcomes::Execution& execution : model_.outcomes().executions(call.command)) {
    const bool possible = execution.result && execution.index > call.floor && !matched_.contains(execution.request);
    if (!possible || !told(*execution.result)) continue;
    matched_.insert(execution.request);
    decided(call, execution.index);
    return execution.index;
  }
  return std::nullopt;
}

void Witness::executed(CallNumber number, const absl::Status& answer, const Told& told) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer);
  if (match(call, told)) return;
  std::string decided;
  for (const CommandOutcomes::Execution& execution : model_.outcomes().executions(call.command)) {
    decided += fmt::format(" {} at {}{}", execution.result ? static_cast<int>(execution.result->code) : -1,
                           execution.index.value(), matched_.contains(execution.request) ? " (told)" : "");
  }
  fail("INV_K1", call, fmt::format("told otherwise than the log decided after {}:{}", call.floor.value(), decided));
}

// A caller that finds open what it would wait for is answered without an entry.
void Witness::awaited(CallNumber number, const absl::Status& answer, const Object& object) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer);
  if (match(call, [](const machine::Result& result) { return result.code == machine::ResultCode::Ok; })) return;
  const auto open = [&object](const machine::ObjectView& now) {
    return object.first == coordination::Kind::Latch ? now.exists && now.number == 0 : !now.exists;
  };
  if (!model_.history().object_was(object, call.floor, open)) fail("INV_K1", call, "told that it is open, which it never was");
}

void Witness::object_seen(CallNumber number, const absl::Status& answer, const Object& object, Index as_of,
                          const machine::ObjectView& told) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer);
  observed(call, as_of);
  if (told != model_.history().object_at(object, as_of)) {
    fail("INV_K1", call, fmt::format("what was told at {} differs from the log's", as_of.value()));
  }
}

void Witness::counter_seen(CallNumber number, const absl::StatusOr<int64_t>& answer, const std::string& name) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  const auto same = [&](const machine::ObjectView& now) { return now.number == *answer; };
  if (!model_.history().object_was({coordination::Kind::Counter, name}, call.floor, same)) {
    fail("INV_K1", call, fmt::format("told {}, which it never was since it was asked", *answer));
  }
}

void Witness::leader_seen(CallNumber number, const absl::StatusOr<std::optional<LeaderInfo>>& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  const auto same = [&](const StateHistory::LockLook& now) {
    const auto leads = std::ranges::find_if(
        now.holds, [&](const LockModel::Claim& hold) { return *hold.mode_on(call.subject) == LockMode::Exclusive; });
    if (leads == now.holds.end() || !*answer) return leads == now.holds.end() && !*answer;
    return leads->token == (*answer)->token && leads->session == (*answer)->session && leads->since == (*answer)->since;
  };
  if (!model_.history().lock_was(call.subject, call.floor, same)) fail("INV_L01", call, "told of a leader that never was");
}

// With its holds at that time; the answer may have been made after the session ended or went on to yet another process.
void Witness::resumed(CallNumber number, SessionId session, const absl::StatusOr<ResumedSession>& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  const auto at = match(call, [&](const machine::Result& result) {
    return result.code == machine::ResultCode::Ok && result.session == session && result.ttl == answer->session->ttl();
  });
  if (!at) fail("INV_K1", call, "the log knows of no such resume");
  const SessionModel::Session* lives = model_.sessions().find(session);
  if (lives == nullptr || lives->resumed != *at) return;
  std::vector<Token> told;
  for (const HoldRef& hold : answer->holds) told.push_back(hold->token());
  if (told != lives->held_then) {
    fail("INV_L04", call, fmt::format("told {} holds, the log says {}", told.size(), lives->held_then.size()));
  }
}

// Each command takes effect once for one call, and never for one that was answered otherwise. A client sends some by itself as
// well: it leaves unwanted places and groups, and the leader's client compacts according to its policy.
void Witness::finish_commands() const {
  struct Count {
    const Call* first = nullptr;
    uint64_t may = 0;
  };
  std::map<std::string, Count> counts;
  for (const Call& call : calls_) {
    if (call.command.empty()) continue;
    Count& count = counts[call.command];
    if (!count.first) count.first = &call;
    if (!call.without_effect) ++count.may;
  }
  for (const auto& [command, count] : counts) {
    const auto& executions = model_.outcomes().executions(command);
    const auto effects =
        static_cast<uint64_t>(std::ranges::count_if(executions, [](const CommandOutcomes::Execution& execution) {
          return execution.result &&
                 (execution.result->code == machine::ResultCode::Ok || execution.result->code == machine::ResultCode::Granted);
        }));
    const bool by_clients_too = count.first->kind == Kind::Leave || count.first->kind == Kind::Compact;
    if (effects > count.may && !by_clients_too) {
      fail("INV_L09", *count.first, fmt::format("took effect {} times, of which {} may have", effects, count.may));
    }
  }
}

}  // namespace coordkit::sim
