// The totals of many runs: the sums that ./dev sim prints, and their way to a file and back, so that a long set of runs can be
// resumed where it was stopped.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "coordkit/sim/sim_options.h"

namespace coordkit::tools {

struct Totals {
  sim::Report sum;
  uint64_t runs = 0;
  uint64_t repeated = 0;  // of these, run a second time to see the same hash
  uint64_t violations = 0;
  double virtual_seconds = 0;
  double wall_seconds = 0;
  double cpu_seconds = 0;

  void add(const sim::Report& report);
};

// The figures of the JSON line; `seed` and `profile` say which runs.
nlohmann::ordered_json figures(const Totals& totals, uint64_t seed, const std::string& profile);

// From a line that figures() made; nullopt for any other.
std::optional<Totals> totals_of(const nlohmann::json& line);

}  // namespace coordkit::tools
