// The logs that recovery may find after a crash, and whether it did: the model of a log against its bytes.
//
// Allowed are all writes known to be durable and any prefix of the doubtful ones, nothing else. The
// base may lag behind what was compacted, and rot may leave an older record of what was remembered about peers. Holes stand for
// entries that the disk has lost; everything around them must still be right.
#pragma once

#include <functional>
#include <span>

#include "log/log.h"
#include "sim/world/log_image.h"

namespace coordkit::sim {

enum class Recovered : uint8_t {
  Exactly,    // what the model allows
  WithHoles,  // the same, except for entries reported as damaged
  Otherwise,  // something is silently missing, or was never written
};

struct Leeway {
  Index compacted;     // the log was told to forget up to here
  bool intact = true;  // no rot or worse has struck
};

// Makes `durable` the state that was found, unless it is not an allowed one.
Recovered check_recovery(LogImage& durable, std::span<const LogWrite> doubtful, Leeway leeway,
                         const std::function<uint64_t(Position)>& history, const log::OpenedLog& found);

}  // namespace coordkit::sim
