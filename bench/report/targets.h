// What is to be reached, as data: the rows of `./dev bench table`. Each is a figure of ours, alone or in proportion to another
// of the same run, with a floor that must hold and an aim. What a run has to measure follows from the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/figures.h"

namespace coordkit::bench {

struct Quantity {
  Subject of;
  std::string figure;
  double quantile = 0.5;  // of its rounds
};

enum class Better : uint8_t { More, Less };

struct Target {
  std::string group;  // rows that are measured together (--rows)
  std::string name;
  Quantity ours;
  std::optional<Quantity> against;  // none: the figure itself is judged
  Better better = Better::More;
  double floor = 0;
  double aim = 0;
  std::string unit;  // of the figure
};

struct TargetOptions {
  uint64_t sessions = 100'000;  // of the rows about many
  uint64_t keys = 100'000;
  uint64_t waiters = 10'000;
  uint64_t process_sessions = 1'000'000;  // of one process, for its memory
};

std::vector<Target> targets(const TargetOptions& options = {});

}  // namespace coordkit::bench
