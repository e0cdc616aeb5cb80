// The naive twin of semaphores, latches, barriers, double barriers, claim queues, counters and groups: flat lists, scanned as
// often as needed. docs/semantics.md S-50 and S-37 nearly word for word; src/coordination is never asked. Each kind has a
// model of its own; here is what concerns all of them: commands, sessions that end, and the order in which waits are decided.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "machine/command.h"
#include "machine/objects/object_views.h"
#include "sim/objects/barrier_model.h"
#include "sim/objects/claim_queue_model.h"
#include "sim/objects/coordination_entry.h"
#include "sim/objects/counter_model.h"
#include "sim/objects/double_barrier_model.h"
#include "sim/objects/group_model.h"
#include "sim/objects/latch_model.h"
#include "sim/objects/semaphore_model.h"
#include "sim/objects/waits_and_holds.h"

namespace coordkit::sim {

class CoordinationModel {
 public:
  using Kind = coordination::Kind;
  using Object = CoordinationEntry::Object;
  using Waiter = DoubleBarrierModel::Waiter;

  // Tokens come from the counter of the locks.
  explicit CoordinationModel(uint64_t& counter) : lines_(counter, entry_) {}
  CoordinationModel(const CoordinationModel&) = delete;  // its parts refer to each other
  CoordinationModel& operator=(const CoordinationModel&) = delete;

  void begin_entry(Index index);
  // Queued: it waits, and its end is handed out by decide_waits(), whatever ends it.
  machine::Result run(const machine::CoordinationCommand& command, const RequestId& id);
  // Releases permits, an item or a place. False: the session has no such hold.
  bool release(SessionId session, const std::string& name, Token token);
  // nullopt: it neither waits nor holds.
  std::optional<machine::Result> cancel(SessionId session, const RequestId& request);
  void time_out(Index queued) { lines_.time_out(queued); }  // of a wait
  void end_claim(Index queued, Token token);                // its term is over
  void end(SessionId session);
  void end_waits(SessionId session, Waiter waiter);
  void regrant_all(SessionId session) { lines_.regrant_all(session); }
  void decide_waits(std::vector<LockModel::Ended>& ended);

  const std::set<Object>& touched() const { return entry_.touched; }  // by the last entry
  machine::ObjectView look(const Object& object) const;
  bool held(const std::string& name, Token token) const;
  bool anything_of_sessions() const;

 private:
  void give_back(const WaitsAndHolds::Hold& hold);

  CoordinationEntry entry_;
  WaitsAndHolds lines_;
  SemaphoreModel semaphores_{lines_, entry_};
  LatchModel latches_{lines_, entry_};
  BarrierModel barriers_{lines_, entry_};
  DoubleBarrierModel double_barriers_{lines_, entry_};
  ClaimQueueModel queues_{lines_, entry_};
  CounterModel counters_{entry_};
  GroupModel groups_{entry_};
};

}  // namespace coordkit::sim
