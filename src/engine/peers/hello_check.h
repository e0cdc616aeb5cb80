// Reasons not to listen to a peer, by its hello: settings that must be equal, and what its build can read. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "coordkit/engine/agreement.h"
#include "coordkit/ports/transport.h"

namespace coordkit::engine {

// `mine`: absent, settings are not compared. `feature_level`: the cluster's.
Disagreement check_hello(const std::optional<Agreement>& mine, uint64_t feature_level, const Hello& theirs);

}  // namespace coordkit::engine
