#include "client/watches/observations.h"

namespace coordkit::client {

// Failed questions are repeated at the pace of all retries.
void Observations::ask(Now now) {
  for (const WantedSnapshot& wanted : observers_.to_ask()) {
    const auto ask = [&](const auto& question) {
      requests_.ask({.deadline = now.lagging + options_.call_timeout}, question,
                    [this, wanted](const auto&, auto&& answer, const Completion& completion, Now) {
                      if (answer.ok()) {
                        observers_.answered(wanted, *std::move(answer), completion.index);
                      } else {
                        observers_.failed(wanted);
                      }
                    });
    };
    std::visit(ask, wanted.question);
  }
  if (!observers_.any_to_retry() || retrying_ || requests_.halted()) return;
  retrying_ = true;
  requests_.retry(now, [this](Now) {
    retrying_ = false;
    observers_.retry();
  });
}

}  // namespace coordkit::client
