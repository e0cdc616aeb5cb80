#include "sim/objects/counter_model.h"

namespace coordkit::sim {

using coordination::Kind;
using machine::Result;
using machine::ResultCode;

Result CounterModel::run(const machine::ChangeCounter& change) {
  using Operation = machine::ChangeCounter::Operation;
  const auto known = counters_.find(change.name);
  const int64_t before = known == counters_.end() ? 0 : known->second;
  if (change.operation == Operation::Delete) {
    if (known == counters_.end()) return {.code = ResultCode::NotFound};
    entry_.touch(Kind::Counter, change.name);
    counters_.erase(known);
    return {};
  }
  int64_t after = change.operand;
  const bool sums = change.operation == Operation::Add || change.operation == Operation::Allocate;
  if (sums && __builtin_add_overflow(before, change.operand, &after)) return {.code = ResultCode::CounterOverflow};
  const bool swaps = change.operation == Operation::CompareAndSet;
  if (swaps && before != change.expected) return {.number = before};
  entry_.touch(Kind::Counter, change.name);
  counters_[change.name] = after;
  if (change.operation == Operation::Allocate) return {.number = before + 1};
  return {.number = after, .swapped = swaps};
}

void CounterModel::show(const std::string& name, machine::ObjectView& view) const {
  const auto counter = counters_.find(name);
  if (counter == counters_.end()) return;
  view.exists = true;
  view.number = counter->second;
}

}  // namespace coordkit::sim
