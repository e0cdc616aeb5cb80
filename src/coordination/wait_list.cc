#include "coordination/wait_list.h"

#include <utility>

namespace coordkit::coordination {

Verdict Waits::join(Step& step, const Attempt& attempt, WaitFor purpose, Index object, uint64_t amount, Duration term) {
  if (!attempt.waits) return {.kind = Verdict::Kind::Held};
  const size_t position = line(object);
  rows_.add(step.index, {.purpose = purpose,
                         .object = object,
                         .session = attempt.session,
                         .request = step.request,
                         .timeout = attempt.timeout,
                         .amount = amount,
                         .term = term});
  return {.kind = Verdict::Kind::Queued, .position = position};
}

void Waits::decide(Index wait, Verdict verdict, Step& step) {
  const Wait& row = rows_.at(wait);
  step.decisions.push_back({wait, row.session, row.request, row.timeout > Duration::zero(), std::move(verdict)});
  rows_.remove(wait);
}

void Waits::decide_all(Index object, const Verdict& verdict, Step& step) {
  const auto line = rows_.of_object(object);
  for (const Index wait : line) decide(wait, verdict, step);
}

std::optional<Waits::Left> Waits::time_out(Index wait, Step& step) {
  const Wait* row = rows_.find(wait);
  if (!row || row->timeout <= Duration::zero()) return std::nullopt;
  const Left left{row->purpose, row->object};
  decide(wait, {.kind = Verdict::Kind::WaitTimeout}, step);
  return left;
}

std::optional<Waits::Left> Waits::cancel(SessionId session, const RequestId& request, Step& step) {
  const std::optional<Index> wait = rows_.requested(request);
  if (!wait || rows_.at(*wait).session != session) return std::nullopt;
  const Left left{rows_.at(*wait).purpose, rows_.at(*wait).object};
  decide(*wait, {.kind = Verdict::Kind::Cancelled}, step);
  return left;
}

std::vector<Waits::Left> Waits::end(SessionId session, Step& step) {
  std::vector<Left> left;
  const auto waits = rows_.of_session(session);
  for (const Index wait : waits) {
    left.push_back({rows_.at(wait).purpose, rows_.at(wait).object});
    decide(wait, {.kind = Verdict::Kind::Lost}, step);
  }
  return left;
}

}  // namespace coordkit::coordination
