// coordkit-bench: measures three replica processes on loopback, with their data on disk.
//
//   coordkit-bench lock --callers 1,16,64 --seconds 5 --json
//   coordkit-bench lock --kind handoff,read90 --callers 2,16,64 --rounds 5
//   coordkit-bench lock --kind lock --security plain,secret,tls --rounds 5
//   coordkit-bench kv --etcd /usr/bin/etcd --rounds 3
//   coordkit-bench watch --watchers 10000 --callers 1,16
//   coordkit-bench grow --seconds 3
//   coordkit-bench takeover --sessions 10,1000000
//   coordkit-bench overload --times 10 --seconds 60
//   coordkit-bench doors --callers 1,64 --rounds 3
//   coordkit-bench failover --sessions 10,1000000 --kills 5
//
// One JSON object per line on standard output (or a table without --json), progress on standard error: the machine once,
// then for each measurement of a load a disk probe, the measurement, and a probe again. One with disk_suspect (suite.h)
// must be discarded. Exit status 1: something failed or saw errors.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>

#include "bench/cluster/cluster.h"
#include "bench/cluster/doors.h"
#include "bench/cluster/failover.h"
#include "bench/cluster/grow.h"
#include "bench/cluster/measure.h"
#include "bench/cluster/suite.h"
#include "bench/cluster/takeover.h"

namespace coordkit::bench {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string suite;  // lock, handoff, kv, watch, overload, doors, grow, failover
  Suite loads{.load = {.where = "embedded"}};
  GrowOptions grow;
  FailoverOptions failover;
  double overload_seconds = 60;
  std::string data = "out/bench-data";
  bool json = false;
  bool allow_memory = false;
};

class Run {
 public:
  explicit Run(const Arguments& arguments) : arguments_(arguments) {}

  int run(const fs::path& data) {
    print(describe_machine(data));
    const PrintLine print_line = [this](const nlohmann::ordered_json& line) { print(line); };
    if (arguments_.suite == "grow") return grow(data, print_line);
    if (arguments_.suite == "failover") return failover(data, print_line);
    if (arguments_.suite == "doors") return told(run_doors(arguments_.loads, print_line), "a call was refused without cause");
    return run_suite(data, arguments_.loads, print_line) ? 0 : 1;
  }

 private:
  int grow(const fs::path& data, const PrintLine& print_line) {
    probe(data, "before");
    const bool passed = run_grow(data / "grow", arguments_.grow, print_line);
    probe(data, "after");
    return told(passed, "a change failed, or a call was refused without cause");
  }

  int failover(const fs::path& data, const PrintLine& print_line) {
    return told(run_failover(data / "failover", arguments_.failover, print_line), "a session was lost, or a call was refused");
  }

  static int told(bool passed, const char* otherwise) {
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

void add_place(CLI::App& suite, Arguments& arguments) {
  suite.add_option("--data", arguments.data, "folder on a real disk")->capture_default_str();
  suite.add_flag("--json", arguments.json, "one JSON object per line");
  suite.add_flag("--allow-memory", arguments.allow_memory, "measure even if the folder is in memory");
}

const CLI::App& add_member(CLI::App& app, MemberOptions& member, const std::string& name, const std::string& what) {
  CLI::App* role = app.add_subcommand(name, what)->group("");
  role->add_option("--id", member.id)->required();
  role->add_option("--data", member.data_dir)->required();
  role->add_option("--members", member.addresses)->required()->expected(3);
  role->add_option("--security", member.security);
  role->add_option("--certificates", member.certificates);
  role->add_option("--history", member.history);
  return *role;
}

void add_security(CLI::App& suite, Suite& loads) {
  suite.add_option("--security", loads.securities, "between the replicas; with several, each measurement once with each")
      ->delimiter(',')
      ->check(CLI::IsMember({"plain", "secret", "tls"}))
      ->capture_default_str();
}

CLI::App& add_suite(CLI::App& app, Arguments& arguments, const std::string& name, const std::string& what) {
  CLI::App* suite = app.add_subcommand(name, what);
  Suite& loads = arguments.loads;
  suite->add_option("--callers", loads.callers, "how many, one measurement each")
      ->delimiter(',')
      ->check(CLI::Range(1, 65'536))
      ->default_str("1,16,64; where they want one lock 2,16,64");
  suite->add_option("--seconds", loads.load.seconds, "length of a measurement")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  suite->add_option("--warmup", loads.load.warmup_s, "seconds of load before it")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  suite->add_option("--rounds", loads.rounds, "measure everything so many times, interleaved, and print medians")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  if (name != "doors") add_security(*suite, loads);
  suite->add_option("--where", loads.load.where, "embedded: callbacks in the leader's process; blocking: threads there")
      ->check(CLI::IsMember({"embedded", "blocking"}))
      ->capture_default_str();
  add_place(*suite, arguments);
  return *suite;
}

void add_overload(CLI::App& app, Arguments& arguments) {
  CLI::App* overload =
      app.add_subcommand("overload", "far more puts than can be done, beside sessions (bench/cluster/overload.h)");
  overload->add_option("--times", arguments.loads.load.times, "what is offered, in sustainable loads")
      ->check(CLI::Range(0.1, 1000.0))
      ->capture_default_str();
  overload->add_option("--seconds", arguments.overload_seconds, "how long it is offered")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  overload->add_option("--sessions", arguments.loads.load.sessions, "that are kept meanwhile")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  overload->add_option("--timeout", arguments.loads.load.timeout_s, "seconds that a put may take")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  overload->add_option("--rounds", arguments.loads.rounds, "on a new cluster each")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_place(*overload, arguments);
}

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Measures three coordkit replicas on loopback, durable, with the callers in the leader's process.");
  app.require_subcommand(1);
  Arguments arguments;
  std::vector<std::string> kinds = kinds_of("lock");
  add_suite(app, arguments, "lock", "acquire and release, alone and in contention; the kinds are told in bench/cluster/load.h")
      .add_option("--kind", kinds, "which loads")
      ->delimiter(',')
      ->check(CLI::IsMember(kinds_of("lock")))
      ->capture_default_str();
  add_suite(app, arguments, "handoff", "all callers want one lock; a cycle is one hand-off (lock --kind handoff)");
  std::vector<std::string> kv_kinds = kinds_of("kv");
  CLI::App& kv = add_suite(app, arguments, "kv", "puts, transactions and reads of keys (bench/cluster/kv_load.h)");
  kv.add_option("--kind", kv_kinds, "which loads")->delimiter(',')->check(CLI::IsMember(kinds_of("kv")))->capture_default_str();
  kv.add_option("--etcd", arguments.loads.etcd, "this program, and the same loads on three of it in the same rounds");
  CLI::App& watch = add_suite(app, arguments, "watch", "puts below one prefix that many watch (bench/cluster/watch_load.h)");
  watch.add_option("--watchers", arguments.loads.load.watchers, "how many")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add_overload(app, arguments);
  add_suite(app, arguments, "doors", "the load lock on three replicas in this process, in memory, at door 2 and at door 1");
  CLI::App* grow = app.add_subcommand("grow", "lock load on one replica while the cluster grows to 3, to 5 and shrinks to 3");
  grow->add_option("--seconds", arguments.grow.seconds, "of load between two changes")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  grow->add_option("--callers", arguments.grow.callers, "each with a lock of its own")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  add_place(*grow, arguments);
  std::vector<uint64_t> sessions{10, 1'000'000};
  CLI::App* takeover = app.add_subcommand("takeover", "what a new leader does with the sessions there are; memory only");
  takeover->add_option("--sessions", sessions, "how many, one measurement each")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  CLI::App* failover = app.add_subcommand("failover", "how long nobody leads when the leader's process is killed");
  failover->add_option("--sessions", arguments.failover.sessions, "how many, one cluster each")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  failover->add_option("--kills", arguments.failover.kills, "of leaders, for each cluster")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_place(*failover, arguments);
  GrowMemberOptions grown;
  CLI::App* grown_role = app.add_subcommand("grow-member", "one replica of grow")->group("");
  grown_role->add_option("--id", grown.id)->required();
  grown_role->add_option("--data", grown.data_dir)->required();
  grown_role->add_option("--callers", grown.load.callers)->required();
  grown_role->add_option("--seconds", grown.load.seconds)->required();
  grown_role->add_option("--members", grown.addresses)->required();
  MemberOptions member;
  const CLI::App& role = add_member(app, member, "member", "one replica");
  const CLI::App& failover_role = add_member(app, member, "failover-member", "one replica of failover");
  CLI11_PARSE(app, argc, argv);

  if (role.parsed()) return run_member(member);
  if (failover_role.parsed()) return run_failover_member(member);
  if (grown_role->parsed()) return run_grow_member(grown);
  if (takeover->parsed()) {
    for (const uint64_t count : sessions) std::cout << run_takeover(count).dump() << std::endl;
    return 0;
  }
  arguments.suite = app.get_subcommands().front()->get_name();
  arguments.loads.kinds = arguments.suite == "lock"      ? kinds
                          : arguments.suite == "handoff" ? std::vector<std::string>{"handoff"}
                          : arguments.suite == "kv"      ? kv_kinds
                                                         : kinds_of(arguments.suite);
  if (arguments.suite == "overload") {
    arguments.loads.load.seconds = arguments.overload_seconds;
    arguments.loads.callers = {1};  // it makes one flood of its own
  }
  if (arguments.suite == "kv" && arguments.loads.callers.empty()) arguments.loads.callers = {1, 16, 64, 256};
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
