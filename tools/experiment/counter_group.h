// A counter and the nodes that update it under one lock, one of them possibly without a replica.
//
// Threads: one owner.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/experiment/processes.h"
#include "tools/experiment/roles.h"

namespace coordkit::experiment {

class CounterGroup {
 public:
  struct Arguments {
    std::vector<std::string> counter;  // beyond those of every counter
    std::vector<std::string> node;
    bool remote = false;  // nodes are gateways, and there is one more, without a replica: kRemote
  };
  static constexpr int kRemote = kNodes + 1;

  // Empties `data`. Reports come from a node's id, or from zero, the counter.
  CounterGroup(const std::filesystem::path& data, const std::filesystem::path& log, Processes::OnReport on_report);

  // All nodes are ready when it returns.
  void start(const Arguments& arguments);
  void listen(support::Deadline deadline) { processes_.listen(deadline); }
  // The nodes first, then the counter, which prints its summary.
  void stop();

  support::Child& node(int id) { return processes_[id]; }
  // For members, those of the nodes, and where nodes listen for remotes.
  std::vector<std::string> addresses() const { return some_addresses(0); }
  std::vector<std::string> gateways() const { return some_addresses(kNodes); }

 private:
  std::vector<std::string> some_addresses(size_t first) const;
  void start_node(int id, const Arguments& arguments);

  const std::filesystem::path data_;
  uint16_t port_ = 0;
  int ready_ = 0;
  int nodes_ = kNodes;  // with the remote
  Processes processes_;
};

}  // namespace coordkit::experiment
