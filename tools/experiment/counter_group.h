// The parent of a counter and of the nodes that update it under one lock: starts them, reads their reports, stops them.
//
// Threads: one owner. Anything that does not come in time, or ends too early, throws std::runtime_error.
#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/experiment/roles.h"
#include "tools/support/child.h"
#include "tools/support/lines.h"

namespace coordkit::experiment {

class CounterGroup {
 public:
  // What a process reports after its start: `from` is a node's id, or zero for the counter.
  using OnReport = std::function<void(int from, const std::string& event, const nlohmann::json& report)>;
  struct Arguments {
    std::vector<std::string> counter;  // beyond those of every counter
    std::vector<std::string> node;
  };

  explicit CounterGroup(OnReport on_report);

  // Empties `data`. All nodes are ready when it returns.
  void start(const std::filesystem::path& data, const std::filesystem::path& log, const Arguments& arguments);
  // Listens up to that moment.
  void listen(support::Deadline deadline);
  // The nodes first, then the counter, which prints its summary.
  void stop();

  support::Child& node(int id) { return nodes_.at(static_cast<size_t>(id)); }
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  template <typename Condition>
  void until(const std::string& what, support::Deadline deadline, Condition condition);
  void hear(const support::Line& line);

  const OnReport on_report_;
  const std::vector<std::string> addresses_;
  uint16_t port_ = 0;
  support::Child counter_;
  std::array<support::Child, kNodes + 1> nodes_;  // by id, from 1
  support::LineReader lines_;
  std::ofstream log_;
  int ready_ = 0;
  int ended_ = 0;
  bool leaving_ = false;
};

}  // namespace coordkit::experiment
