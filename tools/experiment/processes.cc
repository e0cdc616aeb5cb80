#include "tools/experiment/processes.h"

#include <optional>
#include <utility>

#include "tools/support/loopback.h"

namespace coordkit::experiment {
namespace {

constexpr auto kEndLimit = std::chrono::seconds(120);

std::string process(int id) { return "process " + std::to_string(id); }

}  // namespace

Processes::Processes(const std::filesystem::path& data, const std::filesystem::path& log, int members, OnReport on_report,
                     Ends ends)
    : data_(data),
      on_report_(std::move(on_report)),
      ends_(ends),
      addresses_(support::free_loopback_addresses(static_cast<size_t>(members))) {
  std::filesystem::remove_all(data_);
  std::filesystem::create_directories(data_);
  log_.open(log);
}

void Processes::start(int id, const std::vector<std::string>& words) {
  leaving_.erase(id);
  ended_.erase(id);
  children_[id] = support::Child::start(words);
  lines_.add(id, children_[id].output());
}

void Processes::start_member(int id, const std::string& role, const std::vector<std::string>& more) {
  std::vector<std::string> words = {role, "--id", std::to_string(id), "--data", data_of(id)};
  words.insert(words.end(), more.begin(), more.end());
  words.emplace_back("--members");
  words.insert(words.end(), addresses_.begin(), addresses_.end());
  start(id, words);
}

void Processes::tell(int id, const std::string& order) {
  if (!children_[id].send(order)) throw std::runtime_error(process(id) + " does not listen");
}

void Processes::kill(int id) {
  leaving_.insert(id);
  children_[id].kill();
  need("the end of " + process(id), kEndLimit, [&] { return ended(id); });
}

int Processes::close(int id) {
  leaving_.insert(id);
  children_[id].close_input();
  need("the end of " + process(id), kEndLimit, [&] { return ended(id); });
  const std::optional<int> status = children_[id].wait(support::in(kEndLimit));
  if (!status) throw std::runtime_error(process(id) + " does not end");
  return *status;
}

bool Processes::hear(support::Deadline deadline) {
  const std::optional<support::Line> line = lines_.next(deadline);
  if (!line) return false;
  const int from = line->from;
  if (line->ended) {
    if (ends_ == Ends::WhenAsked && !leaving_.contains(from)) throw std::runtime_error(process(from) + " ended");
    lines_.remove(from);
    ended_.insert(from);
    return true;
  }
  log_ << from << " " << line->text << std::endl;
  const nlohmann::json report = nlohmann::json::parse(line->text, nullptr, false);
  const std::string event = report.value("event", std::string());
  if (event == "error") throw std::runtime_error(report.value("what", std::string("an error")));
  on_report_(from, event, report);
  return true;
}

void Processes::listen(support::Deadline deadline) {
  while (hear(deadline)) {
  }
}

}  // namespace coordkit::experiment
