// ./dev sim --profile compare: many runs of the comparison, a table or a JSON line, and a picture.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "coordkit/sim/compare.h"

namespace coordkit::tools {

struct CompareArguments {
  uint64_t runs = 100;
  uint64_t seed = 1;
  uint64_t replay = 0;  // not zero: this seed alone
  double seconds = 60;
  unsigned jobs = 2;
  bool json = false;
  std::string picture = "out/compare.svg";
  std::vector<std::string> only;  // kinds of faults; empty: all

  void add_to(CLI::App& app);  // the flags specific to this profile
};

// The exit status: 0 only if coordkit's part had no violation, no overlap and no lost update behind the fence.
int compare(const CompareArguments& arguments);

}  // namespace coordkit::tools
