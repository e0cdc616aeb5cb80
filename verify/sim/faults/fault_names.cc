// The names of faults, as the command line and the trace have them.
#include <optional>
#include <string_view>

#include "base/enum_words.h"
#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {

std::string_view name_of(FaultKind kind) { return words_of(kind); }

std::optional<FaultKind> fault_named(std::string_view name) {
  for (size_t kind = 0; kind < kFaultKinds; ++kind) {
    if (name_of(FaultKind(kind)) == name) return FaultKind(kind);
  }
  return std::nullopt;
}

}  // namespace coordkit::sim
