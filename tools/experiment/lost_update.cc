// The conductor: every five seconds it stops one node, mostly the one that holds the lock, for 1.5 to 4.5 s. An
// update is lost when a write overwrites one that it had not read: then the counter shows less than there were writes.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "tools/experiment/roles.h"
#include "tools/support/child.h"
#include "tools/support/lines.h"
#include "tools/support/loopback.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using support::Child;
using support::Deadline;

constexpr int kCounter = 0;  // as a source of lines; nodes have their ids
constexpr auto kBetweenStops = 5s;
constexpr auto kStart = 60s;
constexpr auto kEnd = 30s;

struct Tally {
  uint64_t grants = 0, written = 0, stopped = 0, refused = 0, stops = 0, holders_stopped = 0;
  std::optional<nlohmann::json> counter;  // its summary
};

class Conductor {
 public:
  explicit Conductor(const LostUpdateOptions& options)
      : options_(options), random_(options.seed), addresses_(support::free_loopback_addresses(kNodes)) {}

  int run();

 private:
  void start_counter(const std::filesystem::path& data);
  void start_node(int id, const std::filesystem::path& data);
  template <typename Condition>
  void until(const std::string& what, Deadline deadline, Condition condition);
  // Listens up to that moment.
  void listen(Deadline deadline);
  void hear(const support::Line& line);
  void stop_somebody(Deadline end);
  int judge();
  uint64_t up_to(uint64_t longest) { return std::uniform_int_distribution<uint64_t>(0, longest)(random_); }

  const LostUpdateOptions options_;
  std::mt19937_64 random_;
  const std::vector<std::string> addresses_;
  uint16_t port_ = 0;
  Child counter_;
  std::array<Child, kNodes + 1> nodes_;  // by id, from 1
  support::LineReader lines_;
  std::ofstream log_;
  int ready_ = 0;
  int ended_ = 0;
  bool leaving_ = false;
  int holder_ = 0;  // who spoke of a grant last and not of its end
  Tally tally_;
};

void Conductor::start_counter(const std::filesystem::path& data) {
  std::vector<std::string> arguments = {"counter", "--directory", data};
  if (!options_.protection.gate) arguments.emplace_back("--without-gate");
  counter_ = Child::start(arguments);
  lines_.add(kCounter, counter_.output());
  until("the counter listens", support::in(kStart), [this] { return port_ != 0; });
}

void Conductor::start_node(int id, const std::filesystem::path& data) {
  std::vector<std::string> arguments = {
      "node", "--id", std::to_string(id), "--data", data / ("node-" + std::to_string(id)), "--counter", std::to_string(port_)};
  if (!options_.protection.check) arguments.emplace_back("--without-check");
  arguments.emplace_back("--members");
  arguments.insert(arguments.end(), addresses_.begin(), addresses_.end());
  nodes_.at(static_cast<size_t>(id)) = Child::start(arguments);
  lines_.add(id, nodes_.at(static_cast<size_t>(id)).output());
}

template <typename Condition>
void Conductor::until(const std::string& what, Deadline deadline, Condition condition) {
  while (!condition()) {
    const std::optional<support::Line> line = lines_.next(deadline);
    if (!line) throw std::runtime_error("this did not come: " + what);
    hear(*line);
  }
}

void Conductor::listen(Deadline deadline) {
  while (const std::optional<support::Line> line = lines_.next(deadline)) hear(*line);
}

void Conductor::hear(const support::Line& line) {
  if (line.ended) {
    if (!leaving_) throw std::runtime_error(line.from == kCounter ? "the counter ended" : "a node ended");
    lines_.remove(line.from);
    ++ended_;
    return;
  }
  log_ << line.from << " " << line.text << "\n";
  const nlohmann::json said = nlohmann::json::parse(line.text, nullptr, false);
  const std::string event = said.value("event", std::string());
  if (event == "error") throw std::runtime_error(said.value("what", std::string("an error")));
  if (event == "listening") port_ = said.value("port", uint16_t{0});
  if (event == "ready") ++ready_;
  if (event == "summary") tally_.counter = said;
  if (event == "granted") {
    ++tally_.grants;
    holder_ = line.from;
  }
  if (event != "ended") return;
  if (holder_ == line.from) holder_ = 0;
  const std::string how = said.value("how", std::string());
  ++(how == "written" ? tally_.written : how == "stopped" ? tally_.stopped : tally_.refused);
}

void Conductor::stop_somebody(Deadline end) {
  const bool the_holder = holder_ != 0 && up_to(3) != 0;
  const int id = the_holder ? holder_ : 1 + static_cast<int>(up_to(kNodes - 1));
  Child& node = nodes_.at(static_cast<size_t>(id));
  if (!node.freeze()) throw std::runtime_error("a node ended when it should have been stopped");
  ++tally_.stops;
  tally_.holders_stopped += the_holder ? 1 : 0;
  const auto length = 1500ms + std::chrono::milliseconds(up_to(3000));
  listen(std::min(support::in(length), end));
  node.thaw();
}

int Conductor::run() {
  const std::filesystem::path data = options_.out / "experiment-data";
  std::filesystem::remove_all(data);
  std::filesystem::create_directories(data);
  log_.open(options_.out / "experiment.log");
  start_counter(data);
  for (int id = 1; id <= kNodes; ++id) start_node(id, data);
  until("all nodes are ready", support::in(kStart), [this] { return ready_ == kNodes; });

  const auto length =
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(options_.seconds));
  const Deadline end = support::in(length);
  for (Deadline next = support::in(kBetweenStops); next < end; next += kBetweenStops) {
    listen(next);
    stop_somebody(end);
  }
  listen(end);

  leaving_ = true;
  for (int id = 1; id <= kNodes; ++id) nodes_.at(static_cast<size_t>(id)).close_input();
  until("all nodes have closed", support::in(kEnd), [this] { return ended_ == kNodes; });
  counter_.close_input();
  until("the counter has summed up", support::in(kEnd), [this] { return ended_ == kNodes + 1; });
  return judge();
}

int Conductor::judge() {
  if (!tally_.counter) throw std::runtime_error("the counter said no summary");
  const uint64_t value = tally_.counter->value("value", uint64_t{0});
  const uint64_t writes = tally_.counter->value("writes", uint64_t{0});
  const uint64_t lost = writes - value;
  // Behind the gate nothing may be lost; without gate and check something has to be, or this shows nothing. The check alone
  // leaves the moment between it and the write.
  const auto [gate, check] = options_.protection;
  const bool fine = writes > 0 && tally_.stops > 0 && (!gate || lost == 0) && (gate || check || lost > 0);
  const nlohmann::ordered_json line{{"experiment", "lost-update"},
                                    {"seconds", options_.seconds},
                                    {"seed", options_.seed},
                                    {"gate", gate},
                                    {"check", check},
                                    {"stops", tally_.stops},
                                    {"holders_stopped", tally_.holders_stopped},
                                    {"grants", tally_.grants},
                                    {"writes", writes},
                                    {"counter", value},
                                    {"lost_updates", lost},
                                    {"refused_by_gate", tally_.counter->value("refused", uint64_t{0})},
                                    {"stopped_by_check", tally_.stopped},
                                    {"as_expected", fine}};
  if (!options_.json) {
    std::printf(
        "%lu stops (%lu of the holder), %lu updates, the counter shows %lu: %lu lost; %lu writes given up, %lu refused\n",
        static_cast<unsigned long>(tally_.stops), static_cast<unsigned long>(tally_.holders_stopped),
        static_cast<unsigned long>(writes), static_cast<unsigned long>(value), static_cast<unsigned long>(lost),
        static_cast<unsigned long>(tally_.stopped), static_cast<unsigned long>(tally_.refused));
  }
  std::printf("%s\n", line.dump().c_str());
  return fine ? 0 : 1;
}

}  // namespace

int run_lost_update(const LostUpdateOptions& options) { return Conductor(options).run(); }

}  // namespace coordkit::experiment
