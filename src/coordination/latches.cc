#include "coordination/latches.h"

#include <algorithm>

namespace coordkit::coordination {
namespace {

using Result = Verdict::Kind;

Change change_of(const Latch& latch, Change::What what) {
  return {.kind = Kind::Latch, .what = what, .name = latch.name, .number = static_cast<int64_t>(latch.count)};
}

}  // namespace

Verdict Latches::create(Step& step, std::string_view name, uint64_t count) {
  if (latches_.named(name)) return {.kind = Result::AlreadyExists};
  latches_.add(step.index, {std::string(name), count});
  step.changes.push_back(change_of(latches_.at(step.index), Change::What::Set));
  return {.number = static_cast<int64_t>(count)};
}

Verdict Latches::count_down(Step& step, std::string_view name, uint64_t by) {
  const std::optional<Index> latch = latches_.named(name);
  if (!latch) return {.kind = Result::NotFound};
  if (latches_.at(*latch).count == 0) return {};
  latches_.change(*latch, [by](Latch& row) { row.count -= std::min(row.count, by); });
  const Latch& row = latches_.at(*latch);
  step.changes.push_back(change_of(row, Change::What::Set));
  if (row.count == 0) step.waits.decide_all(*latch, {}, step);
  return {.number = static_cast<int64_t>(row.count)};
}

Verdict Latches::wait(Step& step, const Attempt& attempt) {
  const std::optional<Index> latch = latches_.named(attempt.name);
  if (!latch) return {.kind = Result::NotFound};
  if (latches_.at(*latch).count == 0) return {};
  return step.waits.join(step, attempt, WaitFor::Latch, *latch);
}

Verdict Latches::erase(Step& step, std::string_view name) {
  const std::optional<Index> latch = latches_.named(name);
  if (!latch) return {.kind = Result::NotFound};
  step.waits.decide_all(*latch, {.kind = Result::NotFound}, step);
  step.changes.push_back(change_of(latches_.at(*latch), Change::What::Deleted));
  latches_.remove(*latch);
  return {};
}

absl::Status Latches::restored(const Waits& waits) const {
  absl::Status status;
  latches_.each([&](Index id, const Latch& latch) {
    if (latch.count == 0 && waits.line(id) != 0) status = absl::DataLossError("a wait for a latch that is at zero");
  });
  return status;
}

}  // namespace coordkit::coordination
