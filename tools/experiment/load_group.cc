#include "tools/experiment/load_group.h"

#include <algorithm>
#include <stdexcept>

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 120s;

}  // namespace

LoadGroup::LoadGroup(const std::filesystem::path& data, const std::filesystem::path& log, size_t members, uint64_t log_mb)
    : log_mb_(log_mb),
      news_(members + 1),
      memory_(members + 1),
      processes_(data, log, static_cast<int>(members),
                 [this](int from, const std::string& event, const nlohmann::json& report) { hear(from, event, report); }) {}

void LoadGroup::start(size_t id) {
  news(id) = {};
  memory_.at(id) = {};
  processes_.start_member(static_cast<int>(id), "load-node", {"--log", std::to_string(log_mb_)});
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

void LoadGroup::hear(int id, const std::string& event, const nlohmann::json& report) {
  MemberNews& from = news(static_cast<size_t>(id));
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
