// The parent's side of the experiments with load: members as processes, their reports, and their cost.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tools/experiment/processes.h"
#include "tools/support/memory_use.h"

namespace coordkit::experiment {

struct MemoryUse : support::MemoryUse {
  uint64_t anonymous_peak = 0;  // over the moments of measurement
};

// The reports of a member since its start.
struct MemberNews {
  bool filled = false;
  std::string state, sentence;
  uint64_t term = 0, leader = 0, applied = 0, commit = 0;
  uint64_t written = 0, refused = 0;
  std::chrono::steady_clock::time_point reported_at{};
  std::set<std::string> transfers;  // the sentences that named one
  uint64_t probes = 0, probes_failed_while_ready = 0;
};

class LoadGroup {
 public:
  LoadGroup(const std::filesystem::path& data, const std::filesystem::path& log, size_t members, uint64_t log_mb = 64);

  size_t size() const { return processes_.addresses().size(); }
  void start(size_t id);
  void start_all();
  void stop(size_t id) { processes_.close(static_cast<int>(id)); }  // with a clean exit
  support::Child& process(size_t id) { return processes_[static_cast<int>(id)]; }
  MemberNews& news(size_t id) { return news_.at(id); }
  const MemoryUse& memory(size_t id) const { return memory_.at(id); }
  void say(size_t id, const std::string& line) { processes_.tell(static_cast<int>(id), line); }

  // Listens until then, or until the condition holds; measures meanwhile.
  template <typename Condition>
  bool until(std::chrono::steady_clock::duration limit, Condition condition) {
    const support::Deadline deadline = support::in(limit);
    while (!condition()) {
      if (support::in({}) >= deadline) return false;
      listen(std::min(deadline, support::in(std::chrono::milliseconds(50))));
    }
    return true;
  }
  void pass(std::chrono::steady_clock::duration time) {
    until(time, [] { return false; });
  }
  void need(bool condition, const std::string& what) const;
  size_t leader();  // as most members report it; waits for one
  bool ready(size_t id) const { return news_.at(id).state == "Ready"; }
  void measure();

 private:
  void listen(support::Deadline deadline) {
    processes_.listen(deadline);
    measure();
  }
  void hear(int id, const std::string& event, const nlohmann::json& report);

  const uint64_t log_mb_;
  std::vector<MemberNews> news_;  // by id, from 1
  std::vector<MemoryUse> memory_;
  Processes processes_;
};

}  // namespace coordkit::experiment
