#include "client/calls/read_calls.h"

namespace coordkit::client {

CallId ReadCalls::query(MachineId machine, std::string question, Terms terms, Callback<QueryResult> done) {
  if (!terms.refusal.ok()) return calls_.refuse(std::move(done), std::move(terms.refusal));
  const CallDeadline deadline = terms.deadline;
  return calls_.enter(
      std::move(done), OnAbandon::Forget, deadline,
      [this, machine, question = std::move(question), terms = std::move(terms)](CallId id, Now) mutable {
        Call& call = *calls_.find(id);
        Ask ask = terms.until(call.deadline);
        ask.machine = machine;
        ask.question = std::move(question);
        call.ticket = requests_.ask(std::move(ask), [this, id](const Completion& completion, Now) {
          if (!completion.status.ok()) return static_cast<void>(calls_.fail(id, completion.status));
          calls_.answer<QueryResult>(id, QueryResult{std::string(completion.bytes.view()), completion.index, completion.age});
        });
      });
}

}  // namespace coordkit::client
