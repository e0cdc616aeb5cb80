// A state machine of yours beside coordkit's, in the same log (ReplicaOptions::machines; the port
// is state_machine.h).
//
// You choose the ids, from 16 up, one for each machine, the same on every replica. Commands and
// checkpoint rows carry them for the life of the cluster, so an id is never given to another
// machine. Every replica must have every machine that ever had a command. Without one, open()
// refuses (kFailedPrecondition), and a running replica halts before the first command for it. To
// add a machine, restart each replica with it, and only then propose to it; it starts blank.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "coordkit/export.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// An event that an own machine announced in apply (ApplyOutput::events).
struct OwnEvent {
  Index index;          // of the entry that announced it
  std::string bytes;    // in the machine's own encoding
  uint64_t missed = 0;  // events before this one that were dropped, because too many bytes waited
                        // for the callback
};

struct OwnMachine {
  MachineId id;  // kFirstHostMachine (16) and up
  // Makes a blank machine. Called at open(), and again whenever the whole state is replaced; on one
  // thread at a time.
  std::function<std::unique_ptr<StateMachine>()> make;
  // Raise it whenever apply comes to other results than before for the same commands. Replicas that
  // meet compare it, and warn: two versions in one log make two states.
  uint64_t version = 0;
  // Called on the callback thread, in the order of the log, for the events of every entry that this
  // replica applies, whichever replica proposed it. Entries that are applied again after a restart
  // announce again. A state that arrives as a whole announces nothing. While more than
  // kEventBytesMax bytes wait here, newer events are dropped and counted in `missed`.
  std::function<void(const OwnEvent&)> on_event = {};
};
inline constexpr size_t kEventBytesMax = 64 << 20;  // of all machines of a replica together

}  // namespace coordkit
