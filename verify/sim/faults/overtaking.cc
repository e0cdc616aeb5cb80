#include "sim/faults/overtaking.h"

#include "raft/members/configuration_rules.h"

namespace coordkit::sim {

void Overtaking::begin(uint32_t leader, Duration held, Duration length) {
  leader_ = leader;
  later(leader, Duration(random_.below(held.count() / 2)), Step::Fill);
  later(leader, held / 2 + Duration(random_.below(held.count() / 2)), Step::Ask);
  later(leader, held + 2 * plan_.election_timeout + Duration(random_.below(length.count())), Step::Restart);
}

void Overtaking::later(uint32_t node, Duration delay, Step step) {
  world_.schedule(world_.now() + delay, EventKind::Overtaking, node, 0, static_cast<uint64_t>(step));
}

void Overtaking::event(const Event& event) {
  if (leader_ != event.node) return;
  Node& node = *nodes_[event.node];
  const bool leads = node.up() && node.engine()->leadership().role == raft::Role::Leader;
  if (leads && static_cast<Step>(event.item) == Step::Fill) return fill_log(node);
  if (leads && static_cast<Step>(event.item) == Step::Ask) return ask(event.node);
  if (static_cast<Step>(event.item) != Step::Restart) return;
  leader_.reset();
  if (!node.up() || leads) return;
  node.crash(random_.chance(0.5) ? CrashKind::Process : CrashKind::Power);
  world_.schedule(world_.now() + Duration(random_.below(plan_.election_timeout.count())), EventKind::Restart, event.node);
}

// The log gets more entries than the next leader appends before its own change.
void Overtaking::fill_log(Node& node) {
  for (uint64_t left = random_.below(48); left > 0; --left) {
    Client& client = node.client();
    client.open_session({.ttl = std::chrono::seconds(1)}, [&client](const absl::StatusOr<SessionRef>& session) {
      if (session.ok()) client.close(*session, [](const absl::Status&) {});
    });
  }
  node.wake();
}

void Overtaking::turned(uint32_t node, const EngineEffects& effects) {
  const bool elected = effects.leadership && effects.leadership->role == raft::Role::Leader;
  if (elected && leader_ && node != *leader_) ask(node);
}

// A change that may be made: another voter loses its vote, or a replica that is no member is added.
void Overtaking::ask(uint32_t node) {
  using Kind = raft::MemberChange::Kind;
  const raft::Configuration& members = consensus_.members().in_force(node);
  const auto other = static_cast<uint32_t>((node + 1 + random_.below(plan_.nodes - 1)) % plan_.nodes);
  const raft::Member* member = raft::member_of(members, ReplicaId(other + 1));
  const Kind kind = member == nullptr ? Kind::AddLearner : random_.chance(0.5) ? Kind::Demote : Kind::Remove;
  churn_.ask_for(node, {.kind = kind, .member = churn_.new_member(other)});
}

}  // namespace coordkit::sim
