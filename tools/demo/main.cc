// coordkit-demo: the story of one lock among three processes; see roles.h. Without a role it is the story itself.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>

#include "tools/demo/roles.h"

namespace {

constexpr unsigned kWatchdogSeconds = 30;  // for the story itself; its processes die with it

int run(int argc, char** argv) {
  CLI::App app("Three real processes, one lock; the leader is frozen, then killed; ends with a checked summary.");
  std::string out = "out";
  app.add_option("--out", out, "folder for demo.log, demo.json, demo.html, demo.svg and demo-data")->capture_default_str();
  bool keep = false;
  app.add_flag("--keep", keep, "the three continue afterwards, for an hour or until interrupted: look at them with coordctl");

  coordkit::demo::NodeOptions node;
  CLI::App* node_role = app.add_subcommand("node", "one process of the service")->group("");
  node_role->add_option("--id", node.id)->required();
  node_role->add_option("--data", node.data_dir)->required();
  node_role->add_option("--resource", node.resource_port)->required();
  node_role->add_option("--members", node.addresses)->required()->expected(3);
  CLI::App* resource_role = app.add_subcommand("resource", "the resource that the lock protects")->group("");
  std::string gate_file;
  resource_role->add_option("--gate", gate_file)->required();
  CLI11_PARSE(app, argc, argv);

  std::signal(SIGPIPE, SIG_IGN);
  if (node_role->parsed()) return coordkit::demo::run_node(node);
  if (resource_role->parsed()) return coordkit::demo::run_resource(gate_file);
  alarm(kWatchdogSeconds);
  return coordkit::demo::run_story(out, keep);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "coordkit-demo: %s\n", error.what());
    return 1;
  }
}
