// A state machine of yours beside coordkit's, in the same log (ReplicaOptions::machines; the port is state_machine.h).
//
// Ids are yours to choose, from 16 up, one for each machine, the same on every replica: commands and checkpoint rows carry them
// for the life of the cluster, so an id is never given to another machine. Every replica must have every machine that ever
// had a command: open() refuses without one (kFailedPrecondition), and a running replica without one halts before the first
// command of it. To add a machine, restart each replica with it, and only then propose to it; it starts blank.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "coordkit/export.h"
#include "coordkit/state_machine.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// What an own machine announced in apply (ApplyOutput::events).
struct OwnEvent {
  Index index;
  std::string bytes;
  uint64_t missed = 0;  // events before this one that were dropped, because too many bytes waited for the callback
};

struct OwnMachine {
  MachineId id;  // kFirstHostMachine (16) and up
  // Makes a blank machine. Called at open(), and again whenever the state is replaced as a whole; on one thread at a time.
  std::function<std::unique_ptr<StateMachine>()> make;
  // Counted up by you whenever apply comes to other results than before for the same commands. Replicas that meet compare it,
  // and warn: two versions at work in one log make two states.
  uint64_t version = 0;
  // Called on the callback thread, in the order of the log, for the events of every entry this replica applies: its own
  // proposals' and the others'. Entries that are applied again after a restart announce again; what came in as a whole state
  // announces nothing. While more than kEventBytesMax bytes wait here, newer events are dropped and counted in `missed`.
  std::function<void(const OwnEvent&)> on_event = {};
};
inline constexpr size_t kEventBytesMax = 64 << 20;  // of all machines of a replica together

}  // namespace coordkit
