// A machine of the host's, by its factory.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "coordkit/ports/own_machine.h"

namespace coordkit::engine {

// Never null. An exception of a factory is the host's way to say that there is no machine: InvalidArgument, with its words.
absl::StatusOr<std::unique_ptr<StateMachine>> made_machine(const OwnMachine& own);

}  // namespace coordkit::engine
