// The names of faults, as the command line and the trace have them.
#include <optional>
#include <string_view>

#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {
namespace {

constexpr std::string_view kFaultNames[kFaultKinds] = {
    "storm",      "one_way_cut",     "pair_cut",       "isolation",     "split",           "flap",  "clog",        "fade",
    "held_kind",  "connection_loss", "crash",          "crash_in_turn", "power_loss",      "pause", "suspend",     "slow_disk",
    "clock_rate", "stranger",        "overtaken",      "disk_error",    "disk_full",       "rot",   "misdirected", "lost_sync",
    "state_rot",  "lost_files",      "rot_everywhere", "spare_error",   "checkpoint_error"};

}  // namespace

std::string_view name_of(FaultKind kind) { return kFaultNames[static_cast<size_t>(kind)]; }

std::optional<FaultKind> fault_named(std::string_view name) {
  for (size_t kind = 0; kind < kFaultKinds; ++kind) {
    if (kFaultNames[kind] == name) return FaultKind(kind);
  }
  return std::nullopt;
}

}  // namespace coordkit::sim
