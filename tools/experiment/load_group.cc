#include "tools/experiment/load_group.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/support/loopback.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 120s;

}  // namespace

LoadGroup::LoadGroup(const std::filesystem::path& data, const std::filesystem::path& log, size_t members, uint64_t log_mb)
    : addresses_(support::free_loopback_addresses(members)),
      data_(data),
      log_mb_(log_mb),
      processes_(members + 1),
      news_(members + 1),
      memory_(members + 1) {
  std::filesystem::remove_all(data_);
  std::filesystem::create_directories(data_);
  log_.open(log);
}

void LoadGroup::start(size_t id) {
  const std::filesystem::path directory = data_ / ("node-" + std::to_string(id));
  std::vector<std::string> arguments = {"load-node", "--id",  std::to_string(id),      "--data",
                                        directory,   "--log", std::to_string(log_mb_), "--members"};
  arguments.insert(arguments.end(), addresses_.begin(), addresses_.end());
  news(id) = {};
  memory_.at(id) = {};
  process(id) = support::Child::start(arguments);
  lines_.add(static_cast<int>(id), process(id).output());
}

void LoadGroup::start_all() {
  for (size_t id = 1; id <= size(); ++id) start(id);
  need(until(kPatience,
             [this] {
               for (size_t id = 1; id <= size(); ++id) {
                 if (!ready(id)) return false;
               }
               return true;
             }),
       "all members are ready");
}

void LoadGroup::stop(size_t id) {
  process(id).close_input();
  need(until(kPatience, [&] { return news(id).ended; }), "the end of a member");
  process(id).wait(support::in(kPatience));
}

void LoadGroup::say(size_t id, const std::string& line) { need(process(id).send(line), "a member that listens"); }

void LoadGroup::need(bool condition, const std::string& what) const {
  if (!condition) throw std::runtime_error("this did not come: " + what);
}

size_t LoadGroup::leader() {
  size_t found = 0;
  need(until(kPatience,
             [&] {
               found = news(1).leader;
               for (size_t id = 1; id <= size(); ++id) found = news(id).leader == found ? found : 0;
               return found != 0;
             }),
       "one leader");
  return found;
}

void LoadGroup::listen(support::Deadline deadline) {
  while (const std::optional<support::Line> line = lines_.next(deadline)) hear(*line);
  measure();
}

void LoadGroup::hear(const support::Line& line) {
  const auto id = static_cast<size_t>(line.from);
  MemberNews& from = news(id);
  if (line.ended) {
    from.ended = true;
    lines_.remove(line.from);
    return;
  }
  log_ << line.from << " " << line.text << "\n";
  const nlohmann::json report = nlohmann::json::parse(line.text, nullptr, false);
  const std::string event = report.value("event", std::string());
  if (event == "error") throw std::runtime_error(report.value("what", std::string("an error")));
  if (event == "opened") from.opened = true;
  if (event == "filled") from.filled = true;
  if (event == "probed") {
    ++from.probes;
    if (!report.value("ok", false) && from.state == "Ready") ++from.probes_failed_while_ready;
  }
  if (event != "health") return;
  from.reported_at = std::chrono::steady_clock::now();
  from.state = report.value("state", std::string());
  from.sentence = report.value("sentence", std::string());
  from.term = report.value("term", uint64_t{0});
  from.leader = report.value("leader", uint64_t{0});
  from.applied = report.value("applied", uint64_t{0});
  from.commit = report.value("commit", uint64_t{0});
  from.written = report.value("written", uint64_t{0});
  from.refused = report.value("refused", uint64_t{0});
  if (const size_t at = from.sentence.find("the state after entry "); at != std::string::npos) {
    from.transfers.insert(from.sentence.substr(at, from.sentence.find_first_of(",;:", at) - at));
  }
}

void LoadGroup::measure() {
  for (size_t id = 1; id <= size(); ++id) {
    if (!process(id).running()) continue;
    MemoryUse& use = memory_.at(id);
    static_cast<support::MemoryUse&>(use) = support::memory_of(process(id).pid());
    use.anonymous_peak = std::max(use.anonymous_peak, use.anonymous);
  }
}

}  // namespace coordkit::experiment
