#include "check/queue_model.h"

#include <algorithm>
#include <tuple>

namespace coordkit::check {
namespace {

using State = QueueModel::State;
using Op = QueueModel::Op;

bool before(const QueueModel::Item& a, const QueueModel::Item& b) {
  return std::tie(a.call, a.end, a.value) < std::tie(b.call, b.end, b.value);
}

// The first moment at which one of the enqueues had ended.
Moment first_end(const State& state) {
  Moment first = kNever;
  for (const QueueModel::Item& item : state) first = std::min(first, item.end);
  return first;
}

// The item that a dequeue takes. Among equal values that can be first it is the one whose enqueue ended first. That one is in
// the way of most others. Any of the equal ones can still be first later. An unknown dequeue can take any item that can be
// first.
size_t taken(const State& state, const Op& op, uint32_t way) {
  const Moment first = first_end(state);
  size_t found = state.size();
  for (size_t i = 0; i < state.size(); ++i) {
    if (state[i].call > first) continue;
    if (!op.certain()) {
      if (way-- == 0) return i;
    } else if (state[i].value == *op.what.value && (found == state.size() || state[i].end < state[found].end)) {
      found = i;
    }
  }
  return found;
}

}  // namespace

QueueModel::Call QueueModel::read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint) {
  Call call;
  call.enqueues = head.op == "enqueue";
  if (call.enqueues) {
    call.value = in.scalar("value");
  } else if (head.op != "dequeue") {
    complain_of_op(head, "enqueue, dequeue", complaint);
  } else if (head.outcome == Outcome::Ok) {
    call.value = out.scalar_or_null("value");
  }
  return call;
}

void QueueModel::write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out) {
  (call.enqueues ? in : out).raw("value", call.value.value_or("null"));
}

Step QueueModel::step(const State& state, const Op& op) {
  const Call& call = op.what;
  if (call.enqueues) return kPossible;
  if (!op.certain()) {
    const Moment first = first_end(state);
    const auto can_be_first = [&](const Item& item) { return item.call <= first; };
    return {.ways = static_cast<uint32_t>(std::count_if(state.begin(), state.end(), can_be_first))};
  }
  if (!call.value) return state.empty() ? kIdle : kNotNow;
  return taken(state, op, 0) < state.size() ? kPossible : kNotNow;
}

void QueueModel::apply(State& state, const Op& op, uint32_t way) {
  if (op.what.enqueues) {
    Item item{*op.what.value, op.call, op.end};
    state.insert(std::upper_bound(state.begin(), state.end(), item, before), std::move(item));
  } else if (!op.certain() || op.what.value) {
    state.erase(state.begin() + static_cast<std::ptrdiff_t>(taken(state, op, way)));
  }
}

std::string QueueModel::text(const State& state) {
  if (state.empty()) return "empty";
  constexpr size_t kItemsMost = 12;
  std::string text;
  for (size_t i = 0; i < std::min(state.size(), kItemsMost); ++i) text += (text.empty() ? "" : " ") + state[i].value;
  return state.size() > kItemsMost ? text + " and " + std::to_string(state.size() - kItemsMost) + " more" : text;
}

// True for a value that was certainly enqueued once and certainly dequeued once.
bool QueueModel::severable(std::span<const Ref> group, std::span<const Ref> all) {
  if (std::any_of(all.begin(), all.end(), [](const Ref& op) { return !op->certain() && !op->what.enqueues; })) return false;
  return group.size() == 2 && group[0]->certain() && group[1]->certain() && group[0]->what.enqueues && !group[1]->what.enqueues;
}

}  // namespace coordkit::check
