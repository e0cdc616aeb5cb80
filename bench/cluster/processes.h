// The parent's side of replica processes (process.h is theirs): starts them and reads their output.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/support/child.h"
#include "tools/support/lines.h"

namespace coordkit::bench {

class Processes {
 public:
  void start(int id, const std::vector<std::string>& arguments);
  void kill(int id);  // no more output is read from it
  void send(int id, const nlohmann::json& line) { processes_.at(id).send(line.dump()); }

  struct Output {
    int from = 0;
    nlohmann::ordered_json line;
  };
  // The next output of any of them. Throws std::runtime_error with a sentence: no output by the deadline, one ended, or
  // one printed {"error"}. `what` is the awaited event: "the load ends".
  Output listen(support::Deadline deadline, const std::string& what);

 private:
  std::map<int, support::Child> processes_;
  support::LineReader lines_;
};

// The arguments of every subcommand that is one replica.
std::vector<std::string> member_arguments(const std::string& role, int id, const std::string& data_dir,
                                          const std::vector<std::string>& addresses);

}  // namespace coordkit::bench
