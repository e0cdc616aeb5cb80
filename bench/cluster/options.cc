#include "bench/cluster/options.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace coordkit::bench {
namespace {

void add_place(CLI::App& suite, Arguments& arguments) {
  suite.add_option("--data", arguments.data, "folder on a real disk")->capture_default_str();
  suite.add_flag("--json", arguments.json, "one JSON object per line");
  suite.add_flag("--allow-memory", arguments.allow_memory, "measure even if the folder is in memory");
}

void add_member(CLI::App& app, MemberOptions& member, const std::string& name, const std::string& what) {
  CLI::App* role = app.add_subcommand(name, what)->group("");
  role->add_option("--id", member.id)->required();
  role->add_option("--data", member.data_dir)->required();
  role->add_option("--members", member.addresses)->required()->expected(3);
  role->add_option("--security", member.security);
  role->add_option("--certificates", member.certificates);
  role->add_option("--history", member.history);
  role->add_option("--remotes", member.remotes);
  role->add_option("--election-timeout", member.election_timeout_ms);
}

void add_remote(CLI::App& app, std::vector<std::string>& gateways) {
  app.add_subcommand("remote", "a process without a replica")->group("")->add_option("--gateways", gateways)->required();
}

void add_skeleton(CLI::App& app, skeleton::ReplicaArguments& arguments) {
  CLI::App* leader = app.add_subcommand("skeleton-leader", "the leader of the peer skeleton")->group("");
  leader->add_option("--data", arguments.data)->required();
  leader->add_option("--followers", arguments.followers)->required()->expected(2);
  leader->add_option_function<std::string>(
      "--load", [&arguments](const std::string& text) { arguments.load = nlohmann::json::parse(text).get<LoadOptions>(); });
  CLI::App* follower = app.add_subcommand("skeleton-follower", "another replica of it")->group("");
  follower->add_option("--data", arguments.data)->required();
  follower->add_option("--address", arguments.address)->required();
}

void add_grow_member(CLI::App& app, GrowMemberOptions& grown) {
  CLI::App* role = app.add_subcommand("grow-member", "one replica of grow")->group("");
  role->add_option("--id", grown.id)->required();
  role->add_option("--data", grown.data_dir)->required();
  role->add_option("--callers", grown.load.callers)->required();
  role->add_option("--seconds", grown.load.seconds)->required();
  role->add_option("--members", grown.addresses)->required();
}

void add_security(CLI::App& suite, Product& product) {
  suite.add_option("--security", product.securities, "between the replicas; with several, each measurement once with each")
      ->delimiter(',')
      ->check(CLI::IsMember({"plain", "secret", "tls"}))
      ->capture_default_str();
}

void add_programs(CLI::App& suite, PeerPrograms& programs) {
  suite.add_option("--etcd", programs.etcd, "path of etcd");
  suite.add_option("--redis-server", programs.redis_server, "path of redis-server");
  suite.add_option("--zookeeper", programs.zookeeper, "class path of ZooKeeper's server");
}

void add_peers(CLI::App& suite, Arguments& arguments) {
  suite.add_option("--beside", arguments.product.peers, "the same loads on these, in the same rounds (bench/peers)")
      ->delimiter(',')
      ->check(CLI::IsMember(peer_names()));
  add_programs(suite, arguments.loads.programs);
  suite.add_option("--csv", arguments.csv, "file for the figures, for plot");
}

CLI::App& add_suite(CLI::App& app, Arguments& arguments, const std::string& name, const std::string& what) {
  CLI::App* suite = app.add_subcommand(name, what);
  Suite& loads = arguments.loads;
  Product& product = arguments.product;
  suite->add_option("--callers", product.callers, "numbers of callers, one measurement each")
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
  if (name != "doors") add_security(*suite, product);
  suite
      ->add_option(
          "--where", product.where,
          "embedded: callbacks in the leader's process; blocking: threads there; follower: callbacks in another; remote: "
          "callbacks in a process without a replica")
      ->check(CLI::IsMember({"embedded", "blocking", "follower", "remote"}))
      ->capture_default_str();
  add_place(*suite, arguments);
  return *suite;
}

void add_overload(CLI::App& app, Arguments& arguments) {
  CLI::App* overload =
      app.add_subcommand("overload", "far more puts than can be done, beside sessions (bench/cluster/overload.h)");
  overload->add_option("--times", arguments.loads.load.times, "the offered load, in sustainable loads")
      ->check(CLI::Range(0.1, 1000.0))
      ->capture_default_str();
  overload->add_option("--seconds", arguments.overload_seconds, "seconds for which it is offered")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  overload->add_option("--sessions", arguments.loads.load.sessions, "sessions that are kept meanwhile")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  overload->add_option("--timeout", arguments.loads.load.timeout_s, "seconds that a put may take")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  overload->add_option("--rounds", arguments.loads.rounds, "rounds, each on a new cluster")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_place(*overload, arguments);
}

void add_rates(CLI::App& suite, Product& product) {
  suite
      .add_option("--rate", product.rates,
                  "operations a second that are due whatever is answered, one measurement each; a latency counts from then on. "
                  "--callers is how many may be in progress at once, 1024 if not said")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 10e6));
}

void add_kinds(CLI::App& suite, Product& product, const std::string& of) {
  // Of one suite only: they share the place.
  suite.add_option("--kind", product.kinds, "the loads to measure")
      ->delimiter(',')
      ->check(CLI::IsMember(kinds_of(of)))
      ->default_str(CLI::detail::join(kinds_of(of)));
}

void add_loads(CLI::App& app, Arguments& arguments) {
  CLI::App& lock = add_suite(app, arguments, "lock",
                             "acquire and release, alone and in contention; bench/cluster/load.h describes the kinds");
  add_kinds(lock, arguments.product, "lock");
  CLI::App& handoff =
      add_suite(app, arguments, "handoff", "all callers want one lock; a cycle is one hand-off (lock --kind handoff)");
  CLI::App& kv = add_suite(app, arguments, "kv", "puts, transactions and reads of keys (bench/cluster/kv_load.h)");
  add_kinds(kv, arguments.product, "kv");
  for (CLI::App* suite : {&lock, &handoff, &kv}) add_peers(*suite, arguments);
  for (CLI::App* suite : {&lock, &kv}) add_rates(*suite, arguments.product);
  CLI::App& watch = add_suite(app, arguments, "watch", "puts below one prefix that many watch (bench/cluster/watch_load.h)");
  watch.add_option("--watchers", arguments.loads.load.watchers, "number of watchers")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add_overload(app, arguments);
  add_suite(app, arguments, "doors", "the load lock on three replicas in this process, in memory, at door 2 and at door 1");
}

void add_grow(CLI::App& app, Arguments& arguments) {
  CLI::App* grow = app.add_subcommand("grow", "lock load on one replica while the cluster grows to 3, to 5 and shrinks to 3");
  grow->add_option("--seconds", arguments.grow.seconds, "seconds of load between two changes")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  grow->add_option("--callers", arguments.grow.callers, "callers, each with a lock of its own")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  add_place(*grow, arguments);
}

void add_takeovers(CLI::App& app, Arguments& arguments) {
  CLI::App* takeover = app.add_subcommand("takeover", "the work of a new leader for the existing sessions; memory only");
  takeover->add_option("--sessions", arguments.takeover_sessions, "numbers of sessions, one measurement each")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  CLI::App* failover = app.add_subcommand("failover", "the time without a leader after the leader's process is killed");
  failover->add_option("--sessions", arguments.failover.sessions, "numbers of sessions, one cluster each")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  failover
      ->add_option("--election-timeout", arguments.failover.election_timeout_ms,
                   "milliseconds; a follower waits one to two of them")
      ->check(CLI::Range(10, 60'000))
      ->default_str("the library's");
  failover->add_option("--kills", arguments.failover.kills, "kills of leaders, for each cluster")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_place(*failover, arguments);
}

void add_memory(CLI::App& app, Arguments& arguments) {
  CLI::App* memory =
      app.add_subcommand("memory", "the memory that a process allocates for each of many objects (bench/cluster/memory.h)");
  memory->add_option("--kind", arguments.memory_kinds, "kinds of object to measure")
      ->delimiter(',')
      ->check(CLI::IsMember(arguments.memory_kinds))
      ->default_str(CLI::detail::join(arguments.memory_kinds));
  memory->add_option("--count", arguments.memory_count, "number of objects")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  add_place(*memory, arguments);
}

void add_table(CLI::App& app, Arguments& arguments) {
  TableOptions& table = arguments.table;
  CLI::App* command = app.add_subcommand("table", "the targets (bench/report/targets.cc), with figures and verdicts");
  command->add_option("--rounds", table.suite.rounds, "rounds of all loads, interleaved")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--seconds", table.suite.load.seconds, "length of a measurement")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  command->add_option("--warmup", table.suite.load.warmup_s, "seconds of load before it")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  command->add_option("--rows", table.groups, "only these groups")->delimiter(',')->check(CLI::IsMember(target_groups()));
  command->add_option("--kills", table.kills, "kills of leaders")->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_option("--sessions", table.many.sessions, "sessions in the rows about many")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command->add_option("--process-sessions", table.many.process_sessions, "sessions of one process, for its memory")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command->add_option("--csv", table.csv, "file for the figures, for plot and --from");
  command->add_option("--from", table.from, "files of figures to judge; nothing is measured")->delimiter(',');
  add_programs(*command, table.suite.programs);
  add_place(*command, arguments);
}

void add_reports(CLI::App& app, Arguments& arguments) {
  CLI::App* plot = app.add_subcommand("plot", "pictures of a file of figures (bench/report/plots.h)");
  plot->add_option("figures", arguments.figures, "files, as --csv wrote them")->required();
  plot->add_option("--out", arguments.out, "folder for the SVG files")->capture_default_str();
  CLI::App* compare =
      app.add_subcommand("compare", "the lines of two builds that ran one suite in turns (./dev bench against)");
  compare->add_option("then", arguments.then, "lines of the older build, as --json printed them")->required();
  compare->add_option("now", arguments.now, "lines of the newer build")->required();
}

// Only what can be paced, where it can: of kinds that were not asked for by name, the others are left out.
void check_rates(Product& product, bool by_name) {
  if (product.rates.empty()) return;
  if (product.where == "blocking") throw CLI::ValidationError("--rate", "callers that block have no rate but their own");
  const auto unpaced = [](const std::string& kind) { return !kind_of(kind).paced; };
  if (!by_name) std::erase_if(product.kinds, unpaced);
  const auto wrong = std::ranges::find_if(product.kinds, unpaced);
  if (wrong != product.kinds.end()) throw CLI::ValidationError("--rate", "the kind " + *wrong + " cannot be offered at a rate");
}

}  // namespace

void add_commands(CLI::App& app, Arguments& arguments) {
  app.require_subcommand(1);
  add_loads(app, arguments);
  add_grow(app, arguments);
  add_takeovers(app, arguments);
  add_memory(app, arguments);
  add_table(app, arguments);
  add_reports(app, arguments);
  add_grow_member(app, arguments.grown);
  add_member(app, arguments.member, "member", "one replica");
  add_remote(app, arguments.gateways);
  add_member(app, arguments.member, "failover-member", "one replica of failover");
  add_skeleton(app, arguments.bare);
}

void complete(const CLI::App& app, Arguments& arguments) {
  arguments.command = app.get_subcommands().front()->get_name();
  Product& product = arguments.product;
  if (arguments.command == "handoff") product.kinds = {"handoff"};
  const bool by_name = !product.kinds.empty();
  if (!by_name) product.kinds = kinds_of(arguments.command);
  check_rates(product, by_name);
  if (arguments.command == "overload") {
    arguments.loads.load.seconds = arguments.overload_seconds;
    product.callers = {1};  // one flood of its own making
  }
  if (arguments.command == "kv" && product.callers.empty() && product.rates.empty()) product.callers = {1, 16, 64, 256};
}

}  // namespace coordkit::bench
