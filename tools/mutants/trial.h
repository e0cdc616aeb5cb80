// Does anything notice a mutant? Its directed test must pass without it and fail with it, with a message, not by hanging; one
// that breaks safety must be found by random simulation as well. Programs of a tree of mutants (tree.h) are run for that, one
// after the other.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/mutants/table.h"

namespace coordkit::mutants {

struct Setting {
  std::filesystem::path build;  // of the tree of mutants
  std::filesystem::path logs;
  std::chrono::seconds patience{300};  // for each simulation
  unsigned jobs = 1;
};

enum class Directed { Killed, Alive, Hangs, Broken };  // Broken: the test fails, or there is none, without the mutant too

const char* to_string(Directed outcome);

Directed try_directed(const Mutant& mutant, const Setting& setting);

struct Simulated {
  std::string violation;  // empty: nothing was found
  std::string seeds;      // until then; empty: the program ended without reporting it
  std::optional<double> seconds;
};

// Seeds from 1 on until one violates something.
Simulated try_simulation(const Mutant& mutant, const Setting& setting);

// The simulator's output, and the exit status that a shell would see.
Simulated read_simulation(const std::string& output, int status, double seconds);

}  // namespace coordkit::mutants
