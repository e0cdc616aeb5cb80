#include "tools/sim_compare.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace coordkit::tools {
namespace {

using sim::Recipe;
using sim::RecipeFigures;

double seconds_of(Duration d) { return std::chrono::duration<double>(d).count(); }

constexpr std::pair<const char*, bool sim::CompareFaults::*> kFaults[] = {
    {"pauses", &sim::CompareFaults::pauses},
    {"cuts", &sim::CompareFaults::cuts},
    {"drift", &sim::CompareFaults::drift},
    {"wall_steps", &sim::CompareFaults::wall_steps},
    {"stopped_machines", &sim::CompareFaults::stopped_machines},
    {"wild_rates", &sim::CompareFaults::wild_rates}};

sim::CompareFaults faults_of(const std::vector<std::string>& only) {
  sim::CompareFaults faults;
  if (only.empty()) return faults;
  for (const auto& [name, fault] : kFaults) faults.*fault = std::find(only.begin(), only.end(), name) != only.end();
  return faults;
}

struct Sums {
  sim::Comparison comparison;  // the hash is a sum: the order of completion does not matter
  uint64_t runs = 0;
};

Sums run_all(const CompareArguments& arguments, const sim::CompareOptions& options, uint64_t first, uint64_t count) {
  Sums sums;
  std::mutex mutex;
  std::atomic<uint64_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, arguments.jobs); ++i) {
    threads.emplace_back([&] {
      for (uint64_t at = next++; at < count; at = next++) {
        sim::CompareOptions one = options;
        one.seed = first + at;
        const sim::Comparison result = sim::compare_recipes(one);
        const std::lock_guard lock(mutex);
        ++sums.runs;
        sums.comparison.hash += result.hash;
        for (size_t r = 0; r < sim::kRecipes; ++r) sums.comparison.of[r].add(result.of[r]);
        if (result.violation.empty()) continue;
        std::fprintf(stderr, "seed %lu: %s\n", static_cast<unsigned long>(one.seed), result.violation.c_str());
        sums.comparison.violation = result.violation;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return sums;
}

void print_table(const Sums& sums) {
  std::printf("%-16s %9s %9s %9s %12s %12s %12s %12s %12s\n", "recipe", "grants", "writes", "overlaps", "overlapped s",
              "longest s", "lost", "fenced", "lost, fenced");
  for (const Recipe recipe : sim::kAllRecipes) {
    const RecipeFigures& f = sums.comparison[recipe];
    std::printf("%-16s %9lu %9lu %9lu %12.3f %12.3f %12lu", std::string(name_of(recipe)).c_str(),
                static_cast<unsigned long>(f.grants), static_cast<unsigned long>(f.writes),
                static_cast<unsigned long>(f.overlaps), seconds_of(f.overlapped), seconds_of(f.overlap_longest),
                static_cast<unsigned long>(f.lost));
    if (f.fence) {
      std::printf(" %12lu %12lu\n", static_cast<unsigned long>(f.fenced_writes), static_cast<unsigned long>(f.fenced_lost));
    } else {
      std::printf(" %12s %12s\n", "no fence", "-");
    }
  }
}

nlohmann::ordered_json figures_of(const RecipeFigures& f) {
  nlohmann::ordered_json line{{"grants", f.grants},
                              {"writes", f.writes},
                              {"overlaps", f.overlaps},
                              {"overlapped_seconds", seconds_of(f.overlapped)},
                              {"overlap_longest_seconds", seconds_of(f.overlap_longest)},
                              {"lost_updates", f.lost},
                              {"offers_fence", f.fence}};
  if (f.fence) {
    line["fenced_writes"] = f.fenced_writes;
    line["fenced_lost_updates"] = f.fenced_lost;
  }
  return line;
}

bool write_picture(const std::string& path, const Sums& sums, Duration length) {
  if (path.empty()) return true;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::ofstream file(path, std::ios::trunc);
  file << sim::comparison_picture(sums.comparison, sums.runs, length);
  file.close();
  return file.good();
}

}  // namespace

void CompareArguments::add_to(CLI::App& app) {
  std::vector<std::string> names;
  for (const auto& [name, fault] : kFaults) names.emplace_back(name);
  app.add_option("--picture", picture, "with --profile compare: file of the picture; empty: none")->capture_default_str();
  app.add_option("--only", only, "with --profile compare: these faults alone")->delimiter(',')->check(CLI::IsMember(names));
}

int compare(const CompareArguments& arguments) {
  sim::CompareOptions options;
  options.faults = faults_of(arguments.only);
  options.length = Duration(static_cast<int64_t>(arguments.seconds * 1e9));
  const bool one = arguments.replay != 0;
  const Sums sums = run_all(arguments, options, one ? arguments.replay : arguments.seed, one ? 1 : arguments.runs);
  if (!arguments.json) print_table(sums);
  if (!write_picture(arguments.picture, sums, options.length)) {
    return std::fprintf(stderr, "coordkit-sim: cannot write %s\n", arguments.picture.c_str()), 2;
  }
  nlohmann::ordered_json line{{"runs", sums.runs},
                              {"seed", one ? arguments.replay : arguments.seed},
                              {"profile", "compare"},
                              {"seconds", arguments.seconds},
                              {"only", arguments.only},
                              {"trace_hash", sums.comparison.hash},
                              {"violation", sums.comparison.violation},
                              {"picture", arguments.picture}};
  for (const Recipe recipe : sim::kAllRecipes) line[std::string(name_of(recipe))] = figures_of(sums.comparison[recipe]);
  std::printf("%s\n", line.dump().c_str());
  const RecipeFigures& ours = sums.comparison[Recipe::Coordkit];
  return sums.comparison.violation.empty() && (ours.overlaps == 0 || options.faults.beyond_promise()) && ours.fenced_lost == 0
             ? 0
             : 1;
}

}  // namespace coordkit::tools
