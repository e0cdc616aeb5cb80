#include "client/calls/read_calls.h"

namespace coordkit::client {

CallId ReadCalls::ask(Terms terms, AnyCallback callback, OnState on_state) {
  if (!terms.refusal.ok()) return calls_.refuse(std::move(callback), std::move(terms.refusal));
  return calls_.enter(std::move(callback), OnAbandon::Forget, terms.deadline,
                      [this, options = terms.options, on_state = std::move(on_state)](CallId id, Now) mutable {
                        Call& call = *calls_.find(id);
                        call.ticket = requests_.when_readable(
                            {.consistency = options.consistency, .at_least = options.at_least, .deadline = call.deadline},
                            [this, id, on_state = std::move(on_state)](const Completion& completion, Now) mutable {
                              const auto state = requests_.reads(completion);
                              if (!state.ok()) return static_cast<void>(calls_.fail(id, state.status()));
                              on_state(id, **state, completion);
                            });
                      });
}

CallId ReadCalls::query(MachineId machine, std::string question, Terms terms, Callback<QueryResult> done) {
  if (!terms.refusal.ok()) return calls_.refuse(std::move(done), std::move(terms.refusal));
  return calls_.enter(std::move(done), OnAbandon::Forget, terms.deadline,
                      [this, machine, question = std::move(question), options = terms.options](CallId id, Now) mutable {
                        Call& call = *calls_.find(id);
                        call.ticket = requests_.when_readable(
                            {.machine = machine,
                             .question = std::move(question),
                             .consistency = options.consistency,
                             .at_least = options.at_least,
                             .deadline = call.deadline},
                            [this, id](const Completion& completion, Now) {
                              if (!completion.status.ok()) return static_cast<void>(calls_.fail(id, completion.status));
                              calls_.answer<QueryResult>(
                                  id, QueryResult{std::string(completion.bytes.view()), completion.index, completion.age});
                            });
                      });
}

}  // namespace coordkit::client
