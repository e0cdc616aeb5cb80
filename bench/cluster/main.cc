// coordkit-bench: measures three replica processes on loopback, with their data on disk.
//
//   coordkit-bench lock --callers 1,16,64 --seconds 5 --json
//   coordkit-bench lock --kind handoff,read90 --callers 2,16,64 --rounds 5
//   coordkit-bench lock --kind lock --security plain,secret,tls --rounds 5
//   coordkit-bench lock --beside skeleton --callers 1,16,64,256 --rounds 3
//   coordkit-bench lock --kind lock --rate 1000,5000,20000 --csv figures.csv
//   coordkit-bench kv --beside etcd --etcd /usr/bin/etcd --rounds 3
//   coordkit-bench watch --watchers 10000 --callers 1,16
//   coordkit-bench grow --seconds 3
//   coordkit-bench takeover --sessions 10,1000000
//   coordkit-bench memory --kind waiter --count 10000
//   coordkit-bench overload --times 10 --seconds 60
//   coordkit-bench doors --callers 1,64 --rounds 3
//   coordkit-bench failover --sessions 10,1000000 --kills 5
//   coordkit-bench table --rounds 3 --csv figures.csv
//   coordkit-bench plot figures.csv --out plots
//
// One JSON object per line on standard output (or a table without --json), progress on standard error: the machine once,
// then for each measurement of a load a disk probe, the measurement, and a probe again. One with disk_suspect (suite.h)
// must be discarded. Exit status 1: something failed or saw errors.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>

#include "bench/cluster/compare.h"
#include "bench/cluster/doors.h"
#include "bench/cluster/measure.h"
#include "bench/cluster/memory.h"
#include "bench/cluster/options.h"
#include "bench/cluster/takeover.h"
#include "bench/report/plots.h"

namespace coordkit::bench {
namespace {

namespace fs = std::filesystem;

class Run {
 public:
  explicit Run(const Arguments& arguments) : arguments_(arguments) {}

  int run(const fs::path& data) {
    print(describe_machine(data));
    const PrintLine print_line = [this](const nlohmann::ordered_json& line) { print(line); };
    if (arguments_.command == "grow") return grow(data, print_line);
    if (arguments_.command == "failover") return failover(data, print_line);
    if (arguments_.command == "doors") return doors(print_line);
    if (arguments_.command == "table") return table(data);
    if (arguments_.command == "memory") return memory(data);
    return suite(data);
  }

 private:
  int suite(const fs::path& data) {
    Suite loads = arguments_.loads;
    loads.measured = product_of(arguments_.product);
    Figures figures;
    const bool passed = run_suite(data, loads, [&](const nlohmann::ordered_json& line) {
      add_line(figures, line);
      print(line);
    });
    if (!arguments_.csv.empty()) write_file(arguments_.csv, figures.csv());
    return passed ? 0 : 1;
  }

  int table(const fs::path& data) {
    const std::vector<Row> rows = run_table(data, arguments_.table, [this](const nlohmann::ordered_json& line) {
      if (arguments_.json) print(line);
    });
    if (!arguments_.json) std::cout << text_of(rows);
    if (arguments_.json) std::ranges::for_each(rows, [this](const Row& row) { print(json_of(row)); });
    return 0;
  }

  int doors(const PrintLine& print_line) {
    const std::vector<size_t> callers =
        arguments_.product.callers.empty() ? std::vector<size_t>{1, 16, 64} : arguments_.product.callers;
    return exit_code(run_doors(arguments_.loads, callers, print_line), "a call was refused without cause");
  }

  int grow(const fs::path& data, const PrintLine& print_line) {
    probe(data, "before");
    const bool passed = run_grow(data / "grow", arguments_.grow, print_line);
    probe(data, "after");
    return exit_code(passed, "a change failed, or a call was refused without cause");
  }

  int memory(const fs::path& data) {
    for (const std::string& kind : arguments_.memory_kinds) {
      const double bytes = memory_of(kind, arguments_.memory_count, data / kind);
      print({{"name", "coordkit/memory"}, {"kind", kind}, {"count", arguments_.memory_count}, {"bytes_each", bytes}});
    }
    return 0;
  }

  int failover(const fs::path& data, const PrintLine& print_line) {
    return exit_code(run_failover(data / "failover", arguments_.failover, print_line),
                     "a session was lost, or a call was refused");
  }

  static int exit_code(bool passed, const char* otherwise) {
    if (!passed) std::fprintf(stderr, "coordkit-bench: %s\n", otherwise);
    return passed ? 0 : 1;
  }

  void probe(const fs::path& data, const char* when) const {
    nlohmann::ordered_json line = {
        {"name", "disk_probe"}, {"when", when}, {"of", "coordkit/grow"}, {"callers", arguments_.grow.callers}};
    line.update(probe_disk(data));
    print(line);
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
};

// The folder of this run, and its parent if that was created for it.
void remove_data(const fs::path& data) {
  fs::remove_all(data);
  std::error_code not_empty;
  fs::remove(data.parent_path(), not_empty);
}

// The folder of this run. nullopt: the reason was printed.
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

int plot(const Arguments& arguments) {
  const std::vector<Plot> plots = plots_of(read_figures({arguments.figures}));
  if (plots.empty())
    throw std::runtime_error("there is nothing to draw: no load with several numbers of callers, or at a rate, and no kills");
  fs::create_directories(arguments.out);
  for (const Plot& plot : plots) {
    const fs::path file = fs::path(arguments.out) / plot.file;
    write_file(file, svg(plot.chart));
    std::cout << file.string() << std::endl;
  }
  return 0;
}

int takeover(const Arguments& arguments) {
  for (const uint64_t count : arguments.takeover_sessions) std::cout << run_takeover(count).dump() << std::endl;
  return 0;
}

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Measures three coordkit replicas on loopback, durable, with the callers in the leader's process.");
  Arguments arguments;
  add_commands(app, arguments);
  try {
    app.parse(argc, argv);
    complete(app, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  const std::string& command = arguments.command;
  if (command == "member") return run_member(arguments.member);
  if (command == "remote") return run_remote(arguments.gateways);
  if (command == "failover-member") return run_failover_member(arguments.member);
  if (command == "grow-member") return run_grow_member(arguments.grown);
  if (command == "skeleton-leader") return skeleton::run_leader(arguments.bare);
  if (command == "skeleton-follower") return skeleton::run_follower(arguments.bare);
  if (command == "takeover") return takeover(arguments);
  if (command == "plot") return plot(arguments);
  if (command == "compare") {
    std::cout << compared(arguments.then, arguments.now);
    return 0;
  }
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
