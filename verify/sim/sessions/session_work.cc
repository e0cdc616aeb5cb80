#include "sim/sessions/session_work.h"

#include <algorithm>
#include <utility>

#include "sim/record/recorder.h"
#include "sim/world/draw.h"

namespace coordkit::sim {

// Several threads of control may share a session; their tags tell them apart, or not.
bool SessionWork::borrow(Worker& worker) {
  if (!worker.random.chance(0.3)) return false;
  for (const Worker& other : workers_) {
    if (other.node != worker.node || !other.session || other.session->phase() == SessionPhase::Lost) continue;
    worker.session = other.session;
    return true;
  }
  return false;
}

void SessionWork::open(Worker& worker) {
  if (borrow(worker)) return calls_.schedule(worker, work_.think_max);
  OpenOptions options;
  options.ttl = draw(worker.random, work_.ttl_min, work_.ttl_max);
  options.metadata = calls_.label(worker);
  options.deadline = calls_.deadline(worker);
  const auto call = witness_.calls().begin(worker.node, CallKind::Open, "session", options.metadata);
  calls_.client(worker).open_session(std::move(options),
                                     calls_.then(worker, [this, &worker, call](absl::StatusOr<SessionRef>& answer) {
                                       witness_.sessions().opened(call, answer);
                                       if (!answer.ok()) return;
                                       worker.session = *answer;
                                       locks_.opened(worker.node, worker.session);
                                       save(worker);
                                     }));
}

void SessionWork::close(Worker& worker) {
  const auto call = witness_.calls().begin(worker.node, CallKind::Close, "session");
  const SessionRef session = std::exchange(worker.session, nullptr);
  if (Recorder* recorder = calls_.recorder()) recorder->operations().closes(call, session->id());
  worker.holds.clear();
  worker.things.clear();
  auto done = calls_.then(
      worker, [this, call, id = session->id()](absl::Status& answer) { witness_.sessions().closed(call, id, answer); });
  calls_.client(worker).close(session, std::move(done), calls_.deadline(worker));
}

void SessionWork::save(Worker& worker) {
  if (worker.session->secret().empty()) return;
  saved_.push_back({worker.session->id(), worker.session->secret(), {{worker.node, calls_.epoch(worker.node), {}}}});
}

// Mostly the one that another process has just asked for and vouched for: two may find a session without a process, and either
// may be bound to it first.
SessionWork::SavedSession& SessionWork::choose(Random& random) {
  const auto found = std::ranges::find(saved_, vouched_for_, &SavedSession::session);
  return found == saved_.end() || random.chance(0.3) ? saved_[random.below(saved_.size())] : *found;
}

bool SessionWork::runs(const SavedSession& saved, Generation known) const {
  return std::ranges::any_of(saved.processes, [&](const Process& process) {
    return calls_.epoch(process.node) == process.epoch && (!process.asked || *process.asked < known);
  });
}

// False: there is nothing to resume.
bool SessionWork::resume(Worker& worker) {
  std::erase_if(saved_, [this](const SavedSession& saved) { return locks_.over(saved.session); });
  if (saved_.empty()) return false;
  SavedSession& saved = choose(worker.random);
  const std::optional<Generation> known = calls_.generation(worker, saved.session);
  // A caller without a replica vouches only if every process that ever asked for the session is gone.
  const bool sees = calls_.engine(worker).state_is_here();
  const bool running = sees ? !known || runs(saved, *known) : runs(saved, Generation(~uint64_t{0}));
  if (running && worker.random.chance(0.7)) return false;
  ResumeOptions options;
  options.deadline = calls_.deadline(worker);
  options.previous_is_gone = !running && worker.random.chance(0.5);
  const bool forged = worker.random.chance(0.05);  // a caller that knows the session but not its secret
  // From the moment it asks.
  if (!forged) saved.processes.push_back({worker.node, calls_.epoch(worker.node), known.value_or(Generation())});
  const SessionId id = saved.session;
  if (options.previous_is_gone && !forged) vouched_for_ = id;
  const std::string secret = forged ? saved.secret + "?" : saved.secret;
  const auto call = witness_.calls().begin_command(
      worker.node, CallKind::Resume, "session",
      machine::ResumeSession{.id = id, .secret = secret, .previous_is_gone = options.previous_is_gone});
  const Situation situation = running                    ? Situation::SessionTakenOver
                              : options.previous_is_gone ? Situation::SessionVouchedFor
                                                         : Situation::SessionResumed;
  auto done = calls_.then(worker, [this, &worker, call, id, situation](absl::StatusOr<ResumedSession>& answer) {
    const bool shared = witness_.sessions().resumed(call, id, answer);
    if (!answer.ok()) return;
    const bool late = situation == Situation::SessionVouchedFor && shared;
    calls_.reach(late ? Situation::SessionVouchedTooLate : situation);
    locks_.resumed(worker.node, *answer);
    worker.session = answer->session;
    worker.holds = answer->holds;
    worker.writes_left = static_cast<uint32_t>(worker.random.below(5));
    // The first access shows the new token, whatever writes may still be pending.
    if (!worker.holds.empty() && worker.random.chance(0.5)) resources_.write(worker);
  });
  calls_.client(worker).resume_session(id, secret, std::move(options), std::move(done));
  return true;
}

// By its id, or by a hold that is being written with.
void SessionWork::end_another(Worker& worker) {
  if (!resources_.never_written() && worker.random.chance(0.5)) {
    const ProtectedResources::Write& write = resources_.recent(worker.random, 8);
    const auto call = witness_.calls().begin_command(worker.node, CallKind::Kill, write.lock,
                                                     machine::ForceRelease{.name = write.lock, .token = write.token});
    auto done = calls_.then(worker, [this, call](absl::StatusOr<SessionId>& answer) {
      witness_.sessions().forced(call, answer);
      if (answer.ok()) calls_.reach(Situation::HoldForced);
    });
    calls_.client(worker).force_release(write.lock, write.token, std::move(done), calls_.deadline(worker));
    return;
  }
  if (saved_.empty()) return calls_.schedule(worker, work_.think_max);
  const SessionId victim = saved_[worker.random.below(saved_.size())].session;
  const auto call =
      witness_.calls().begin_command(worker.node, CallKind::Kill, "session", machine::KillSession{.victim = victim});
  auto done = calls_.then(worker, [this, call, victim](absl::Status& answer) {
    witness_.sessions().killed(call, victim, answer);
    if (answer.ok()) calls_.reach(Situation::SessionKilled);
  });
  calls_.client(worker).kill_session(victim, std::move(done), calls_.deadline(worker));
}

}  // namespace coordkit::sim
