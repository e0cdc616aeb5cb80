#include "check/mutex_model.h"

#include <functional>

#include "check/hold_pairs.h"

namespace coordkit::check {

MutexModel::Call MutexModel::read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint) {
  Call call;
  call.owner = in.optional_text("owner").value_or(head.client);
  call.acquires = head.op == "acquire";
  if (call.owner.empty()) complaint.say("client: a mutex needs to know who holds it; name a client or in.owner");
  if (call.acquires && head.outcome == Outcome::Ok) call.granted = out.optional_flag("granted").value_or(true);
  if (!call.acquires && head.op != "release") complain_of_op(head, "acquire, release", complaint);
  return call;
}

void MutexModel::write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out) {
  in.text("owner", call.owner);
  if (call.acquires) out.flag("granted", call.granted);
}

Step MutexModel::step(const State& state, const Op& op) {
  const Call& call = op.what;
  if (!call.acquires) return state == call.owner ? kPossible : kNotNow;
  if (!call.granted) return state ? kIdle : kNotNow;
  return state ? kNotNow : kPossible;
}

void MutexModel::apply(State& state, const Op& op, uint32_t) {
  if (!op.what.acquires) return state.reset();
  if (op.what.granted) state = op.what.owner;
}

bool MutexModel::severable(std::span<const Ref> group, std::span<const Ref> all) {
  const auto acquires = [](const Call& call) { return call.acquires; };
  const auto alike = [](const Call&, const Call&) { return true; };
  return whole_holds(group, all, acquires, std::not_fn(acquires), alike);
}

}  // namespace coordkit::check
