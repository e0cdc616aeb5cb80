// coordkit-experiment: real processes, real clocks, real signals; see roles.h.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>

#include "tools/experiment/roles.h"

namespace {

namespace experiment = coordkit::experiment;

int run(int argc, char** argv) {
  CLI::App app("Experiments with real processes.");
  app.require_subcommand(1);
  experiment::LostUpdateOptions options;
  bool without_gate = false, without_check = false;
  CLI::App* lost_update = app.add_subcommand(
      "lost-update", "three processes add to one counter under a lock; one of them is stopped every five seconds");
  lost_update->add_option("--seconds", options.seconds, "duration of the experiment")->capture_default_str();
  lost_update->add_option("--seed", options.seed, "seed of the random choices")->capture_default_str();
  lost_update->add_option("--out", options.out, "folder for its files")->capture_default_str();
  lost_update->add_flag("--without-gate", without_gate, "the counter takes every write");
  lost_update->add_flag("--without-check", without_check, "holders do not ask valid() before they write");
  lost_update->add_flag("--json", options.json, "nothing on stdout but the JSON line");

  experiment::StrangersOptions strangers;
  CLI::App* siege = app.add_subcommand("strangers", "three processes at work, and hostile peers that were never invited");
  siege->add_option("--seconds", strangers.seconds, "duration of the experiment")->capture_default_str();
  siege->add_option("--seed", strangers.seed, "seed of the random choices")->capture_default_str();
  siege->add_option("--out", strangers.out, "folder for its files")->capture_default_str();
  siege->add_flag("--with-secret", strangers.secret, "the replicas share a secret");
  siege->add_flag("--json", strangers.json, "nothing on stdout but the JSON line");

  experiment::SpoiledFilesOptions spoiled;
  CLI::App* spoiled_files =
      app.add_subcommand("spoiled-files", "three processes at work; the files of one are spoiled, stopped or running");
  spoiled_files->add_option("--runs", spoiled.runs, "spoilings of a stopped member")->capture_default_str();
  spoiled_files->add_option("--running", spoiled.running, "spoilings of a running member")->capture_default_str();
  spoiled_files->add_option("--seed", spoiled.seed, "seed of the random choices")->capture_default_str();
  spoiled_files->add_option("--out", spoiled.out, "folder for its files")->capture_default_str();
  spoiled_files->add_flag("--json", spoiled.json, "nothing on stdout but the JSON line");
  experiment::SpoiledNodeOptions spoiled_node;
  CLI::App* spoiled_role = app.add_subcommand("spoiled-node", "one member of spoiled-files")->group("");
  spoiled_role->add_option("--id", spoiled_node.id)->required();
  spoiled_role->add_option("--data", spoiled_node.data_dir)->required();
  spoiled_role->add_option("--members", spoiled_node.addresses)->required()->expected(experiment::kNodes);

  experiment::HistoryOptions history;
  CLI::App* histories = app.add_subcommand("history",
                                           "three processes at work, killed, stopped and asked to hand over at random; a "
                                           "checker judges the histories of their callers");
  histories->add_option("--seconds", history.seconds, "duration of the experiment")->capture_default_str();
  histories->add_option("--seed", history.seed, "seed of the random choices")->capture_default_str();
  histories->add_option("--out", history.out, "folder for its files")->capture_default_str();
  histories->add_flag("!--without-check", history.check, "holders do not ask valid(): the checker has to find the errors");
  histories->add_flag("--beyond", history.beyond,
                      "also set most directories back, or start a copied one in a cut network: replicas must report this");
  histories->add_option("--remotes", history.remotes, "processes without a replica among the callers; none with --beyond")
      ->capture_default_str()
      ->check(CLI::Range(0, 5));
  histories->add_flag("--json", history.json, "nothing on stdout but the JSON line");
  experiment::HistoryNodeOptions history_node;
  CLI::App* history_role = app.add_subcommand("history-node", "one member of history")->group("");
  history_role->add_option("--id", history_node.id)->required();
  history_role->add_option("--life", history_node.life)->required();
  history_role->add_option("--seed", history_node.seed)->required();
  history_role->add_option("--data", history_node.data_dir)->required();
  history_role->add_option("--listen", history_node.listen);
  history_role->add_option("--remotes", history_node.remotes);
  history_role->add_option("--gateways", history_node.gateways)->expected(experiment::kNodes);
  history_role->add_option("--doors", history_node.doors)->expected(experiment::kNodes);
  history_role->add_option("--file", history_node.file)->required();
  history_role->add_flag("!--without-check", history_node.check);
  history_role->add_option("--members", history_node.addresses)->required()->expected(experiment::kNodes);

  experiment::SoakOptions soak;
  CLI::App* soaking = app.add_subcommand(
      "soak",
      "three processes make things of every kind and give them up again, in rounds; their holdings at rest must not grow");
  soaking->add_option("--seconds", soak.seconds, "duration of the experiment")->capture_default_str();
  soaking->add_option("--seed", soak.seed, "seed of the random choices")->capture_default_str();
  soaking->add_option("--out", soak.out, "folder for its files")->capture_default_str();
  soaking->add_option("--remotes", soak.remotes, "processes without a replica among the callers")
      ->capture_default_str()
      ->check(CLI::Range(0, 20));
  soaking->add_flag("--careless", soak.careless, "callers forget some of their things: the experiment has to find this");
  soaking->add_flag("--json", soak.json, "nothing on stdout but the JSON line");
  experiment::SoakNodeOptions soak_node;
  CLI::App* soak_role = app.add_subcommand("soak-node", "one member of soak")->group("");
  soak_role->add_option("--id", soak_node.id)->required();
  soak_role->add_option("--seed", soak_node.seed)->required();
  soak_role->add_option("--data", soak_node.data_dir)->required();
  soak_role->add_option("--remotes", soak_node.remotes);
  soak_role->add_option("--gateways", soak_node.gateways)->expected(experiment::kNodes);
  soak_role->add_flag("--careless", soak_node.careless);
  soak_role->add_option("--members", soak_node.addresses)->required()->expected(experiment::kNodes);

  experiment::CrowdOptions crowd;
  CLI::App* remotes = app.add_subcommand(
      "remotes",
      "three processes with replicas serve very many remotes, of a few processes: figures at rest, kills, restarts, watches");
  remotes->add_option("--remotes", crowd.remotes, "objects of the class Remote")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  remotes->add_option("--processes", crowd.processes, "processes that have them")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  remotes->add_option("--sessions", crowd.sessions, "sessions of each")->capture_default_str()->check(CLI::PositiveNumber);
  remotes->add_option("--seconds", crowd.seconds, "duration of each measurement at rest")->capture_default_str();
  remotes->add_option("--kills", crowd.kills, "kills of a gateway")->capture_default_str();
  remotes->add_option("--watches", crowd.watches, "watches of one key")->capture_default_str();
  remotes->add_option("--puts", crowd.puts, "puts a second, of all remotes")->capture_default_str()->check(CLI::PositiveNumber);
  remotes->add_option("--out", crowd.out, "folder for its files")->capture_default_str();
  remotes->add_flag("--json", crowd.json, "nothing on stdout but the JSON line");
  experiment::CrowdMemberOptions crowd_member;
  CLI::App* crowd_member_role = app.add_subcommand("crowd-member", "one member of remotes")->group("");
  crowd_member_role->add_option("--id", crowd_member.id)->required();
  crowd_member_role->add_option("--data", crowd_member.data_dir)->required();
  crowd_member_role->add_option("--remotes", crowd_member.remotes)->required();
  crowd_member_role->add_option("--remotes-max", crowd_member.remotes_max)->required();
  crowd_member_role->add_option("--members", crowd_member.addresses)->required()->expected(experiment::kNodes);
  experiment::CrowdProcessOptions crowd_process;
  CLI::App* crowd_role = app.add_subcommand("crowd-process", "one process of remotes")->group("");
  crowd_role->add_option("--first", crowd_process.first)->required();
  crowd_role->add_option("--remotes", crowd_process.remotes)->required();
  crowd_role->add_option("--sessions", crowd_process.sessions)->required();
  crowd_role->add_option("--puts", crowd_process.puts)->required();
  crowd_role->add_option("--file", crowd_process.file)->required();
  crowd_role->add_option("--gateways", crowd_process.gateways)->required()->expected(experiment::kNodes);

  experiment::CatchUpOptions catch_up;
  CLI::App* catching_up =
      app.add_subcommand("catch-up", "three processes under load; one of them is stopped for a while and has to catch up");
  catching_up->add_option("--seconds", catch_up.seconds, "seconds for which it is stopped")->capture_default_str();
  catching_up->add_option("--limit", catch_up.limit, "seconds it may take to catch up")->capture_default_str();
  catching_up->add_option("--state", catch_up.state_mb, "size of the values in the state, in MB")->capture_default_str();
  catching_up->add_option("--rate", catch_up.rate_mb, "rate of the values that are written, in MB/s")->capture_default_str();
  catching_up->add_option("--value", catch_up.value_bytes, "bytes of one value")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  catching_up->add_option("--out", catch_up.out, "folder for its files")->capture_default_str();
  catching_up->add_flag("--json", catch_up.json, "nothing on stdout but the JSON line");

  experiment::RestartOptions restart;
  CLI::App* restarting = app.add_subcommand("restart", "one process with a large state is started again");
  restarting->add_option("--state", restart.state_mb, "size of the values in the state, in MB")->capture_default_str();
  restarting->add_option("--value", restart.value_bytes, "bytes of one value")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  restarting->add_option("--log", restart.log_mb, "length of the log behind the checkpoint, in MiB")->capture_default_str();
  restarting->add_option("--out", restart.out, "folder for its files")->capture_default_str();
  restarting->add_flag("--json", restart.json, "nothing on stdout but the JSON line");

  experiment::LoadNodeOptions load_node;
  CLI::App* load_role = app.add_subcommand("load-node", "one member of catch-up and restart")->group("");
  load_role->add_option("--id", load_node.id)->required();
  load_role->add_option("--data", load_node.data_dir)->required();
  load_role->add_option("--log", load_node.log_retained_mb);
  load_role->add_option("--members", load_node.addresses)->required();

  experiment::NodeOptions node;
  CLI::App* node_role = app.add_subcommand("node", "one process of the service")->group("");
  node_role->add_option("--id", node.id)->required();
  node_role->add_option("--data", node.data_dir)->required();
  node_role->add_option("--counter", node.counter_port)->required();
  node_role->add_option("--members", node.addresses)->required()->expected(experiment::kNodes);
  node_role->add_flag("!--without-check", node.check);
  node_role->add_flag("--reports", node.reports);
  node_role->add_option("--secret", node.secret);
  node_role->add_option("--remotes", node.remotes);
  node_role->add_option("--remotes-secret", node.remotes_secret);
  node_role->add_option("--gateways", node.gateways)->expected(experiment::kNodes);
  int64_t section_ms = node.section.count();
  node_role->add_option("--section-ms", section_ms);
  CLI::App* counter_role = app.add_subcommand("counter", "the resource that the lock protects")->group("");
  std::string directory;
  bool gate = true;
  counter_role->add_option("--directory", directory)->required();
  counter_role->add_flag("!--without-gate", gate);
  CLI11_PARSE(app, argc, argv);

  std::signal(SIGPIPE, SIG_IGN);
  node.section = std::chrono::milliseconds(section_ms);
  if (node_role->parsed()) return experiment::run_node(node);
  if (counter_role->parsed()) return experiment::run_counter(directory, gate);
  if (siege->parsed()) {
    alarm(static_cast<unsigned>(strangers.seconds) + 120);  // a watchdog; the children die with their parent
    return experiment::run_strangers(strangers);
  }
  if (load_role->parsed()) return experiment::run_load_node(load_node);
  if (catching_up->parsed()) return experiment::run_catch_up(catch_up);
  if (restarting->parsed()) return experiment::run_restart(restart);
  if (history_role->parsed()) return experiment::run_history_node(history_node);
  if (histories->parsed()) return experiment::run_history(history);
  if (crowd_member_role->parsed()) return experiment::run_crowd_member(crowd_member);
  if (crowd_role->parsed()) return experiment::run_crowd_process(crowd_process);
  if (remotes->parsed()) return experiment::run_remotes(crowd);
  if (soak_role->parsed()) return experiment::run_soak_node(soak_node);
  if (soaking->parsed()) return experiment::run_soak(soak);
  if (spoiled_role->parsed()) return experiment::run_spoiled_node(spoiled_node);
  if (spoiled_files->parsed()) return experiment::run_spoiled_files(spoiled);
  options.protection = {!without_gate, !without_check};
  alarm(static_cast<unsigned>(options.seconds) + 90);  // a watchdog; the children die with their parent
  return experiment::run_lost_update(options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "coordkit-experiment: %s\n", error.what());
    return 1;
  }
}
