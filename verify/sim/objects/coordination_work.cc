#include "sim/objects/coordination_work.h"

#include <fmt/format.h>

#include <utility>

#include "client/calls/waits.h"
#include "sim/objects/object_views.h"
#include "sim/record/recorder.h"

namespace coordkit::sim {
namespace {

using coordination::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kParties = 2;  // of every double barrier

std::string object_name(Random& random) { return fmt::format("object-{}", random.below(2)); }

}  // namespace

uint64_t CoordinationWork::command(Worker& worker, CallKind kind, const std::string& name, machine::CoordinationCommand body) {
  return witness_.calls().begin_command(worker.node, kind, name, std::move(body));
}

auto CoordinationWork::on_answer(Worker& worker, uint64_t call, Situation situation) {
  return calls_.then(worker, [this, call, situation](auto& answer) {
    witness_.coordination().executed(call, answer);
    if (answer.ok() && situation != Situation::Count) calls_.reach(situation);
  });
}

Callback<HoldRef> CoordinationWork::got_hold(Worker& worker, uint64_t call, Kind kind, Situation situation) {
  return calls_.then(worker, [this, &worker, call, kind, situation](absl::StatusOr<HoldRef>& answer) {
    witness_.coordination().executed(call, answer);
    if (!answer.ok()) return;
    calls_.reach(situation);
    worker.things.push_back({kind, *answer});
  });
}

void CoordinationWork::act(Worker& worker) {
  if (!worker.things.empty() && worker.random.chance(0.5)) return give_back(worker);
  switch (worker.random.below(8)) {
    case 0: return use_semaphore(worker);
    case 1: return use_latch(worker);
    case 2: return use_barrier(worker);
    case 3: return use_double_barrier(worker);
    case 4: return use_queue(worker);
    case 5: return use_counter(worker);
    case 6: return use_group(worker);
    default: return look(worker);
  }
}

void CoordinationWork::use_semaphore(Worker& worker) {
  CoordinationCalls calls = calls_.client(worker).coordination();
  const std::string name = object_name(worker.random);
  const SessionId session = worker.session->id();
  const uint64_t dice = worker.random.below(10);
  if (dice == 0) {
    const auto call = command(worker, CallKind::Command, name, machine::DeleteSemaphore{session, name});
    calls.delete_semaphore(worker.session, name, on_answer(worker, call), calls_.deadline(worker));
  } else if (dice == 1) {
    const uint64_t limit = worker.random.below(5);
    const auto call = command(worker, CallKind::Command, name, machine::SetSemaphoreLimit{session, name, limit});
    calls.set_limit(worker.session, name, limit, on_answer(worker, call), calls_.deadline(worker));
  } else {
    PermitOptions options{.wait = calls_.wait(worker), .deadline = calls_.deadline(worker)};
    if (worker.random.chance(0.7)) options.initial_limit = worker.random.between(1, 3);
    const uint64_t count = worker.random.between(1, 3);
    const auto call =
        command(worker, CallKind::Command, name,
                machine::AcquirePermits{session, name, client::wait_of(options.wait), count, options.initial_limit});
    worker.waiting = calls.acquire_permits(worker.session, name, count, options,
                                           got_hold(worker, call, Kind::Semaphore, Situation::PermitsGranted));
    if (worker.random.chance(0.2)) calls_.schedule(worker, seconds(1));
  }
}

void CoordinationWork::use_latch(Worker& worker) {
  CoordinationCalls calls = calls_.client(worker).coordination();
  const std::string name = object_name(worker.random);
  const SessionId session = worker.session->id();
  const uint64_t dice = worker.random.below(10);
  if (dice == 0) {
    const auto call = command(worker, CallKind::Command, name, machine::DeleteLatch{session, name});
    calls.delete_latch(worker.session, name, on_answer(worker, call), calls_.deadline(worker));
  } else if (dice < 4) {
    const uint64_t count = worker.random.between(1, 2);
    const auto call = command(worker, CallKind::Command, name, machine::CreateLatch{session, name, count});
    calls.create_latch(worker.session, name, count, on_answer(worker, call), calls_.deadline(worker));
  } else if (dice < 7) {
    const uint64_t by = worker.random.between(1, 2);
    const auto call = command(worker, CallKind::Command, name, machine::CountDown{session, name, by});
    calls.count_down(worker.session, name, by, on_answer(worker, call), calls_.deadline(worker));
  } else {
    await_opening(worker, Kind::Latch, name);
  }
}

void CoordinationWork::use_barrier(Worker& worker) {
  CoordinationCalls calls = calls_.client(worker).coordination();
  const std::string name = object_name(worker.random);
  const SessionId session = worker.session->id();
  const uint64_t dice = worker.random.below(10);
  if (dice < 3) {
    const auto at_end = BarrierAtSessionEnd(worker.random.below(3));
    const auto call = command(worker, CallKind::Command, name,
                              machine::CloseBarrier{session, name, machine::AtSessionEnd(static_cast<uint8_t>(at_end))});
    calls.close_barrier(worker.session, name, at_end, on_answer(worker, call), calls_.deadline(worker));
  } else if (dice < 5) {
    const auto call = command(worker, CallKind::Command, name, machine::OpenBarrier{session, name});
    calls.open_barrier(worker.session, name, on_answer(worker, call), calls_.deadline(worker));
  } else {
    await_opening(worker, Kind::Barrier, name);
  }
}

// A latch opens at zero, a barrier when it is opened.
void CoordinationWork::await_opening(Worker& worker, Kind kind, const std::string& name) {
  CoordinationCalls calls = calls_.client(worker).coordination();
  const SessionId session = worker.session->id();
  const LockWait wait = calls_.wait(worker);
  const bool latch = kind == Kind::Latch;
  machine::CoordinationCommand body = machine::AwaitBarrier{session, name, client::wait_of(wait)};
  if (latch) body = machine::AwaitLatch{session, name, client::wait_of(wait)};
  const auto call = command(worker, CallKind::Command, name, std::move(body));
  auto done = calls_.then(worker, [this, call, kind, name](absl::Status& answer) {
    witness_.coordination().awaited(call, answer, {kind, name});
    if (answer.ok()) calls_.reach(kind == Kind::Latch ? Situation::LatchOpened : Situation::BarrierOpened);
  });
  const CallDeadline by = calls_.deadline(worker);
  worker.waiting = latch ? calls.await_latch(worker.session, name, wait, std::move(done), by)
                         : calls.await_barrier(worker.session, name, wait, std::move(done), by);
  if (worker.random.chance(0.2)) calls_.schedule(worker, seconds(1));
}

void CoordinationWork::use_double_barrier(Worker& worker) {
  const std::string name = object_name(worker.random);
  const LockWait wait = calls_.wait(worker);
  const auto at_end = PartyAtSessionEnd(1 + worker.random.below(2));
  const auto call = command(worker, CallKind::Command, name,
                            machine::EnterBarrier{worker.session->id(), name, client::wait_of(wait), kParties,
                                                  machine::AtPartyEnd(static_cast<uint8_t>(at_end))});
  worker.waiting = calls_.client(worker).coordination().enter(
      worker.session, name, kParties, at_end, wait, got_hold(worker, call, Kind::DoubleBarrier, Situation::PartiesMet),
      calls_.deadline(worker));
  if (worker.random.chance(0.2)) calls_.schedule(worker, seconds(1));
}

void CoordinationWork::use_queue(Worker& worker) {
  CoordinationCalls calls = calls_.client(worker).coordination();
  const std::string name = object_name(worker.random);
  if (worker.random.chance(0.5)) {
    const std::string value = calls_.label(worker);
    const auto priority = static_cast<int64_t>(worker.random.below(3));
    const auto call = command(worker, CallKind::Command, name, machine::Enqueue{name, priority, value});
    calls.enqueue(name, value, priority, on_answer(worker, call), calls_.deadline(worker));
    return;
  }
  ClaimOptions options{.wait = calls_.wait(worker), .deadline = calls_.deadline(worker)};
  if (worker.random.chance(0.3)) options.term = milliseconds(worker.random.between(1, 2000));
  const auto call = command(worker, CallKind::Command, name,
                            machine::ClaimItem{worker.session->id(), name, client::wait_of(options.wait), options.term});
  auto done = calls_.then(worker, [this, &worker, call](absl::StatusOr<ClaimedItem>& answer) {
    witness_.coordination().executed(call, answer);
    if (!answer.ok()) return;
    calls_.reach(answer->deliveries == 0 ? Situation::ItemClaimed : Situation::ItemClaimedAgain);
    worker.things.push_back({Kind::Queue, answer->hold});
  });
  worker.waiting = calls.claim(worker.session, name, options, std::move(done));
  if (worker.random.chance(0.2)) calls_.schedule(worker, seconds(1));
}

void CoordinationWork::use_counter(Worker& worker) {
  using Operation = machine::ChangeCounter::Operation;
  CoordinationCalls calls = calls_.client(worker).coordination();
  const std::string name = object_name(worker.random);
  const auto operation = Operation(1 + worker.random.below(5));
  const auto operand = operation == Operation::Delete ? 0 : static_cast<int64_t>(worker.random.between(1, 9));
  const auto expected = operation == Operation::CompareAndSet ? static_cast<int64_t>(worker.random.below(10)) : 0;
  const auto call = command(worker, CallKind::Command, name, machine::ChangeCounter{name, operation, operand, expected});
  const CallDeadline by = calls_.deadline(worker);
  switch (operation) {
    case Operation::Add: calls.add(name, operand, on_answer(worker, call), by); return;
    case Operation::Set: calls.set(name, operand, on_answer(worker, call), by); return;
    case Operation::CompareAndSet: calls.compare_and_set(name, expected, operand, on_answer(worker, call), by); return;
    case Operation::Allocate: calls.allocate(name, operand, on_answer(worker, call, Situation::NumberGiven), by); return;
    case Operation::Delete: calls.delete_counter(name, on_answer(worker, call), by); return;
  }
}

void CoordinationWork::use_group(Worker& worker) {
  CoordinationCalls calls = calls_.client(worker).coordination();
  const std::string name = object_name(worker.random);
  const SessionId session = worker.session->id();
  const std::string owner = fmt::format("thread-{}", worker.random.below(2));
  const uint64_t dice = worker.random.below(3);
  const std::string value = calls_.label(worker);
  const CallDeadline by = calls_.deadline(worker);
  if (dice == 0) {
    const auto call = command(worker, CallKind::Command, name, machine::JoinGroup{session, owner, name, value});
    calls.join(worker.session, name, owner, value, on_answer(worker, call, Situation::MemberJoined), by);
  } else if (dice == 1) {
    const auto call = command(worker, CallKind::Command, name, machine::UpdateMember{session, owner, name, value});
    calls.update(worker.session, name, owner, value, on_answer(worker, call), by);
  } else {
    const auto call = command(worker, CallKind::Leave, name, machine::LeaveGroup{session, owner, name});
    calls.leave_group(worker.session, name, owner, on_answer(worker, call), by);
  }
}

// The newest permits, place or item; an item is often acknowledged.
void CoordinationWork::give_back(Worker& worker) {
  const Worker::Thing thing = std::move(worker.things.back());
  worker.things.pop_back();
  const HoldRef& hold = thing.hold;
  CoordinationCalls calls = calls_.client(worker).coordination();
  const SessionId session = hold->session()->id();
  if (thing.kind == Kind::Queue && worker.random.chance(0.6)) {
    const auto call =
        command(worker, CallKind::Leave, hold->name(), machine::AcknowledgeItem{session, hold->name(), hold->token()});
    calls.acknowledge(hold, on_answer(worker, call, Situation::ItemAcknowledged), calls_.deadline(worker));
    return;
  }
  if (thing.kind == Kind::DoubleBarrier && worker.random.chance(0.7)) {
    const LockWait wait = calls_.wait(worker);
    const auto call = command(worker, CallKind::Leave, hold->name(),
                              machine::LeaveBarrier{session, hold->name(), client::wait_of(wait), hold->token()});
    worker.waiting = calls.leave(hold, wait, on_answer(worker, call, Situation::PartiesLeft), calls_.deadline(worker));
    return;
  }
  if (worker.random.chance(0.3)) {
    calls_.client(worker).release_later(hold);
    return calls_.schedule(worker, work_.think_max);
  }
  const auto call = witness_.calls().begin(worker.node, CallKind::Release, hold->name());
  if (Recorder* recorder = calls_.recorder()) recorder->operations().releases(call, hold->token());
  calls_.client(worker).release(
      hold, calls_.then(worker, [this, call, hold](absl::Status& answer) { witness_.locks().released(call, hold, answer); }),
      calls_.deadline(worker));
}

void CoordinationWork::look(Worker& worker) {
  CoordinationCalls calls = calls_.client(worker).coordination();
  const std::string name = object_name(worker.random);
  const CallDeadline by = calls_.deadline(worker);
  const uint64_t which = worker.random.below(8);
  if (which == 6) return look_for_leader(worker, by);
  const auto call = witness_.calls().begin(worker.node, CallKind::Look, name);
  const auto seen = [&](Kind kind) {
    return calls_.then(worker, [this, call, name, kind](auto& answer) {
      const bool ok = answer.ok();
      witness_.coordination().object_seen(call, answer.status(), {kind, name}, ok ? answer->as_of : Index(),
                                          ok ? view_of(*answer) : machine::ObjectView{});
    });
  };
  switch (which) {
    case 0: calls.semaphore(name, seen(Kind::Semaphore), by); return;
    case 1: calls.latch(name, seen(Kind::Latch), by); return;
    case 2: calls.barrier(name, seen(Kind::Barrier), by); return;
    case 3: calls.double_barrier(name, seen(Kind::DoubleBarrier), by); return;
    case 4: calls.item_queue(name, 0, seen(Kind::Queue), by); return;
    case 5: calls.members(name, seen(Kind::Group), by); return;
    default: break;
  }
  auto done = calls_.then(worker, [this, call, name](absl::StatusOr<int64_t>& answer) {
    witness_.coordination().counter_seen(call, answer, name);
  });
  calls.counter(name, std::move(done), by);
}

void CoordinationWork::look_for_leader(Worker& worker, CallDeadline by) {
  const std::string lock = calls_.lock_name(worker);
  const auto call = witness_.calls().begin(worker.node, CallKind::Look, lock);
  auto done = calls_.then(worker, [this, call](absl::StatusOr<std::optional<LeaderInfo>>& answer) {
    witness_.locks().leader_seen(call, answer);
    if (answer.ok() && *answer) calls_.reach(Situation::LeaderSeen);
  });
  calls_.client(worker).coordination().leader(lock, std::move(done), by);
}

}  // namespace coordkit::sim
