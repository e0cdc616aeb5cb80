// A transport that dials others through doors (wires.h), although all know each other by their own addresses.
#pragma once

#include <string>
#include <vector>

#include "coordkit/ports/parts.h"

namespace coordkit::experiment {

// Over TCP in plain text. `doors`: that of member 1, 2, ...
PartFactory<Transport> through_doors(std::vector<std::string> doors);

}  // namespace coordkit::experiment
