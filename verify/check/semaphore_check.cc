#include "check/semaphore_check.h"

#include <fmt/format.h>

#include "base/enum_words.h"
#include "check/hold_pairs.h"

namespace coordkit::check {

SemaphoreModel::Call SemaphoreModel::read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint) {
  Call call;
  if (head.op == "set_limit") {
    call.kind = Kind::SetLimit;
    call.count = in.count("limit");
    return call;
  }
  call.owner = in.optional_text("owner").value_or(head.client);
  if (call.owner.empty()) complaint.say("client: a semaphore needs to know who holds permits; name a client or in.owner");
  call.count = in.optional_count("n").value_or(1);
  if (call.count == 0) in.complain("n", "1 or more is expected");
  if (head.op == "acquire") {
    if (head.outcome == Outcome::Ok) call.granted = out.optional_flag("granted").value_or(true);
  } else if (head.op == "release") {
    call.kind = Kind::Release;
  } else {
    complain_of_op(head, "acquire, release, set_limit", complaint);
  }
  return call;
}

void SemaphoreModel::write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out) {
  if (call.kind == Kind::SetLimit) return in.number("limit", static_cast<int64_t>(call.count));
  in.text("owner", call.owner);
  in.number("n", static_cast<int64_t>(call.count));
  if (call.kind == Kind::Acquire) out.flag("granted", call.granted);
}

std::string_view SemaphoreModel::name_of(const Call& call) { return words_of(call.kind); }

Step SemaphoreModel::step(const State& state, const Op& op) {
  const Call& call = op.what;
  if (call.kind == Kind::SetLimit) return kPossible;
  if (call.kind == Kind::Release) {
    const auto holder = state.holders.find(call.owner);
    return holder != state.holders.end() && holder->second >= call.count ? kPossible : kNotNow;
  }
  const bool grantable = state.held < state.limit && call.count <= state.limit - state.held;
  if (!call.granted) return grantable ? kNotNow : kIdle;
  return grantable ? kPossible : kNotNow;
}

void SemaphoreModel::apply(State& state, const Op& op, uint32_t) {
  const Call& call = op.what;
  if (!call.granted) return;
  if (call.kind == Kind::SetLimit) {
    state.limit = call.count;
  } else if (call.kind == Kind::Acquire) {
    state.held += call.count;
    state.holders[call.owner] += call.count;
  } else {
    state.held -= call.count;
    const auto holder = state.holders.find(call.owner);
    holder->second -= call.count;
    if (holder->second == 0) state.holders.erase(holder);
  }
}

std::string SemaphoreModel::text(const State& state) {
  std::string text = fmt::format("{} of {} held", state.held, state.limit);
  const char* before = " (";
  for (const auto& [owner, count] : state.holders) {
    text += fmt::format("{}{} by {}", before, count, owner);
    before = ", ";
  }
  return state.holders.empty() ? text : text + ")";
}

bool SemaphoreModel::severable(std::span<const Ref> group, std::span<const Ref> all) {
  const auto acquires = [](const Call& call) { return call.kind == Kind::Acquire; };
  const auto releases = [](const Call& call) { return call.kind == Kind::Release; };
  const auto alike = [](const Call& acquire, const Call& release) { return acquire.count == release.count; };
  return whole_holds(group, all, acquires, releases, alike);
}

}  // namespace coordkit::check
