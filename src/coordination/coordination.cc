#include "coordination/coordination.h"

#include <algorithm>

namespace coordkit::coordination {
namespace {

// Whether the object with this key has that name. A name is all that object rows have in common.
template <typename Row>
bool is_called(const Rows<Row>& objects, Index key, std::string_view name) {
  const Row* object = objects.find(key);
  return object != nullptr && object->name == name;
}

template <typename Row>
std::optional<Coordination::Grant> grant_of(const Rows<Row>& holds, const RequestId& request) {
  const std::optional<Token> token = holds.requested(request);
  if (!token) return std::nullopt;
  const Row& hold = holds.at(*token);
  return Coordination::Grant{hold.session, {.kind = Verdict::Kind::Granted, .token = *token, .since = hold.since}};
}

}  // namespace

void Coordination::end(SessionId session, Step& step) {
  end_waits(session, Waiter::IsGone, step);
  semaphores.end(session);
  barriers.end(session);
  double_barriers.end(session);
  queues.end(session, step);
  groups.end(session, step);
}

void Coordination::end_waits(SessionId session, Waiter waiter, Step& step) {
  for (const Waits::Left& left : waits.end(session, step)) {
    touch(left);
    const bool party_less = left.purpose == WaitFor::Entering && waiter == Waiter::IsGone;
    if (party_less) double_barriers.lost_while_entering(left.object);
  }
}

void Coordination::regrant_all(SessionId session, Step& step) {
  semaphores.regrant_all(session, step);
  double_barriers.regrant_all(session, step);
  queues.regrant_all(session, step);
}

bool Coordination::time_out(Index wait, Step& step) {
  const std::optional<Waits::Left> left = waits.time_out(wait, step);
  if (left) touch(*left);
  return left.has_value();
}

bool Coordination::cancel(SessionId session, const RequestId& request, Step& step) {
  const std::optional<Waits::Left> left = waits.cancel(session, request, step);
  if (left) touch(*left);
  return left.has_value();
}

bool Coordination::release(SessionId session, std::string_view name, Token token, Step& step) {
  return semaphores.release(session, name, token) || queues.release(step, session, name, token) ||
         double_barriers.release(session, name, token);
}

void Coordination::decide_waits(Step& step) {
  semaphores.decide_waits(step);
  barriers.decide_waits(step);
  double_barriers.decide_waits(step);
  queues.decide_waits(step);
}

// Latches and barriers do nothing when a waiter leaves.
void Coordination::touch(const Waits::Left& left) {
  switch (left.purpose) {
    case WaitFor::Permits: return semaphores.touch(left.object);
    case WaitFor::Entering: return double_barriers.touch(left.object);
    case WaitFor::Item: return queues.touch(left.object);
    case WaitFor::Leaving:
    case WaitFor::Latch:
    case WaitFor::Barrier: return;
  }
}

std::optional<Coordination::Grant> Coordination::granted(const RequestId& request) const {
  if (auto permits = grant_of(semaphores.permits(), request)) return permits;
  if (auto place = grant_of(double_barriers.places(), request)) return place;
  auto claim = grant_of(queues.claims(), request);
  if (claim) claim->verdict = queues.grant_verdict(claim->verdict.token);
  return claim;
}

bool Coordination::still_held(std::string_view name, Token token) const {
  if (const Permits* permits = semaphores.permits().find(token)) {
    return is_called(semaphores.semaphores(), permits->object, name);
  }
  if (const Place* place = double_barriers.places().find(token)) {
    return is_called(double_barriers.barriers(), place->object, name);
  }
  const Claim* claim = queues.claims().find(token);
  return claim != nullptr && is_called(queues.queues(), queues.items().at(claim->object).object, name);
}

void Coordination::timers(absl::FunctionRef<void(Index wait, Duration timeout)> wait,
                          absl::FunctionRef<void(const ClaimTimer&)> claim) const {
  waits.rows().each([&](Index id, const Wait& row) {
    if (row.timeout > Duration::zero()) wait(id, row.timeout);
  });
  queues.claims().each([&](Token token, const Claim& row) {
    if (row.term > Duration::zero()) claim({row.queued, token, row.term});
  });
}

void Coordination::every_session(absl::FunctionRef<void(SessionId)> visit) const {
  each_rows([&visit](const auto& rows) { rows.every_session(visit); });
}

uint64_t Coordination::highest_token() const {
  uint64_t highest = 0;
  const auto look = [&highest](Token token, const auto&) { highest = std::max(highest, token.value()); };
  semaphores.permits().each(look);
  double_barriers.places().each(look);
  queues.claims().each(look);
  return highest;
}

absl::Status Coordination::restored() {
  for (const absl::Status& status :
       {check_waits(), semaphores.restored(waits), latches.restored(waits), barriers.restored(waits),
        double_barriers.restored(waits), queues.restored(waits), groups.restored()}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Coordination::check_waits() const {
  absl::Status status;
  const auto line_exists = [this](const Wait& wait) {
    switch (wait.purpose) {
      case WaitFor::Permits: return semaphores.semaphores().find(wait.object) != nullptr && wait.amount != 0;
      case WaitFor::Latch: return latches.latches().find(wait.object) != nullptr;
      case WaitFor::Barrier: return barriers.barriers().find(wait.object) != nullptr;
      case WaitFor::Entering:
      case WaitFor::Leaving: return double_barriers.barriers().find(wait.object) != nullptr;
      case WaitFor::Item: return queues.queues().find(wait.object) != nullptr;
    }
    return false;
  };
  waits.rows().each([&](Index, const Wait& wait) {
    const bool times = wait.timeout >= Duration::zero() && wait.term >= Duration::zero();
    if (!wait.session || !times || !line_exists(wait)) status = absl::DataLossError("an impossible wait");
  });
  return status;
}

uint64_t Coordination::digest() const {
  uint64_t sum = 0;
  each_rows([&sum](const auto& rows) { sum += rows.digest(); });
  return sum;
}

uint64_t Coordination::recomputed_digest() const {
  uint64_t sum = 0;
  each_rows([&sum](const auto& rows) { sum += rows.recomputed_digest(); });
  return sum;
}

size_t Coordination::records() const {
  size_t count = 0;
  each_rows([&count](const auto& rows) { count += rows.size(); });
  return count;
}

}  // namespace coordkit::coordination
