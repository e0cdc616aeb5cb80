#include "check/rw_lock_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "absl/strings/str_join.h"
#include "check/hold_pairs.h"

namespace coordkit::check {

RwLockModel::Call RwLockModel::read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint) {
  Call call;
  call.owner = in.optional_text("owner").value_or(head.client);
  if (call.owner.empty()) complaint.say("client: a lock needs to know who holds it; name a client or in.owner");
  const std::string mode = in.text("mode");
  if (mode != "exclusive" && mode != "shared") in.complain("mode", "\"exclusive\" or \"shared\" is expected");
  call.exclusive = mode == "exclusive";
  call.acquires = head.op == "acquire";
  if (call.acquires && head.outcome == Outcome::Ok) call.granted = out.optional_flag("granted").value_or(true);
  if (!call.acquires && head.op != "release") complain_of_op(head, "acquire, release", complaint);
  return call;
}

void RwLockModel::write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out) {
  in.text("owner", call.owner);
  in.text("mode", call.exclusive ? "exclusive" : "shared");
  if (call.acquires) out.flag("granted", call.granted);
}

Step RwLockModel::step(const State& state, const Op& op) {
  const Call& call = op.what;
  if (!call.acquires && call.exclusive) return state.exclusive == call.owner ? kPossible : kNotNow;
  if (!call.acquires) {
    return std::binary_search(state.shared.begin(), state.shared.end(), call.owner) ? kPossible : kNotNow;
  }
  const bool grantable = !state.exclusive && (!call.exclusive || state.shared.empty());
  if (!call.granted) return grantable ? kNotNow : kIdle;
  return grantable ? kPossible : kNotNow;
}

void RwLockModel::apply(State& state, const Op& op, uint32_t) {
  const Call& call = op.what;
  if (!call.granted) return;
  if (call.exclusive) {
    state.exclusive = call.acquires ? std::optional(call.owner) : std::nullopt;
    return;
  }
  const auto place = std::lower_bound(state.shared.begin(), state.shared.end(), call.owner);
  call.acquires ? void(state.shared.insert(place, call.owner)) : void(state.shared.erase(place));
}

std::string RwLockModel::text(const State& state) {
  if (state.exclusive) return "held by " + *state.exclusive;
  return state.shared.empty() ? "free" : fmt::format("shared by {}", absl::StrJoin(state.shared, ", "));
}

bool RwLockModel::severable(std::span<const Ref> group, std::span<const Ref> all) {
  const auto acquires = [](const Call& call) { return call.acquires; };
  const auto alike = [](const Call& acquire, const Call& release) { return acquire.exclusive == release.exclusive; };
  return whole_holds(group, all, acquires, std::not_fn(acquires), alike);
}

}  // namespace coordkit::check
