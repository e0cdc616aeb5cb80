// An answer about an object, in the machine's form, so that it can be compared with the model.
#pragma once

#include "coordkit/engine/client.h"
#include "machine/reads.h"

namespace coordkit::sim {

machine::ObjectView view_of(const SemaphoreInfo& info);
machine::ObjectView view_of(const LatchInfo& info);
machine::ObjectView view_of(const BarrierInfo& info);
machine::ObjectView view_of(const DoubleBarrierInfo& info);
machine::ObjectView view_of(const ItemQueueInfo& info);
machine::ObjectView view_of(const GroupInfo& info);

}  // namespace coordkit::sim
