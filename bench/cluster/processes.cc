#include "bench/cluster/processes.h"

#include <stdexcept>

namespace coordkit::bench {

void Processes::start(int id, const std::vector<std::string>& arguments) {
  support::Child& process = processes_[id] = support::Child::start(arguments);
  lines_.add(id, process.output());
}

void Processes::kill(int id) {
  lines_.remove(id);
  processes_.erase(id);
}

Processes::Output Processes::listen(support::Deadline deadline, const std::string& what) {
  const std::optional<support::Line> line = lines_.next(deadline);
  if (!line) throw std::runtime_error("waited in vain until " + what);
  const std::string who = "replica " + std::to_string(line->from);
  if (line->ended) throw std::runtime_error(who + " ended before " + what);
  auto output = nlohmann::ordered_json::parse(line->text);
  if (output.contains("error")) throw std::runtime_error(who + ": " + std::string(output["error"]));
  return {line->from, std::move(output)};
}

std::vector<std::string> member_arguments(const std::string& role, int id, const std::string& data_dir,
                                          const std::vector<std::string>& addresses) {
  std::vector<std::string> arguments = {role, "--id", std::to_string(id), "--data", data_dir, "--members"};
  arguments.insert(arguments.end(), addresses.begin(), addresses.end());
  return arguments;
}

}  // namespace coordkit::bench
