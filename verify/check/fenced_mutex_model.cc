#include "check/fenced_mutex_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/enum_words.h"

namespace coordkit::check {
namespace {

using State = FencedMutexModel::State;

// Whether this is the hold with this token, or can be.
Step hold_with(const State& state, uint64_t token, const Step& if_known) {
  if (state.held && state.known && state.token == token) return if_known;
  if (state.held && !state.known && token > state.last) return kPossible;  // now it is known
  return kNotNow;
}

}  // namespace

FencedMutexModel::Call FencedMutexModel::read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint) {
  const bool answered = head.outcome == Outcome::Ok;
  Call call;
  if (head.op == "acquire") {
    call.kind = Kind::Acquire;
    if (!answered) return call;
    call.granted = out.optional_flag("granted").value_or(true);
    call.token = call.granted ? std::optional(out.count("token")) : out.optional_count("token");
    if (!call.granted && call.token) out.complain("token", "was not granted");
  } else if (head.op == "release") {
    call.kind = Kind::Release;
    call.token = in.count("token");
  } else if (head.op == "expire") {
    call.kind = Kind::Expire;
    call.token = in.optional_count("token");
  } else if (head.op == "holder") {
    if (answered) call.token = out.optional_count("token");
  } else {
    complain_of_op(head, "acquire, release, expire, holder", complaint);
  }
  if (call.token == 0u) complaint.say("token: tokens count from 1");
  return call;
}

void FencedMutexModel::write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out) {
  if (call.kind == Kind::Acquire) out.flag("granted", call.granted);
  const bool asked = call.kind == Kind::Release || call.kind == Kind::Expire;
  if (call.token) (asked ? in : out).number("token", static_cast<int64_t>(*call.token));
  if (call.kind == Kind::Holder && !call.token) out.raw("token", "null");
}

std::string_view FencedMutexModel::name_of(const Call& call) { return words_of(call.kind); }

Step FencedMutexModel::step(const State& state, const Op& op) {
  const Call& call = op.what;
  switch (call.kind) {
    case Kind::Acquire:
      if (!call.granted) return state.held ? kIdle : kNotNow;
      if (call.token && *call.token <= state.last) return kNotEver;
      return state.held ? kNotNow : kPossible;
    case Kind::Holder:
      if (!call.token) return state.held ? kNotNow : kIdle;
      return hold_with(state, *call.token, kIdle);
    case Kind::Release:
    case Kind::Expire:
      if (!call.token) return state.held && !state.holder_knows ? kPossible : kNotNow;
      return hold_with(state, *call.token, kPossible);
  }
  return kNotNow;
}

void FencedMutexModel::apply(State& state, const Op& op, uint32_t) {
  const Call& call = op.what;
  if (call.kind == Kind::Acquire && !call.granted) return;
  state.last = std::max(state.last, call.token.value_or(0));
  const bool holds = call.kind == Kind::Acquire || (call.kind == Kind::Holder && call.token);
  state.held = holds;
  state.known = holds && call.token;
  state.holder_knows = holds && (call.kind == Kind::Acquire ? op.certain() : state.holder_knows);
  state.token = holds ? call.token.value_or(0) : 0;
}

std::string FencedMutexModel::text(const State& state) {
  const std::string now = !state.held   ? "free"
                          : state.known ? fmt::format("held with token {}", state.token)
                                        : "held, token unknown";
  return fmt::format("{}, highest token {}", now, state.last);
}

// True for exactly a certain grant and then, if anything, its certain release or its expiry.
bool FencedMutexModel::severable(std::span<const Ref> group, std::span<const Ref> all) {
  const auto looks = [](const Ref& op) { return observes(op->what) || !op->what.token; };
  if (std::any_of(all.begin(), all.end(), looks)) return false;
  if (group.empty() || group.size() > 2 || group[0]->what.kind != Kind::Acquire) return false;
  return group.size() == 1 || group[1]->what.kind == Kind::Release || group[1]->what.kind == Kind::Expire;
}

}  // namespace coordkit::check
