#include "sim/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/delegations.h"
#include "sim/recorder.h"

namespace coordkit::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Duration draw(Random& random, Duration low, Duration high) { return Duration(random.between(low.count(), high.count())); }

}  // namespace

Workload::Workload(World& world, const Plan& plan, const Defects& defects, std::vector<std::unique_ptr<Node>>& nodes,
                   LockObserver& locks, Witness& witness, MarkCounts& marks, Random random)
    : world_(world),
      plan_(plan),
      defects_(defects),
      nodes_(nodes),
      locks_(locks),
      witness_(witness),
      marks_(marks),
      random_(random) {
  for (uint32_t node = 0; node < plan.nodes; ++node) {
    for (uint32_t i = 0; i < plan.work.workers_per_node; ++i) {
      Worker& worker = workers_.emplace_back();
      worker.node = node;
      worker.number = workers_.size() - 1;
      worker.random = random_.fork();
    }
  }
}

// ---- steps

void Workload::schedule(Worker& worker, Duration longest) {
  const Duration after(worker.random.below(longest.count() + 1));
  world_.schedule(world_.now() + after, EventKind::Worker, worker.node, nodes_[worker.node]->epoch(),
                  ++worker.step << 16 | worker.number);
}

void Workload::process_started(uint32_t node) {
  for (Worker& worker : workers_) {
    if (worker.node == node) schedule(worker, plan_.work.think_max);
  }
}

void Workload::process_died(uint32_t node) {
  locks_.process_died(node);
  witness_.process_died(node);
  for (Worker& worker : workers_) {
    if (worker.node != node) continue;
    worker.session = nullptr;
    worker.holds.clear();
    worker.things.clear();
    worker.state = State::Idle;
    worker.stepping_late = false;
    ++worker.step;
  }
}

void Workload::process_resumed(uint32_t node) {
  for (Worker& worker : workers_) {
    if (worker.node == node && std::exchange(worker.stepping_late, false)) act(worker);
  }
}

void Workload::worker_event(const Event& event) {
  Worker& worker = workers_[event.item & 0xffff];
  const Node& node = *nodes_[worker.node];
  if (!node.up() || event.epoch != node.epoch() || event.item >> 16 != worker.step) return;
  if (node.frozen()) {
    worker.stepping_late = true;
    return;
  }
  act(worker);
}

void Workload::act(Worker& worker) {
  if (Recorder* recorder = world_.recorder()) recorder->acting(worker.number);
  if (winding_down_) {
    act_winding_down(worker);
  } else if (worker.state == State::Idle) {
    act_idle(worker);
  } else if (worker.state == State::Holding) {
    act_holding(worker);
  } else {
    act_calling(worker);
  }
  nodes_[worker.node]->wake();
}

void Workload::act_idle(Worker& worker) {
  const double lease_reads = plan_.work.lease_read_share;
  if (lease_reads > 0 && worker.random.chance(lease_reads)) return get(worker, Consistency::Lease);
  const uint64_t dice = worker.random.below(100);
  if (dice < plan_.work.kv_percent) {
    if (plan_.work.compact_percent != 0 && worker.random.below(100) < plan_.work.compact_percent) return compact(worker);
    if (plan_.work.transaction_percent != 0 && worker.random.below(100) < plan_.work.transaction_percent)
      return use_keys(worker);
    const uint64_t which = worker.random.below(5);
    return which < 2 ? put(worker) : which < 4 ? get(worker) : erase(worker);
  }
  if (dice < plan_.work.kv_percent + plan_.work.query_percent) return query(worker);
  const double changes = plan_.work.session_change_share;
  if (changes > 0 && worker.random.chance(changes / 4)) return end_another(worker);
  if (!worker.session || worker.session->phase() == SessionPhase::Lost) {
    worker.things.clear();
    return changes > 0 && worker.random.chance(0.5) && resume(worker) ? void() : open(worker);
  }
  if (worker.random.chance(0.02)) return close(worker);
  if (plan_.work.coordination_share > 0 && worker.random.chance(plan_.work.coordination_share)) return coordinate(worker);
  if (plan_.work.lock_family && worker.random.chance(0.2)) return acquire_several(worker);
  acquire(worker);
}

// Woken while an acquire waits: loses patience.
void Workload::act_calling(Worker& worker) {
  if (!worker.waiting) return;
  if (worker.random.chance(0.7)) {
    client(worker).cancel(worker.waiting);
  } else {
    client(worker).abandon(worker.waiting);
  }
}

void Workload::act_holding(Worker& worker) {
  const HoldRef hold = worker.holds.back();
  const LeadingTime now = nodes_[worker.node]->clock_now().leading;
  const bool valid = hold->valid(now);
  if (valid) witness_.trusted(hold);
  if (worker.writes_left > 0 && (valid || worker.random.chance(0.2))) {
    --worker.writes_left;
    write_resource(worker);
    if (worker.random.chance(0.1)) return check(worker);
    return schedule(worker, plan_.work.hold_max / 4);
  }
  if (plan_.work.lock_family && act_further(worker)) return;
  const uint64_t dice = worker.random.below(100);
  if (dice < 6) return close(worker);
  if (dice < 20) {  // dropped by its owner: nobody waits for the release
    client(worker).release_later(hold);
    worker.holds.pop_back();
    worker.state = worker.holds.empty() ? State::Idle : State::Holding;
    return schedule(worker, plan_.work.think_max);
  }
  release(worker);
}

// What else can be done with a hold besides letting it go.
bool Workload::act_further(Worker& worker) {
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

void Workload::act_winding_down(Worker& worker) {
  if (worker.state == State::Holding) return release(worker);
  if (worker.state == State::Idle && !worker.things.empty()) return give_back(worker);
  if (worker.state == State::Idle && worker.session && !worker.session->closed()) return close(worker);
}

bool Workload::idle() const {
  for (const Worker& worker : workers_) {
    if (worker.state != State::Idle || (worker.session && !worker.session->closed())) return false;
  }
  return true;
}

// ---- calls

std::string Workload::label(Worker& worker) { return fmt::format("w{}-{}", worker.number, ++worker.labels); }
std::string Workload::lock_name(Worker& worker) { return fmt::format("lock-{}", worker.random.below(plan_.work.locks)); }
std::string Workload::key(Worker& worker) { return fmt::format("key-{}", worker.random.below(plan_.work.keys)); }

CallDeadline Workload::call_deadline(Worker& worker) {
  if (worker.random.chance(0.7)) return std::nullopt;
  return nodes_[worker.node]->clock_now().lagging + draw(worker.random, milliseconds(1), seconds(3));
}

// Several threads of control may share a session; their tags tell them apart, or not.
bool Workload::borrow_session(Worker& worker) {
  if (!worker.random.chance(0.3)) return false;
  for (const Worker& other : workers_) {
    if (other.node != worker.node || !other.session || other.session->phase() == SessionPhase::Lost) continue;
    worker.session = other.session;
    return true;
  }
  return false;
}

void Workload::open(Worker& worker) {
  if (borrow_session(worker)) return schedule(worker, plan_.work.think_max);
  OpenOptions options;
  options.ttl = draw(worker.random, plan_.work.ttl_min, plan_.work.ttl_max);
  options.metadata = label(worker);
  options.deadline = call_deadline(worker);
  const auto call = witness_.begin(worker.node, Witness::Kind::Open, "session", options.metadata);
  client(worker).open_session(std::move(options), then(worker, [this, &worker, call](absl::StatusOr<SessionRef>& answer) {
                                witness_.opened(call, answer);
                                if (!answer.ok()) return;
                                worker.session = *answer;
                                locks_.opened(worker.node, worker.session);
                                write_down(worker);
                              }));
}

void Workload::close(Worker& worker) {
  const auto call = witness_.begin(worker.node, Witness::Kind::Close, "session");
  const SessionRef session = std::exchange(worker.session, nullptr);
  if (Recorder* recorder = world_.recorder()) recorder->closes(call, session->id());
  worker.holds.clear();
  worker.things.clear();
  client(worker).close(
      session, then(worker, [this, call, id = session->id()](absl::Status& answer) { witness_.closed(call, id, answer); }),
      call_deadline(worker));
}

// With something in its hands a worker stays the owner it is, so that whoever waits for it can be seen to.
AcquireOptions Workload::acquire_options(Worker& worker, const std::string& label) {
  AcquireOptions options;
  const uint64_t way = worker.random.below(10);
  if (way < 2) options.wait = LockWait::none();
  if (way >= 2 && way < 7) options.wait = LockWait::timed(draw(worker.random, milliseconds(1), seconds(4)));
  if (way >= 7) options.wait = LockWait::forever();
  if (worker.random.chance(0.2)) options.deadline = call_deadline(worker);
  if (worker.random.chance(0.3)) options.owner_tag = fmt::format("thread-{}", worker.random.below(2));
  if (!worker.holds.empty()) options.owner_tag = worker.holds.front()->owner_tag();
  const auto sticky = [](const HoldRef& hold) { return hold->delegation() != nullptr; };
  if (std::ranges::any_of(worker.holds, sticky)) limit_wait(worker, options);
  options.value = label;
  if (!plan_.work.lock_family) return options;
  if (worker.random.chance(0.2)) options.delay = draw(worker.random, milliseconds(1), seconds(3));
  options.no_deadlock_check = way < 7 && worker.random.chance(0.1);  // never with a wait without an end
  return options;
}

// The log sees no circle through a lock that a session keeps, or through the line for it at its node (S-58): whoever holds
// something and may stand in such a circle does not wait for ever.
void Workload::limit_wait(Worker& worker, AcquireOptions& options) {
  if (options.wait.kind != LockWait::Kind::Forever) return;
  options.wait = LockWait::timed(draw(worker.random, milliseconds(1), seconds(4)));
}

// What a worker does with the answer of an acquire, then `done`.
template <typename Done>
auto Workload::granted(Worker& worker, Done done) {
  return then(worker, [this, &worker, done = std::move(done)](absl::StatusOr<HoldRef>& answer) mutable {
    done(answer);
    if (!answer.ok()) return;
    locks_.granted(worker.node, *answer);
    worker.holds.push_back(*answer);
    worker.writes_left = static_cast<uint32_t>(worker.random.below(5));
  });
}

void Workload::acquire(Worker& worker) {
  const std::string name = lock_name(worker);
  const std::string mark = label(worker);
  const auto call = witness_.begin(worker.node, Witness::Kind::Acquire, name, mark);
  AcquireOptions options = acquire_options(worker, mark);
  if (plan_.work.lock_family) {
    options.sticky = worker.random.chance(0.4);
    if (!options.sticky && worker.random.chance(0.4)) options.mode = LockMode::Shared;
    options.reentrant = !options.sticky && worker.random.chance(0.4);
    if (!worker.holds.empty() && options.mode == LockMode::Exclusive) limit_wait(worker, options);
    if (acquire_here(worker, name, options, call)) return;
  }
  auto done = granted(worker, [this, call](const absl::StatusOr<HoldRef>& answer) { witness_.acquired(call, answer); });
  worker.waiting = client(worker).acquire(worker.session, name, std::move(options), std::move(done));
  if (worker.random.chance(0.15)) schedule(worker, seconds(2));
}

// As another thread of the process would, without the client's own.
bool Workload::acquire_here(Worker& worker, const std::string& name, const AcquireOptions& options, uint64_t call) {
  const bool fits = options.mode == LockMode::Exclusive && !options.reentrant && options.delay == Duration::zero();
  if (!fits || !worker.random.chance(0.5)) return false;
  const LeadingTime now = nodes_[worker.node]->clock_now().leading;
  const HoldRef hold = worker.session->delegations()->acquire(worker.session, name, options.owner_tag, now);
  if (hold == nullptr) return false;
  witness_.acquired(call, hold);
  locks_.granted(worker.node, hold);
  worker.holds.push_back(hold);
  worker.writes_left = static_cast<uint32_t>(worker.random.below(5));
  worker.state = State::Holding;
  schedule(worker, plan_.work.hold_max / 4);
  return true;
}

bool Workload::release_here(Worker& worker, const HoldRef& hold, uint64_t call) {
  if (!hold->delegation() || !worker.random.chance(0.5)) return false;
  hold->invalidate();
  const Delegations::Released released = hold->session()->delegations()->release(*hold);
  if (released == Delegations::Released::NotCurrent) return false;  // the client says why
  if (released == Delegations::Released::Serve) client(worker).released_locally(hold);
  witness_.released(call, hold, absl::OkStatus());
  worker.state = worker.holds.empty() ? State::Idle : State::Holding;
  schedule(worker, plan_.work.think_max);
  return true;
}

void Workload::acquire_several(Worker& worker) {
  std::vector<NamedLock> wanted;
  for (uint32_t i = 0; i < plan_.work.locks; ++i) {
    if (!worker.random.chance(0.6)) continue;
    wanted.push_back({fmt::format("lock-{}", i), worker.random.chance(0.4) ? LockMode::Shared : LockMode::Exclusive});
  }
  if (wanted.empty()) return acquire(worker);
  if (worker.random.chance(0.5)) std::swap(wanted.front(), wanted.back());
  const std::string mark = label(worker);
  const auto call = witness_.begin(worker.node, Witness::Kind::Acquire, wanted.front().name, mark);
  auto done = granted(worker, [this, call](const absl::StatusOr<HoldRef>& answer) { witness_.acquired(call, answer); });
  worker.waiting =
      client(worker).acquire_all(worker.session, std::move(wanted), acquire_options(worker, mark), std::move(done));
  if (worker.random.chance(0.15)) schedule(worker, seconds(2));
}

void Workload::convert(Worker& worker) {
  const HoldRef hold = worker.holds.back();
  const bool down = hold->terms().mode == LockMode::Exclusive;
  const auto call = witness_.begin(worker.node, Witness::Kind::Convert, hold->name());
  auto done = then(worker, [this, &worker, call](absl::StatusOr<HoldRef>& answer) {
    witness_.converted(call, answer);
    if (!answer.ok()) return;
    locks_.replaced(worker.holds.back());
    locks_.granted(worker.node, *answer);
    worker.holds.back() = *answer;
  });
  const CallDeadline deadline = call_deadline(worker);
  down ? client(worker).downgrade(hold, std::move(done), deadline) : client(worker).upgrade(hold, std::move(done), deadline);
}

void Workload::update_value(Worker& worker) {
  const HoldRef hold = worker.holds.back();
  const auto call = witness_.begin(worker.node, Witness::Kind::Value, hold->name());
  client(worker).update_value(hold, fmt::format("value of {}", call),
                              then(worker, [this, call](absl::Status& answer) { witness_.updated(call, answer); }),
                              call_deadline(worker));
}

void Workload::release(Worker& worker) {
  const HoldRef hold = std::move(worker.holds.back());
  worker.holds.pop_back();
  const auto call = witness_.begin_release(worker.node, hold);
  if (Recorder* recorder = world_.recorder()) recorder->releases(call, hold->token());
  if (release_here(worker, hold, call)) return;
  client(worker).release(hold,
                         then(worker, [this, call, hold](absl::Status& answer) { witness_.released(call, hold, answer); }),
                         call_deadline(worker));
}

void Workload::put(Worker& worker) {
  const std::string name = key(worker);
  const std::string mark = label(worker);
  const auto call = witness_.begin(worker.node, Witness::Kind::Put, name, mark);
  client(worker).put(name, mark,
                     then(worker,
                          [this, call](absl::StatusOr<PutResult>& answer) {
                            witness_.put(call, answer);
                            if (answer.ok()) newest_ = std::max(newest_, answer->revision);
                          }),
                     {.deadline = call_deadline(worker)});
}

void Workload::get(Worker& worker) {
  const uint64_t way = worker.random.below(10);
  get(worker, way < 2 ? Consistency::Local : way < 5 ? Consistency::Lease : Consistency::Linearizable);
}

void Workload::get(Worker& worker, Consistency consistency) {
  const std::string name = key(worker);
  const Witness::Kind kind = consistency == Consistency::Local   ? Witness::Kind::LocalGet
                             : consistency == Consistency::Lease ? Witness::Kind::LeaseGet
                                                                 : Witness::Kind::Get;
  const auto call = witness_.begin(worker.node, kind, name);
  client(worker).get(name, then(worker, [this, call](absl::StatusOr<GetResult>& answer) { witness_.got(call, answer); }),
                     call_deadline(worker), consistency);
}

void Workload::erase(Worker& worker) {
  const std::string name = key(worker);
  const auto call = witness_.begin(worker.node, Witness::Kind::Erase, name);
  client(worker).erase(name, then(worker, [this, call](absl::StatusOr<EraseResult>& answer) { witness_.erased(call, answer); }),
                       {.deadline = call_deadline(worker)});
}

// Most of the history is kept, sometimes none.
void Workload::compact(Worker& worker) {
  const uint64_t back = worker.random.below(worker.random.chance(0.5) ? 3 : 40);
  const Revision at(newest_.value() > back ? newest_.value() - back : 1);
  const auto call = witness_.begin_command(worker.node, Witness::Kind::Compact, "keys", machine::Compact{at});
  client(worker).keys().compact(at,
                                then(worker,
                                     [this, call](absl::StatusOr<CompactResult>& answer) {
                                       const auto ok = [](const machine::Result& result) {
                                         return result.code == machine::ResultCode::Ok;
                                       };
                                       witness_.executed(call, answer.status(), ok);
                                     }),
                                {.deadline = call_deadline(worker)});
}

void Workload::query(Worker& worker) {
  const std::string name = lock_name(worker);
  const uint64_t which = worker.random.below(3);
  if (which == 0) {
    const auto call = witness_.begin(worker.node, Witness::Kind::Holders, name);
    client(worker).holders(name,
                           then(worker, [this, call](absl::StatusOr<LockInfo>& answer) { witness_.looked(call, answer); }),
                           call_deadline(worker));
  } else if (which == 1) {
    const auto call = witness_.begin(worker.node, Witness::Kind::Queue, name);
    client(worker).queue(name, then(worker, [this, call](absl::StatusOr<QueueInfo>& answer) { witness_.queued(call, answer); }),
                         call_deadline(worker));
  } else {
    const auto call = witness_.begin(worker.node, Witness::Kind::Sessions, "all");
    client(worker).sessions(SessionId(), 0,
                            then(worker, [this, call](absl::StatusOr<SessionList>& answer) { witness_.listed(call, answer); }),
                            call_deadline(worker));
  }
}

void Workload::check(Worker& worker) {
  const HoldRef hold = worker.holds.back();
  const auto call = witness_.begin_check(worker.node, hold);
  client(worker).check(hold,
                       then(worker, [this, call, hold](absl::StatusOr<bool>& answer) { witness_.checked(call, hold, answer); }),
                       call_deadline(worker));
}

// ---- protected resources

void Workload::write_resource(Worker& worker) {
  const bool slow = worker.random.chance(0.05);
  const Duration delay = draw(worker.random, Duration::zero(), slow ? Duration(seconds(5)) : milliseconds(5));
  const HoldState& hold = *worker.holds.back();
  writes_.push_back({hold.name(), hold.token(), hold.terms().mode});
  world_.schedule(world_.now() + delay, EventKind::Resource, worker.node, 0, writes_.size() - 1);
}

// docs/semantics.md S-55.
void Workload::resource_event(const Event& event) {
  const ResourceWrite& write = writes_[event.item];
  Gate& gate = gates_[write.lock];
  const bool alone = write.mode == LockMode::Exclusive;
  const bool accepted = (alone ? write.token >= gate.highest : write.token > gate.exclusive) || defects_.gate_open;
  if (accepted) gate.highest = std::max(gate.highest, write.token);
  if (accepted && alone) gate.exclusive = write.token;
  if (!accepted) ++refused_;
  locks_.resource_admits(write.lock, write.token, write.mode, accepted);
}

}  // namespace coordkit::sim
