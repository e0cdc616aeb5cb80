#include "sim/record/message_recorder.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

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

}  // namespace

MessageRecorder::MessageRecorder(Timeline& timeline, const World& world, const CommandReader& commands)
    : timeline_(timeline),
      world_(world),
      commands_(commands),
      messages_(timeline.limits.messages),
      routine_(timeline.limits.routine_messages) {
  for (const NamedKind& kind : kNamedKinds) timeline_.kinds.push_back({kind.name, kind.topic});
}

uint64_t MessageRecorder::sent(uint32_t from, uint32_t to, const Message& message) {
  Timeline::Message row;
  row.from = from;
  row.to = to;
  row.sent = row.ended = time_of(world_);
  row.kind = static_cast<uint8_t>(message.index());
  fill(row, message);
  const bool routine = kNamedKinds[row.kind].topic == Topic::Heartbeats;
  return routine ? routine_.add(std::move(row)) | kRoutine : messages_.add(std::move(row));
}

void MessageRecorder::fill(Timeline::Message& row, const Message& message) const {
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
      const CommandReader::Description description = commands_.read(command.view());
      row.operations.insert(row.operations.end(), description.operations.begin(), description.operations.end());
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

Timeline::Message* MessageRecorder::find(uint64_t id) {
  if (id == kNoRow) return nullptr;
  return (id & kRoutine) != 0 ? routine_.find(id & ~kRoutine) : messages_.find(id);
}

// A copy that also arrives is an arrow of its own.
void MessageRecorder::arrived(uint64_t id) {
  Timeline::Message* row = find(id);
  if (row == nullptr) return;
  if (row->delivery == Timeline::Delivery::UnderWay) {
    row->ended = time_of(world_);
    row->delivery = Timeline::Delivery::Arrived;
    return;
  }
  Timeline::Message copy = *row;
  copy.ended = time_of(world_);
  copy.delivery = Timeline::Delivery::Arrived;
  (id & kRoutine) != 0 ? routine_.add(std::move(copy)) : messages_.add(std::move(copy));
}

void MessageRecorder::lost(uint64_t id) {
  Timeline::Message* row = find(id);
  if (row == nullptr || row->delivery != Timeline::Delivery::UnderWay) return;
  row->ended = time_of(world_);
  row->delivery = Timeline::Delivery::Lost;
}

// Both lists are in sending order, except for copies.
void MessageRecorder::finish() {
  hand_over(messages_, "messages", timeline_, timeline_.messages);
  count_dropped(routine_, "heartbeats", timeline_);
  std::vector<Timeline::Message> routine = routine_.take();
  std::vector<Timeline::Message>& all = timeline_.messages;
  std::move(routine.begin(), routine.end(), std::back_inserter(all));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.sent < b.sent; });
}

}  // namespace coordkit::sim
