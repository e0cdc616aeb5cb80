#include "sim/objects/coordination_witness.h"

#include <fmt/format.h>

namespace coordkit::sim {
namespace {

using coordination::Kind;
using machine::Result;
using machine::ResultCode;

bool is_ok(const Result& result) { return result.code == ResultCode::Ok; }

}  // namespace

// ---- commands

void CoordinationWitness::executed(CallNumber number, const absl::Status& answer) { rules_.executed(number, answer, is_ok); }

void CoordinationWitness::executed(CallNumber number, const absl::StatusOr<HoldRef>& answer) {
  rules_.executed(number, answer.status(), [&answer](const Result& result) {
    return result.code == ResultCode::Granted && result.token == (*answer)->token() && result.since == (*answer)->since();
  });
}

void CoordinationWitness::executed(CallNumber number, const absl::StatusOr<ClaimedItem>& answer) {
  rules_.executed(number, answer.status(), [&answer](const Result& result) {
    return result.code == ResultCode::Granted && result.token == answer->hold->token() && result.id == answer->item &&
           result.number == static_cast<int64_t>(answer->deliveries) && result.value == answer->value;
  });
}

void CoordinationWitness::executed(CallNumber number, const absl::StatusOr<Index>& answer) {
  rules_.executed(number, answer.status(), [&answer](const Result& result) { return is_ok(result) && result.id == *answer; });
}

void CoordinationWitness::executed(CallNumber number, const absl::StatusOr<uint64_t>& answer) {
  rules_.executed(number, answer.status(),
                  [&answer](const Result& result) { return is_ok(result) && result.number == static_cast<int64_t>(*answer); });
}

void CoordinationWitness::executed(CallNumber number, const absl::StatusOr<int64_t>& answer) {
  rules_.executed(number, answer.status(),
                  [&answer](const Result& result) { return is_ok(result) && result.number == *answer; });
}

void CoordinationWitness::executed(CallNumber number, const absl::StatusOr<SwapResult>& answer) {
  rules_.executed(number, answer.status(), [&answer](const Result& result) {
    return is_ok(result) && result.number == answer->current && result.swapped == answer->swapped;
  });
}

// A caller that finds open what it would wait for is answered without an entry.
void CoordinationWitness::awaited(CallNumber number, const absl::Status& answer, const Object& object) {
  const Call* call = rules_.succeeded(number, answer);
  if (!call || rules_.match(*call, is_ok)) return;
  const auto open = [&object](const machine::ObjectView& now) {
    return object.first == Kind::Latch ? now.exists && now.number == 0 : !now.exists;
  };
  if (!model_.history().object_was(object, call->floor, open))
    fail("INV_K1", *call, "answered that it is open, but it never was");
}

// ---- reads

void CoordinationWitness::object_seen(CallNumber number, const absl::Status& answer, const Object& object, Index as_of,
                                      const machine::ObjectView& view) {
  const Call* call = rules_.succeeded(number, answer);
  if (!call) return;
  rules_.observed(*call, as_of);
  if (view != model_.history().object_at(object, as_of)) {
    fail("INV_K1", *call, fmt::format("the answer at {} differs from the log's", as_of.value()));
  }
}

void CoordinationWitness::counter_seen(CallNumber number, const absl::StatusOr<int64_t>& answer, const std::string& name) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return;
  const auto same = [&](const machine::ObjectView& now) { return now.number == *answer; };
  if (!model_.history().object_was({Kind::Counter, name}, call->floor, same)) {
    fail("INV_K1", *call, fmt::format("answered with {}, which was never its state since the call", *answer));
  }
}

}  // namespace coordkit::sim
