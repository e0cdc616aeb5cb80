#include "engine/queued_calls.h"

namespace coordkit::engine {

void QueuedCalls::add(const Terms& terms, std::string_view command) {
  static_assert(std::is_trivially_destructible_v<Call> && std::is_trivially_copyable_v<MachineId>);
  const bool other = terms.machine != kCoordination;
  void* const place = ::operator new(sizeof(Call) + command.size() + (other ? sizeof terms.machine : 0));
  Owned made(new (place) Call(terms, command.size()));
  char* const behind = static_cast<char*>(place) + sizeof(Call);
  command.copy(behind, command.size());
  if (other) std::memcpy(behind + command.size(), &terms.machine, sizeof terms.machine);
  bytes_ += command.size();
  by_sequence_.insert(made.get());
  by_ticket_.insert(std::move(made));
}

MachineId QueuedCalls::Call::other_machine() const {
  MachineId machine;
  std::memcpy(&machine, command().data() + command_bytes_, sizeof machine);
  return machine;
}

const QueuedCalls::Call* QueuedCalls::find(Ticket ticket) const {
  const auto found = by_ticket_.find(ticket);
  return found == by_ticket_.end() ? nullptr : found->get();
}

const QueuedCalls::Call* QueuedCalls::find(Sequence sequence) const {
  const auto found = by_sequence_.find(sequence);
  return found == by_sequence_.end() ? nullptr : *found;
}

void QueuedCalls::erase(const Call& call) {
  bytes_ -= call.command().size();
  by_sequence_.erase(by_sequence_.find(call.sequence()));
  by_ticket_.erase(by_ticket_.find(call.ticket()));
}

std::vector<Sequence> QueuedCalls::sequences() const {
  std::vector<Sequence> all;
  for (const Call* call : by_sequence_) all.push_back(call->sequence());
  return all;
}

}  // namespace coordkit::engine
