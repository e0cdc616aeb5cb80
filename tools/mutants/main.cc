// coordkit-mutants: defects on purpose. `plant` writes a second source tree that has all of tests/proof/mutants in it, each
// behind its switch; `try` shows that tests and simulation notice them. ./dev mutants builds the tree in between.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <thread>

#include "tools/mutants/tree.h"
#include "tools/mutants/trial.h"

namespace {

using namespace coordkit::mutants;

struct Arguments {
  std::string from = ".";
  std::string into = "out/mutants-src";
  std::vector<std::string> names;
  Setting setting{.build = "out/mutants", .logs = "out/logs"};
  long seconds = 300;
  bool targets = false;
};

int plant_all(const Arguments& arguments) {
  const Table table = read_table(arguments.from);
  const Planted planted = plant(table, arguments.from, arguments.into);
  std::printf("%zu mutants in %zu files below %s, %zu files rewritten\n", table.mutants.size(), planted.files,
              arguments.into.c_str(), planted.written);
  return 0;
}

// All of them if none is named.
std::vector<Mutant> chosen(const Table& table, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (table.find(name) == nullptr) throw std::invalid_argument("there is no mutant " + name + " in tests/proof/mutants");
  }
  std::vector<Mutant> mutants;
  std::ranges::copy_if(table.mutants, std::back_inserter(mutants), [&](const Mutant& mutant) {
    return names.empty() || std::ranges::find(names, mutant.name) != names.end();
  });
  return mutants;
}

int print_targets(const std::vector<Mutant>& mutants) {
  std::set<std::string> targets = {"coordkit-sim"};
  for (const Mutant& mutant : mutants) targets.insert("test_" + mutant.folder());
  for (const std::string& target : targets) std::printf("%s\n", target.c_str());
  return 0;
}

void print_row(const std::string& name, const std::string& kind, const std::string& test, const std::string& seeds,
               const std::string& seconds, const std::string& violation, const std::string& breaks) {
  std::printf("%-26s %-8s %-7s %7s %7s  %-14s %s\n", name.c_str(), kind.c_str(), test.c_str(), seeds.c_str(), seconds.c_str(),
              violation.c_str(), breaks.c_str());
  std::fflush(stdout);
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string tenths(const std::optional<double>& seconds) {
  if (!seconds) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", std::floor(*seconds * 10) / 10);
  return text;
}

const char* word_of(Kind kind) { return kind == Kind::Safety ? "Safety" : kind == Kind::Liveness ? "Liveness" : "Unit"; }

class Trials {
 public:
  Trials(const Setting& setting, bool all) : setting_(setting), all_(all) {}

  void run(const Mutant& mutant) {
    const Directed directed = try_directed(mutant, setting_);
    const Simulated simulated = simulated_too(mutant) ? try_simulation(mutant, setting_) : Simulated{};
    ++tried_;
    if (directed == Directed::Killed) ++killed_;
    if (directed != Directed::Killed)
      lives_.push_back(mutant.name + ": " + to_string(directed) + ", its directed test does not tell");
    if (mutant.kind == Kind::Safety) count(mutant, simulated);
    print_row(mutant.name, word_of(mutant.kind), to_string(directed), or_dash(simulated.seeds), tenths(simulated.seconds),
              or_dash(simulated.violation), mutant.breaks);
  }

  int conclude() const {
    std::printf("%d mutants: %d killed by their tests; of %d against safety %d found by simulation, %d within 30 s\n", tried_,
                killed_, safety_, found_, soon_);
    for (const std::string& line : lives_) std::printf("%s\n", line.c_str());
    return lives_.empty() ? 0 : 1;
  }

 private:
  // A mutant that only costs time may or may not show in a run, so it is simulated only when named.
  bool simulated_too(const Mutant& mutant) const {
    return mutant.kind == Kind::Safety || (mutant.kind == Kind::Liveness && !all_);
  }

  void count(const Mutant& mutant, const Simulated& simulated) {
    ++safety_;
    if (simulated.violation.empty()) {
      lives_.push_back(mutant.name + ": not found by simulation in " + std::to_string(setting_.patience.count()) + " s");
      return;
    }
    ++found_;
    if (simulated.seconds.value_or(0) < 30) ++soon_;
  }

  Setting setting_;
  bool all_;
  int tried_ = 0;
  int killed_ = 0;
  int safety_ = 0;
  int found_ = 0;
  int soon_ = 0;
  std::vector<std::string> lives_;  // survivors, as sentences
};

int try_them(Arguments arguments) {
  const std::vector<Mutant> mutants = chosen(read_table(arguments.from), arguments.names);
  if (arguments.targets) return print_targets(mutants);
  arguments.setting.patience = std::chrono::seconds(arguments.seconds);
  std::filesystem::create_directories(arguments.setting.logs);
  print_row("mutant", "kind", "test", "seeds", "seconds", "violation", "breaks");
  Trials trials(arguments.setting, arguments.names.empty());
  for (const Mutant& mutant : mutants) trials.run(mutant);
  return trials.conclude();
}

int run(const CLI::App& planting, const Arguments& arguments) {
  try {
    return planting.parsed() ? plant_all(arguments) : try_them(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "coordkit-mutants: %s\n", error.what());
    return 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  arguments.setting.jobs = std::max(1u, std::thread::hardware_concurrency());
  CLI::App app("defects on purpose: planted into a second source tree, and tried one after the other");
  app.require_subcommand(1);
  CLI::App* planting = app.add_subcommand("plant", "write the tree that has the mutants, each behind its switch");
  planting->add_option("--into", arguments.into, "where")->capture_default_str();
  CLI::App* trying =
      app.add_subcommand("try", "check whether the test of each mutant fails, and how soon the simulator finds it");
  trying->add_option("names", arguments.names, "only these mutants");
  trying->add_option("--seconds", arguments.seconds, "seconds of each simulation at most")->capture_default_str();
  trying->add_option("--jobs", arguments.setting.jobs, "threads of a simulation")->capture_default_str();
  trying->add_flag("--targets", arguments.targets, "try no mutant, but print the targets that a trial needs built");
  for (CLI::App* one : {planting, trying})
    one->add_option("--from", arguments.from, "the top of this tree")->capture_default_str();
  trying->add_option("--build", arguments.setting.build, "build folder of the second tree")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return run(*planting, arguments);
}
