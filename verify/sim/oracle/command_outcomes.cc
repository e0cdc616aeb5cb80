#include "sim/oracle/command_outcomes.h"

#include <utility>

#include "sim/nodes/caller.h"
#include "sim/world/is_any.h"

namespace coordkit::sim {

using machine::Result;

std::string CommandOutcomes::key_of(ReplicaId sender, const machine::Request::Body& body) {
  machine::Request request{.body = body};
  if (auto* resume = std::get_if<machine::ResumeSession>(&request.body))
    resume->generation = {};  // only the client's own claim
  return std::to_string(place_id(sender).value()) + " " + machine::encode(request);
}

void CommandOutcomes::arrived(const machine::Request& request, const RequestId& id, Index index) {
  const bool known_by_its_words =
      is_any<machine::CoordinationCommand, machine::ResumeSession, machine::KillSession, machine::ForceRelease,
             machine::Compact, machine::Delete, Transaction, machine::GrantLease, machine::RenewLease, machine::RevokeLease>(
          request.body);
  if (known_by_its_words) {
    std::string key = key_of(id.origin.replica, request.body);
    std::vector<Execution>& same = executions_[key];
    executing_[id] = {std::move(key), same.size()};
    same.push_back({.request = id});
  }
  const std::string* text = nullptr;
  if (const auto* open = std::get_if<machine::OpenSession>(&request.body)) text = &open->metadata;
  if (const auto* acquire = std::get_if<machine::Acquire>(&request.body)) text = &acquire->texts.value;
  if (const auto* all = std::get_if<machine::AcquireAll>(&request.body)) text = &all->texts.value;
  if (const auto* put = std::get_if<machine::Put>(&request.body)) text = &put->value;
  if (text == nullptr || text->empty()) return;
  Outcome& outcome = outcomes_[*text];
  ++outcome.executions;
  outcome.request = id;
  outcome.arrived = index;
  labels_[id] = *text;
}

void CommandOutcomes::finish(const RequestId& id, Result result, Index index, Revision revision) {
  if (const auto execution = executing_.find(id); execution != executing_.end()) {
    Execution& known = executions_[execution->second.first][execution->second.second];
    known.result = result;
    known.index = index;
  }
  const auto label = labels_.find(id);
  if (label == labels_.end()) return;
  Outcome& outcome = outcomes_[label->second];
  result.revision = revision;
  outcome.result = result;
  outcome.index = index;
}

const CommandOutcomes::Outcome* CommandOutcomes::find(const std::string& label) const {
  const auto it = outcomes_.find(label);
  return it == outcomes_.end() ? nullptr : &it->second;
}

const std::vector<CommandOutcomes::Execution>& CommandOutcomes::executions(const std::string& key) const {
  static const std::vector<Execution> none;
  const auto found = executions_.find(key);
  return found == executions_.end() ? none : found->second;
}

const Result* CommandOutcomes::answered_at(Index index) const {
  const auto it = answers_.find(index);
  return it == answers_.end() ? nullptr : &it->second;
}

}  // namespace coordkit::sim
