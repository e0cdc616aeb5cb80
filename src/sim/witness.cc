#include "sim/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/recorder.h"
#include "sim/violation.h"

namespace coordkit::sim {
namespace {

constexpr const char* kKindNames[] = {"open",    "close",     "acquire",   "release",   "put",   "erase",
                                      "get",     "lease get", "local get", "holders",   "queue", "sessions",
                                      "check",   "convert",   "value",     "resume",    "kill",  "leave",
                                      "compact", "command",   "look",      "put entry", "range", "local range"};

std::string text_of(const std::optional<KeyModel::Value>& value) {
  if (!value) return "nothing";
  return fmt::format("{} (create {}, mod {}, version {})", value->value, value->create.value(), value->mod.value(),
                     value->version);
}

}  // namespace

Witness::CallNumber Witness::begin(uint32_t node, Kind kind, std::string subject, std::string label) {
  Call& call = calls_.emplace_back();
  call.node = node;
  call.kind = kind;
  call.began = world_.now();
  call.floor = told_;
  call.subject = std::move(subject);
  call.label = std::move(label);
  ++pending_;
  if (history_recorder_) record_begin(calls_.size() - 1, call);
  if (Recorder* recorder = world_.recorder()) {
    recorder->called(calls_.size() - 1, node, kKindNames[static_cast<size_t>(kind)], call.subject, call.label);
  }
  return calls_.size() - 1;
}

void Witness::record_begin(CallNumber number, const Call& call) {
  switch (call.kind) {
    case Kind::Put: return history_recorder_->begin_put(number, call.node, call.subject, call.label);
    case Kind::Erase: return history_recorder_->begin_erase(number, call.node, call.subject);
    case Kind::Get:
    case Kind::LeaseGet: return history_recorder_->begin_get(number, call.node, call.subject);
    case Kind::Acquire:
      if (plain_locks_) history_recorder_->begin_acquire(number, call.node, call.subject);
      return;
    case Kind::Holders:
    case Kind::Check:
      if (plain_locks_) history_recorder_->begin_holder(number, call.node, call.subject);
      return;
    default: return;  // a release is begun with its hold; no model has the rest
  }
}

Witness::CallNumber Witness::begin_release(uint32_t node, const HoldRef& hold) {
  const CallNumber number = begin(node, Kind::Release, hold->name());
  if (history_recorder_ && plain_locks_) history_recorder_->begin_release(number, node, hold);
  return number;
}

Witness::CallNumber Witness::begin_check(uint32_t node, const HoldRef& hold) {
  const CallNumber number = begin(node, Kind::Check, hold->name());
  calls_[number].current_at_start = current(*hold);
  return number;
}

void Witness::fail(const char* id, const Call& call, std::string what) const {
  throw Violation(
      id,
      fmt::format("{} {} {} on n{}, called at {:.6f}: {}", kKindNames[static_cast<size_t>(call.kind)], call.subject, call.label,
                  call.node + 1, std::chrono::duration<double>(call.began.time_since_epoch()).count(), what),
      {.operation = number_of(call)});
}

Witness::Call& Witness::end(CallNumber number) {
  Call& call = calls_[number];
  if (Recorder* recorder = world_.recorder()) recorder->answered(number);
  if (call.ended) fail("INV_L08", call, "it ends a second time");
  call.ended = true;
  --pending_;
  return call;
}

// An answer that names its entry: later than everything reported before the call.
void Witness::decided(const Call& call, Index index) {
  if (Recorder* recorder = world_.recorder()) recorder->answered_at(number_of(call), index);
  if (index <= call.floor) {
    fail("INV_K1", call, fmt::format("decided at {}, but {} was told before it was called", index.value(), call.floor.value()));
  }
  if (index > model_.applied()) fail("INV_R11", call, fmt::format("decided at {}, which nobody applied", index.value()));
  told_ = std::max(told_, index);
}

void Witness::observed(const Call& call, Index index) {
  if (Recorder* recorder = world_.recorder()) recorder->answered_at(number_of(call), index);
  if (index > model_.applied()) fail("INV_R11", call, fmt::format("reads {}, which nobody applied", index.value()));
  if (call.kind == Kind::LocalGet || call.kind == Kind::LocalRange) return;
  if (index < call.floor) {
    const char* broken = call.kind == Kind::LeaseGet ? "INV_R16" : "INV_R15";
    fail(broken, call, fmt::format("reads the state of {}, but {} was told before", index.value(), call.floor.value()));
  }
  told_ = std::max(told_, index);
}

const CommandOutcomes::Outcome& Witness::only_execution(const Call& call) const {
  const CommandOutcomes::Outcome* outcome = model_.outcomes().find(call.label);
  if (outcome == nullptr) fail("INV_R11", call, "answered, but no entry carries it");
  if (outcome->executions != 1) fail("INV_L09", call, fmt::format("executed {} times", outcome->executions));
  return *outcome;
}

void Witness::refused(Call& call, const absl::Status& status) {
  const auto reason = reason_of(status);
  if (!reason) fail("INV_R11", call, "an error without a reason: " + status.ToString());
  // Another worker of the same owner may have counted a hold up, which then keeps its mode.
  const bool keeps_mode = call.kind == Kind::Convert && *reason == Reason::InvalidArgument;
  const bool impossible = *reason == Reason::Corrupt || *reason == Reason::SequenceReused || *reason == Reason::InvalidArgument;
  if (impossible && !keeps_mode) {
    fail("INV_R11", call, "an impossible answer: " + status.ToString());
  }
  if (Recorder* recorder = world_.recorder()) recorder->refused(number_of(call), *reason);
  world_.trace(call.node, "call ends with reason {}", static_cast<uint64_t>(*reason));
  call.without_effect = outcome_of(status) == Outcome::None || *reason == Reason::Cancelled;
  const bool in_log =
      plain_locks_ || model_.outcomes().find(call.label) != nullptr;  // else decided in a line on its node (S-58)
  if (call.kind == Kind::Acquire && *reason == Reason::WaitTimeout && in_log) {
    const CommandOutcomes::Outcome& outcome = only_execution(call);
    if (!outcome.result || outcome.result->code != machine::ResultCode::WaitTimeout) {
      fail("INV_L08", call, "told WaitTimeout, but the log decided otherwise");
    }
    decided(call, outcome.index);
  }
}

void Witness::opened(CallNumber number, const absl::StatusOr<SessionRef>& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  const CommandOutcomes::Outcome& outcome = only_execution(call);
  if (!outcome.result || outcome.result->session != (*answer)->id() || outcome.result->ttl != (*answer)->ttl()) {
    fail("INV_K1", call,
         fmt::format("told session {}, the log decided {}", (*answer)->id().value(),
                     outcome.result ? outcome.result->session.value() : 0));
  }
  decided(call, outcome.index);
}

void Witness::closed(CallNumber number, SessionId session, const absl::Status& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer);
  if (stayed(session)) fail("INV_R11", call, "told that the session has ended, but it lives");
}

void Witness::acquired(CallNumber number, const absl::StatusOr<HoldRef>& answer) {
  Call& call = end(number);
  if (history_recorder_) history_recorder_->acquired(number, answer);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  const HoldState& hold = **answer;
  if (hold.delegation() && model_.outcomes().find(call.label) == nullptr) return acquired_locally(number, hold);
  const CommandOutcomes::Outcome& outcome = only_execution(call);
  if (!outcome.result || outcome.result->code != machine::ResultCode::Granted)
    fail("INV_L08", call, "told a grant the log never made");
  if (outcome.result->token != hold.token() || outcome.result->since != hold.since()) {
    fail("INV_L04", call,
         fmt::format("told token {} since {}, the log decided {} since {}", hold.token().value(), hold.since().value(),
                     outcome.result->token.value(), outcome.result->since.value()));
  }
  decided(call, outcome.index);  // a counted hold is older than that
}

// S-58: no entry says so, but one granted the delegation, and its block has the token. How long it may be trusted is the lock
// observer's business.
void Witness::acquired_locally(CallNumber number, const HoldState& hold) {
  const Call& call = calls_[number];
  if (hold.since() > model_.applied()) fail("INV_R11", call, "granted from a delegation that nobody applied");
  const LockModel::Claim* claim = model_.locks().hold(hold.name(), hold.token());
  if (claim && (claim->block == 0 || claim->session != hold.session()->id())) {
    fail("INV_L04", call, fmt::format("granted token {} locally, which is another hold's", hold.token().value()));
  }
}

// The same hold in another mode, under a new token.
void Witness::converted(CallNumber number, const absl::StatusOr<HoldRef>& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  const HoldState& hold = **answer;
  const machine::Result* result = model_.outcomes().answered_at(hold.since());
  if (result == nullptr || result->code != machine::ResultCode::Granted || result->token != hold.token()) {
    fail("INV_L04", call,
         fmt::format("told token {} since {}, the log decided otherwise", hold.token().value(), hold.since().value()));
  }
  decided(call, hold.since());
}

void Witness::updated(CallNumber number, const absl::Status& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Judge && !answer.ok()) refused(call, answer);
}

void Witness::released(CallNumber number, const HoldRef& hold, const absl::Status& answer) {
  Call& call = end(number);
  if (history_recorder_) history_recorder_->released(number, answer);
  if (duty_ == Duty::Count) return;
  if (answer.ok() && !hold->terms().counted && !hold->delegation() && current(*hold))
    fail("INV_R11", call, "told that the hold was released, but it lives");
  if (!answer.ok()) refused(call, answer);
}

void Witness::put(CallNumber number, const absl::StatusOr<PutResult>& answer) {
  Call& call = end(number);
  if (history_recorder_) history_recorder_->put(number, answer);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  const CommandOutcomes::Outcome& outcome = only_execution(call);
  if (outcome.index != answer->index || outcome.result->revision != answer->revision) {
    fail("INV_K1", call,
         fmt::format("told revision {} at {}, the log decided {} at {}", answer->revision.value(), answer->index.value(),
                     outcome.result->revision.value(), outcome.index.value()));
  }
  decided(call, answer->index);
}

void Witness::erased(CallNumber number, const absl::StatusOr<EraseResult>& answer) {
  Call& call = end(number);
  if (history_recorder_) history_recorder_->erased(number, answer);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  const machine::Result* result = model_.outcomes().answered_at(answer->index);
  if (result == nullptr || result->deleted != answer->deleted || result->revision != answer->revision ||
      model_.value_at(call.subject, answer->index)) {
    fail("INV_K1", call,
         fmt::format("told {} deleted at {}, the log decided otherwise", answer->deleted, answer->index.value()));
  }
  decided(call, answer->index);
}

void Witness::got(CallNumber number, const absl::StatusOr<GetResult>& answer) {
  Call& call = end(number);
  if (history_recorder_) history_recorder_->got(number, answer);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  observed(call, answer->as_of);
  std::optional<KeyModel::Value> told;
  if (answer->entry) {
    const KeyValue& entry = *answer->entry;
    told = KeyModel::Value{entry.value, entry.create, entry.mod, entry.version, entry.lease};
  }
  const std::optional<KeyModel::Value> expected = model_.value_at(call.subject, answer->as_of);
  if (told != expected || answer->revision != model_.history().revision_at(answer->as_of)) {
    fail("INV_K1", call, fmt::format("told {} at {}, expected {}", text_of(told), answer->as_of.value(), text_of(expected)));
  }
}

void Witness::looked(CallNumber number, const absl::StatusOr<LockInfo>& answer) {
  Call& call = end(number);
  if (history_recorder_) history_recorder_->looked(number, answer);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  observed(call, answer->as_of);
  const StateHistory::LockLook expected = model_.history().lock_at(call.subject, answer->as_of);
  const auto same = [&](const HolderInfo& told, const LockModel::Claim& hold) {
    return told.session == hold.session && told.owner_tag == hold.owner_tag && told.token == hold.token &&
           told.since == hold.since && told.request == hold.request && told.value == hold.label &&
           told.mode == *hold.mode_on(call.subject) && told.count == hold.count;
  };
  const bool equal = std::ranges::equal(answer->holders, expected.holds, same) && answer->waiters == expected.waiters.size() &&
                     answer->delayed == expected.delayed;
  if (!equal) fail("INV_K1", call, fmt::format("the holders at {} differ from the log's", answer->as_of.value()));
}

void Witness::queued(CallNumber number, const absl::StatusOr<QueueInfo>& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  observed(call, answer->as_of);
  std::vector<RequestId> told;
  for (const WaiterInfo& waiter : answer->waiters) told.push_back(waiter.request);
  if (told != model_.history().lock_at(call.subject, answer->as_of).waiters) {
    fail("INV_L05", call, fmt::format("the queue at {} differs from the log's", answer->as_of.value()));
  }
}

void Witness::listed(CallNumber number, const absl::StatusOr<SessionList>& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  observed(call, answer->as_of);
  std::vector<SessionId> told;
  for (const SessionInfo& session : answer->sessions) told.push_back(session.session);
  if (told != model_.sessions().alive_at(answer->as_of)) {
    fail("INV_L07", call, fmt::format("the sessions at {} differ from the log's", answer->as_of.value()));
  }
}

void Witness::checked(CallNumber number, const HoldRef& hold, const absl::StatusOr<bool>& answer) {
  Call& call = end(number);
  if (history_recorder_) history_recorder_->checked(number, hold, answer);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  if (*answer && !call.current_at_start) fail("INV_R15", call, "told that the hold is current; it had ended before the call");
  if (!*answer && current(*hold) && stayed(hold->session()->id()))
    fail("INV_R15", call, "told that the hold has ended; it is current");
}

void Witness::process_died(uint32_t node) {
  for (Call& call : calls_) {
    if (call.node != node || call.ended) continue;
    call.ended = true;
    --pending_;
  }
}

std::string Witness::pending() const {
  for (const Call& call : calls_) {
    if (call.ended) continue;
    return fmt::format("{} {} {} on n{}, called at {:.6f}", kKindNames[static_cast<size_t>(call.kind)], call.subject,
                       call.label, call.node + 1, std::chrono::duration<double>(call.began.time_since_epoch()).count());
  }
  return "nothing";
}

void Witness::finish() const {
  if (duty_ == Duty::Count) return;
  finish_commands();
  for (const Call& call : calls_) {
    if (!call.ended) fail("INV_L08", call, "it never ends");
    if (call.label.empty()) continue;
    const CommandOutcomes::Outcome* outcome = model_.outcomes().find(call.label);
    if (outcome == nullptr) continue;
    if (outcome->executions > 1) fail("INV_L09", call, fmt::format("executed {} times", outcome->executions));
    if (!call.without_effect) continue;
    const auto came_to = [outcome](machine::ResultCode code) { return outcome->result && outcome->result->code == code; };
    const bool effect = call.kind == Kind::Acquire ? came_to(machine::ResultCode::Granted)
                        : call.kind == Kind::Entry ? came_to(machine::ResultCode::Ok)
                                                   : true;
    if (effect) fail("INV_R11", call, "told that it had no effect, but it did");
  }
}

}  // namespace coordkit::sim
