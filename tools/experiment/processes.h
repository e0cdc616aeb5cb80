// The processes of an experiment: members of one cluster and those beside them, started, told, heard and ended. Each
// reports in JSON lines (tools/support/report.h), and all of these go into one log.
//
// Threads: one owner. A process that is late, or says that it has an error, ends the experiment (std::runtime_error).
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/support/child.h"
#include "tools/support/lines.h"

namespace coordkit::experiment {

class Processes {
 public:
  using OnReport = std::function<void(int from, const std::string& event, const nlohmann::json& report)>;
  enum class Ends : uint8_t { WhenAsked, AsTheyLike };  // WhenAsked: any other end is an error

  // Empties `data`, where each member has a directory. There are addresses for the members 1 to `members`.
  Processes(const std::filesystem::path& data, const std::filesystem::path& log, int members, OnReport on_report,
            Ends ends = Ends::WhenAsked);

  const std::vector<std::string>& addresses() const { return addresses_; }
  std::filesystem::path data_of(int id) const { return data_ / ("node-" + std::to_string(id)); }
  support::Child& operator[](int id) { return children_[id]; }
  bool ended(int id) const { return ended_.contains(id); }
  std::ofstream& log() { return log_; }
  void let_end(Ends ends) { ends_ = ends; }  // from now on

  void start(int id, const std::vector<std::string>& words);
  // In this role, with its id, its directory, what else it must know, and the members' addresses.
  void start_member(int id, const std::string& role, const std::vector<std::string>& more = {});
  void tell(int id, const std::string& order);
  // They return when it has ended, and all that it said is heard.
  void kill(int id);
  int close(int id);  // by the end of its input; its wait status

  bool hear(support::Deadline deadline);  // one report; false: there was none until then
  void listen(support::Deadline deadline);
  template <typename Condition>
  bool until(std::chrono::steady_clock::duration limit, Condition condition) {
    const support::Deadline deadline = support::in(limit);
    while (!condition()) {
      if (!hear(deadline)) return condition();
    }
    return true;
  }
  template <typename Condition>
  void need(const std::string& what, std::chrono::steady_clock::duration limit, Condition condition) {
    if (!until(limit, condition)) throw std::runtime_error("this did not come: " + what);
  }

 private:
  const std::filesystem::path data_;
  const OnReport on_report_;
  Ends ends_;
  const std::vector<std::string> addresses_;
  std::ofstream log_;
  std::map<int, support::Child> children_;
  std::set<int> leaving_, ended_;
  support::LineReader lines_;
};

}  // namespace coordkit::experiment
