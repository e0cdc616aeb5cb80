// `coordctl check HISTORY.jsonl --model NAME`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace coordkit::coordctl {

// Exit statuses. Stable: scripts depend on them.
inline constexpr int kLinearizable = 0;
inline constexpr int kNotLinearizable = 1;
inline constexpr int kUndecided = 2;
inline constexpr int kBadInput = 3;  // the arguments, the file, or a line of it

struct CheckArguments {
  std::string file;
  std::string model;
  uint64_t budget = 0;
  uint64_t configurations = 0;
  uint64_t limit = 1;
  uint64_t revision = 1;
  bool whole = false;
  bool json = false;
};

void add_check(CLI::App& app, CheckArguments& arguments);
int run_check(const CheckArguments& arguments);

}  // namespace coordkit::coordctl
