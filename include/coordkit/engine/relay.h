// The work of an engine for remotes, callers without a replica that are linked to its process. Such
// a process is a gateway (docs/decisions/0052). It also posts Ask, with a question, and Renew.
#pragma once

#include <optional>
#include <vector>

#include "coordkit/bytes.h"
#include "coordkit/error.h"
#include "coordkit/export.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// An input of the engine: commands of remotes, encoded as in Forward, and checked. A command that
// was executed is answered from the state. Others are handed to the leader once; without a leader
// they are dropped, and their remotes hand them over again.
struct Relay {
  struct Command {
    SharedBytes bytes;
    RequestId id;  // as in the bytes; the sequence is zero: they register the origin
  };
  std::vector<Command> commands;
};

// An effect: the answer to a command of a remote. Every replica computes it.
struct RemoteAnswer {
  RequestId request;
  ApplyOutput::Stage stage = ApplyOutput::Stage::Final;  // as in Completion
  std::optional<Reason> refused = {};                    // before the machine saw it
  SharedBytes bytes = {};                                // of the machine
  Index index = {};                                      // of the deciding entry
  bool overtook = false;                                 // nothing was done: it came before its predecessor. Hand it over again
};

}  // namespace coordkit
