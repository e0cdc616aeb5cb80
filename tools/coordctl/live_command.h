// `coordctl --socket PATH COMMAND`: inspects and controls a running replica, through the socket of
// ReplicaOptions::admin_socket. `coordctl --remote ADDRESS COMMAND`: the same from any machine, as a process without a replica.
// The commands are those of src/replica/operate/admin_commands.h.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/coordctl/outcome.h"

namespace coordkit::coordctl {

struct LiveArguments {
  std::string socket;                 // empty: $COORDKIT_SOCKET
  std::vector<std::string> gateways;  // of --remote; empty: the socket is meant
  std::string cluster;                // its name, for --remote
  std::string name;                   // of the remote that it is
  std::string secret_file;            // of remotes; empty: plain text
  std::vector<std::string> words;     // the command's name first; empty: it is another kind of command
  bool json = false;
};

void add_live(CLI::App& app, LiveArguments& arguments);
int run_live(const LiveArguments& arguments);

}  // namespace coordkit::coordctl
