// The conductor: rounds in which the callers of three members work, while one of these stands still for a moment, and then
// rest. At rest the cluster must have nothing but the callers' sessions, and with the rounds no process may hold more objects,
// descriptors, threads or disk: what grows there grows for ever. Callers who forget something have to be noticed.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>

#include "tools/experiment/growth.h"
#include "tools/experiment/roles.h"
#include "tools/support/child.h"
#include "tools/support/lines.h"
#include "tools/support/loopback.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr auto kWork = 3s;
constexpr auto kPause = 700ms;  // more than an election timeout, and than what short sessions last
constexpr auto kAnswerLimit = 90s;

// Of a thousand scenes. An object of C++ left behind by one scene in fifty is noticed; of what one round more or less of
// checkpoints and log is on the disk, nothing is said.
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
      : options_(options), random_(options.seed), addresses_(support::free_loopback_addresses(kNodes)) {}

  int run();

 private:
  struct Member {
    support::Child process;
    std::map<std::string, json> news;  // the newest of each event
  };

  Member& member(int id) { return members_.at(static_cast<size_t>(id)); }
  void start(int id);
  void tell(int id, const std::string& order);
  void hear(const support::Line& line);
  void listen(support::Deadline deadline);
  json await(int id, const std::string& event);
  void work();
  void rest();
  bool is_empty();
  int judge();

  const SoakOptions options_;
  std::mt19937_64 random_;
  const std::vector<std::string> addresses_;
  std::filesystem::path data_;
  std::array<Member, kNodes + 1> members_;  // by id, from 1
  support::LineReader lines_;
  std::ofstream log_;
  std::vector<Holding> holdings_;  // of all members, round by round
  uint64_t left_ = 0;              // rounds after which something stayed
};

void Soak::start(int id) {
  const std::string number = std::to_string(id);
  std::vector<std::string> words = {
      "soak-node", "--id", number, "--seed", std::to_string(options_.seed), "--data", data_ / ("node-" + number)};
  if (options_.careless) words.emplace_back("--careless");
  words.emplace_back("--members");
  words.insert(words.end(), addresses_.begin(), addresses_.end());
  member(id).process = support::Child::start(words);
  lines_.add(id, member(id).process.output());
}

void Soak::tell(int id, const std::string& order) {
  if (!member(id).process.send(order)) throw std::runtime_error("member " + std::to_string(id) + " does not listen");
}

void Soak::hear(const support::Line& line) {
  if (line.ended) throw std::runtime_error("member " + std::to_string(line.from) + " ended");
  log_ << line.from << " " << line.text << std::endl;
  json report = json::parse(line.text, nullptr, false);
  const std::string event = report.value("event", std::string());
  if (event == "error") throw std::runtime_error(report.value("what", std::string("an error")));
  member(line.from).news[event] = std::move(report);
}

void Soak::listen(support::Deadline deadline) {
  while (const std::optional<support::Line> line = lines_.next(deadline)) hear(*line);
}

json Soak::await(int id, const std::string& event) {
  const support::Deadline deadline = support::in(kAnswerLimit);
  while (true) {
    if (auto found = member(id).news.extract(event)) return std::move(found.mapped());
    const std::optional<support::Line> line = lines_.next(deadline);
    if (!line) throw std::runtime_error("member " + std::to_string(id) + " does not say " + event);
    hear(*line);
  }
}

void Soak::work() {
  for (int id = 1; id <= kNodes; ++id) tell(id, "work");
  const int victim = 1 + static_cast<int>(random_() % kNodes);
  listen(support::in(kWork / 2));
  if (!member(victim).process.freeze()) throw std::runtime_error("a member ended by itself");
  listen(support::in(kPause));
  member(victim).process.thaw();
  listen(support::in(kWork / 2));
}

// Whether the cluster has but the callers' sessions, which what ends by its TTL takes a moment to become.
bool Soak::is_empty() {
  tell(1, "measure");
  const json now = await(1, "measured");
  return now.value("keys", 1) == 0 && now.value("leases", 1) == 0 && now.value("sessions", 0) == kNodes * kSoakCallers;
}

void Soak::rest() {
  for (int id = 1; id <= kNodes; ++id) tell(id, "rest");
  uint64_t scenes = 0;
  for (int id = 1; id <= kNodes; ++id) scenes += await(id, "rested").value("scenes", uint64_t{0});
  const support::Deadline deadline = support::in(options_.careless ? 2s : 30s);
  bool empty = false;
  while (!(empty = is_empty()) && support::in({}) < deadline) listen(support::in(200ms));
  if (!empty) ++left_;
  tell(1, "compact");
  await(1, "compacted");
  Holding holding{.scenes = scenes};
  for (int id = 1; id <= kNodes; ++id) tell(id, "measure");
  for (int id = 1; id <= kNodes; ++id) {
    const json measured = await(id, "measured");
    for (const auto& [what, most] : kGrowthMax) holding.of[what].push_back(measured.value(what, 0.0));
  }
  holdings_.push_back(std::move(holding));
}

int Soak::run() {
  data_ = options_.out / "soak-data";
  std::filesystem::remove_all(data_);
  std::filesystem::create_directories(data_);
  log_.open(options_.out / "soak.log");
  for (int id = 1; id <= kNodes; ++id) start(id);
  for (int id = 1; id <= kNodes; ++id) await(id, "opened");
  const auto length =
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(options_.seconds));
  const support::Deadline end = support::in(length);
  while (support::in({}) < end || holdings_.size() < kHoldingsMin) {
    work();
    rest();
  }
  for (int id = 1; id <= kNodes; ++id) {
    member(id).process.close_input();
    if (!member(id).process.wait(support::in(kAnswerLimit))) throw std::runtime_error("a member did not close");
    lines_.remove(id);
  }
  return judge();
}

int Soak::judge() {
  bool fine = options_.careless || left_ == 0;
  nlohmann::ordered_json line{{"experiment", "soak"},       {"seconds", options_.seconds},
                              {"seed", options_.seed},      {"careless", options_.careless},
                              {"rounds", holdings_.size()}, {"scenes", holdings_.back().scenes},
                              {"not_empty", left_}};
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
