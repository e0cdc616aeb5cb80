#include "coordination/barriers.h"

namespace coordkit::coordination {

using Result = Verdict::Kind;

Verdict Barriers::close(Step& step, SessionId session, std::string_view name, AtSessionEnd at_end) {
  if (barriers_.named(name)) return {.kind = Result::AlreadyExists};
  const SessionId owner = at_end == AtSessionEnd::Stays ? SessionId() : session;
  barriers_.add(step.index, {std::string(name), owner, at_end});
  return {};
}

Verdict Barriers::open(Step& step, std::string_view name) {
  const std::optional<Index> barrier = barriers_.named(name);
  if (!barrier) return {.kind = Result::NotFound};
  open(step, *barrier, Result::Ok);
  return {};
}

Verdict Barriers::wait(Step& step, const Attempt& attempt) {
  const std::optional<Index> barrier = barriers_.named(attempt.name);
  if (!barrier) return {};
  return step.waits.join(step, attempt, WaitFor::Barrier, *barrier);
}

void Barriers::end(SessionId session) {
  const auto& owned = barriers_.of_session(session);
  orphaned_.insert(owned.begin(), owned.end());
}

void Barriers::decide_waits(Step& step) {
  for (const Index barrier : orphaned_) {
    const bool opens = barriers_.at(barrier).at_end == AtSessionEnd::Opens;
    open(step, barrier, opens ? Result::Ok : Result::Broken);
  }
  orphaned_.clear();
}

void Barriers::open(Step& step, Index barrier, Verdict::Kind how) {
  step.waits.decide_all(barrier, {.kind = how}, step);
  barriers_.remove(barrier);
}

absl::Status Barriers::restored(const Waits&) const {
  absl::Status status;
  barriers_.each([&](Index, const Barrier& barrier) {
    const bool owned = barrier.at_end != AtSessionEnd::Stays;
    if (barrier.at_end > AtSessionEnd::Breaks || owned != static_cast<bool>(barrier.session)) {
      status = absl::DataLossError("an impossible barrier");
    }
  });
  return status;
}

}  // namespace coordkit::coordination
