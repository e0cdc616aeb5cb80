// The same random steps on a real etcd and on coordkit's machine, and a comparison of the answers, step by step.
//
// Differences that coordkit makes on purpose are in deliberate.h; any other one is printed and ends the run.
#include <CLI/CLI.hpp>
#include <deque>
#include <iostream>
#include <map>

#include "mvcc/interval.h"
#include "tools/differential/deliberate.h"
#include "tools/differential/draw.h"
#include "tools/differential/etcd.h"
#include "tools/differential/etcd_server.h"
#include "tools/differential/machine_side.h"

namespace coordkit::differential {
namespace {

struct Options {
  uint64_t ops = 20'000;
  uint64_t seed = 1;
  std::string etcd = "etcd";
};

struct Tally {
  uint64_t steps = 0;
  uint64_t errors = 0;
  uint64_t events = 0;
  uint64_t watches = 0;
  uint64_t differences = 0;
  std::map<std::string, uint64_t> deliberate;
};

class Comparison {
 public:
  Comparison(const Options& options, uint16_t port) : draw_(options.seed), etcd_(port) {}

  bool take(const Step& step) {
    Answer theirs = etcd_.take(step);
    Answer ours = ours_.take(step);
    ++tally_.steps;
    if (ours.contains("error")) ++tally_.errors;
    if (ours.contains("events")) {
      ++tally_.watches;
      tally_.events += ours.at("events").size();
    }
    recent_.push_back(shown(step));
    if (recent_.size() > 10) recent_.pop_front();
    for (const std::string& why : remove_deliberate(step, ours_.compacted(), theirs, ours)) ++tally_.deliberate[why];
    if (theirs == ours) return true;
    ++tally_.differences;
    std::cout << "after " << tally_.steps << " steps etcd and coordkit differ; the last steps:\n";
    for (const std::string& each : recent_) std::cout << "  " << each << "\n";
    std::cout << "etcd:     " << theirs.dump() << "\ncoordkit: " << ours.dump() << std::endl;
    return false;
  }

  bool take_next() {
    Step step = draw_.step(ours_.revision(), ours_.compacted());
    if (auto* watch = std::get_if<WatchFrom>(&step); watch != nullptr && !make_last_change(*watch)) return false;
    return take(step);
  }

  const Tally& tally() const { return tally_; }

 private:
  // So that both have something to wait for. An empty interval never changes.
  bool make_last_change(WatchFrom& watch) {
    const std::string key = watch.key.empty() ? std::string(1, '\0') : watch.key;
    if (!mvcc::Interval::of(watch.key, watch.end).empty()) {
      if (!take(PutOperation{.key = key, .value = "last"})) return false;
      if (!watch.puts && !take(DeleteOperation{.key = key})) return false;
    }
    watch.upto = ours_.revision();
    return true;
  }

  Draw draw_;
  EtcdSide etcd_;
  MachineSide ours_;
  Tally tally_;
  std::deque<std::string> recent_;
};

int run(const Options& options) {
  const EtcdServer server(options.etcd);
  Comparison comparison(options, server.port());
  while (comparison.tally().steps < options.ops && comparison.take_next()) {
  }
  const Tally& tally = comparison.tally();
  nlohmann::json line = {{"differential", "etcd"},         {"seed", options.seed},
                         {"steps", tally.steps},           {"refused", tally.errors},
                         {"watches", tally.watches},       {"events", tally.events},
                         {"deliberate", tally.deliberate}, {"differences", tally.differences}};
  std::cout << tally.steps << " steps, " << tally.errors << " of them refused, " << tally.watches << " watches with "
            << tally.events << " events: " << tally.differences << " differences\n"
            << line.dump() << std::endl;
  return tally.differences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace coordkit::differential

int main(int argc, char** argv) {
  coordkit::differential::Options options;
  CLI::App app("Sends the same random operations to a real etcd and to coordkit's machine, and compares all answers.");
  app.add_option("--ops", options.ops, "number of steps")->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the steps")->capture_default_str();
  app.add_option("--etcd", options.etcd, "etcd's program")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return coordkit::differential::run(options);
  } catch (const std::exception& error) {
    std::cerr << "the comparison cannot continue: " << error.what() << "\n";
    return 1;
  }
}
