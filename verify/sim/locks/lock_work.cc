#include "sim/locks/lock_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/locks/lent_delegations.h"
#include "sim/record/recorder.h"
#include "sim/world/draw.h"

namespace coordkit::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Everything else that can be done with a hold besides releasing it.
bool LockWork::act_further(Worker& worker) {
  const uint64_t dice = worker.random.below(100);
  if (dice < 25 && worker.holds.size() < 3) {
    dice < 6 ? acquire_several(worker) : acquire(worker);
  } else if (dice < 40) {
    convert(worker);
  } else if (dice < 45) {
    update_value(worker);
  } else {
    return false;
  }
  return true;
}

// While it holds something a worker stays the same owner, so that deadlocks through it can be seen.
AcquireOptions LockWork::acquire_options(Worker& worker, const std::string& label) {
  AcquireOptions options;
  const uint64_t way = worker.random.below(10);
  if (way < 2) options.wait = LockWait::none();
  if (way >= 2 && way < 7) options.wait = LockWait::timed(draw(worker.random, milliseconds(1), seconds(4)));
  if (way >= 7) options.wait = LockWait::endless();
  if (worker.random.chance(0.2)) options.deadline = calls_.deadline(worker);
  if (worker.random.chance(0.3)) options.owner_tag = fmt::format("thread-{}", worker.random.below(2));
  if (!worker.holds.empty()) options.owner_tag = worker.holds.front()->owner_tag();
  const auto sticky = [](const HoldRef& hold) { return hold->delegation() != nullptr; };
  // A session that was taken over may bring holds of several owners: one of them could wait for another forever.
  const auto anothers = [&](const HoldRef& hold) { return hold->owner_tag() != options.owner_tag; };
  if (std::ranges::any_of(worker.holds, sticky) || std::ranges::any_of(worker.holds, anothers)) limit_wait(worker, options);
  options.texts.value = label;
  if (!work_.lock_family) return options;
  if (worker.random.chance(0.2)) options.delay = draw(worker.random, milliseconds(1), seconds(3));
  options.no_deadlock_check = way < 7 && worker.random.chance(0.1);  // never with an endless wait
  return options;
}

// The log sees no cycle through a lock that a session keeps, or through the line for it at its node (S-58). So a worker that
// holds something and may be part of such a cycle does not wait forever.
void LockWork::limit_wait(Worker& worker, AcquireOptions& options) {
  if (options.wait.kind != LockWait::Kind::Forever) return;
  options.wait = LockWait::timed(draw(worker.random, milliseconds(1), seconds(4)));
}

// Hands the answer of an acquire to `done`, then keeps the hold for the worker.
template <typename Done>
auto LockWork::granted(Worker& worker, Done done) {
  return calls_.then(worker, [this, &worker, done = std::move(done)](absl::StatusOr<HoldRef>& answer) mutable {
    done(answer);
    if (!answer.ok()) return;
    locks_.granted(worker.node, *answer);
    worker.holds.push_back(*answer);
    worker.writes_left = static_cast<uint32_t>(worker.random.below(5));
  });
}

void LockWork::acquire(Worker& worker) {
  const std::string name = calls_.lock_name(worker);
  const std::string value = calls_.label(worker);
  const auto call = witness_.calls().begin(worker.node, CallKind::Acquire, name, value);
  AcquireOptions options = acquire_options(worker, value);
  if (work_.lock_family) {
    options.sticky = worker.random.chance(0.4);
    if (!options.sticky && worker.random.chance(0.4)) options.mode = LockMode::Shared;
    options.reentrant = !options.sticky && worker.random.chance(0.4);
    if (!worker.holds.empty() && options.mode == LockMode::Exclusive) limit_wait(worker, options);
    if (acquire_here(worker, name, options, call)) return;
  }
  auto done = granted(worker, [this, call](const absl::StatusOr<HoldRef>& answer) { witness_.locks().acquired(call, answer); });
  worker.waiting = calls_.client(worker).acquire(worker.session, name, std::move(options), std::move(done));
  if (worker.random.chance(0.15)) calls_.schedule(worker, seconds(2));
}

// As another thread of the process would, without the client's own thread.
bool LockWork::acquire_here(Worker& worker, const std::string& name, const AcquireOptions& options, uint64_t call) {
  const bool fits = options.mode == LockMode::Exclusive && !options.reentrant && options.delay == Duration::zero();
  if (!fits || !worker.random.chance(0.5)) return false;
  const LeadingTime now = calls_.clock(worker).leading;
  Delegations* const lent = worker.session->delegations();
  const HoldRef hold = lent != nullptr ? lent->acquire(worker.session, name, options.owner_tag, now) : nullptr;
  if (hold == nullptr) return false;
  witness_.locks().acquired(call, hold);
  locks_.granted(worker.node, hold);
  worker.holds.push_back(hold);
  worker.writes_left = static_cast<uint32_t>(worker.random.below(5));
  worker.state = Worker::State::Holding;
  calls_.schedule(worker, work_.hold_max / 4);
  return true;
}

bool LockWork::release_here(Worker& worker, const HoldRef& hold, uint64_t call) {
  if (!hold->delegation() || !worker.random.chance(0.5)) return false;
  if (!hold->valid(calls_.clock(worker).leading)) return false;  // the client waits for the fate of the session
  hold->invalidate();
  const Delegations::Released released = hold->session()->delegations()->release(*hold);
  if (released == Delegations::Released::NotCurrent) return false;  // the client knows why
  if (released == Delegations::Released::Serve) calls_.client(worker).released_locally(hold);
  witness_.locks().released(call, hold, absl::OkStatus());
  worker.state = worker.holds.empty() ? Worker::State::Idle : Worker::State::Holding;
  calls_.schedule(worker, work_.think_max);
  return true;
}

void LockWork::acquire_several(Worker& worker) {
  std::vector<NamedLock> wanted;
  for (uint32_t i = 0; i < work_.locks; ++i) {
    if (!worker.random.chance(0.6)) continue;
    wanted.push_back({fmt::format("lock-{}", i), worker.random.chance(0.4) ? LockMode::Shared : LockMode::Exclusive});
  }
  if (wanted.empty()) return acquire(worker);
  if (worker.random.chance(0.5)) std::swap(wanted.front(), wanted.back());
  const std::string value = calls_.label(worker);
  const auto call = witness_.calls().begin(worker.node, CallKind::Acquire, wanted.front().name, value);
  auto done = granted(worker, [this, call](const absl::StatusOr<HoldRef>& answer) { witness_.locks().acquired(call, answer); });
  worker.waiting =
      calls_.client(worker).acquire_all(worker.session, std::move(wanted), acquire_options(worker, value), std::move(done));
  if (worker.random.chance(0.15)) calls_.schedule(worker, seconds(2));
}

void LockWork::convert(Worker& worker) {
  const HoldRef hold = worker.holds.back();
  const bool down = hold->terms().mode == LockMode::Exclusive;
  const auto call = witness_.calls().begin(worker.node, CallKind::Convert, hold->name());
  auto done = calls_.then(worker, [this, &worker, call](absl::StatusOr<HoldRef>& answer) {
    witness_.locks().converted(call, answer);
    if (!answer.ok()) return;
    locks_.replaced(worker.holds.back());
    locks_.granted(worker.node, *answer);
    worker.holds.back() = *answer;
  });
  const CallDeadline deadline = calls_.deadline(worker);
  down ? calls_.client(worker).downgrade(hold, std::move(done), deadline)
       : calls_.client(worker).upgrade(hold, std::move(done), deadline);
}

void LockWork::update_value(Worker& worker) {
  const HoldRef hold = worker.holds.back();
  const auto call = witness_.calls().begin(worker.node, CallKind::Value, hold->name());
  calls_.client(worker).update_value(
      hold, fmt::format("value of {}", call),
      calls_.then(worker, [this, call](absl::Status& answer) { witness_.locks().updated(call, answer); }),
      calls_.deadline(worker));
}

void LockWork::release(Worker& worker) {
  const HoldRef hold = std::move(worker.holds.back());
  worker.holds.pop_back();
  const auto call = witness_.locks().begin_release(worker.node, hold);
  if (Recorder* recorder = calls_.recorder()) recorder->operations().releases(call, hold->token());
  if (release_here(worker, hold, call)) return;
  calls_.client(worker).release(
      hold, calls_.then(worker, [this, call, hold](absl::Status& answer) { witness_.locks().released(call, hold, answer); }),
      calls_.deadline(worker));
}

void LockWork::query(Worker& worker) {
  const std::string name = calls_.lock_name(worker);
  const uint64_t which = worker.random.below(3);
  if (which == 0) {
    const auto call = witness_.calls().begin(worker.node, CallKind::Holders, name);
    calls_.client(worker).holders(
        name, calls_.then(worker, [this, call](absl::StatusOr<LockInfo>& answer) { witness_.locks().looked(call, answer); }),
        calls_.deadline(worker));
  } else if (which == 1) {
    const auto call = witness_.calls().begin(worker.node, CallKind::Queue, name);
    calls_.client(worker).queue(
        name, calls_.then(worker, [this, call](absl::StatusOr<QueueInfo>& answer) { witness_.locks().queued(call, answer); }),
        calls_.deadline(worker));
  } else {
    const auto call = witness_.calls().begin(worker.node, CallKind::Sessions, "all");
    calls_.client(worker).sessions(
        SessionId(), 0,
        calls_.then(worker, [this, call](absl::StatusOr<SessionList>& answer) { witness_.sessions().listed(call, answer); }),
        calls_.deadline(worker));
  }
}

void LockWork::check(Worker& worker) {
  const HoldRef hold = worker.holds.back();
  const auto call = witness_.locks().begin_check(worker.node, hold);
  calls_.client(worker).check(
      hold,
      calls_.then(worker, [this, call, hold](absl::StatusOr<bool>& answer) { witness_.locks().checked(call, hold, answer); }),
      calls_.deadline(worker));
}

}  // namespace coordkit::sim
