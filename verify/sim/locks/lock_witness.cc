#include "sim/locks/lock_witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "coordkit/error.h"

namespace coordkit::sim {

using machine::ResultCode;

bool LockWitness::current(const HoldState& hold) const {
  return model_.locks().current(hold.name(), hold.token()) || model_.coordination().held(hold.name(), hold.token());
}

CallNumber LockWitness::begin_check(uint32_t node, const HoldRef& hold) {
  const CallNumber number = calls_.begin(node, CallKind::Check, hold->name());
  calls_.at(number).current_at_start = current(*hold);
  return number;
}

CallNumber LockWitness::begin_release(uint32_t node, const HoldRef& hold) {
  const CallNumber number = calls_.begin(node, CallKind::Release, hold->name());
  calls_.at(number).current_at_start = current(*hold);
  if (history_ && locks_ == Calls::Locks::Plain) history_->begin_release(number, node, hold);
  return number;
}

void LockWitness::trusted(const HoldRef& hold) {
  if (history_) history_->trusted(hold);
}

void LockWitness::acquired(CallNumber number, const absl::StatusOr<HoldRef>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (history_) history_->acquired(number, answer);
  if (!call) return not_acquired(calls_.at(number), answer.status());
  const HoldState& hold = **answer;
  if (hold.delegation() && model_.outcomes().find(call->label) == nullptr) return acquired_locally(*call, hold);
  const CommandOutcomes::Outcome& outcome = rules_.only_execution(*call);
  if (!outcome.result || outcome.result->code != ResultCode::Granted) {
    fail("INV_L08", *call, "answered with a grant that the log never made");
  }
  if (outcome.result->token != hold.token() || outcome.result->since != hold.since()) {
    fail("INV_L04", *call,
         fmt::format("answered with token {} since {}, but the log decided {} since {}", hold.token().value(),
                     hold.since().value(), outcome.result->token.value(), outcome.result->since.value()));
  }
  rules_.decided(*call, outcome.index);  // a counted hold is older than that
}

// That the time to wait was over is decided by the log, or in a line on the caller's node (S-58).
void LockWitness::not_acquired(const Call& call, const absl::Status& answer) {
  const bool in_log = locks_ == Calls::Locks::Plain || model_.outcomes().find(call.label) != nullptr;
  if (!rules_.judges() || reason_of(answer) != Reason::WaitTimeout || !in_log) return;
  const CommandOutcomes::Outcome& outcome = rules_.only_execution(call);
  if (!outcome.result || outcome.result->code != ResultCode::WaitTimeout) {
    fail("INV_L08", call, "answered with WaitTimeout, but the log decided otherwise");
  }
  rules_.decided(call, outcome.index);
}

// S-58: no entry says so, but one granted the delegation, and its block has the token. How long it may be trusted is the lock
// observer's business.
void LockWitness::acquired_locally(const Call& call, const HoldState& hold) const {
  if (hold.since() > model_.applied()) fail("INV_R11", call, "granted from a delegation that no replica applied");
  const LockModel::Claim* claim = model_.locks().hold(hold.name(), hold.token());
  if (claim && (claim->block == 0 || claim->session != hold.session()->id())) {
    fail("INV_L04", call, fmt::format("granted token {} locally, which is another hold's", hold.token().value()));
  }
}

// The same hold in another mode, under a new token.
void LockWitness::converted(CallNumber number, const absl::StatusOr<HoldRef>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return;
  const HoldState& hold = **answer;
  const machine::Result* result = model_.outcomes().answered_at(hold.since());
  if (result == nullptr || result->code != ResultCode::Granted || result->token != hold.token()) {
    fail("INV_L04", *call,
         fmt::format("answered with token {} since {}, but the log decided otherwise", hold.token().value(),
                     hold.since().value()));
  }
  rules_.decided(*call, hold.since());
}

void LockWitness::released(CallNumber number, const HoldRef& hold, const absl::Status& answer) {
  const Call* call = rules_.succeeded(number, answer);
  if (history_) history_->released(number, answer);
  if (call && !hold->terms().counted && !hold->delegation() && current(*hold)) {
    fail("INV_R11", *call, "answered that the hold was released, but it lives");
  }
  if (call && rules_.judges() && released_too_late(*call, *hold)) {
    fail("INV_R11", *call, "answered that the hold was released, but it had ended before the call");
  }
}

// A local hold (S-58) is ended without an entry, so the log does not judge its release. Where clocks keep their bounds, the
// holder's own clock does. A process whose session was taken over may not know it before its deadline.
bool LockWitness::released_too_late(const Call& call, const HoldState& hold) const {
  return hold.delegation() && !call.current_at_start && beliefs_ == TrustCheck::Judged &&
         !model_.sessions().ever_resumed(hold.session()->id());
}

void LockWitness::checked(CallNumber number, const HoldRef& hold, const absl::StatusOr<bool>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (history_) history_->checked(number, hold, answer);
  if (!call) return;
  if (*answer && !call->current_at_start)
    fail("INV_R15", *call, "answered that the hold is current, but it had ended before the call");
  if (!*answer && current(*hold) && model_.sessions().never_resumed(hold->session()->id())) {
    fail("INV_R15", *call, "answered that the hold has ended, but it is current");
  }
}

void LockWitness::looked(CallNumber number, const absl::StatusOr<LockInfo>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (history_) history_->looked(number, answer);
  if (!call) return;
  rules_.observed(*call, answer->as_of);
  const StateHistory::LockLook expected = model_.history().lock_at(call->subject, answer->as_of);
  const auto same = [&](const HolderInfo& holder, const LockModel::Claim& hold) {
    return holder.session == hold.session && holder.owner_tag == hold.owner_tag && holder.token == hold.token &&
           holder.since == hold.since && holder.request == hold.request && holder.texts == hold.texts &&
           holder.mode == *hold.mode_on(call->subject) && holder.count == hold.count;
  };
  const bool equal = std::ranges::equal(answer->holders, expected.holds, same) && answer->waiters == expected.waiters.size() &&
                     answer->delayed == expected.delayed;
  if (!equal) fail("INV_K1", *call, fmt::format("the holders at {} differ from the log's", answer->as_of.value()));
}

void LockWitness::queued(CallNumber number, const absl::StatusOr<QueueInfo>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return;
  rules_.observed(*call, answer->as_of);
  std::vector<RequestId> requests;
  for (const WaiterInfo& waiter : answer->waiters) requests.push_back(waiter.request);
  if (requests != model_.history().lock_at(call->subject, answer->as_of).waiters) {
    fail("INV_L05", *call, fmt::format("the queue at {} differs from the log's", answer->as_of.value()));
  }
}

// By the holds of the lock.
void LockWitness::leader_seen(CallNumber number, const absl::StatusOr<std::optional<LeaderInfo>>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return;
  const auto same = [&](const StateHistory::LockLook& now) {
    const auto leads = std::ranges::find_if(
        now.holds, [&](const LockModel::Claim& hold) { return *hold.mode_on(call->subject) == LockMode::Exclusive; });
    if (leads == now.holds.end() || !*answer) return leads == now.holds.end() && !*answer;
    return leads->token == (*answer)->token && leads->session == (*answer)->session && leads->since == (*answer)->since;
  };
  if (!model_.history().lock_was(call->subject, call->floor, same))
    fail("INV_L01", *call, "answered with a leader that never led");
}

}  // namespace coordkit::sim
