// Processes, wires and faults; calls and holds are in recorder_calls.cc.
#include "sim/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace coordkit::sim {
namespace {

using Topic = Timeline::Topic;

struct NamedKind {
  const char* name;
  Topic topic;
};
// In the order of the alternatives of Message.
constexpr NamedKind kNamedKinds[] = {
    {"VoteRequest", Topic::Votes},       {"VoteReply", Topic::Votes},       {"AppendRequest", Topic::Appends},
    {"AppendReply", Topic::Appends},     {"Heartbeat", Topic::Heartbeats},  {"HeartbeatReply", Topic::Heartbeats},
    {"GenesisOffer", Topic::Members},    {"Forward", Topic::Requests},      {"Refusal", Topic::Requests},
    {"ReadIndexRequest", Topic::Reads},  {"ReadIndexReply", Topic::Reads},  {"RenewRequest", Topic::Heartbeats},
    {"RenewReply", Topic::Heartbeats},   {"TimeoutNow", Topic::Votes},      {"Removed", Topic::Members},
    {"StateOffer", Topic::States},       {"StateRequest", Topic::States},   {"StateChunk", Topic::States},
    {"StateLoading", Topic::States},     {"ChangeRequest", Topic::Members}, {"ChangeReply", Topic::Members},
    {"TransferRequest", Topic::Members}, {"TransferReply", Topic::Members}, {"RecallRequest", Topic::Members},
    {"RecallReply", Topic::Members},     {"SteppedAside", Topic::Members},
};
static_assert(std::size(kNamedKinds) == std::variant_size_v<Message>);

constexpr uint64_t kRoutine = uint64_t{1} << 63;  // bit of a message's id: which list it is in
constexpr uint64_t kNoRow = ~uint64_t{0};

bool hits_one_node(FaultKind kind) {
  switch (kind) {
    case FaultKind::Storm:
    case FaultKind::OneWayCut:
    case FaultKind::PairCut:
    case FaultKind::Isolation:
    case FaultKind::Split:
    case FaultKind::Flap:
    case FaultKind::Clog:
    case FaultKind::HeldKind:
    case FaultKind::ConnectionLoss:
    case FaultKind::PowerLoss: return false;
    default: return true;
  }
}

bool is_a_moment(FaultKind kind) {
  return kind == FaultKind::ConnectionLoss || kind == FaultKind::ClockRate || kind == FaultKind::Rot ||
         kind == FaultKind::StateRot || kind == FaultKind::Stranger || kind == FaultKind::LostFiles ||
         kind == FaultKind::RotEverywhere;
}

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

Recorder::Recorder(Timeline& timeline, const World& world, uint32_t nodes)
    : timeline_(timeline),
      world_(world),
      standing_(nodes),
      progressing_(nodes),
      freezing_(nodes),
      keys_(timeline.limits.operations),
      messages_(timeline.limits.messages),
      routine_(timeline.limits.routine_messages),
      states_(timeline.limits.states),
      frozen_(timeline.limits.states),
      progress_(timeline.limits.progress),
      operations_(timeline.limits.operations),
      entries_(timeline.limits.entries),
      grants_(timeline.limits.grants),
      faults_(timeline.limits.faults),
      notes_(timeline.limits.notes) {
  for (uint32_t node = 0; node < nodes; ++node) {
    timeline_.lanes.push_back(fmt::format("n{}", node + 1));
    standing_[node].lane = progressing_[node].lane = node;
  }
  for (const NamedKind& kind : kNamedKinds) timeline_.kinds.push_back({kind.name, kind.topic});
}

// ---- processes

void Recorder::started(uint32_t node) {
  standing_[node] = {node, now(), Timeline::State::Follower, Term()};
  states_.add(standing_[node]);
}

void Recorder::stopped(uint32_t node) {
  resumed(node);
  stop_trusting(node);
  standing_[node] = {node, now(), Timeline::State::Down, Term()};
  states_.add(standing_[node]);
  for (Timeline::Operation& operation : operations_.items()) {
    if (operation.lane != node || operation.ended) continue;
    operation.ended = now();
    operation.outcome = "its process died";
  }
}

void Recorder::frozen(uint32_t node, const char* how) { freezing_[node] = frozen_.add({node, now(), std::nullopt, how}); }

void Recorder::resumed(uint32_t node) {
  if (!freezing_[node]) return;
  if (Timeline::Frozen* row = frozen_.find(*freezing_[node])) row->until = now();
  freezing_[node].reset();
}

void Recorder::stands(uint32_t node, const Engine& engine, const SimLogStore& log) {
  const raft::Leadership& leadership = engine.leadership();
  Timeline::Stands& last = standing_[node];
  if (last.state != state_of(leadership.role) || last.term != leadership.term) {
    last = {node, now(), state_of(leadership.role), leadership.term};
    states_.add(last);
  }
  Timeline::Progress next{node, Duration::zero(), log.submitted().last(), log.durable().last(), Index(), engine.applied()};
  if (engine.core() != nullptr) next.committed = engine.core()->commit();
  if (next == progressing_[node]) return;
  progressing_[node] = next;  // without its time, so that only the contents are compared
  next.at = now();
  progress_.add(next);
}

void Recorder::traced(const TraceRecord& record) {
  // These have a form of their own.
  constexpr std::string_view kElsewhere[] = {"receives message", "fault ", "is frozen", "call ends"};
  const std::string_view format = record.format;
  for (std::string_view start : kElsewhere) {
    if (format.starts_with(start)) return;
  }
  const auto& v = record.values;
  const bool members = format.find("members") != format.npos || format.find("change") != format.npos;
  note(record.node == kNoNode ? std::nullopt : std::optional(record.node),
       members ? Timeline::Weight::Members : Timeline::Weight::Plain,
       fmt::format(fmt::runtime(record.format), v[0], v[1], v[2], v[3]));
}

void Recorder::note(std::optional<uint32_t> lane, Timeline::Weight weight, std::string text) {
  notes_.add({lane, now(), weight, std::move(text)});
}

// ---- wires

uint64_t Recorder::sent(uint32_t from, uint32_t to, const Message& message) {
  Timeline::Message row;
  row.from = from;
  row.to = to;
  row.sent = row.ended = now();
  row.kind = static_cast<uint8_t>(message.index());
  fill(row, message);
  const bool routine = kNamedKinds[row.kind].topic == Topic::Heartbeats;
  return routine ? routine_.add(std::move(row)) | kRoutine : messages_.add(std::move(row));
}

void Recorder::fill(Timeline::Message& row, const Message& message) {
  if (const auto* append = std::get_if<raft::AppendRequest>(&message)) {
    row.term = append->entries.empty() ? append->term : append->entries.back().term;
    row.commit = append->commit;
    row.first = append->previous.index.next();
    row.last = append->previous.index + append->entries.size();
  } else if (const auto* reply = std::get_if<raft::AppendReply>(&message)) {
    row.term = reply->term;
    if (reply->verdict == raft::AppendVerdict::Accepted) row.last = reply->match;
  } else if (const auto* heartbeat = std::get_if<raft::Heartbeat>(&message)) {
    row.term = heartbeat->term;
    row.commit = heartbeat->commit;
  } else if (const auto* answer = std::get_if<raft::HeartbeatReply>(&message)) {
    row.term = answer->term;
    row.last = answer->match;
  } else if (const auto* forward = std::get_if<Forward>(&message)) {
    for (const SharedBytes& command : forward->commands) {
      const Said said = read_command(command.view());
      row.operations.insert(row.operations.end(), said.operations.begin(), said.operations.end());
    }
  } else if (const auto* request = std::get_if<raft::VoteRequest>(&message)) {
    row.term = request->term;
    row.last = request->last.index;
  } else if (const auto* vote = std::get_if<raft::VoteReply>(&message)) {
    row.term = vote->term;
  } else if (const auto* index = std::get_if<ReadIndexReply>(&message)) {
    row.last = index->read_index;
  } else if (const auto* offer = std::get_if<StateOffer>(&message)) {
    row.last = offer->at.index;
  }
}

Timeline::Message* Recorder::find_message(uint64_t id) {
  if (id == kNoRow) return nullptr;
  return (id & kRoutine) != 0 ? routine_.find(id & ~kRoutine) : messages_.find(id);
}

// A copy that also arrives is an arrow of its own.
void Recorder::arrived(uint64_t id) {
  Timeline::Message* row = find_message(id);
  if (row == nullptr) return;
  if (row->delivery == Timeline::Delivery::UnderWay) {
    row->ended = now();
    row->delivery = Timeline::Delivery::Arrived;
    return;
  }
  Timeline::Message copy = *row;
  copy.ended = now();
  copy.delivery = Timeline::Delivery::Arrived;
  (id & kRoutine) != 0 ? routine_.add(std::move(copy)) : messages_.add(std::move(copy));
}

void Recorder::lost(uint64_t id) {
  Timeline::Message* row = find_message(id);
  if (row == nullptr || row->delivery != Timeline::Delivery::UnderWay) return;
  row->ended = now();
  row->delivery = Timeline::Delivery::Lost;
}

// ---- faults

uint64_t Recorder::fault_begins(FaultKind kind, uint64_t ordinal, uint32_t node, Duration length) {
  Timeline::Fault row{.ordinal = ordinal, .kind = std::string(name_of(kind)), .from = now()};
  row.until = is_a_moment(kind) ? row.from : row.from + length;
  if (hits_one_node(kind)) row.lanes.push_back(node);
  const uint64_t number = faults_.add(std::move(row));
  open_faults_.insert(number);
  return number;
}

void Recorder::fault_cuts(uint64_t fault, const std::vector<std::pair<uint32_t, uint32_t>>& links) {
  Timeline::Fault* row = faults_.find(fault);
  if (row == nullptr) return;
  row->links = links;
  for (const auto& [from, to] : links) {
    for (uint32_t end : {from, to}) {
      if (std::find(row->lanes.begin(), row->lanes.end(), end) == row->lanes.end()) row->lanes.push_back(end);
    }
  }
}

void Recorder::fault_ends(uint64_t fault) {
  if (open_faults_.erase(fault) == 0) return;
  Timeline::Fault* row = faults_.find(fault);
  if (row != nullptr) row->until = std::min(row->until.value_or(now()), now());
}

void Recorder::calm() {
  timeline_.calm_from = now();
  while (!open_faults_.empty()) fault_ends(*open_faults_.begin());
}

// ---- the end

// Both lists are in sending order, except for copies.
std::vector<Timeline::Message> Recorder::merged_messages() {
  std::vector<Timeline::Message> all = messages_.take();
  std::vector<Timeline::Message> routine = routine_.take();
  std::move(routine.begin(), routine.end(), std::back_inserter(all));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.sent < b.sent; });
  return all;
}

void Recorder::finish() {
  timeline_.end = now();
  const std::pair<const char*, uint64_t> dropped[] = {
      {"messages", messages_.dropped()},   {"heartbeats", routine_.dropped()}, {"role changes", states_.dropped()},
      {"freezes", frozen_.dropped()},      {"log steps", progress_.dropped()}, {"operations", operations_.dropped()},
      {"log entries", entries_.dropped()}, {"grants", grants_.dropped()},      {"faults", faults_.dropped()},
      {"other events", notes_.dropped()}};
  for (const auto& [what, count] : dropped) {
    if (count > 0) timeline_.dropped.emplace_back(what, count);
  }
  timeline_.messages = merged_messages();
  timeline_.states = states_.take();
  timeline_.frozen = frozen_.take();
  timeline_.progress = progress_.take();
  timeline_.operations = operations_.take();
  timeline_.entries = entries_.take();
  timeline_.grants = grants_.take();
  timeline_.faults = faults_.take();
  timeline_.notes = notes_.take();
}

}  // namespace coordkit::sim
