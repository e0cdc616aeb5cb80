#include <cstdio>

#include "backup/offline_directory.h"
#include "tools/coordctl/describe.h"
#include "tools/coordctl/inspect_command.h"
#include "tools/coordctl/outcome.h"

namespace coordkit::coordctl {
namespace {

using backup::OfflineDirectory;

void print_line(const Json& json) { std::printf("%s\n", json.dump().c_str()); }

int cat_log(const OfflineDirectory& directory, const CatArguments& arguments) {
  if (!directory.log().ok()) {
    refuse(directory.log().status());
    return kFaulty;
  }
  int outcome = kDone;
  for (const log::Slot& slot : directory.log()->slots) {
    if (slot.index.value() < arguments.from) continue;
    if (slot.entry) {
      print_line(describe_entry(*slot.entry, arguments.bytes));
    } else {
      print_line({{"index", slot.index.value()}, {"term", slot.term.value()}, {"kind", "Damaged"}});
      outcome = kFaulty;
    }
  }
  return outcome;
}

int cat_rows(const OfflineDirectory& directory, const CatArguments& arguments) {
  absl::Status status = directory.checkpoint().status();
  if (status.ok()) {
    status = (*directory.checkpoint())->scan("", [&](std::string_view key, std::string_view value) {
      print_line({{"row", describe_row(key, value, arguments.bytes)}});
      return absl::OkStatus();
    });
  }
  if (status.ok()) return kDone;
  refuse(status);
  return kFaulty;
}

}  // namespace

void add_cat(CLI::App& app, CatArguments& arguments) {
  arguments.bytes = kShownBytes;
  CLI::App* command = app.add_subcommand(
      "cat",
      "prints the log's entries, then the checkpoint's rows, as JSON lines. Exit status: 0, 1 refused, 2 some are damaged");
  command->add_option("directory", arguments.directory, "data directory of a replica that is stopped")->required();
  CLI::Option* log = command->add_flag("--log", arguments.log_only, "shows only the entries");
  command->add_flag("--rows", arguments.rows_only, "shows only the rows")->excludes(log);
  command->add_option("--from", arguments.from, "first index that is shown")->capture_default_str();
  command->add_option("--bytes", arguments.bytes, "bytes of one value that are shown at most")->capture_default_str();
}

int run_cat(const CatArguments& arguments) {
  const auto directory = OfflineDirectory::open(arguments.directory, OfflineDirectory::Payloads::All);
  if (!directory.ok()) return refuse(directory.status());
  const int log = arguments.rows_only ? kDone : cat_log(**directory, arguments);
  const int rows = arguments.log_only ? kDone : cat_rows(**directory, arguments);
  return log == kDone ? rows : log;
}

}  // namespace coordkit::coordctl
