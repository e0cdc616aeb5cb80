#include "sim/oracle/convergence.h"

#include <fmt/format.h>

#include <algorithm>

#include "coordkit/feature_level.h"

namespace coordkit::sim {
namespace {

constexpr Duration kTtlAwaitedMax = std::chrono::minutes(2);  // of a dead program's session whose end is awaited

}  // namespace

bool Convergence::leader_began() const {
  const std::optional<uint32_t> leader = consensus_.leader();
  if (!leader) return false;
  const Engine& engine = *nodes_[*leader]->engine();
  return engine.core()->term_at(engine.applied()) == engine.leadership().term;
}

bool Convergence::level() const {
  return std::ranges::all_of(
      nodes_, [&](const auto& node) { return node->up() && node->engine()->applied() == consensus_.committed(); });
}

bool Convergence::levels_raised() const {
  return std::ranges::all_of(
      nodes_, [&](const auto& node) { return node->up() && node->engine()->status().feature_level == kFeatureLevel; });
}

bool Convergence::checkpoints_sound() const {
  return std::ranges::none_of(nodes_, [](const auto& node) { return node->up() && node->stores().state().in_doubt(); });
}

Duration Convergence::longest_ttl() const {
  Duration longest = plan_.work.ttl_max;
  for (const auto& [id, session] : model_.sessions().all()) {
    if (session.ttl <= kTtlAwaitedMax) longest = std::max(longest, session.ttl);
  }
  return longest;
}

SessionId Convergence::dead_session() const {
  for (const auto& [id, session] : model_.sessions().all()) {
    if (session.ttl > std::max<Duration>(kTtlAwaitedMax, plan_.work.ttl_max)) continue;
    const Origin now = callers_[place_id(session.node).value() - 1]->origin();
    if (now != Origin{session.node, StoreId(session.incarnation), session.boot}) return id;
  }
  return SessionId();
}

std::string Convergence::describe() const {
  std::string text =
      fmt::format("committed {}, pending {}: {}; locks {}, sessions {};", consensus_.committed().value(),
                  calls_.pending_count(), calls_.pending(), model_.locks().names().size(), model_.sessions().all().size());
  for (const std::string& name : model_.locks().names()) {
    for (const LockModel::Claim& hold : model_.locks().holds(name)) {
      text += fmt::format(" {}: n{} holds it by request {} of boot {} since {}, {} wait;", name,
                          hold.request.origin.replica.value(), hold.request.sequence.value(), hold.request.origin.boot.value(),
                          hold.since.value(), model_.locks().queue(name).size());
    }
    if (model_.locks().delayed(name)) text += fmt::format(" {} is delayed;", name);
  }
  for (const auto& node : nodes_) text += describe(*node);
  for (size_t place = nodes_.size(); place < callers_.size(); ++place) {
    const Caller& remote = *callers_[place];
    text += fmt::format(" n{}: {};", place + 1, remote.up() ? remote.engine()->status().reason : "down");
  }
  return text;
}

std::string Convergence::describe(const Node& node) const {
  if (!node.up()) return fmt::format(" n{}: down;", node.number() + 1);
  const EngineStatus status = node.engine()->status();
  const raft::Leadership& leadership = node.engine()->leadership();
  std::string text;
  if (leadership.role != raft::Role::Follower) text += " [" + consensus_.members().describe(node.number()) + "]";
  text += fmt::format(" n{}: state {} role {} term {} leader {} applied {} requests {} {} {};", node.number() + 1,
                      static_cast<int>(status.state), static_cast<int>(leadership.role), leadership.term.value(),
                      leadership.leader.value(), status.applied.value(), status.requests, status.reason, status.change);
  return text;
}

}  // namespace coordkit::sim
