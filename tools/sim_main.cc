// coordkit-sim: runs many seeds of the simulator and says what happened. The last line of stdout is one JSON object; the
// exit status is 0 only if nothing was violated. Seeds are independent worlds, so the result does not depend on --jobs.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "coordkit/sim/options.h"
#include "tools/sim_failures.h"

namespace {

using namespace coordkit;
using Clock = std::chrono::steady_clock;

struct Arguments {
  uint64_t runs = 100;
  uint64_t seed = 1;
  uint64_t replay = 0;
  uint64_t shrink = 0;
  tools::FailureArguments failures;
  bool json = false;
  bool verbose = false;
  bool keep_going = false;
  std::string profile = "swarm";
  double seconds = 20;
  unsigned jobs = 2;
  std::string history;
  sim::BlackBox black_box = sim::BlackBox::Sampled;
};

struct Totals {
  sim::Report sum;
  uint64_t runs = 0;
  uint64_t violations = 0;
  double virtual_seconds = 0;
  double wall_seconds = 0;
};

sim::SimOptions options_of(const Arguments& arguments, uint64_t seed) {
  sim::SimOptions options;
  options.seed = seed;
  options.profile = arguments.profile;
  options.hostile_time = Duration(static_cast<int64_t>(arguments.seconds * 1e9));
  options.defects = arguments.failures.defects;
  options.reduction = arguments.failures.reduction;
  return options;
}

double seconds_of(Duration d) { return std::chrono::duration<double>(d).count(); }

void add(Totals& totals, const sim::Report& report) {
  sim::Report& sum = totals.sum;
  ++totals.runs;
  totals.violations += report.violation.empty() ? 0 : 1;
  totals.virtual_seconds += seconds_of(report.virtual_time);
  sum.events += report.events;
  sum.turns += report.turns;
  sum.grants += report.grants;
  sum.releases += report.releases;
  sum.expiries += report.expiries;
  sum.elections += report.elections;
  sum.crashes += report.crashes;
  sum.operations += report.operations;
  sum.entries += report.entries;
  sum.messages += report.messages;
  sum.installs += report.installs;
  sum.histories += report.histories;
  sum.histories_undecided += report.histories_undecided;
  sum.history_operations += report.history_operations;
  sum.trace_hash += report.trace_hash;  // a sum: the order of completion does not matter
  for (size_t i = 0; i < sum.faults.size(); ++i) sum.faults[i] += report.faults[i];
  for (size_t i = 0; i < sum.marks.size(); ++i) sum.marks[i] += report.marks[i];
}

nlohmann::ordered_json summary(const Arguments& arguments, const Totals& totals) {
  const sim::Report& sum = totals.sum;
  nlohmann::ordered_json faults;
  for (size_t i = 0; i < sum.faults.size(); ++i) {
    faults[std::string(sim::name_of(static_cast<sim::FaultKind>(i)))] = sum.faults[i];
  }
  nlohmann::ordered_json marks;
  for (size_t i = 0; i < sum.marks.size(); ++i) {
    marks[std::string(sim::name_of(static_cast<sim::Mark>(i)))] = sum.marks[i];
  }
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016lx", static_cast<unsigned long>(sum.trace_hash));
  return {{"runs", totals.runs},
          {"seed", arguments.replay != 0 ? arguments.replay : arguments.seed},
          {"profile", arguments.profile},
          {"virtual_seconds", totals.virtual_seconds},
          {"wall_seconds", totals.wall_seconds},
          {"events", sum.events},
          {"events_per_second", totals.wall_seconds > 0 ? static_cast<double>(sum.events) / totals.wall_seconds : 0},
          {"turns", sum.turns},
          {"operations", sum.operations},
          {"entries", sum.entries},
          {"messages", sum.messages},
          {"grants", sum.grants},
          {"releases", sum.releases},
          {"expiries", sum.expiries},
          {"elections", sum.elections},
          {"crashes", sum.crashes},
          {"installs", sum.installs},
          {"histories", sum.histories},
          {"histories_undecided", sum.histories_undecided},
          {"history_operations", sum.history_operations},
          {"faults", faults},
          {"marks", marks},
          {"violations", totals.violations},
          {"trace_hash", hash}};
}

// Runs seeds on some threads until all are done or one violates.
class Runner {
 public:
  Runner(const Arguments& arguments, std::ostream* history)
      : arguments_(arguments), history_(history), started_(Clock::now()) {}

  Totals run() {
    const unsigned count = arguments_.replay != 0 ? 1 : std::max(1u, arguments_.jobs);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (isatty(2)) std::fprintf(stderr, "\r\033[K");
    totals_.wall_seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    return totals_;
  }

 private:
  void work() {
    const uint64_t runs = arguments_.replay != 0 ? 1 : arguments_.runs;
    for (uint64_t i = next_++; i < runs && !stop_; i = next_++) {
      sim::SimOptions options = options_of(arguments_, arguments_.replay != 0 ? arguments_.replay : arguments_.seed + i);
      options.black_box = arguments_.black_box;
      if (history_) options.on_history = [this](std::string_view line) { *history_ << line << '\n'; };
      if (arguments_.verbose) options.on_event = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
      finished(options, sim::simulate(options));
    }
  }

  void finished(const sim::SimOptions& options, const sim::Report& report) {
    std::lock_guard lock(mutex_);
    add(totals_, report);
    if (!report.violation.empty()) {
      tools::print_violation(options, report);
      if (!arguments_.keep_going) stop_ = true;
    }
    const bool asked = arguments_.replay != 0 && arguments_.failures.trace_asked;
    const bool first = totals_.violations == 1 && !report.violation.empty();
    if (asked || first) tools::write_page(options, arguments_.failures.trace);
    const Clock::time_point now = Clock::now();
    if (now - last_line_ < std::chrono::seconds(3) || arguments_.replay != 0) return;
    last_line_ = now;
    const double elapsed = std::chrono::duration<double>(now - started_).count();
    std::fprintf(stderr,
                 isatty(2) ? "\r\033[K%lu of %lu runs, %.1f M events, %.0f k events/s, %lu violations"
                           : "%lu of %lu runs, %.1f M events, %.0f k events/s, %lu violations\n",
                 static_cast<unsigned long>(totals_.runs), static_cast<unsigned long>(arguments_.runs),
                 static_cast<double>(totals_.sum.events) / 1e6, static_cast<double>(totals_.sum.events) / elapsed / 1e3,
                 static_cast<unsigned long>(totals_.violations));
  }

  const Arguments arguments_;
  std::ostream* const history_;  // of the one seed that is replayed, or null
  const Clock::time_point started_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  Totals totals_;
  Clock::time_point last_line_ = Clock::now();
};

std::string profile_names() {
  std::string names;
  for (std::string_view name : sim::profiles()) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Runs coordkit clusters in virtual time against hostile networks, disks, clocks and processes."};
  app.add_option("--runs", arguments.runs, "how many seeds")->capture_default_str();
  app.add_option("--seed", arguments.seed, "the first seed")->capture_default_str();
  app.add_option("--replay", arguments.replay, "run just this seed");
  app.add_option("--shrink", arguments.shrink, "make this failing seed small: fewer faults, shorter, fewer workers and nodes");
  arguments.failures.add_to(app);
  app.add_option("--profile", arguments.profile, "what the seeds draw: " + profile_names())->capture_default_str();
  app.add_option("--seconds", arguments.seconds, "virtual seconds of the hostile part, about")->capture_default_str();
  app.add_option("--jobs", arguments.jobs, "seeds at a time")->capture_default_str();
  app.add_option("--history", arguments.history, "with --replay: write what callers saw to this file, for coordctl check");
  app.add_option("--black-box", arguments.black_box, "search the histories of which runs for an order")
      ->transform(CLI::CheckedTransformer(std::map<std::string, sim::BlackBox>{
          {"sampled", sim::BlackBox::Sampled}, {"always", sim::BlackBox::Always}, {"never", sim::BlackBox::Never}}))
      ->default_str("sampled");
  app.add_flag("--keep-going", arguments.keep_going, "do not stop at the first violation");
  app.add_flag("--json", arguments.json, "nothing on stdout but the JSON line");
  app.add_flag("--verbose", arguments.verbose, "every event on stderr");
  CLI11_PARSE(app, argc, argv);
  if (const std::string why = arguments.failures.settle(); !why.empty()) {
    std::fprintf(stderr, "coordkit-sim: %s\n", why.c_str());
    return 2;
  }
  if (arguments.shrink != 0) return tools::shrink(options_of(arguments, arguments.shrink), arguments.failures.trace);
  std::ofstream history;
  if (!arguments.history.empty()) {
    if (arguments.replay == 0) return std::fprintf(stderr, "coordkit-sim: --history needs --replay SEED\n"), 2;
    history.open(arguments.history);
    if (!history) return std::fprintf(stderr, "coordkit-sim: cannot write %s\n", arguments.history.c_str()), 2;
  }
  const Totals totals = Runner(arguments, history.is_open() ? &history : nullptr).run();
  if (history.is_open() && !history.flush()) {
    return std::fprintf(stderr, "coordkit-sim: %s could not be written whole\n", arguments.history.c_str()), 2;
  }
  if (!arguments.json) {
    std::printf("%lu runs, %.0f virtual seconds in %.1f s, %lu grants, %lu elections, %lu crashes, %lu violations\n",
                static_cast<unsigned long>(totals.runs), totals.virtual_seconds, totals.wall_seconds,
                static_cast<unsigned long>(totals.sum.grants), static_cast<unsigned long>(totals.sum.elections),
                static_cast<unsigned long>(totals.sum.crashes), static_cast<unsigned long>(totals.violations));
  }
  std::printf("%s\n", summary(arguments, totals).dump().c_str());
  return totals.violations == 0 ? 0 : 1;
}
