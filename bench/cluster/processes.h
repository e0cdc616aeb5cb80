// The parent's side of replica processes (process.h is theirs): starts them, and hears what they say.
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
  void kill(int id);  // nothing more is heard of it
  void send(int id, const nlohmann::json& line) { processes_.at(id).send(line.dump()); }

  struct Said {
    int from = 0;
    nlohmann::ordered_json line;
  };
  // What any of them says next. Throws std::runtime_error with a sentence: nobody said anything by the deadline, one ended, or
  // one said {"error"}. `what` is waited for: "the load ends".
  Said listen(support::Deadline deadline, const std::string& what);

 private:
  std::map<int, support::Child> processes_;
  support::LineReader lines_;
};

// What every subcommand that is one replica takes.
std::vector<std::string> member_arguments(const std::string& role, int id, const std::string& data_dir,
                                          const std::vector<std::string>& addresses);

}  // namespace coordkit::bench
