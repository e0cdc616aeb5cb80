// The faults of a comparison. They are drawn once and are the same for all four recipes.
#pragma once

#include <vector>

#include "base/random.h"
#include "coordkit/sim/compare.h"

namespace coordkit::sim::compare {

inline constexpr uint32_t kMachines = 5;
inline constexpr uint32_t kService = kMachines;  // where the store of the first two recipes lives

enum class StrikeKind : uint8_t { Pause, Cut, Rate, WallStep, StopMachine };

struct Strike {
  Duration at{};  // since the beginning
  StrikeKind kind = StrikeKind::Pause;
  uint32_t machine = 0;  // kService: rates only
  Duration length{};     // Pause, Cut, StopMachine
  int64_t rate_ppm = 0;  // Rate
  Duration step{};       // WallStep
};

// In order of time. No two strikes of one kind are in force at once on one machine.
std::vector<Strike> draw_strikes(const CompareOptions& options, Random random);

}  // namespace coordkit::sim::compare
