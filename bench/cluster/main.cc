// coordkit-bench: measures three replica processes on loopback, with their data on disk.
//
//   coordkit-bench lock --callers 1,16,64 --seconds 5 --json
//   coordkit-bench handoff --callers 2,16,64
//   coordkit-bench grow --seconds 3
//   coordkit-bench takeover --sessions 10,1000000
//
// One JSON object per line on standard output (or a table without --json), progress on standard error: the machine once,
// then for each number of callers a probe of the disk, the measurement, and a probe again. A measurement next to a probe
// below half of the run's best says disk_suspect: throw it away. Exit status 1: something failed or saw errors.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>

#include "bench/cluster/cluster.h"
#include "bench/cluster/grow.h"
#include "bench/cluster/measure.h"
#include "bench/cluster/takeover.h"

namespace coordkit::bench {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::vector<size_t> callers;
  LoadOptions load{.where = "embedded"};
  std::string data = "out/bench-data";
  bool json = false;
  bool allow_memory = false;
};

constexpr double kSuspectRatio = 0.5;

class Run {
 public:
  explicit Run(const Arguments& arguments) : arguments_(arguments) {}

  int run(const fs::path& data) {
    durable_ = !in_memory(data);
    print(describe_machine(data));
    if (arguments_.load.suite == "grow") return grow(data);
    int failures = 0;
    for (const size_t callers : arguments_.callers) failures += measure(data, callers) ? 0 : 1;
    return failures == 0 ? 0 : 1;
  }

 private:
  int grow(const fs::path& data) {
    const GrowOptions options{.callers = arguments_.callers.front(), .seconds = arguments_.load.seconds};
    print(probe_line(data, "before", "coordkit/grow", options.callers));
    const bool passed = run_grow(data / "grow", options, [this](const auto& line) { print(line); });
    print(probe_line(data, "after", "coordkit/grow", options.callers));
    if (!passed) std::fprintf(stderr, "coordkit-bench: a change failed, or a call was refused without cause\n");
    return passed ? 0 : 1;
  }

  // A cluster of its own for each number of callers, so that none inherits another's history. It is not running while the
  // disk is probed.
  bool measure(const fs::path& data, size_t callers) {
    LoadOptions load = arguments_.load;
    load.callers = callers;
    const std::string name = "coordkit/" + load.where + "/" + load.suite;
    std::fprintf(stderr, "# %s, %zu callers\n", name.c_str(), callers);
    const double before = probe(data, "before", name, callers);
    const nlohmann::ordered_json measured = run_cluster(data / ("callers-" + std::to_string(callers)), load);
    const nlohmann::ordered_json last = probe_line(data, "after", name, callers);
    nlohmann::ordered_json line = {{"name", name}, {"where", load.where}, {"callers", callers}};
    line.update(measured);
    line["durable"] = durable_;
    line["disk_suspect"] = std::min<double>(before, last["fdatasync_per_s"]) < kSuspectRatio * best_probe_;
    print(line);
    print(last);
    return measured.value("errors", 1) == 0;
  }

  nlohmann::ordered_json probe_line(const fs::path& data, const char* when, const std::string& of, size_t callers) {
    nlohmann::ordered_json line = {{"name", "disk_probe"}, {"when", when}, {"of", of}, {"callers", callers}};
    line.update(probe_disk(data));
    best_probe_ = std::max<double>(best_probe_, line["fdatasync_per_s"]);
    return line;
  }

  double probe(const fs::path& data, const char* when, const std::string& of, size_t callers) {
    const nlohmann::ordered_json line = probe_line(data, when, of, callers);
    print(line);
    return line["fdatasync_per_s"];
  }

  void print(const nlohmann::ordered_json& line) const {
    if (arguments_.json) {
      std::cout << line.dump() << std::endl;
      return;
    }
    for (const auto& [key, value] : line.items()) std::cout << key << " " << value << "  ";
    std::cout << std::endl;
  }

  const Arguments arguments_;
  bool durable_ = false;
  double best_probe_ = 0;
};

// The folder of this run, and the one it lies in if that was made for it.
void remove_data(const fs::path& data) {
  fs::remove_all(data);
  std::error_code not_empty;
  fs::remove(data.parent_path(), not_empty);
}

// The folder of this run. Nothing: said why.
std::optional<fs::path> make_data(const Arguments& arguments) {
  const fs::path data = fs::path(arguments.data) / ("run-" + std::to_string(getpid()));
  fs::create_directories(data);
  if (!in_memory(data) || arguments.allow_memory) return data;
  std::fprintf(
      stderr,
      "coordkit-bench: %s is in memory (%s), where a sync costs nothing and keeps nothing: name a folder on a disk with "
      "--data, or say --allow-memory to measure without durability\n",
      data.c_str(), file_system_of(data).c_str());
  remove_data(data);
  return std::nullopt;
}

int measure(const Arguments& arguments) {
  const std::optional<fs::path> data = make_data(arguments);
  if (!data) return 2;
  int code = 1;
  try {
    code = Run(arguments).run(*data);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "coordkit-bench: %s\n", error.what());
  }
  remove_data(*data);
  return code;
}

void add_suite(CLI::App& app, Arguments& arguments, const std::string& name, const std::string& what,
               const std::string& callers) {
  CLI::App* suite = app.add_subcommand(name, what);
  suite->add_option("--callers", arguments.callers, "how many, one measurement each")
      ->delimiter(',')
      ->check(CLI::Range(1, 65'536))
      ->default_str(callers);
  suite->add_option("--seconds", arguments.load.seconds, "length of a measurement")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  suite->add_option("--warmup", arguments.load.warmup_s, "seconds of load before it")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  suite->add_option("--where", arguments.load.where, "embedded: callbacks in the leader's process; blocking: threads there")
      ->check(CLI::IsMember({"embedded", "blocking"}))
      ->capture_default_str();
  suite->add_option("--data", arguments.data, "folder on a real disk")->capture_default_str();
  suite->add_flag("--json", arguments.json, "one JSON object per line");
  suite->add_flag("--allow-memory", arguments.allow_memory, "measure even if the folder is in memory");
}

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Measures three coordkit replicas on loopback, durable, with the callers in the leader's process.");
  app.require_subcommand(1);
  Arguments arguments;
  add_suite(app, arguments, "lock", "every caller acquires and releases its own lock; a cycle is both", "1,16,64");
  add_suite(app, arguments, "handoff", "all callers want one lock; a cycle is one hand-off", "2,16,64");
  CLI::App* grow = app.add_subcommand("grow", "lock load on one replica while the cluster grows to 3, to 5 and shrinks to 3");
  grow->add_option("--seconds", arguments.load.seconds, "of load between two changes")
      ->check(CLI::Range(0.1, 600.0))
      ->default_val(3.0);
  grow->add_option("--callers", arguments.callers, "each with a lock of its own")->expected(1)->default_str("16");
  grow->add_option("--data", arguments.data, "folder on a real disk")->capture_default_str();
  grow->add_flag("--json", arguments.json, "one JSON object per line");
  grow->add_flag("--allow-memory", arguments.allow_memory, "measure even if the folder is in memory");
  std::vector<uint64_t> sessions{10, 1'000'000};
  CLI::App* takeover = app.add_subcommand("takeover", "what a new leader does with the sessions there are; memory only");
  takeover->add_option("--sessions", sessions, "how many, one measurement each")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  GrowMemberOptions grown;
  CLI::App* grown_role = app.add_subcommand("grow-member", "one replica of grow")->group("");
  grown_role->add_option("--id", grown.id)->required();
  grown_role->add_option("--data", grown.data_dir)->required();
  grown_role->add_option("--callers", grown.load.callers)->required();
  grown_role->add_option("--seconds", grown.load.seconds)->required();
  grown_role->add_option("--members", grown.addresses)->required();
  MemberOptions member;
  CLI::App* role = app.add_subcommand("member", "one replica")->group("");
  role->add_option("--id", member.id)->required();
  role->add_option("--data", member.data_dir)->required();
  role->add_option("--members", member.addresses)->required()->expected(3);
  CLI11_PARSE(app, argc, argv);

  if (role->parsed()) return run_member(member);
  if (grown_role->parsed()) return run_grow_member(grown);
  if (takeover->parsed()) {
    for (const uint64_t count : sessions) std::cout << run_takeover(count).dump() << std::endl;
    return 0;
  }
  arguments.load.suite = app.get_subcommands().front()->get_name();
  if (arguments.callers.empty() && arguments.load.suite == "grow") arguments.callers = {16};
  if (arguments.callers.empty())
    arguments.callers = arguments.load.suite == "lock" ? std::vector<size_t>{1, 16, 64} : std::vector<size_t>{2, 16, 64};
  return measure(arguments);
}

}  // namespace
}  // namespace coordkit::bench

int main(int argc, char** argv) {
  try {
    return coordkit::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "coordkit-bench: %s\n", error.what());
    return 1;
  }
}
