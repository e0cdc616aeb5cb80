#include "sim/users/calls.h"

#include <fmt/format.h>

#include <utility>

#include "base/enum_words.h"
#include "sim/oracle/command_outcomes.h"
#include "sim/oracle/violation.h"
#include "sim/record/recorder.h"

namespace coordkit::sim {
namespace {

std::string text_of(const Call& call) {
  return fmt::format("{} {} {} on n{}, called at {:.6f}", name_of(call.kind), call.subject, call.label, call.node + 1,
                     std::chrono::duration<double>(call.began.time_since_epoch()).count());
}

}  // namespace

std::string_view name_of(CallKind kind) { return words_of<' '>(kind); }

void fail(const char* invariant, const Call& call, const std::string& what) {
  throw Violation(invariant, text_of(call) + ": " + what, {.operation = call.number});
}

CallNumber Calls::begin(uint32_t node, CallKind kind, std::string subject, std::string label) {
  Call& call = calls_.emplace_back();
  call.number = calls_.size() - 1;
  call.node = node;
  call.kind = kind;
  call.began = world_.now();
  call.floor = highest_answered_;
  call.own_floor = own_[node];
  call.subject = std::move(subject);
  call.label = std::move(label);
  ++pending_;
  if (history_) record(call);
  if (Recorder* recorder = world_.recorder()) {
    recorder->operations().called(call.number, node, name_of(kind), call.subject, call.label);
  }
  return call.number;
}

void Calls::record(const Call& call) {
  switch (call.kind) {
    case CallKind::Put: return history_->begin_put(call.number, call.node, call.subject, call.label);
    case CallKind::Erase: return history_->begin_erase(call.number, call.node, call.subject);
    case CallKind::Get:
    case CallKind::LeaseGet: return history_->begin_get(call.number, call.node, call.subject);
    case CallKind::Acquire:
      if (locks_ == Locks::Plain) history_->begin_acquire(call.number, call.node, call.subject);
      return;
    case CallKind::Holders:
    case CallKind::Check:
      if (locks_ == Locks::Plain) history_->begin_holder(call.number, call.node, call.subject);
      return;
    default: return;  // a release is begun with its hold; no model has the rest
  }
}

CallNumber Calls::begin_command(uint32_t node, CallKind kind, std::string subject, const machine::Request::Body& body) {
  const CallNumber number = begin(node, kind, std::move(subject));
  calls_[number].command = CommandOutcomes::key_of(ReplicaId(node + 1), body);
  return number;
}

Call& Calls::end(CallNumber number) {
  Call& call = calls_[number];
  if (Recorder* recorder = world_.recorder()) recorder->operations().answered(number);
  if (call.ended) fail("INV_L08", call, "it ends a second time");
  call.ended = true;
  --pending_;
  return call;
}

void Calls::process_died(uint32_t node) {
  own_.erase(node);
  for (Call& call : calls_) {
    if (call.node != node || call.ended) continue;
    call.ended = true;
    --pending_;
  }
}

std::string Calls::pending() const {
  const auto first = std::ranges::find(calls_, false, &Call::ended);
  return first == calls_.end() ? "nothing" : text_of(*first);
}

}  // namespace coordkit::sim
