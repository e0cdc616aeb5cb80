#include "tools/mutants/trial.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <regex>
#include <sstream>
#include <vector>

#include "tools/mutants/process.h"

namespace coordkit::mutants {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

std::vector<std::string> lines_of(const std::string& output) {
  std::istringstream in(output);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The last line that begins with the count of runs; empty: there is none.
std::string totals_in(const std::vector<std::string>& lines) {
  const auto is_totals = [](const std::string& line) { return line.starts_with("{\"runs\":"); };
  const auto found = std::find_if(lines.rbegin(), lines.rend(), is_totals);
  return found == lines.rend() ? "" : *found;
}

std::string number_in(const std::string& totals, const std::string& name) {
  std::smatch match;
  return std::regex_search(totals, match, std::regex("\"" + name + "\":([0-9.]+)")) ? match[1].str() : "";
}

// The id of the first violation; for a replica that stopped itself the id of its check, which the next line gives.
std::string violation_in(const std::vector<std::string>& lines) {
  static const std::regex form("([A-Z][A-Z_0-9]*) violated by seed .*");
  static const std::regex invariant("INV_[A-Z][0-9]+");
  std::smatch match;
  const auto found = std::ranges::find_if(lines, [&](const std::string& line) { return std::regex_match(line, match, form); });
  if (found == lines.end()) return "";
  const std::string id = match[1];
  const bool stopped = (id == "HALTED" || id == "CHECK") && std::next(found) != lines.end();
  return stopped && std::regex_search(*std::next(found), match, invariant) ? id + " " + match[0].str() : id;
}

}  // namespace

const char* to_string(Directed outcome) {
  switch (outcome) {
    case Directed::Killed: return "killed";
    case Directed::Alive: return "ALIVE";
    case Directed::Hangs: return "HANGS";
    case Directed::Broken: return "BROKEN";
  }
  std::abort();
}

Directed try_directed(const Mutant& mutant, const Setting& setting) {
  const std::string folder = mutant.folder();
  Job job{.program = setting.build / "tests" / folder / ("test_" + folder),
          .arguments = {"--gtest_filter=" + mutant.filter()},
          .environment = {{"TEST_TMPDIR", fs::absolute(setting.build / "tmp").string()}},
          .log = setting.logs / ("mutant-" + mutant.name + ".log"),
          .limit = seconds(300)};
  static const std::regex passed("(^|\n)\\[  PASSED  \\] [1-9]");
  if (run_to_end(job) != 0 || !std::regex_search(read_file(job.log), passed)) return Directed::Broken;
  job.environment["COORDKIT_MUTANT"] = mutant.name;
  job.log = setting.logs / ("mutant-" + mutant.name + "-on.log");
  job.limit = seconds(120);
  const int status = run_to_end(job);
  return status == 0 ? Directed::Alive : status == kTimedOut ? Directed::Hangs : Directed::Killed;
}

Simulated try_simulation(const Mutant& mutant, const Setting& setting) {
  const Job job{
      .program = setting.build / "tools/coordkit-sim",
      .arguments = {"--runs", "1000000000", "--profile", mutant.found, "--jobs", std::to_string(setting.jobs), "--trace", ""},
      .environment = {{"COORDKIT_MUTANT", mutant.name}},
      .log = setting.logs / ("mutant-" + mutant.name + "-sim.log"),
      .limit = setting.patience};
  const auto begun = std::chrono::steady_clock::now();
  const int status = run_to_end(job);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  return read_simulation(read_file(job.log), status, took.count());
}

Simulated read_simulation(const std::string& output, int status, double seconds) {
  const std::vector<std::string> lines = lines_of(output);
  const std::string totals = totals_in(lines);
  const std::string wall = number_in(totals, "wall_seconds");
  Simulated result{.violation = violation_in(lines), .seeds = number_in(totals, "runs"), .seconds = std::nullopt};
  if (!wall.empty()) result.seconds = std::stod(wall);
  if (result.violation.empty() && status > kSignalled) {
    result.violation = "crash " + std::to_string(status - kSignalled);
    result.seconds = seconds;
  }
  return result;
}

}  // namespace coordkit::mutants
