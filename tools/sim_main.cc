// coordkit-sim: runs many seeds of the simulator and reports what happened. The last line of stdout is one JSON object; the
// exit status is 0 only if nothing was violated. Seeds are independent worlds, so the result does not depend on --jobs.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "tools/sim_compare.h"
#include "tools/sim_failures.h"
#include "tools/sim_totals.h"

namespace {

using namespace coordkit;
using Clock = std::chrono::steady_clock;
using tools::Totals;

constexpr uint64_t kChunk = 500;       // runs between two writes of the file of --resume
constexpr uint64_t kRepeatEvery = 64;  // seeds that are run twice: nothing may depend on anything but the seed

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
  std::string resume;
  tools::CompareArguments compare;
  sim::BlackBox black_box = sim::BlackBox::Sampled;
  bool without_witness = false;
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

// Runs seeds on some threads until all are done or one violates.
class Runner {
 public:
  Runner(const Arguments& arguments, std::ostream* history, Totals before)
      : arguments_(arguments), history_(history), before_(before), totals_(before) {}

  // All of them, or up to `until` runs.
  const Totals& run(uint64_t until) {
    until_ = arguments_.replay != 0 ? 1 : std::min(until, arguments_.runs);
    const unsigned count = arguments_.replay != 0 ? 1 : std::max(1u, arguments_.jobs);
    next_ = totals_.runs;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (isatty(2)) std::fprintf(stderr, "\r\033[K");
    totals_.wall_seconds = before_.wall_seconds + std::chrono::duration<double>(Clock::now() - started_).count();
    totals_.cpu_seconds = before_.cpu_seconds + static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    return totals_;
  }
  bool stopped() const { return stop_; }

 private:
  void work() {
    for (uint64_t i = next_++; i < until_ && !stop_; i = next_++) {
      sim::SimOptions options = options_of(arguments_, arguments_.replay != 0 ? arguments_.replay : arguments_.seed + i);
      options.black_box = arguments_.black_box;
      options.witness = !arguments_.without_witness;
      if (history_) options.on_history = [this](std::string_view line) { *history_ << line << '\n'; };
      if (arguments_.verbose) options.on_event = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
      sim::Report report = sim::simulate(options);
      const bool again = arguments_.replay == 0 && options.seed % kRepeatEvery == 0 && report.violation.empty();
      if (again) repeat(options, report);
      finished(options, report);
    }
  }

  void repeat(const sim::SimOptions& options, sim::Report& report) {
    const sim::Report second = sim::simulate(options);
    if (second.trace_hash != report.trace_hash) {
      report.violation = "DETERMINISM";
      report.what = "a second run of the seed had another hash";
    }
    std::lock_guard lock(mutex_);
    ++totals_.repeated;
  }

  void finished(const sim::SimOptions& options, const sim::Report& report) {
    std::lock_guard lock(mutex_);
    totals_.add(report);
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
                 static_cast<double>(totals_.sum.events) / 1e6,
                 static_cast<double>(totals_.sum.events - before_.sum.events) / elapsed / 1e3,
                 static_cast<unsigned long>(totals_.violations));
  }

  const Arguments arguments_;
  std::ostream* const history_;  // for the one replayed seed, or null
  const Clock::time_point started_ = Clock::now();
  const Totals before_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  Totals totals_;
  std::atomic<uint64_t> next_{0};
  uint64_t until_ = 0;
  Clock::time_point last_line_ = Clock::now();
};

std::string profile_names() {
  std::string names;
  for (std::string_view name : sim::profiles()) names += (names.empty() ? "" : ", ") + std::string(name);
  return names + "; compare: beside other recipes";
}

// The progress recorded in the file; nothing if there is none yet. A sentence if it cannot be resumed.
std::string read_resume(const Arguments& arguments, Totals& totals) {
  std::ifstream file(arguments.resume);
  if (!file) return "";
  const nlohmann::json line = nlohmann::json::parse(file, nullptr, false);
  const auto known = tools::totals_of(line);
  if (!known) return arguments.resume + " is no file of this version of coordkit-sim; remove it to begin again";
  if (line.value("seed", uint64_t{0}) != arguments.seed || line.value("profile", std::string()) != arguments.profile ||
      line.value("seconds", 0.0) != arguments.seconds) {
    return arguments.resume + " belongs to runs with another --seed, --profile or --seconds";
  }
  totals = *known;
  return "";
}

// Atomically.
bool write_resume(const Arguments& arguments, const Totals& totals) {
  nlohmann::ordered_json line = tools::figures(totals, arguments.seed, arguments.profile);
  line["seconds"] = arguments.seconds;
  const std::string fresh = arguments.resume + ".new";
  std::ofstream file(fresh, std::ios::trunc);
  file << line.dump() << "\n";
  file.close();
  return file.good() && std::rename(fresh.c_str(), arguments.resume.c_str()) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Runs coordkit clusters in virtual time against hostile networks, disks, clocks and processes."};
  app.add_option("--runs", arguments.runs, "number of seeds")->capture_default_str();
  app.add_option("--seed", arguments.seed, "the first seed")->capture_default_str();
  app.add_option("--replay", arguments.replay, "run only this seed");
  app.add_option("--shrink", arguments.shrink, "make this failing seed small: fewer faults, shorter, fewer workers and nodes");
  arguments.failures.add_to(app);
  app.add_option("--profile", arguments.profile, "the kind of run that the seeds draw: " + profile_names())
      ->capture_default_str();
  app.add_option("--seconds", arguments.seconds, "approximate virtual seconds of the hostile part")->capture_default_str();
  app.add_option("--jobs", arguments.jobs, "number of seeds that run at a time")->capture_default_str();
  app.add_option("--history", arguments.history,
                 "with --replay: write the history of the callers to this file, for coordctl check");
  app.add_option("--black-box", arguments.black_box, "the runs whose histories are searched for an order")
      ->transform(CLI::CheckedTransformer(std::map<std::string, sim::BlackBox>{
          {"sampled", sim::BlackBox::Sampled}, {"always", sim::BlackBox::Every}, {"never", sim::BlackBox::Never}}))
      ->default_str("sampled");
  app.add_flag("--without-witness", arguments.without_witness,
               "do not compare answers with the log; the difference in processor time is the cost of that check");
  app.add_option("--resume", arguments.resume,
                 "a file to resume from, written every 500 runs; a stopped set of runs loses at most these");
  arguments.compare.add_to(app);
  app.add_flag("--keep-going", arguments.keep_going, "do not stop at the first violation");
  app.add_flag("--json", arguments.json, "nothing on stdout but the JSON line");
  app.add_flag("--verbose", arguments.verbose, "every event on stderr");
  CLI11_PARSE(app, argc, argv);
  if (const std::string why = arguments.failures.interpret(); !why.empty()) {
    std::fprintf(stderr, "coordkit-sim: %s\n", why.c_str());
    return 2;
  }
  if (arguments.profile == "compare") {
    tools::CompareArguments compare = arguments.compare;
    compare.runs = arguments.runs;
    compare.seed = arguments.seed;
    compare.replay = arguments.replay;
    compare.seconds = arguments.seconds;
    compare.jobs = arguments.jobs;
    compare.json = arguments.json;
    return tools::compare(compare);
  }
  if (arguments.shrink != 0) return tools::shrink(options_of(arguments, arguments.shrink), arguments.failures.trace);
  std::ofstream history;
  if (!arguments.history.empty()) {
    if (arguments.replay == 0) return std::fprintf(stderr, "coordkit-sim: --history needs --replay SEED\n"), 2;
    history.open(arguments.history);
    if (!history) return std::fprintf(stderr, "coordkit-sim: cannot write %s\n", arguments.history.c_str()), 2;
  }
  Totals totals;
  if (const std::string why = read_resume(arguments, totals); !why.empty()) {
    return std::fprintf(stderr, "coordkit-sim: %s\n", why.c_str()), 2;
  }
  Runner runner(arguments, history.is_open() ? &history : nullptr, totals);
  do {
    totals = runner.run(arguments.resume.empty() ? arguments.runs : totals.runs + kChunk);
    if (!arguments.resume.empty() && totals.violations == 0 && !write_resume(arguments, totals)) {
      return std::fprintf(stderr, "coordkit-sim: cannot write %s\n", arguments.resume.c_str()), 2;
    }
  } while (totals.runs < arguments.runs && arguments.replay == 0 && !runner.stopped());
  if (history.is_open() && !history.flush()) {
    return std::fprintf(stderr, "coordkit-sim: %s could not be written whole\n", arguments.history.c_str()), 2;
  }
  if (!arguments.json) {
    std::printf("%lu runs, %.0f virtual seconds in %.1f s, %lu grants, %lu elections, %lu crashes, %lu violations\n",
                static_cast<unsigned long>(totals.runs), totals.virtual_seconds, totals.wall_seconds,
                static_cast<unsigned long>(totals.sum.grants), static_cast<unsigned long>(totals.sum.elections),
                static_cast<unsigned long>(totals.sum.crashes), static_cast<unsigned long>(totals.violations));
  }
  const uint64_t seed = arguments.replay != 0 ? arguments.replay : arguments.seed;
  std::printf("%s\n", tools::figures(totals, seed, arguments.profile).dump().c_str());
  return totals.violations == 0 ? 0 : 1;
}
