#include "tools/coordctl/check_command.h"

#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "check/checker.h"
#include "check/json.h"

namespace coordkit::coordctl {
namespace {

using check::Counterexample;
using check::Report;
using check::Verdict;
using Clock = std::chrono::steady_clock;

std::string model_names() {
  std::string names;
  for (std::string_view name : check::models()) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

int complain(const std::string& what) {
  std::fprintf(stderr, "coordctl: %s\n", what.c_str());
  return kBadInput;
}

nlohmann::ordered_json json_of(const Counterexample& counterexample) {
  nlohmann::ordered_json operations = nlohmann::ordered_json::array();
  for (const std::string& line : counterexample.operations) operations.push_back(nlohmann::ordered_json::parse(line));
  nlohmann::ordered_json json = {{"why", counterexample.why},
                                 {"key", counterexample.key},
                                 {"unplaced", counterexample.unplaced},
                                 {"earlier", counterexample.earlier},
                                 {"from", counterexample.from},
                                 {"numbers", counterexample.numbers},
                                 {"operations", operations},
                                 {"reachable", counterexample.reachable}};
  if (counterexample.shut_out != 0) json["shut_out"] = counterexample.shut_out;
  return json;
}

double megabytes_most() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void print_json(const CheckArguments& arguments, const Report& report, double seconds) {
  nlohmann::ordered_json json = {{"verdict", std::string(name_of(report.verdict))},
                                 {"model", arguments.model},
                                 {"operations", report.operations},
                                 {"skipped", report.skipped},
                                 {"objects", report.objects},
                                 {"undecided", report.undecided},
                                 {"steps", report.steps},
                                 {"configurations_most", report.configurations_most},
                                 {"live_most", report.live_most},
                                 {"wall_seconds", seconds},
                                 {"megabytes_most", megabytes_most()}};
  if (report.counterexample) json["counterexample"] = json_of(*report.counterexample);
  std::printf("%s\n", json.dump().c_str());
}

void print_list(const char* title, const std::vector<std::string>& list) {
  if (list.empty()) return;
  std::printf("  %s\n", title);
  for (const std::string& text : list) std::printf("    %s\n", text.c_str());
}

void print_counterexample(const Counterexample& counterexample) {
  if (!counterexample.key.empty()) std::printf("  key %s\n", counterexample.key.c_str());
  std::printf("  %s\n", counterexample.why.c_str());
  if (!counterexample.from.empty()) {
    std::printf("  after %lu earlier operations the state can have been\n", static_cast<unsigned long>(counterexample.earlier));
    for (const std::string& text : counterexample.from) std::printf("    %s\n", text.c_str());
  }
  std::printf("  these operations cannot be ordered then\n");
  for (size_t i = 0; i < counterexample.operations.size(); ++i) {
    std::printf("  %s %lu  %s\n", counterexample.numbers[i] == counterexample.unplaced ? "->" : "  ",
                static_cast<unsigned long>(counterexample.numbers[i]), counterexample.operations[i].c_str());
  }
  print_list("before it, all that can have happened is", counterexample.reachable);
}

void print_text(const Report& report, double seconds) {
  std::printf("%s: %lu operations on %lu objects, %lu steps, at most %lu configurations and %lu operations kept, %.2f s\n",
              std::string(name_of(report.verdict)).c_str(), static_cast<unsigned long>(report.operations),
              static_cast<unsigned long>(report.objects), static_cast<unsigned long>(report.steps),
              static_cast<unsigned long>(report.configurations_most), static_cast<unsigned long>(report.live_most), seconds);
  if (report.skipped != 0) std::printf("  %lu lines are of other models\n", static_cast<unsigned long>(report.skipped));
  if (report.undecided != 0) {
    std::printf(
        "  %lu objects were given up: the budget was spent (--budget, --configurations; --whole helps with unknown outcomes)\n",
        static_cast<unsigned long>(report.undecided));
  }
  if (report.counterexample) print_counterexample(*report.counterexample);
}

// Feeds the lines; an error names the line. No line uses more memory than the longest legal one, plus one byte.
absl::Status feed(std::istream& in, check::Checker& checker) {
  std::string line;
  std::streambuf& bytes = *in.rdbuf();
  for (int byte = bytes.sbumpc(); !checker.decided(); byte = bytes.sbumpc()) {
    const bool end = byte == std::char_traits<char>::eof();
    if (!end && byte != '\n') {
      if (line.size() <= check::json::kTextBytesMax) line += static_cast<char>(byte);
      continue;
    }
    if (absl::Status status = checker.add(line); !status.ok()) return status;
    line.clear();
    if (end) break;
  }
  return absl::OkStatus();
}

int status_of(Verdict verdict) {
  return verdict == Verdict::Linearizable ? kLinearizable : verdict == Verdict::Violation ? kNotLinearizable : kUndecided;
}

}  // namespace

void add_check(CLI::App& app, CheckArguments& arguments) {
  const check::Limits limits;
  arguments.budget = limits.steps;
  arguments.configurations = limits.configurations;
  CLI::App* command =
      app.add_subcommand("check", "says whether a history is linearizable. Exit status: 0 yes, 1 no, 2 undecided, 3 bad input");
  command->add_option("history", arguments.file, "JSON lines, one operation each (docs/format-history.md); - is standard input")
      ->required();
  command->add_option("--model", arguments.model, "the kind of object in the history: " + model_names())->required();
  command->add_option("--budget", arguments.budget, "steps of the search at most")->capture_default_str();
  command->add_option("--configurations", arguments.configurations, "configurations kept at a time at most")
      ->capture_default_str();
  command->add_option("--limit", arguments.limit, "permits of a semaphore before the first set_limit")->capture_default_str();
  command->add_option("--revision", arguments.revision, "revision of the store before its first change (transaction)")
      ->capture_default_str();
  command->add_flag("--whole", arguments.whole,
                    "reads the whole history first: takes lines in any order, and decides more unknown outcomes");
  command->add_flag("--json", arguments.json, "one JSON object on stdout");
}

int run_check(const CheckArguments& arguments) {
  check::Options options;
  options.reading = arguments.whole ? check::Reading::Whole : check::Reading::Streaming;
  options.settings = {arguments.limit, arguments.revision};
  options.limits.steps = arguments.budget;
  options.limits.configurations = arguments.configurations;
  const std::unique_ptr<check::Checker> checker = check::make_checker(arguments.model, options);
  if (!checker) return complain("there is no model named " + arguments.model + "; there are " + model_names());
  std::ifstream file;
  if (arguments.file != "-") {
    file.open(arguments.file);
    if (!file) return complain("cannot open " + arguments.file + ": " + std::strerror(errno));
  }
  std::istream& in = arguments.file == "-" ? std::cin : file;
  std::ios::sync_with_stdio(false);
  const Clock::time_point start = Clock::now();
  try {
    if (absl::Status status = feed(in, *checker); !status.ok()) return complain(std::string(status.message()));
  } catch (const std::ios_base::failure& failure) {
    return complain("cannot read " + arguments.file + ": " + failure.code().message());
  }
  const Report report = checker->finish();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (arguments.json) {
    print_json(arguments, report, seconds);
  } else {
    print_text(report, seconds);
  }
  return status_of(report.verdict);
}

}  // namespace coordkit::coordctl
