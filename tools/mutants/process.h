// Runs one program to its end, with its output in a file. It does not outlive this process.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace coordkit::mutants {

struct Job {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // besides this process's own
  std::filesystem::path log;                       // overwritten
  std::chrono::seconds limit{0};                   // then it is asked to end, and killed if it does not
};

// The exit status as a shell reports it.
inline constexpr int kTimedOut = 124;
inline constexpr int kNotFound = 127;
inline constexpr int kSignalled = 128;  // and the signal's number

int run_to_end(const Job& job);  // throws std::system_error when the kernel has no process to give

}  // namespace coordkit::mutants
