#include "tools/coordctl/backup_command.h"

#include <charconv>
#include <cstdio>
#include <optional>

#include "absl/status/statusor.h"
#include "coordkit/error.h"
#include "coordkit/operate/backup.h"
#include "tools/coordctl/interruption.h"
#include "tools/coordctl/outcome.h"
#include "transport/tcp/address.h"

namespace coordkit::coordctl {
namespace {

constexpr const char* kMemberForm = "ID=HOST:PORT=DIRECTORY, for example 1=10.0.0.1:7400=/var/lib/service/1";

unsigned long shown(uint64_t value) { return static_cast<unsigned long>(value); }
template <typename Tag>
unsigned long shown(Id<Tag> id) {
  return shown(id.value());
}

absl::StatusOr<NewMember> parse_member(const std::string& text) {
  const size_t first = text.find('=');
  const size_t second = first == std::string::npos ? first : text.find('=', first + 1);
  const auto malformed = [&] {
    return make_error(Reason::InvalidArgument, "'" + text + "' names no member: write " + std::string(kMemberForm));
  };
  if (second == std::string::npos) return malformed();
  NewMember member{.address = text.substr(first + 1, second - first - 1), .directory = text.substr(second + 1)};
  const auto [end, error] = std::from_chars(text.data(), text.data() + first, member.id);
  if (error != std::errc() || end != text.data() + first) return malformed();
  if (const auto address = tcp::split_dialled(member.address); !address.ok()) return address.status();
  return member;
}

absl::StatusOr<RestoreOptions> options_of(const NewClusterArguments& arguments) {
  RestoreOptions options{
      .cluster = arguments.cluster, .token_base = arguments.token_base, .revisions_skipped = arguments.revisions_skipped};
  for (const std::string& text : arguments.members) {
    absl::StatusOr<NewMember> member = parse_member(text);
    if (!member.ok()) return member.status();
    options.members.push_back(*std::move(member));
  }
  return options;
}

int wrong(const absl::Status& why) {
  refuse(why);
  return kBadArguments;
}

void add_new_cluster(CLI::App& command, NewClusterArguments& arguments) {
  arguments.revisions_skipped = RestoreOptions().revisions_skipped;
  command.add_option("--cluster", arguments.cluster, "name of the new cluster; without it the name as before");
  command.add_option("--token-base", arguments.token_base,
                     "tokens begin above it; without it from the calendar, as with every new cluster");
  command
      .add_option("--skip-revisions", arguments.revisions_skipped,
                  "how many revisions the previous cluster may have made since")
      ->capture_default_str();
}

void print_info(const char* what, const BackupInfo& info, const std::string& file) {
  std::printf("%s %s: cluster '%s', replica %lu, the state after entry %lu of term %lu\n", what, file.c_str(),
              info.cluster.c_str(), shown(info.replica), shown(info.applied.index), shown(info.applied.term));
  std::printf("%lu rows in %lu bytes, last token %lu, revision %lu; every sum verified\n", shown(info.rows), shown(info.bytes),
              shown(info.last_token), shown(info.revision));
}

void print_made(const RestoreReport& report, const std::vector<NewMember>& members) {
  std::printf("a new cluster '%s', with the state after entry %lu of term %lu (%lu rows)\n", report.cluster.c_str(),
              shown(report.applied.index), shown(report.applied.term), shown(report.rows));
  std::printf("tokens begin above %lu, keys are at revision %lu and compacted up to there\n", shown(report.token_base),
              shown(report.revision));
  for (size_t i = 0; i < members.size(); ++i) {
    std::printf("replica %lu at %s: %s, store %lu\n", shown(members[i].id), members[i].address.c_str(),
                members[i].directory.c_str(), shown(report.stores[i]));
  }
  std::printf("move each directory to where its replica runs, and start it there with these members\n");
  std::printf("another run makes another cluster, whose replicas do not hear these: one run for all members\n");
  if (members.size() > 1) return;
  std::printf(
      "WARNING: this cluster has one voter; if others were to be made on their machines, remove it and name all of them "
      "in one run, or add them to this one with change_membership\n");
}

void print_survivors(const RecoverReport& report) {
  for (size_t i = 0; i < report.survivors.size(); ++i) {
    const SurvivorReport& one = report.survivors[i];
    std::printf("%s %s: ", i == report.chosen ? "->" : "  ", one.path.c_str());
    if (one.usable) {
      std::printf("replica %lu, certain up to entry %lu, usable up to entry %lu of term %lu", shown(one.replica),
                  shown(one.certain.index), shown(one.last.index), shown(one.last.term));
    } else {
      std::printf("cannot be used");
    }
    std::printf("%s%s\n", one.problem.empty() ? "" : ": ", one.problem.c_str());
  }
  std::printf("%lu of %lu voters are here\n", shown(report.found), shown(report.voters));
  for (const std::string& loss : report.losses) std::printf("LOSS: %s\n", loss.c_str());
}

}  // namespace

void add_backup(CLI::App& app, BackupArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("backup", "writes the state of a data directory at rest to one file with its own sums");
  command->add_option("directory", arguments.directory, "data directory of a replica that is stopped")->required();
  command->add_option("file", arguments.file, "the file of the backup; it must not exist")->required();
}

int run_backup(const BackupArguments& arguments) {
  std::optional<Interruption> interruption;  // from the first question on: before there is nothing to be given up
  const auto awaited = [&] {
    if (!interruption) interruption.emplace();
    return !interruption->noted();
  };
  const auto made = backup_directory(arguments.directory, arguments.file, {.awaited = awaited});
  if (!made.ok()) return refuse(made.status());
  interruption.reset();
  const absl::StatusOr<BackupInfo> info = check_backup(arguments.file);
  if (!info.ok()) return refuse(info.status());
  print_info("backup", *info, arguments.file);
  return kDone;
}

void add_restore(CLI::App& app, RestoreArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("restore", "makes a NEW cluster from a backup: its voters' data directories, all of them in one run");
  command->add_option("file", arguments.file, "the backup")->required();
  command->add_option("members", arguments.made.members, std::string("a member of the new cluster: ") + kMemberForm);
  command->add_flag("--check", arguments.check,
                    "only reads the backup and verifies all of it. Exit status: 0 intact, 1 refused, 2 damaged");
  add_new_cluster(*command, arguments.made);
}

int run_restore(const RestoreArguments& arguments) {
  if (arguments.check) {
    const absl::StatusOr<BackupInfo> info = check_backup(arguments.file);
    if (!info.ok()) return absl::IsDataLoss(info.status()) ? (refuse(info.status()), kFaulty) : refuse(info.status());
    print_info("backup", *info, arguments.file);
    return kDone;
  }
  const absl::StatusOr<RestoreOptions> options = options_of(arguments.made);
  if (!options.ok()) return wrong(options.status());
  const absl::StatusOr<RestoreReport> report = restore_backup(arguments.file, *options);
  if (!report.ok()) return refuse(report.status());
  print_made(*report, options->members);
  return kDone;
}

void add_recover(CLI::App& app, RecoverArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "recover",
      "makes a NEW cluster from the directories that a lost majority left; without the flag it only says what would be lost");
  command->add_option("directories", arguments.directories, "data directories that are left, their replicas stopped")
      ->required();
  command->add_option("--member", arguments.made.members,
                      std::string("a member of the new cluster, once for each: ") + kMemberForm);
  command->add_flag("--accept-the-loss-of-acknowledged-writes", arguments.accept_loss, "makes the new cluster");
  add_new_cluster(*command, arguments.made);
}

int run_recover(const RecoverArguments& arguments) {
  absl::StatusOr<RestoreOptions> restore = options_of(arguments.made);
  if (!restore.ok()) return wrong(restore.status());
  const std::vector<NewMember> members = restore->members;
  const auto report =
      recover_directories(arguments.directories, {.restore = *std::move(restore), .accept_loss = arguments.accept_loss});
  if (!report.ok()) return refuse(report.status());
  print_survivors(*report);
  if (!report->made) {
    return refuse(make_error(Reason::NotReady,
                             "nothing was written; if no other directory is left, give "
                             "--accept-the-loss-of-acknowledged-writes, and --member for each replica of the new cluster"));
  }
  print_made(*report->made, members);
  return kDone;
}

}  // namespace coordkit::coordctl
