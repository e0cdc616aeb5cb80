// The results of commands of semaphores, barriers and the like before they get the caller's types.
#pragma once

#include <functional>
#include <optional>

#include "coordkit/client/handles.h"
#include "machine/objects/object_views.h"
#include "machine/result.h"

namespace coordkit::client {

struct Executed {
  machine::Result result;
  Index index;   // of the entry that decided
  HoldRef hold;  // of a grant
};

// Whether the state of its object alone tells the outcome of a command. Then one confirmed read is as good as an entry
// (docs/semantics.md S-37). Without `judge` it does not.
struct OutcomeOfView {
  coordination::Kind kind = coordination::Kind::Semaphore;
  std::function<std::optional<machine::ResultCode>(const machine::ObjectView&)> judge;
};

}  // namespace coordkit::client
