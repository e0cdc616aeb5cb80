#include "tools/coordctl/inspect_command.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/sums.h"
#include "coordkit/error.h"
#include "coordkit/operate/inspect.h"
#include "tools/coordctl/outcome.h"
#include "tools/coordctl/safe_bytes.h"
#include "tools/coordctl/temporary_folder.h"

namespace coordkit::coordctl {
namespace {

// The id is a secret of the members; this distinguishes two clusters as well.
std::string cluster_mark(ClusterId cluster) {
  char text[17];
  std::snprintf(text, sizeof text, "%016lx", static_cast<unsigned long>(hash_mix(0x636c7573746572, cluster.value())));
  return std::string(text, 8);
}

std::string number(uint64_t value) { return std::to_string(value); }
template <typename Tag>
std::string number(Id<Tag> id) {
  return number(id.value());
}
std::string place(Position position) { return "entry " + number(position.index) + " of term " + number(position.term); }
std::string hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016lx", static_cast<unsigned long>(value));
  return text;
}
// Names come from users and may contain anything.
std::string printable(const std::string& text) {
  const Json safe = safe_bytes(text);
  return safe.is_string() ? text : safe.dump();
}

Json json_of(Position position) { return {{"index", position.index.value()}, {"term", position.term.value()}}; }

Json json_of(const LogReport& log) {
  Json out = {{"term", log.hard_state.term.value()},
              {"vote", log.hard_state.vote.value()},
              {"base", json_of(log.base)},
              {"last", json_of(log.last)},
              {"truncations", log.truncations},
              {"segments", Json::array()},
              {"terms", Json::array()},
              {"damaged", Json::array()},
              {"peers", Json::array()}};
  for (const SegmentReport& segment : log.segments) {
    out["segments"].push_back(
        {{"file", segment.file}, {"bytes", segment.bytes}, {"first", segment.first.value()}, {"last", segment.last.value()}});
  }
  for (const TermRun& run : log.terms) {
    out["terms"].push_back({{"term", run.term.value()}, {"first", run.first.value()}, {"last", run.last.value()}});
  }
  for (const DamagedEntry& hole : log.damaged) {
    out["damaged"].push_back({{"index", hole.index.value()}, {"term", hole.term.value()}});
  }
  for (const PeerMark& mark : log.peers) {
    out["peers"].push_back({{"store", mark.store.value()},
                            {"boot", mark.boot.value()},
                            {"term", mark.term.value()},
                            {"vote", mark.vote.value()},
                            {"match", json_of(mark.match)}});
  }
  return out;
}

Json json_of(const std::vector<raft::Member>& members) {
  Json list = Json::array();
  for (const raft::Member& member : members) {
    list.push_back({{"replica", member.id.value()}, {"store", member.store.value()}, {"address", safe_bytes(member.address)}});
  }
  return list;
}

Json json_of(const ClusterReport& state) {
  Json out = {{"at", json_of(state.at)},
              {"cluster_mark", cluster_mark(state.cluster)},
              {"token_base", state.token_base},
              {"last_token", state.last_token.value()},
              {"revision", state.revision.value()},
              {"compacted", state.compacted.value()},
              {"sessions", state.sessions},
              {"leases", state.leases},
              {"locks", state.locks},
              {"claims", state.claims},
              {"keys", state.keys},
              {"objects", state.objects},
              {"voters", json_of(state.members.voters)},
              {"outgoing", json_of(state.members.outgoing)},
              {"learners", json_of(state.members.learners)},
              {"machines", Json::array()}};
  for (const MachineId id : state.machines) out["machines"].push_back(id.value());
  return out;
}

Json json_of(const DirectoryReport& report) {
  Json out = {{"directory", safe_bytes(report.path)},
              {"cluster", safe_bytes(report.cluster)},
              {"replica", report.replica.value()},
              {"store", report.store.value()},
              {"boot", report.boot.value()}};
  if (report.log) out["log"] = json_of(*report.log);
  if (report.checkpoint) {
    out["checkpoint"] = {{"applied", json_of(report.checkpoint->applied)},
                         {"rows", report.checkpoint->rows},
                         {"digest", hex(report.checkpoint->digest)},
                         {"installed", report.checkpoint->installed}};
  }
  if (report.state) out["state"] = json_of(*report.state);
  out["problems"] = Json::array();
  for (const std::string& problem : report.problems) out["problems"].push_back(safe_bytes(problem, SIZE_MAX));
  out["notes"] = Json::array();
  for (const std::string& note : report.notes) out["notes"].push_back(safe_bytes(note, SIZE_MAX));
  return out;
}

void line(const char* name, const std::string& value) { std::printf("%-12s %s\n", name, value.c_str()); }
void more(const std::string& value) { line("", value); }

void print_log(const LogReport& log) {
  line("log", "after entry " + number(log.base.index) + ", ends with " + place(log.last) + ", in " +
                  number(log.segments.size()) + (log.segments.size() == 1 ? " segment" : " segments"));
  for (const SegmentReport& segment : log.segments) {
    const std::string held = segment.first ? "entries " + number(segment.first) + " to " + number(segment.last) : "no entries";
    more(segment.file + ", " + number(segment.bytes) + " bytes, " + held);
  }
  for (const TermRun& run : log.terms)
    more("term " + number(run.term) + ": entries " + number(run.first) + " to " + number(run.last));
  const std::string vote = log.hard_state.vote ? "voted for replica " + number(log.hard_state.vote) : "no vote";
  line("hard state", "term " + number(log.hard_state.term) + ", " + vote);
  for (const PeerMark& mark : log.peers) {
    line("remembers", "store " + number(mark.store) + ", boot " + number(mark.boot) + ": term " + number(mark.term) + ", " +
                          place(mark.match));
  }
}

void print_checkpoint(const CheckpointReport& checkpoint) {
  if (!checkpoint.applied.index) return line("checkpoint", "none yet");
  line("checkpoint", "after " + place(checkpoint.applied) + ", " + number(checkpoint.rows) + " rows, digest " +
                         hex(checkpoint.digest) + (checkpoint.installed ? ", from a peer" : ""));
}

void print_members(const char* role, const std::vector<raft::Member>& members) {
  for (const raft::Member& member : members) {
    line(role, "replica " + number(member.id) + " at " + printable(member.address) + ", store " + number(member.store));
  }
}

void print_state(const ClusterReport& state) {
  line("state", "after " + place(state.at) + ": " + number(state.keys) + " keys at revision " + number(state.revision) + ", " +
                    number(state.sessions) + " sessions, " + number(state.locks) + " locks with " + number(state.claims) +
                    " claims, " + number(state.leases) + " leases, " + number(state.objects) + " other records");
  line("tokens", "last " + number(state.last_token) + ", of a cluster that began above " + number(state.token_base));
  print_members("voter", state.members.voters);
  print_members("leaving", state.members.outgoing);
  print_members("learner", state.members.learners);
  for (const MachineId id : state.machines) {
    if (id != kCoordination) line("machine", number(id) + ", of the host");
  }
}

void print_text(const DirectoryReport& report, bool verified) {
  line("directory", report.path);
  const std::string whose = report.replica ? "replica " + number(report.replica) : "a replica that was never named";
  line("identity", whose + " of cluster '" + printable(report.cluster) + "'" +
                       (report.state ? " (mark " + cluster_mark(report.state->cluster) + ")" : "") + ", store " +
                       number(report.store) + ", boot " + number(report.boot));
  if (report.log) print_log(*report.log);
  if (report.checkpoint) print_checkpoint(*report.checkpoint);
  if (report.state) print_state(*report.state);
  for (const std::string& note : report.notes) line("note", note);
  for (const std::string& problem : report.problems) line("PROBLEM", problem);
  if (report.problems.empty()) {
    line("sums",
         verified ? "every page, row and entry verified" : "every row and entry that was read verified (--verify: all pages)");
  }
}

absl::StatusOr<DirectoryReport> report_of(const InspectArguments& arguments) {
  if (!arguments.copy) return inspect_directory(arguments.directory, {.verify = arguments.verify});
  const absl::StatusOr<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  return inspect_directory(arguments.directory, {.verify = arguments.verify, .copy_in = (*folder)->path()});
}

absl::Status with_hint(const absl::Status& status) {
  if (reason_of(status) != Reason::InUse) return status;
  return make_error(Reason::InUse, std::string(sentence_of(status)) + ", or look at a copy with --read-only-copy");
}

}  // namespace

void add_inspect(CLI::App& app, InspectArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "inspect", "says what a data directory at rest holds. Exit status: 0 intact, 1 refused, 2 something is wrong with it");
  command
      ->add_option("directory", arguments.directory,
                   "data directory of a replica; without --read-only-copy the replica must be stopped")
      ->required();
  command->add_flag("--verify", arguments.verify, "verifies every page of the checkpoint too");
  command->add_flag("--read-only-copy", arguments.copy,
                    "inspects a copy, made among the temporary files and removed at the end: for a directory in use");
  command->add_flag("--json", arguments.json, "one JSON object on stdout");
}

int run_inspect(const InspectArguments& arguments) {
  const absl::StatusOr<DirectoryReport> report = report_of(arguments);
  if (!report.ok()) return refuse(with_hint(report.status()));
  if (arguments.json) {
    std::printf("%s\n", json_of(*report).dump().c_str());
  } else {
    print_text(*report, arguments.verify || arguments.copy);
  }
  return report->problems.empty() ? kDone : kFaulty;
}

}  // namespace coordkit::coordctl
