#include "client/watches/observations.h"

namespace coordkit::client {

// Failed questions are repeated at the pace of all retries.
void Observations::ask(Now now) {
  for (const SnapshotQuestion& question : observers_.to_ask()) {
    requests_.when_readable({.deadline = now.lagging + options_.call_timeout},
                            [this, question](const Completion& completion, Now) {
                              if (const auto state = requests_.reads(completion); state.ok()) {
                                observers_.answered(question, **state, completion.index);
                              } else {
                                observers_.failed(question);
                              }
                            });
  }
  if (!observers_.any_to_retry() || retrying_ || requests_.halted()) return;
  retrying_ = true;
  requests_.retry(now, [this](Now) {
    retrying_ = false;
    observers_.retry();
  });
}

}  // namespace coordkit::client
