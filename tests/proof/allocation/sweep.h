// Three replicas in one process with TLS, real files, checkpoints, state transfers, watches, locks, backups and scrubs, while
// allocations of their threads fail one after the other (failing_malloc.h).
//
// The replicas run in a child process. If a failure ends that or holds it up, the parent counts it, and another child continues
// with the failures that are left.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace coordkit::testkit {

struct SweepOrder {
  std::chrono::seconds time_max{};  // no further failure after this
  int stack_depth = 0;              // frames that tell two allocations apart
  uint64_t also = 0;                // further allocations that fail with each
  uint64_t part = 0;                // this part of the stacks, of so many:
  uint64_t parts = 1;
};

struct SweepResult {
  uint64_t failed = 0;              // allocations
  bool complete = false;            // the last round met no stack that had not failed before
  uint64_t halts = 0;               // replicas that halted, and were opened again
  std::vector<std::string> deaths;  // of the process: the signal, and the stack of the allocation before it
  std::vector<std::string> hangs;
  std::vector<std::string> losses;  // an answered write that is gone, a token that did not grow
  std::vector<std::string> wrong;   // anything else that is not as promised
  std::string tally;                // for each thread: its allocations, and how many failed
};

SweepResult sweep_allocations(const SweepOrder& order);
std::string describe(const SweepResult& result);  // some lines

}  // namespace coordkit::testkit
