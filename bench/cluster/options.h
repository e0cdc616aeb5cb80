// The command line of coordkit-bench.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/cluster/cluster.h"
#include "bench/cluster/failover.h"
#include "bench/cluster/grow.h"
#include "bench/cluster/suite.h"
#include "bench/cluster/table.h"
#include "bench/skeleton/skeleton.h"

namespace coordkit::bench {

struct Arguments {
  std::string command;  // the suite, table, plot, or the role of a process
  Product product;
  Suite loads;
  GrowOptions grow;
  FailoverOptions failover;
  double overload_seconds = 60;
  std::vector<uint64_t> takeover_sessions{10, 1'000'000};
  std::vector<std::string> memory_kinds{"session", "key", "waiter", "process"};
  uint64_t memory_count = 10'000;
  TableOptions table;
  std::vector<std::string> figures;  // of plot
  std::string out = "out/plots";
  std::string then, now;  // of compare
  std::string data = "out/bench-data";
  std::string csv;
  bool json = false;
  bool allow_memory = false;

  MemberOptions member;
  std::vector<std::string> gateways;  // of a remote
  GrowMemberOptions grown;
  skeleton::ReplicaArguments bare;
};

// Defines all commands. `command` and what follows from it is filled in by completed(), after the line was parsed.
void add_commands(CLI::App& app, Arguments& arguments);
void complete(const CLI::App& app, Arguments& arguments);

}  // namespace coordkit::bench
