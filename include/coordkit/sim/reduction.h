// A smaller version of a run: faults that stay away, fewer nodes, less time. Every field that is
// set overrides the seed's draw, so a seed with a reduction is a run like any other and repeats bit
// for bit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>

#include "coordkit/types.h"

namespace coordkit::sim {

enum class FaultKind : uint8_t;

struct Reduction {
  std::set<FaultKind> without;               // kinds that never strike
  std::optional<std::set<uint64_t>> faults;  // only these strike, by their ordinal in the run, from
                                             // 1
  std::optional<Duration> hostile;           // length of the hostile part
  std::optional<uint32_t> nodes;             // at most as many as the seed draws; at least 1
  std::optional<uint32_t> workers;           // per node, at most as many as the seed draws; at
                                             // least 1

  // Whether a fault may strike: its kind is not left out, and its ordinal is listed if any is.
  bool strikes(FaultKind kind, uint64_t ordinal) const {
    return !without.contains(kind) && (!faults || faults->contains(ordinal));
  }
  // Whether nothing is set: the run is the one that the seed draws.
  bool empty() const { return without.empty() && !faults && !hostile && !nodes && !workers; }
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

}  // namespace coordkit::sim
