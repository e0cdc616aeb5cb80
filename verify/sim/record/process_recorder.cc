#include "sim/record/process_recorder.h"

#include <fmt/format.h>

namespace coordkit::sim {
namespace {

Timeline::State state_of(raft::Role role) {
  switch (role) {
    case raft::Role::Follower: return Timeline::State::Follower;
    case raft::Role::PreCandidate: return Timeline::State::PreCandidate;
    case raft::Role::Candidate: return Timeline::State::Candidate;
    case raft::Role::Leader: return Timeline::State::Leader;
  }
  return Timeline::State::Follower;
}

}  // namespace

ProcessRecorder::ProcessRecorder(Timeline& timeline, const World& world, uint32_t nodes)
    : timeline_(timeline),
      world_(world),
      standing_(nodes),
      progressing_(nodes),
      freezing_(nodes),
      states_(timeline.limits.states),
      frozen_(timeline.limits.states),
      progress_(timeline.limits.progress) {
  for (uint32_t node = 0; node < nodes; ++node) {
    timeline_.lanes.push_back(fmt::format("n{}", node + 1));
    standing_[node].lane = progressing_[node].lane = node;
  }
}

void ProcessRecorder::started(uint32_t node) {
  standing_[node] = {node, time_of(world_), Timeline::State::Follower, Term()};
  states_.add(standing_[node]);
}

void ProcessRecorder::stopped(uint32_t node) {
  resumed(node);
  standing_[node] = {node, time_of(world_), Timeline::State::Down, Term()};
  states_.add(standing_[node]);
}

void ProcessRecorder::frozen(uint32_t node, const char* how) {
  freezing_[node] = frozen_.add({node, time_of(world_), std::nullopt, how});
}

void ProcessRecorder::resumed(uint32_t node) {
  if (!freezing_[node]) return;
  if (Timeline::Frozen* row = frozen_.find(*freezing_[node])) row->until = time_of(world_);
  freezing_[node].reset();
}

void ProcessRecorder::stands(uint32_t node, const Engine& engine, const SimLogStore& log) {
  const raft::Leadership& leadership = engine.leadership();
  Timeline::Stands& last = standing_[node];
  if (last.state != state_of(leadership.role) || last.term != leadership.term) {
    last = {node, time_of(world_), state_of(leadership.role), leadership.term};
    states_.add(last);
  }
  Timeline::Progress next{node, Duration::zero(), log.submitted().last(), log.durable().last(), Index(), engine.applied()};
  if (engine.core() != nullptr) next.committed = engine.core()->commit();
  if (next == progressing_[node]) return;
  progressing_[node] = next;  // without its time, so that only the contents are compared
  next.at = time_of(world_);
  progress_.add(next);
}

void ProcessRecorder::finish() {
  hand_over(states_, "role changes", timeline_, timeline_.states);
  hand_over(frozen_, "freezes", timeline_, timeline_.frozen);
  hand_over(progress_, "log steps", timeline_, timeline_.progress);
}

}  // namespace coordkit::sim
