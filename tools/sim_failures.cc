#include "tools/sim_failures.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "coordkit/sim/shrink.h"

namespace coordkit::tools {
namespace {

constexpr uint64_t kOrdinalMost = 1'000'000;

template <typename Names>
std::string joined(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return whole && number >= 1 && number <= kOrdinalMost ? std::optional(number) : std::nullopt;
}

// "1-3,7", or "none".
std::optional<std::set<uint64_t>> ordinals_of(const std::string& text) {
  std::set<uint64_t> ordinals;
  if (text == "none") return ordinals;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t dash = part.find('-');
    const std::optional<uint64_t> first = number_of(std::string_view(part).substr(0, dash));
    const std::optional<uint64_t> last = dash == part.npos ? first : number_of(std::string_view(part).substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (uint64_t ordinal = *first; ordinal <= *last; ++ordinal) ordinals.insert(ordinal);
  }
  return ordinals;
}

void print_size(const char* when, const sim::Report& report) {
  const sim::RunSize size = sim::size_of(report);
  std::printf("  %s: %lu faults of %lu kinds, %u nodes with %u workers, %.3f s hostile; violated at %.6f s\n", when,
              static_cast<unsigned long>(size.faults), static_cast<unsigned long>(size.kinds), size.nodes, size.workers,
              std::chrono::duration<double>(size.hostile).count(), std::chrono::duration<double>(report.virtual_time).count());
}

}  // namespace

void FailureArguments::add_to(CLI::App& app) {
  std::vector<std::string_view> kinds;
  for (size_t kind = 0; kind < sim::kFaultKinds; ++kind) kinds.push_back(name_of(sim::FaultKind(kind)));
  trace_option_ = app.add_option("--trace", trace, "file of the timeline page of a violation, or of --replay; \"\": none");
  trace_option_->capture_default_str();
  app.add_option("--without", without_, "kinds of faults to leave out: " + joined(kinds))->delimiter(',');
  app.add_option("--faults", faults_, "only these faults, by their ordinal in the run: 1-3,7 or none");
  app.add_option("--hostile", hostile_seconds_, "virtual seconds of the hostile part, exactly")->check(CLI::Range(0.0, 1e6));
  app.add_option("--nodes", nodes_, "number of nodes, at most as many as the seed draws")->check(CLI::PositiveNumber);
  app.add_option("--workers", workers_, "workers per node, at most as many as the seed draws")->check(CLI::PositiveNumber);
  app.add_option("--defect", defect_names_, "plant a defect in the simulator: " + joined(sim::defect_names()));
}

std::string FailureArguments::interpret() {
  trace_asked = trace_option_->count() > 0;
  for (const std::string& name : defect_names_) {
    if (!sim::plant(defects, name)) return "there is no defect named " + name + "; see --help";
  }
  for (const std::string& name : without_) {
    const std::optional<sim::FaultKind> kind = sim::fault_named(name);
    if (!kind) return "there is no kind of fault named " + name + "; see --help";
    reduction.without.insert(*kind);
  }
  if (!faults_.empty()) {
    reduction.faults = ordinals_of(faults_);
    if (!reduction.faults) return "--faults takes ordinals from 1 like 1-3,7 or none, not " + faults_;
  }
  if (hostile_seconds_ >= 0) reduction.hostile = Duration(std::llround(hostile_seconds_ * 1e9));
  if (nodes_ != 0) reduction.nodes = nodes_;
  if (workers_ != 0) reduction.workers = workers_;
  return {};
}

void print_violation(const sim::SimOptions& options, const sim::Report& report) {
  std::fprintf(stderr, "\n%s violated by seed %lu at %.6f s of virtual time\n  %s\n  the last events:\n",
               report.violation.c_str(), static_cast<unsigned long>(report.seed),
               std::chrono::duration<double>(report.virtual_time).count(), report.what.c_str());
  for (const std::string& line : report.last_events) std::fprintf(stderr, "    %s\n", line.c_str());
  if (report.violation == "OPTIONS") return;
  std::fprintf(stderr, "  replay: ./dev sim %s\n", replay_arguments(options).c_str());
  if (options.reduction.empty()) {
    sim::SimOptions again = options;
    std::string arguments = replay_arguments(again);
    std::fprintf(stderr, "  shrink: ./dev sim --shrink%s\n", arguments.substr(arguments.find(' ')).c_str());
  }
}

void write_page(sim::SimOptions options, const std::string& path) {
  if (path.empty()) return;
  sim::Timeline timeline;
  options.timeline = &timeline;
  options.on_event = nullptr;
  if (sim::simulate(options).violation == "OPTIONS") return;  // already reported
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  std::ofstream file(path, std::ios::binary);
  file << timeline_page(timeline);
  file.close();
  if (file.fail()) {
    std::fprintf(stderr, "  the timeline could not be written to %s\n", path.c_str());
  } else {
    std::fprintf(stderr, "  timeline: %s\n", path.c_str());
  }
}

int shrink(const sim::SimOptions& failing, const std::string& trace) {
  const sim::Shrunk shrunk = sim::shrink(failing, 400, [](const std::string& step) {
    std::printf("%s\n", step.c_str());
    std::fflush(stdout);
  });
  if (shrunk.before.violation.empty()) {
    std::printf("seed %lu violates nothing: there is nothing to shrink\n", static_cast<unsigned long>(failing.seed));
    return 0;
  }
  if (shrunk.before.violation != "OPTIONS") {
    std::printf("%s after %lu runs\n", shrunk.after.violation.c_str(), static_cast<unsigned long>(shrunk.runs));
    print_size("before", shrunk.before);
    print_size("after", shrunk.after);
    std::fflush(stdout);
  }
  print_violation(shrunk.options, shrunk.after);
  write_page(shrunk.options, trace);
  return 1;
}

}  // namespace coordkit::tools
