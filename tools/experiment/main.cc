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
  lost_update->add_option("--seconds", options.seconds, "how long")->capture_default_str();
  lost_update->add_option("--seed", options.seed, "of what is random in it")->capture_default_str();
  lost_update->add_option("--out", options.out, "where its files go")->capture_default_str();
  lost_update->add_flag("--without-gate", without_gate, "the counter takes every write");
  lost_update->add_flag("--without-check", without_check, "holders do not ask valid() before they write");
  lost_update->add_flag("--json", options.json, "nothing on stdout but the JSON line");

  experiment::NodeOptions node;
  CLI::App* node_role = app.add_subcommand("node", "one process of the service")->group("");
  node_role->add_option("--id", node.id)->required();
  node_role->add_option("--data", node.data_dir)->required();
  node_role->add_option("--counter", node.counter_port)->required();
  node_role->add_option("--members", node.addresses)->required()->expected(experiment::kNodes);
  node_role->add_flag("!--without-check", node.check);
  CLI::App* counter_role = app.add_subcommand("counter", "what the lock protects")->group("");
  std::string directory;
  bool gate = true;
  counter_role->add_option("--directory", directory)->required();
  counter_role->add_flag("!--without-gate", gate);
  CLI11_PARSE(app, argc, argv);

  std::signal(SIGPIPE, SIG_IGN);
  if (node_role->parsed()) return experiment::run_node(node);
  if (counter_role->parsed()) return experiment::run_counter(directory, gate);
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
