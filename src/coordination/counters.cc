#include "coordination/counters.h"

namespace coordkit::coordination {

using Result = Verdict::Kind;

int64_t Counters::value(std::string_view name) const {
  const std::optional<Index> counter = counters_.named(name);
  return counter ? counters_.at(*counter).value : 0;
}

Verdict Counters::set(Step& step, std::string_view name, int64_t value) {
  if (const std::optional<Index> counter = counters_.named(name)) {
    counters_.change(*counter, [value](Counter& row) { row.value = value; });
  } else {
    counters_.add(step.index, {std::string(name), value});
  }
  step.changes.push_back({.kind = Kind::Counter, .name = std::string(name), .number = value});
  return {.number = value};
}

Verdict Counters::add(Step& step, std::string_view name, int64_t by) {
  int64_t sum = 0;
  if (__builtin_add_overflow(value(name), by, &sum)) return {.kind = Result::Overflow};
  return set(step, name, sum);
}

Verdict Counters::compare_and_set(Step& step, std::string_view name, int64_t expected, int64_t next) {
  const int64_t current = value(name);
  if (current != expected) return {.number = current};
  set(step, name, next);
  return {.number = next, .swapped = true};
}

Verdict Counters::allocate(Step& step, std::string_view name, int64_t count) {
  const int64_t last = value(name);
  Verdict verdict = add(step, name, count);
  if (verdict.kind == Result::Ok) verdict.number = last + 1;
  return verdict;
}

Verdict Counters::erase(Step& step, std::string_view name) {
  const std::optional<Index> counter = counters_.named(name);
  if (!counter) return {.kind = Result::NotFound};
  counters_.remove(*counter);
  step.changes.push_back({.kind = Kind::Counter, .what = Change::What::Deleted, .name = std::string(name)});
  return {};
}

}  // namespace coordkit::coordination
