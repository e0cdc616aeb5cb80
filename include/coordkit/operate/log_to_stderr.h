// Lines on the error output, for hosts that want to see events before they have chosen a log:
//
//   options.on_event = coordkit::log_to_stderr();
//
// One write for each line, so that lines of several replicas in one process do not mix.
//
// Threads: any.
#pragma once

#include "coordkit/export.h"
#include "coordkit/operate/replica_event.h"

namespace COORDKIT_EXPORT coordkit {

// Nothing below `least` is printed. A line begins with the date and the time of day in UTC, to the
// millisecond.
OnReplicaEvent log_to_stderr(Severity least = Severity::Info);

}  // namespace coordkit
