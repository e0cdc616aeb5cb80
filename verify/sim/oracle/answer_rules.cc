#include "sim/oracle/answer_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "coordkit/error.h"
#include "sim/record/recorder.h"

namespace coordkit::sim {

using machine::ResultCode;

const Call* AnswerRules::succeeded(CallNumber number, const absl::Status& answer) {
  Call& call = calls_.end(number);
  if (!judges()) return nullptr;
  call.answered = answer.ok();
  if (answer.ok()) return &call;
  refused(call, answer);
  return nullptr;
}

void AnswerRules::refused(Call& call, const absl::Status& status) {
  const auto reason = reason_of(status);
  if (!reason) fail("INV_R11", call, "an error without a reason: " + status.ToString());
  // Another worker of the same owner may have counted a hold up, which then keeps its mode.
  const bool keeps_mode = call.kind == CallKind::Convert && *reason == Reason::InvalidArgument;
  const bool impossible = *reason == Reason::Corrupt || *reason == Reason::SequenceReused || *reason == Reason::InvalidArgument;
  if (impossible && !keeps_mode) {
    fail("INV_R11", call, "an impossible answer: " + status.ToString());
  }
  if (Recorder* recorder = world_.recorder()) recorder->operations().refused(call.number, *reason);
  world_.trace(call.node, "call ends with reason {}", static_cast<uint64_t>(*reason));
  call.without_effect = outcome_of(status) == Outcome::NoEffect || *reason == Reason::Cancelled;
  call.in_doubt = outcome_of(status) != Outcome::NoEffect;
}

// Later than everything reported before the call.
void AnswerRules::decided(const Call& call, Index index) {
  if (Recorder* recorder = world_.recorder()) recorder->answered_at(call.number, index);
  if (index <= call.floor) {
    fail("INV_K1", call, fmt::format("decided at {}, but {} was answered before the call", index.value(), call.floor.value()));
  }
  if (index > model_.applied()) fail("INV_R11", call, fmt::format("decided at {}, which no replica applied", index.value()));
  calls_.tell(call, index);
}

void AnswerRules::observed(const Call& call, Index index) {
  if (Recorder* recorder = world_.recorder()) recorder->answered_at(call.number, index);
  if (index > model_.applied()) fail("INV_R11", call, fmt::format("reads {}, which no replica applied", index.value()));
  const bool local = call.kind == CallKind::LocalGet || call.kind == CallKind::LocalRange;
  if (local && index < call.own_floor) {
    fail("INV_R15", call,
         fmt::format("reads the state of {}, but its process was answered {} before", index.value(), call.own_floor.value()));
  }
  if (local) return calls_.tell_own(call, index);
  if (index < call.floor) {
    const char* broken = call.kind == CallKind::LeaseGet ? "INV_R16" : "INV_R15";
    fail(broken, call,
         fmt::format("reads the state of {}, but {} was answered before the call", index.value(), call.floor.value()));
  }
  calls_.tell(call, index);
}

const CommandOutcomes::Outcome& AnswerRules::only_execution(const Call& call) const {
  const CommandOutcomes::Outcome* outcome = model_.outcomes().find(call.label);
  if (outcome == nullptr) fail("INV_R11", call, "answered, but no entry carries it");
  if (outcome->executions != 1) fail("INV_L09", call, fmt::format("executed {} times", outcome->executions));
  return *outcome;
}

// ---- commands without a label

// The oldest that fits: which of several equal ones it was makes no difference.
std::optional<Index> AnswerRules::match(const Call& call, const Matches& matches) {
  for (const CommandOutcomes::Execution& execution : model_.outcomes().executions(call.command)) {
    const bool possible = execution.result && execution.index > call.floor && !matched_.contains(execution.request);
    if (!possible || !matches(*execution.result)) continue;
    matched_.insert(execution.request);
    decided(call, execution.index);
    return execution.index;
  }
  return std::nullopt;
}

void AnswerRules::executed(CallNumber number, const absl::Status& answer, const Matches& matches) {
  const Call* call = succeeded(number, answer);
  if (!call || match(*call, matches)) return;
  std::string decided;
  for (const CommandOutcomes::Execution& execution : model_.outcomes().executions(call->command)) {
    decided += fmt::format(" {} at {}{}", execution.result ? static_cast<int>(execution.result->code) : -1,
                           execution.index.value(), matched_.contains(execution.request) ? " (told)" : "");
  }
  fail("INV_K1", *call, fmt::format("answered otherwise than the log decided after {}:{}", call->floor.value(), decided));
}

// ---- the whole log

void AnswerRules::finish() const {
  if (!judges()) return;
  finish_commands();
  for (const Call& call : calls_.all()) {
    if (!call.ended) fail("INV_L08", call, "it never ends");
    if (!call.label.empty()) finish_labelled(call);
  }
}

void AnswerRules::finish_labelled(const Call& call) const {
  const CommandOutcomes::Outcome* outcome = model_.outcomes().find(call.label);
  if (outcome == nullptr) return;
  if (outcome->executions > 1) fail("INV_L09", call, fmt::format("executed {} times", outcome->executions));
  if (!call.without_effect) return;
  const auto came_to = [outcome](ResultCode code) { return outcome->result && outcome->result->code == code; };
  const bool effect = call.kind == CallKind::Acquire    ? came_to(ResultCode::Granted)
                      : call.kind == CallKind::PutEntry ? came_to(ResultCode::Ok)
                                                        : true;
  if (effect) fail("INV_R11", call, "answered that it had no effect, but it had one");
}

// Each command takes effect once for one call, and never for one that was answered otherwise. A client sends some by itself as
// well: it leaves unwanted places and groups, and the leader's client compacts according to its policy.
void AnswerRules::finish_commands() const {
  struct Count {
    const Call* first = nullptr;
    uint64_t may = 0;
  };
  std::map<std::string, Count> counts;
  for (const Call& call : calls_.all()) {
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
                 (execution.result->code == ResultCode::Ok || execution.result->code == ResultCode::Granted);
        }));
    const bool by_clients_too = count.first->kind == CallKind::Leave || count.first->kind == CallKind::Compact;
    if (effects > count.may && !by_clients_too) {
      fail("INV_L09", *count.first, fmt::format("took effect {} times, of which {} may have", effects, count.may));
    }
  }
}

}  // namespace coordkit::sim
