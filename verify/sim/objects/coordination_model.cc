#include "sim/objects/coordination_model.h"

#include <algorithm>
#include <iterator>
#include <variant>

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

void CoordinationModel::begin_entry(Index index) {
  entry_.index = index;
  entry_.touched.clear();
}

Result CoordinationModel::run(const machine::CoordinationCommand& command, const RequestId& id) {
  entry_.request = id;
  return std::visit(
      [this](const auto& one) {
        if constexpr (requires { semaphores_.run(one); }) {
          return semaphores_.run(one);
        } else if constexpr (requires { latches_.run(one); }) {
          return latches_.run(one);
        } else if constexpr (requires { barriers_.run(one); }) {
          return barriers_.run(one);
        } else if constexpr (requires { double_barriers_.run(one); }) {
          return double_barriers_.run(one);
        } else if constexpr (requires { queues_.run(one); }) {
          return queues_.run(one);
        } else if constexpr (requires { counters_.run(one); }) {
          return counters_.run(one);
        } else {
          return groups_.run(one);
        }
      },
      command);
}

// ---- waits and holds of every kind

void CoordinationModel::give_back(const WaitsAndHolds::Hold& hold) {
  if (hold.of == Kind::Queue) queues_.given_back(hold);
  lines_.give_back(hold.token);
}

bool CoordinationModel::release(SessionId session, const std::string& name, Token token) {
  const WaitsAndHolds::Hold* hold = lines_.find(session, name, token);
  if (hold) give_back(*hold);
  return hold != nullptr;
}

std::optional<Result> CoordinationModel::cancel(SessionId session, const RequestId& request) {
  if (lines_.cancel(session, request)) return Result{.code = ResultCode::Cancelled};
  const auto hold = std::ranges::find_if(
      lines_.holds(), [&](const WaitsAndHolds::Hold& one) { return one.session == session && one.request == request; });
  if (hold == lines_.holds().end()) return std::nullopt;
  return hold->of == Kind::Queue ? queues_.granted(*hold) : hold->granted();
}

void CoordinationModel::end_claim(Index queued, Token token) {
  const auto claim = std::ranges::find_if(lines_.holds(), [&](const WaitsAndHolds::Hold& hold) {
    return hold.token == token && hold.queued == queued && hold.term > Duration::zero();
  });
  if (claim != lines_.holds().end()) give_back(*claim);
}

void CoordinationModel::end_waits(SessionId session, Waiter waiter) {
  double_barriers_.end_waits(session, waiter);
  lines_.end_waits(session);
}

void CoordinationModel::end(SessionId session) {
  end_waits(session, Waiter::IsGone);
  double_barriers_.end_holds(session);
  const std::vector<WaitsAndHolds::Hold> holds = lines_.holds();
  for (const WaitsAndHolds::Hold& hold : holds) {
    if (hold.session == session) give_back(hold);
  }
  barriers_.end(session);
  groups_.end(session);
}

// S-48: permits first, then double barriers, then items; each time the first queued among those that can be served.
void CoordinationModel::decide_waits(std::vector<LockModel::Ended>& ended) {
  semaphores_.serve();
  double_barriers_.serve();
  queues_.serve();
  ended.insert(ended.end(), std::make_move_iterator(entry_.ended.begin()), std::make_move_iterator(entry_.ended.end()));
  entry_.ended.clear();
}

// ---- queries

machine::ObjectView CoordinationModel::look(const Object& object) const {
  const auto& [kind, name] = object;
  machine::ObjectView view{.waiters = lines_.waiting(kind, name)};
  switch (kind) {
    case Kind::Semaphore: semaphores_.show(name, view); break;
    case Kind::Latch: latches_.show(name, view); break;
    case Kind::Barrier: barriers_.show(name, view); break;
    case Kind::DoubleBarrier: double_barriers_.show(name, view); break;
    case Kind::Queue: queues_.show(name, view); break;
    case Kind::Counter: counters_.show(name, view); break;
    case Kind::Group: groups_.show(name, view); break;
    case Kind::Lock: break;
  }
  return view;
}

bool CoordinationModel::held(const std::string& name, Token token) const {
  return std::ranges::any_of(lines_.holds(),
                             [&](const WaitsAndHolds::Hold& hold) { return hold.token == token && hold.name == name; });
}

bool CoordinationModel::anything_of_sessions() const {
  return !lines_.waits().empty() || !lines_.holds().empty() || !groups_.empty();
}

}  // namespace coordkit::sim
