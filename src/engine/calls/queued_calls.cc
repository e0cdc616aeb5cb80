#include "engine/calls/queued_calls.h"

#include "base/check.h"

namespace coordkit::engine {

QueuedCalls::Call::Call(const Terms& terms)
    : ticket_(terms.ticket),
      sequence_(terms.sequence.value() & kSequenceMax),
      has_deadline_(terms.has_deadline),
      of_other_machine_(terms.machine != kCoordination) {
  COORDKIT_CHECK(sequence() == terms.sequence);
}

void QueuedCalls::add(const Terms& terms) {
  const Handle handle = calls_.add();
  calls_[handle] = Call(terms);
  if (calls_[handle].of_other_machine_) other_machines_.emplace(terms.ticket, terms.machine);
  by_ticket_.insert(handle);
  by_sequence_.insert(handle);
}

const QueuedCalls::Call* QueuedCalls::find(Ticket ticket) const {
  const auto found = by_ticket_.find(ticket);
  return found == by_ticket_.end() ? nullptr : &calls_[*found];
}

const QueuedCalls::Call* QueuedCalls::find(Sequence sequence) const {
  const auto found = by_sequence_.find(sequence);
  return found == by_sequence_.end() ? nullptr : &calls_[*found];
}

MachineId QueuedCalls::machine(const Call& call) const {
  return call.of_other_machine_ ? other_machines_.at(call.ticket()) : kCoordination;
}

void QueuedCalls::erase(const Call& call) {
  const auto found = by_ticket_.find(call.ticket());
  const Handle handle = *found;
  if (call.of_other_machine_) other_machines_.erase(call.ticket());
  by_sequence_.erase(by_sequence_.find(call.sequence()));
  by_ticket_.erase(found);
  calls_.remove(handle);
}

}  // namespace coordkit::engine
