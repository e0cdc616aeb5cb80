// The conductor: rounds in which the callers of three members and of remotes work, while one of these stands still for a
// moment, and then rest. At rest the cluster must have nothing but the callers' sessions, and with the rounds no process may
// hold more objects, descriptors, threads or disk: what grows there grows for ever. Callers who forget something have to be
// noticed.
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <utility>

#include "tools/experiment/growth.h"
#include "tools/experiment/processes.h"
#include "tools/experiment/roles.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr auto kWork = 3s;
constexpr auto kPause = 700ms;  // more than an election timeout, and than what short sessions last
constexpr auto kAnswerLimit = 90s;

// In a thousand scenes. An object of C++ left behind by one scene in fifty is noticed. One round more or less of checkpoints
// and log on the disk is not judged.
const std::map<std::string, double> kGrowthMax = {{"objects", 20}, {"descriptors", 0.1}, {"threads", 0.1}, {"disk", 50'000}};

std::string shown(const Holding& holding) {
  std::string text = "after " + std::to_string(holding.scenes) + " scenes";
  for (const auto& [what, members] : holding.of) {
    text += ", " + what;
    for (const double one : members) text += " " + std::to_string(static_cast<int64_t>(one));
  }
  return text;
}

class Soak {
 public:
  explicit Soak(const SoakOptions& options)
      : options_(options),
        random_(options.seed),
        processes_(options.out / "soak-data", options.out / "soak.log", 2 * kNodes,  // the last ones: for remotes
                   [this](int from, const std::string& event, const json& report) {
                     news_[{from, event}] = report;
                   }) {}

  int run();

 private:
  json await(int id, const std::string& event);
  void start();
  int all() const { return kNodes + static_cast<int>(options_.remotes); }  // processes; remotes are behind the members
  void work();
  void rest();
  bool is_empty();
  int judge();

  const SoakOptions options_;
  std::mt19937_64 random_;
  std::map<std::pair<int, std::string>, json> news_;  // the newest of each member and event
  Processes processes_;
  std::vector<Holding> holdings_;  // of all members, round by round
  uint64_t left_ = 0;              // rounds after which something stayed
};

json Soak::await(int id, const std::string& event) {
  processes_.need("member " + std::to_string(id) + " says " + event, kAnswerLimit, [&] { return news_.contains({id, event}); });
  return news_.extract({id, event}).mapped();
}

void Soak::work() {
  for (int id = 1; id <= all(); ++id) processes_.tell(id, "work");
  const int victim = 1 + static_cast<int>(random_() % kNodes);
  processes_.listen(support::in(kWork / 2));
  if (!processes_[victim].freeze()) throw std::runtime_error("a member ended by itself");
  processes_.listen(support::in(kPause));
  processes_[victim].thaw();
  processes_.listen(support::in(kWork / 2));
}

// Whether the cluster has only the callers' sessions, which what ends by its TTL takes a moment to become.
bool Soak::is_empty() {
  processes_.tell(1, "measure");
  const json now = await(1, "measured");
  return now.value("keys", 1) == 0 && now.value("leases", 1) == 0 && now.value("sessions", 0) == all() * kSoakCallers;
}

void Soak::rest() {
  for (int id = 1; id <= all(); ++id) processes_.tell(id, "rest");
  uint64_t scenes = 0;
  for (int id = 1; id <= all(); ++id) scenes += await(id, "rested").value("scenes", uint64_t{0});
  const support::Deadline deadline = support::in(options_.careless ? 2s : 30s);
  bool empty = false;
  while (!(empty = is_empty()) && support::in({}) < deadline) processes_.listen(support::in(200ms));
  if (!empty) ++left_;
  processes_.tell(1, "compact");
  await(1, "compacted");
  Holding holding{.scenes = scenes};
  for (int id = 1; id <= all(); ++id) processes_.tell(id, "measure");
  for (int id = 1; id <= all(); ++id) {
    const json measured = await(id, "measured");
    for (const auto& [what, most] : kGrowthMax) holding.of[what].push_back(measured.value(what, 0.0));
  }
  holdings_.push_back(std::move(holding));
}

void Soak::start() {
  const std::vector<std::string>& addresses = processes_.addresses();
  const auto members = addresses.begin(), gateways = members + kNodes;
  for (int id = 1; id <= all(); ++id) {
    std::vector<std::string> words = {
        "soak-node", "--id", std::to_string(id), "--data", processes_.data_of(id), "--seed", std::to_string(options_.seed)};
    if (options_.careless) words.emplace_back("--careless");
    if (id > kNodes) {
      words.emplace_back("--gateways");
      words.insert(words.end(), gateways, addresses.end());
    } else {
      words.insert(words.end(), {"--remotes", gateways[id - 1]});
    }
    words.emplace_back("--members");
    words.insert(words.end(), members, gateways);
    processes_.start(id, words);
  }
  for (int id = 1; id <= all(); ++id) await(id, "opened");
}

int Soak::run() {
  start();
  const auto length =
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(options_.seconds));
  const support::Deadline end = support::in(length);
  while (support::in({}) < end || holdings_.size() < kHoldingsMin) {
    work();
    rest();
  }
  for (int id = all(); id >= 1; --id) processes_.close(id);
  return judge();
}

int Soak::judge() {
  bool fine = options_.careless || left_ == 0;
  nlohmann::ordered_json line{{"experiment", "soak"},        {"seconds", options_.seconds},
                              {"seed", options_.seed},       {"careless", options_.careless},
                              {"rounds", holdings_.size()},  {"scenes", holdings_.back().scenes},
                              {"remotes", options_.remotes}, {"not_empty", left_}};
  bool objects_grow = false;
  for (const auto& [what, growth] : growth_of(holdings_)) {
    const bool grows = growth > kGrowthMax.at(what);
    line[what + "_per_thousand"] = growth;
    if (what == "objects") objects_grow = grows;
    if (!options_.careless) fine = fine && !grows;
  }
  if (options_.careless) fine = objects_grow && left_ > 0;
  line["as_expected"] = fine;
  if (!options_.json) {
    for (const Holding& holding : holdings_) std::printf("%s\n", shown(holding).c_str());
  }
  std::printf("%s\n", line.dump().c_str());
  return fine ? 0 : 1;
}

}  // namespace

int run_soak(const SoakOptions& options) { return Soak(options).run(); }

}  // namespace coordkit::experiment
