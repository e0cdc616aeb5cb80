// The conductor: every five seconds it stops one node, mostly the one that holds the lock, for 1.5 to 4.5 s. An
// update is lost when a write overwrites one that it had not read: then the counter shows less than there were writes.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "tools/experiment/counter_group.h"
#include "tools/experiment/roles.h"
#include "tools/support/child.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using support::Child;
using support::Deadline;

constexpr auto kBetweenStops = 5s;

struct Tally {
  uint64_t grants = 0, written = 0, stopped = 0, refused = 0, stops = 0, holders_stopped = 0;
  std::optional<nlohmann::json> counter;  // its summary
};

class Conductor {
 public:
  explicit Conductor(const LostUpdateOptions& options) : options_(options), random_(options.seed) {}

  int run();

 private:
  void hear(int from, const std::string& event, const nlohmann::json& report);
  void stop_any_node(Deadline end);
  int judge();
  uint64_t up_to(uint64_t longest) { return std::uniform_int_distribution<uint64_t>(0, longest)(random_); }

  const LostUpdateOptions options_;
  std::mt19937_64 random_;
  CounterGroup group_{options_.out / "experiment-data", options_.out / "experiment.log",
                      [this](int from, const std::string& event, const nlohmann::json& report) { hear(from, event, report); }};
  int holder_ = 0;  // the last to report a grant and not yet its end
  Tally tally_;
};

void Conductor::hear(int from, const std::string& event, const nlohmann::json& report) {
  if (event == "summary") tally_.counter = report;
  if (event == "granted") {
    ++tally_.grants;
    holder_ = from;
  }
  if (event != "ended") return;
  if (holder_ == from) holder_ = 0;
  const std::string how = report.value("how", std::string());
  ++(how == "written" ? tally_.written : how == "stopped" ? tally_.stopped : tally_.refused);
}

void Conductor::stop_any_node(Deadline end) {
  const bool the_holder = holder_ != 0 && up_to(3) != 0;
  const int id = the_holder ? holder_ : 1 + static_cast<int>(up_to(kNodes - 1));
  Child& node = group_.node(id);
  if (!node.freeze()) throw std::runtime_error("a node ended when it should have been stopped");
  ++tally_.stops;
  tally_.holders_stopped += the_holder ? 1 : 0;
  const auto length = 1500ms + std::chrono::milliseconds(up_to(3000));
  group_.listen(std::min(support::in(length), end));
  node.thaw();
}

int Conductor::run() {
  CounterGroup::Arguments arguments;
  if (!options_.protection.gate) arguments.counter.emplace_back("--without-gate");
  if (!options_.protection.check) arguments.node.emplace_back("--without-check");
  group_.start(arguments);

  const auto length =
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(options_.seconds));
  const Deadline end = support::in(length);
  for (Deadline next = support::in(kBetweenStops); next < end; next += kBetweenStops) {
    group_.listen(next);
    stop_any_node(end);
  }
  group_.listen(end);

  group_.stop();
  return judge();
}

int Conductor::judge() {
  if (!tally_.counter) throw std::runtime_error("the counter said no summary");
  const uint64_t value = tally_.counter->value("value", uint64_t{0});
  const uint64_t writes = tally_.counter->value("writes", uint64_t{0});
  const uint64_t lost = writes - value;
  // With the gate nothing may be lost; without gate and check something has to be, or this shows nothing. The check alone
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
