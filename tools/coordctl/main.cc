// coordctl: the command line beside the library. `coordctl check` reads a history and says whether it is linearizable
// (docs/format-history.md). It needs no cluster.
#include <CLI/CLI.hpp>
#include <string>

#include "tools/coordctl/check_command.h"

int main(int argc, char** argv) {
  CLI::App app{"Tools for coordkit and for histories of anything that calls itself linearizable."};
  app.require_subcommand(1);
  coordkit::coordctl::CheckArguments check;
  coordkit::coordctl::add_check(app, check);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : coordkit::coordctl::kBadInput;
  }
  return coordkit::coordctl::run_check(check);
}
