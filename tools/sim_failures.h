// The reaction of ./dev sim to a failing seed: prints how to run it again, draws its timeline, shrinks it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "coordkit/sim/sim_options.h"

namespace coordkit::tools {

// The flags that remove part of a run or plant a defect in it.
struct FailureArguments {
  sim::Defects defects;
  sim::Reduction reduction;
  std::string trace = "out/trace.html";
  bool trace_asked = false;

  void add_to(CLI::App& app);
  // After parsing: turns words into values. A sentence if one of them is unknown.
  [[nodiscard]] std::string interpret();

 private:
  std::vector<std::string> defect_names_;
  std::vector<std::string> without_;
  std::string faults_;
  double hostile_seconds_ = -1;
  uint32_t nodes_ = 0;
  uint32_t workers_ = 0;
  CLI::Option* trace_option_ = nullptr;
};

void print_violation(const sim::SimOptions& options, const sim::Report& report);

// Runs it once more, recorded. An empty path: skipped.
void write_page(sim::SimOptions options, const std::string& path);

// The exit status.
int shrink(const sim::SimOptions& failing, const std::string& trace);

}  // namespace coordkit::tools
