// Sessions that change hands or are ended by others: what a supervisor and an administrator do (docs/semantics.md S-45,
// S-57). A program saves its session when it opens it; after its process died, or because it is wrongly believed dead,
// another process takes the session over.
#include <algorithm>
#include <utility>

#include "sim/workload.h"

namespace coordkit::sim {

void Workload::write_down(Worker& worker) {
  if (worker.session->secret().empty()) return;
  papers_.push_back({worker.session->id(), worker.session->secret(), {{worker.node, nodes_[worker.node]->epoch()}}});
}

// False: there is nothing to resume.
bool Workload::resume(Worker& worker) {
  std::erase_if(papers_, [this](const Paper& paper) { return locks_.over(paper.session); });
  if (papers_.empty()) return false;
  Paper& paper = papers_[worker.random.below(papers_.size())];
  const bool running = std::ranges::any_of(paper.processes, [this](const auto& process) { return runs(process); });
  if (running && worker.random.chance(0.7)) return false;
  ResumeOptions options;
  options.deadline = call_deadline(worker);
  options.previous_is_gone = !running && worker.random.chance(0.3);
  const bool forged = worker.random.chance(0.05);  // a caller that knows the session but not its secret
  if (!forged) paper.processes.emplace_back(worker.node, nodes_[worker.node]->epoch());  // from the moment it asks
  const SessionId id = paper.session;
  const std::string secret = forged ? paper.secret + "?" : paper.secret;
  const auto call =
      witness_.begin_command(worker.node, Witness::Kind::Resume, "session",
                             machine::ResumeSession{.id = id, .secret = secret, .previous_is_gone = options.previous_is_gone});
  const Situation situation = running                    ? Situation::SessionTakenOver
                              : options.previous_is_gone ? Situation::SessionVouchedFor
                                                         : Situation::SessionResumed;
  auto done = then(worker, [this, &worker, call, id, situation](absl::StatusOr<ResumedSession>& answer) {
    witness_.resumed(call, id, answer);
    if (!answer.ok()) return;
    reach(situation);
    locks_.resumed(worker.node, *answer);
    worker.session = answer->session;
    worker.holds = answer->holds;
    worker.writes_left = static_cast<uint32_t>(worker.random.below(5));
    // The first access shows the new token, whatever writes may still be pending.
    if (!worker.holds.empty() && worker.random.chance(0.5)) write_resource(worker);
  });
  client(worker).resume_session(id, secret, std::move(options), std::move(done));
  return true;
}

// By its id, or by a hold that is being written with.
void Workload::end_another(Worker& worker) {
  if (!writes_.empty() && worker.random.chance(0.5)) {
    const size_t recent = std::min<size_t>(writes_.size(), 8);
    const ResourceWrite& write = writes_[writes_.size() - 1 - worker.random.below(recent)];
    const auto call = witness_.begin_command(worker.node, Witness::Kind::Kill, write.lock,
                                             machine::ForceRelease{.name = write.lock, .token = write.token});
    auto done = then(worker, [this, call](absl::StatusOr<SessionId>& answer) {
      witness_.executed(call, answer.status(), [&answer](const machine::Result& result) {
        return result.code == machine::ResultCode::Ok && result.session == *answer;
      });
      if (answer.ok()) reach(Situation::HoldForced);
    });
    client(worker).force_release(write.lock, write.token, std::move(done), call_deadline(worker));
    return;
  }
  if (papers_.empty()) return schedule(worker, plan_.work.think_max);
  const SessionId victim = papers_[worker.random.below(papers_.size())].session;
  const auto call = witness_.begin_command(worker.node, Witness::Kind::Kill, "session", machine::KillSession{.victim = victim});
  auto done = then(worker, [this, call, victim](absl::Status& answer) {
    witness_.executed(call, answer, [victim](const machine::Result& result) {
      return result.code == machine::ResultCode::Ok && result.session == victim;
    });
    if (answer.ok()) reach(Situation::SessionKilled);
  });
  client(worker).kill_session(victim, std::move(done), call_deadline(worker));
}

}  // namespace coordkit::sim
