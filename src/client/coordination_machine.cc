#include "coordkit/engine/coordination_machine.h"

#include <memory>

#include "machine/machine.h"

namespace coordkit {

HostedMachine coordination_machine() { return {kCoordination, std::make_unique<machine::Machine>(row_prefix(kCoordination))}; }

}  // namespace coordkit
