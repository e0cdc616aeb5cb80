// Asynchronous calls that are answered by the health of a replica: health_async() and wait_ready_async(). They are looked at
// after each turn while there are any.
//
// Threads: the engine's; once stopped, any that runs calls on the stopped client.
#pragma once

#include <optional>

#include "absl/container/btree_map.h"
#include "coordkit/client/client_options.h"
#include "coordkit/service.h"

namespace coordkit {

// The health that this engine knows by itself.
Health health_of(const Engine& engine, LaggingTime now);
// The answer of wait_ready() for this health; absent: it is to be waited for.
std::optional<absl::Status> readiness(const Health& health);
// The same when the time is over.
absl::Status not_ready_yet(const Health& health);

class HealthCalls {
 public:
  bool any() const { return !calls_.empty(); }
  LaggingTime next_deadline() const;
  // Answered after the next turn.
  Ticket ask(Callback<Health> done);
  // Answered once it is ready, or cannot be, or at the deadline.
  Ticket wait_ready(LaggingTime deadline, DoneCallback done);
  // False: not one of these, or ended.
  bool abandon(Ticket call);
  // True: some were answered.
  bool tell(const Health& health, LaggingTime now);
  // Answers all, and later ones at once: with this health, or that the replica stops.
  void stop(const Health& health);

 private:
  struct Call {
    Callback<Health> done;
    bool until_ready = false;
    LaggingTime deadline = LaggingTime::max();
  };
  Ticket enlist(Call call);

  absl::btree_map<Ticket, Call> calls_;
  Ticket next_{uint64_t{1} << 62};  // the other calls of door 1 have lower ones
  std::optional<Health> last_;      // stopped
};

}  // namespace coordkit
