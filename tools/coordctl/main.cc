// coordctl: the command line beside the library. `check` reads a history and says whether it is linearizable
// (docs/format-history.md). `--socket PATH ...` talks to a running replica (docs/coordctl.md). `inspect`, `cat`, `backup`,
// `restore` and `recover` work on data directories that no replica has open, and on backups of them (docs/backup.md).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/coordctl/backup_command.h"
#include "tools/coordctl/check_command.h"
#include "tools/coordctl/completion.h"
#include "tools/coordctl/inspect_command.h"
#include "tools/coordctl/live_command.h"
#include "tools/coordctl/outcome.h"

namespace {

using namespace coordkit::coordctl;

struct Arguments {
  CheckArguments check;
  LiveArguments live;
  InspectArguments inspect;
  CatArguments cat;
  BackupArguments backup;
  RestoreArguments restore;
  RecoverArguments recover;
};

int run(const CLI::App& app, const Arguments& arguments) {
  if (!arguments.live.words.empty()) return run_live(arguments.live);
  if (app.got_subcommand("inspect")) return run_inspect(arguments.inspect);
  if (app.got_subcommand("cat")) return run_cat(arguments.cat);
  if (app.got_subcommand("backup")) return run_backup(arguments.backup);
  if (app.got_subcommand("restore")) return run_restore(arguments.restore);
  if (app.got_subcommand("recover")) return run_recover(arguments.recover);
  return run_check(arguments.check);
}

// The output may still be in a buffer, and the disk behind it full.
int finish(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "coordctl: the output could not be written in full: is its disk full, or its reader gone?\n");
  return status == kDone ? kUnwritten : status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Tools for coordkit, and for histories of any system that claims to be linearizable."};
  app.require_subcommand(1);
  Arguments arguments;
  add_check(app, arguments.check);
  add_inspect(app, arguments.inspect);
  add_cat(app, arguments.cat);
  add_backup(app, arguments.backup);
  add_restore(app, arguments.restore);
  add_recover(app, arguments.recover);
  add_live(app, arguments.live);
  const CLI::App* const completion = app.add_subcommand("completion", "prints a script: source <(coordctl completion)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> unknown = app.get_subcommands().empty() ? app.remaining() : std::vector<std::string>();
    if (error.get_exit_code() != 0 && !unknown.empty()) {
      std::fprintf(stderr, "coordctl: '%s' is no command; --help lists them\n", unknown.front().c_str());
      return kBadInput;
    }
    const int status = app.exit(error);
    return status == 0 ? 0 : kBadInput;
  }
  if (completion->parsed()) {
    std::fputs(bash_completion(app).c_str(), stdout);
    return finish(kDone);
  }
  return finish(run(app, arguments));
}
