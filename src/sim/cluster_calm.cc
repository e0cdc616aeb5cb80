// The schedule of a run: hostile, then calm until converged. What must hold once faults are over (INV_R20, L11, L12): a leader
// within ten election timeouts, every call ends, the replicas are level, and every lock can be acquired again.
#include <fmt/format.h>

#include <algorithm>

#include "sim/cluster.h"
#include "sim/violation.h"

namespace coordkit::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Duration kTtlAwaitedMax = std::chrono::minutes(2);  // of a dead program's session whose end is awaited

}  // namespace

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
  for (size_t i = 0; i < plan_.faults.size(); ++i) plan_fault(i);
  churn_.begin();
  const TrueTime end = world_.now() + plan_.hostile;
  while (!ended() && !world_.empty() && world_.next_time() <= end) dispatch(world_.pop());
}

bool Cluster::has_leader() const { return consensus_.leader().has_value(); }

// It has applied an entry of its own term.
bool Cluster::leader_began() const {
  const std::optional<uint32_t> leader = consensus_.leader();
  if (!leader) return false;
  const Engine& engine = *nodes_[*leader]->engine();
  return engine.core()->term_at(engine.applied()) == engine.leadership().term;
}

bool Cluster::level() const {
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [&](const auto& node) { return node->up() && node->engine()->applied() == consensus_.committed(); });
}

// What an embedder's program holds on to is its own business.
bool Cluster::locks_free() const { return options_.program || (model_.locks().names().empty() && model_.sessions().empty()); }

std::string Cluster::describe() const {
  std::string text =
      fmt::format("committed {}, pending {}: {}; locks {}, sessions {};", consensus_.committed().value(),
                  witness_.pending_count(), witness_.pending(), model_.locks().names().size(), model_.sessions().size());
  for (const std::string& name : model_.locks().names()) {
    for (const LockModel::Claim& hold : model_.locks().holds(name)) {
      text += fmt::format(" {}: n{} holds it by request {} of boot {} since {}, {} wait;", name,
                          hold.request.origin.replica.value(), hold.request.sequence.value(), hold.request.origin.boot.value(),
                          hold.since.value(), model_.locks().queue(name).size());
    }
    if (model_.locks().delayed(name)) text += fmt::format(" {} is delayed;", name);
  }
  for (const auto& node : nodes_) {
    if (!node->up()) {
      text += fmt::format(" n{}: down;", node->number() + 1);
      continue;
    }
    const EngineStatus status = node->engine()->status();
    const raft::Leadership& leadership = node->engine()->leadership();
    if (leadership.role != raft::Role::Follower) text += " [" + consensus_.members().describe(node->number()) + "]";
    text += fmt::format(" n{}: state {} role {} term {} leader {} applied {} requests {} {} {};", node->number() + 1,
                        static_cast<int>(status.state), static_cast<int>(leadership.role), leadership.term.value(),
                        leadership.leader.value(), status.applied.value(), status.requests, status.reason, status.change);
  }
  return text;
}

bool Cluster::levels_raised() const {
  if (plan_.newest_level == 0) return true;
  return std::ranges::all_of(
      nodes_, [&](const auto& node) { return node->up() && node->engine()->status().feature_level == plan_.newest_level; });
}

// False: a majority of disks is gone, by a change that took effect while one was lost. Then nothing is owed (FLT_P20).
bool Cluster::calm_phase() {
  heal();
  const bool owed = consensus_.members().majorities_have_disks([this](uint32_t node) { return nodes_[node]->up(); });
  if (!owed) {
    world_.trace(kNoNode, "a majority of disks is gone");
    return false;
  }
  const TrueTime healed = world_.now();
  // Connections are re-established within 100 ms; parcels of the storm may still be in flight.
  const TrueTime leader_by = healed + 10 * plan_.election_timeout + milliseconds(500);
  if (!run_until(leader_by, [&] { return has_leader(); })) throw Violation("INV_R20", "no leader: " + describe());

  churn_.calm_down();
  // Narrow windows and a busy lone voter may keep a new member from ever catching up: then the work ends first.
  const auto complete = [&] { return churn_.everybody_votes(); };
  if (!run_until(world_.now() + plan_.nodes * seconds(20), complete)) workload_->wind_down();
  if (!run_until(world_.now() + plan_.nodes * seconds(100), complete)) {
    throw Violation("INV_R20", "not everybody could be brought back: " + describe());
  }
  const uint64_t elections_before = consensus_.elections();
  await_dead_sessions();
  workload_->wind_down();
  for (const auto& [event, roamers] : roamers_) roamers->wind_down();
  programs_.calm();
  // Every call has a deadline of some seconds; what the dead hold ends with its session, at most a TTL after the last
  // takeover; workers then release what they are granted, one after the other.
  const Duration ttl = longest_ttl() + milliseconds(100);
  const TrueTime idle_by = world_.now() + seconds(60) + 4 * ttl;
  const bool converged = run_until(idle_by, [&] {
    return witness_.pending_count() == 0 && workload_->idle() && programs_.done() && locks_free() && has_leader() && level() &&
           levels_raised() && rot_is_over() &&
           std::ranges::all_of(roamers_, [](const auto& each) { return each.second->all_told(); });
  });
  for (const auto& [event, roamers] : roamers_) {
    if (!converged && !roamers->all_told()) throw Violation("INV_W02", roamers->missing());
  }
  if (!converged) {
    const char* id = witness_.pending_count() != 0 ? "INV_L08"
                     : !rot_is_over()              ? "INV_S06"
                     : !levels_raised()            ? "INV_S08"
                     : locks_free()                ? "INV_R20"
                                                   : "INV_L12";
    throw Violation(id, "not converged: " + describe());
  }
  if (model_.sessions().empty() && model_.coordination().anything_of_sessions()) {
    throw Violation("INV_L07", "something is left of a session that has ended");
  }
  for (uint32_t node = 0; node < plan_.nodes; ++node) compare_with_model(node);
  const uint64_t elections = consensus_.elections() - elections_before;
  if (elections > 5) throw Violation("INV_R19", fmt::format("{} elections after all faults were over", elections));
  return true;
}

// INV_L11: what a dead process left behind ends within its TTL by the leader's clock, from the last leader's first entry on,
// which may have to wait for a voter that catches up.
void Cluster::await_dead_sessions() {
  while (true) {
    if (!run_until(world_.now() + seconds(60), [&] { return leader_began(); })) {
      throw Violation("INV_R20", "no leader commits anything: " + describe());
    }
    const Duration ttl = longest_ttl() + milliseconds(50);
    const uint64_t elections = consensus_.elections();
    const Index began = model_.applied();
    const Duration entries = milliseconds(20) * static_cast<int64_t>(model_.sessions().size());  // one for each that ends
    const TrueTime until = world_.now() + ttl * 103 / 100 + 4 * plan_.election_timeout + seconds(1) + entries;
    if (run_until(until, [&] { return !dead_session(); })) return;
    if (consensus_.elections() != elections) continue;
    const SessionId id = dead_session();
    const Model::Session& session = *model_.session(id);
    if (std::max(session.resumed, session.ending) > began) continue;  // requested by another client: its time restarted
    throw Violation("INV_L11", fmt::format("session {} of boot {} of n{}, opened at {} for {} ms, lives on: {}", id.value(),
                                           session.boot.value(), session.node.value(), session.opened.value(),
                                           std::chrono::duration_cast<milliseconds>(session.ttl).count(), describe()));
  }
}

// Programs choose the TTLs of their own sessions. One that outlives every run is not awaited.
Duration Cluster::longest_ttl() const {
  Duration longest = plan_.work.ttl_max;
  for (const auto& [id, session] : model_.sessions()) {
    if (session.ttl <= kTtlAwaitedMax) longest = std::max(longest, session.ttl);
  }
  return longest;
}

SessionId Cluster::dead_session() const {
  for (const auto& [id, session] : model_.sessions()) {
    if (session.ttl > std::max<Duration>(kTtlAwaitedMax, plan_.work.ttl_max)) continue;
    const SimLogStore& log = nodes_[session.node.value() - 1]->log();
    if (log.boot() != session.boot || log.id().value() != session.incarnation) return id;
  }
  return SessionId();
}

}  // namespace coordkit::sim
