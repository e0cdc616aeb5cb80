#include "engine/queued_calls.h"

#include <algorithm>

namespace coordkit::engine {

void QueuedCalls::add(Call call, std::string_view command) {
  static_assert(std::is_trivially_destructible_v<Call>);
  call.command_bytes = static_cast<uint32_t>(command.size());
  void* const place = ::operator new(sizeof(Call) + command.size());
  Owned made(new (place) Call(call));
  command.copy(static_cast<char*>(place) + sizeof(Call), command.size());
  bytes_ += command.size();
  by_sequence_.insert(made.get());
  by_ticket_.insert(std::move(made));
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
  bytes_ -= call.command_bytes;
  by_sequence_.erase(by_sequence_.find(call.sequence));
  by_ticket_.erase(by_ticket_.find(call.ticket));
}

std::vector<Sequence> QueuedCalls::sequences() const {
  std::vector<Sequence> all;
  for (const Owned& call : by_ticket_) all.push_back(call->sequence);
  std::ranges::sort(all);
  return all;
}

}  // namespace coordkit::engine
