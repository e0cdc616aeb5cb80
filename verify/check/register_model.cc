#include "check/register_model.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "base/enum_words.h"
#include "check/history.h"

namespace coordkit::check {

RegisterModel::Call RegisterModel::read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint) {
  const bool answered = head.outcome == Outcome::Ok;
  Call call;
  if (head.op == "read") {
    if (answered) call.value = out.scalar_or_null("value");
  } else if (head.op == "write") {
    call.kind = Kind::Write;
    call.value = in.scalar_or_null("value");
  } else if (head.op == "cas") {
    call.kind = Kind::Cas;
    call.expected = in.scalar_or_null("expected");
    call.value = in.scalar_or_null("value");
    if (!answered) return call;
    const std::optional<bool> swapped = out.optional_flag("swapped");
    if (!swapped) out.complain("swapped", "true or false is missing");
    call.swapped = swapped.value_or(false);
  } else {
    complain_of_op(head, "read, write, cas", complaint);
  }
  return call;
}

void RegisterModel::write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out) {
  (call.kind == Kind::Read ? out : in).raw("value", text(call.value));
  if (call.kind != Kind::Cas) return;
  in.raw("expected", text(call.expected));
  out.flag("swapped", call.swapped);
}

std::string_view RegisterModel::name_of(const Call& call) { return words_of(call.kind); }

Step RegisterModel::step(const State& state, const Op& op) {
  const Call& call = op.what;
  if (call.kind == Kind::Write) return kPossible;
  if (call.kind == Kind::Read) return state == call.value ? kIdle : kNotNow;
  if (op.certain() && !call.swapped) return state != call.expected ? kIdle : kNotNow;
  return state == call.expected ? kPossible : kNotNow;
}

void RegisterModel::apply(State& state, const Op& op, uint32_t) {
  const Call& call = op.what;
  const bool sets = call.kind == Kind::Write || (call.kind == Kind::Cas && (!op.certain() || call.swapped));
  if (sets) state = call.value;
}

bool RegisterModel::severable(std::span<const Ref>, std::span<const Ref> all) {
  return std::none_of(all.begin(), all.end(), [](const Ref& op) { return op->what.kind == Kind::Cas; });
}

void RegisterModel::forget_unseen(std::vector<Op>& history) {
  absl::flat_hash_set<std::string> seen;
  for (const Op& op : history) {
    if (op.what.kind == Kind::Cas) seen.insert(text(op.what.expected));
    if (op.certain() && op.what.kind == Kind::Read) seen.insert(text(op.what.value));
  }
  if (seen.contains(kUnseen)) return;
  for (Op& op : history) {
    const bool sets = op.outcome == Outcome::Unknown && op.what.kind != Kind::Read;
    if (sets && !seen.contains(text(op.what.value))) op.what.value = kUnseen;
  }
}

}  // namespace coordkit::check
