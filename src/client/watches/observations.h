// Connects observers to the engine: each gets one linearizable read for a snapshot, then the applied changes.
#pragma once

#include <string>
#include <utility>

#include "client/calls/requests.h"
#include "client/watches/observers.h"

namespace coordkit::client {

class Observations {
 public:
  Observations(const ClientOptions& options, Deliveries& deliveries, Requests& requests)
      : options_(options),
        requests_(requests),
        observers_(deliveries, [this](coordination::Kind kind, const std::string& name, bool wanted) {
          requests_.observe(machine::subject_of(kind, name), wanted);
        }) {}

  Observers& observers() { return observers_; }
  ObserverId observe(Observers::Target target) { return stopped_ ? ObserverId() : observers_.add(std::move(target)); }
  void stop() {
    stopped_ = true;
    observers_.clear();
  }
  void ask(Now now);  // asks for the snapshots that are needed
  bool wants_turn() const {
    return observers_.any_to_ask() || (observers_.any_to_retry() && !retrying_ && !requests_.halted());
  }

 private:
  const ClientOptions& options_;
  Requests& requests_;
  Observers observers_;
  bool retrying_ = false;  // a retry is scheduled
  bool stopped_ = false;
};

}  // namespace coordkit::client
