// The phases of a run: hostile, then calm until converged. Once faults are over this must hold (INV_R20, L11, L12): a leader
// within ten election timeouts, every call ends, the replicas are level, and every lock can be acquired again.
#include <fmt/format.h>

#include <algorithm>

#include "sim/nodes/cluster.h"
#include "sim/oracle/model_comparison.h"
#include "sim/oracle/violation.h"
#include "sim/record/recorder.h"

namespace coordkit::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Checks the condition between some events, not at every one.
template <typename Condition>
bool Cluster::run_until(TrueTime end, Condition condition) {
  while (!world_.empty() && world_.next_time() <= end) {
    for (int i = 0; i < 16 && !world_.empty() && world_.next_time() <= end; ++i) dispatch(world_.pop());
    if (condition()) return true;
  }
  return condition();
}

void Cluster::hostile_phase() {
  faults_.begin();
  churn_.begin();
  const TrueTime end = world_.now() + plan_.hostile;
  const auto ended = [&] { return script_.ended() || users_->ended(); };
  while (!ended() && !world_.empty() && world_.next_time() <= end) dispatch(world_.pop());
}

void Cluster::heal() {
  processes_.calm_down();
  network_.set_stale_delivery(false);  // a renewal of a dead process, still in flight, would prolong its session once more
  if (Recorder* recorder = world_.recorder()) recorder->faults().calm();
  faults_.end_all();
  churn_.come_back();
  processes_.replace_bad_disks();
  if (plan_.upgraded) processes_.finish_upgrade();
  faults_.first_start().finish();
  for (uint32_t node = 0; node < plan_.nodes; ++node) processes_.restore(node);
  connections_.disconnect_all();
  users_->calm_remotes();
  world_.trace(kNoNode, "all faults are over");
}

// False: a majority of disks is gone, by a change that took effect while one was lost. Then nothing is owed (FLT_P20).
bool Cluster::calm_phase() {
  heal();
  const ConsensusObserver& consensus = observers_.consensus;
  const bool owed = consensus.members().majorities_have_disks([this](uint32_t node) { return nodes_[node]->up(); });
  if (!owed) {
    world_.trace(kNoNode, "a majority of disks is gone");
    return false;
  }
  bring_everybody_back();
  const uint64_t elections_before = consensus.elections();
  await_dead_sessions();
  await_rest();
  const Model& model = observers_.model;
  if (model.sessions().all().empty() && model.coordination().anything_of_sessions()) {
    throw Violation("INV_L07", "something is left of a session that has ended");
  }
  for (const auto& node : nodes_) compare_with_model(*node, model, plan_.work);
  const uint64_t elections = consensus.elections() - elections_before;
  if (elections > 5) throw Violation("INV_R19", fmt::format("{} elections after all faults were over", elections));
  return true;
}

void Cluster::bring_everybody_back() {
  // Connections are re-established within 100 ms; parcels of the storm may still be in flight.
  const TrueTime leader_by = world_.now() + 10 * plan_.election_timeout + milliseconds(500);
  if (!run_until(leader_by, [&] { return convergence_.has_leader(); })) {
    throw Violation("INV_R20", "no leader: " + convergence_.describe());
  }
  churn_.calm_down();
  // Narrow windows and a busy lone voter may keep a new member from ever catching up: then the work ends first.
  const auto complete = [&] { return churn_.everybody_votes(); };
  if (!run_until(world_.now() + plan_.nodes * seconds(20), complete)) users_->end_work();
  if (!run_until(world_.now() + plan_.nodes * seconds(100), complete)) {
    throw Violation("INV_R20", "not every replica could be brought back: " + convergence_.describe());
  }
}

// INV_L11: what a dead process left behind ends within its TTL by the leader's clock, from the last leader's first entry on,
// which may have to wait for a voter that catches up.
void Cluster::await_dead_sessions() {
  const Model& model = observers_.model;
  while (true) {
    if (!run_until(world_.now() + seconds(60), [&] { return convergence_.leader_began(); })) {
      throw Violation("INV_R20", "no leader commits anything: " + convergence_.describe());
    }
    const Duration ttl = convergence_.longest_ttl() + milliseconds(50);
    const uint64_t elections = observers_.consensus.elections();
    const Index began = model.applied();
    const Duration entries = milliseconds(20) * static_cast<int64_t>(model.sessions().all().size());  // one for each that ends
    const TrueTime until = world_.now() + ttl * 103 / 100 + 4 * plan_.election_timeout + seconds(1) + entries;
    if (run_until(until, [&] { return !convergence_.dead_session(); })) return;
    if (observers_.consensus.elections() != elections) continue;
    const SessionId id = convergence_.dead_session();
    const SessionModel::Session& session = *model.sessions().find(id);
    if (std::max(session.resumed, session.ending) > began) continue;  // requested by another client: its time restarted
    throw Violation("INV_L11",
                    fmt::format("session {} of boot {} of n{}, opened at {} for {} ms, lives on: {}", id.value(),
                                session.boot.value(), session.node.value(), session.opened.value(),
                                std::chrono::duration_cast<milliseconds>(session.ttl).count(), convergence_.describe()));
  }
}

void Cluster::await_rest() {
  users_->wind_down();
  // Every call has a deadline of some seconds. Holds of the dead end with their session, at most a TTL after the last takeover.
  // Workers then release what they are granted, one after the other.
  const Duration ttl = convergence_.longest_ttl() + milliseconds(100);
  const TrueTime idle_by = world_.now() + seconds(60) + 4 * ttl;
  // The holds of an embedder's program are its own business.
  const auto calls_pend = [&] { return observers_.witness.calls().pending_count() != 0; };
  const auto locks_free = [&] { return options_.program || convergence_.nothing_held(); };
  const bool converged = run_until(idle_by, [&] {
    return !calls_pend() && users_->done() && locks_free() && convergence_.has_leader() && convergence_.level() &&
           convergence_.levels_raised() && convergence_.checkpoints_sound() && scrubs_.rot_is_over();
  });
  if (converged) return;
  users_->demand_all_caught_up();
  const char* id = calls_pend()                        ? "INV_L08"
                   : !convergence_.checkpoints_sound() ? "INV_S10"
                   : !scrubs_.rot_is_over()            ? "INV_S06"
                   : !convergence_.levels_raised()     ? "INV_S08"
                   : locks_free()                      ? "INV_R20"
                                                       : "INV_L12";
  throw Violation(id, "not converged: " + convergence_.describe());
}

// The demands of the test's author on each replica, once all are level.
void Cluster::check_by_author() const {
  if (!options_.check) return;
  for (const auto& node : nodes_) {
    const std::string sentence = options_.check(node->id(), *node->engine());
    if (!sentence.empty()) throw Violation("CHECK", fmt::format("n{}: {}", node->number() + 1, sentence));
  }
}

}  // namespace coordkit::sim
