#include "coordkit/operate/inspect.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/str_replace.h"
#include "backup/offline_directory.h"
#include "backup/offline_state.h"
#include "coordkit/error.h"
#include "log/segment.h"
#include "storage/directory_copy.h"

namespace coordkit {
namespace {

using backup::OfflineDirectory;
using backup::OfflineState;

std::vector<SegmentReport> segments_of(const log::Recovery& log) {
  absl::btree_map<uint32_t, std::pair<Index, Index>> range;
  for (const log::Slot& slot : log.slots) {
    auto& [first, last] = range.try_emplace(slot.where().segment, slot.index, slot.index).first->second;
    first = std::min(first, slot.index);
    last = std::max(last, slot.index);
  }
  std::vector<SegmentReport> segments;
  for (const log::SegmentFile& file : log.chain) {
    const auto found = range.find(file.segment);
    const auto [first, last] = found == range.end() ? std::pair<Index, Index>() : found->second;
    segments.push_back({log::file_name(log::FileUse::Segment, file.segment), file.bytes, first, last});
  }
  return segments;
}

std::vector<TermRun> terms_of(const log::Recovery& log) {
  std::vector<TermRun> runs;
  for (const log::Slot& slot : log.slots) {
    if (runs.empty() || runs.back().term != slot.term) runs.push_back({slot.term, slot.index, slot.index});
    runs.back().last = slot.index;
  }
  return runs;
}

LogReport report_of(const log::Recovery& log) {
  LogReport report{.hard_state = log.state.hard_state,
                   .base = log.state.base,
                   .last = log.state.last,
                   .truncations = log.state.truncations,
                   .segments = segments_of(log),
                   .terms = terms_of(log),
                   .damaged = {},
                   .peers = log.peers.value_or(std::vector<PeerMark>())};
  for (const log::Slot& slot : log.slots) {
    if (!slot.entry) report.damaged.push_back({slot.index, slot.term, slot.content_sum});
  }
  return report;
}

ClusterReport report_of(const OfflineState& state) {
  const machine::Machine& machine = *state.coordination;
  ClusterReport report{.at = state.at(),
                       .cluster = state.router->genesis()->cluster,
                       .token_base = state.router->genesis()->token_base,
                       .members = state.configuration(),
                       .last_token = Token(machine.last_token()),
                       .sessions = machine.sessions(),
                       .leases = machine.leases(),
                       .locks = machine.lock_names(),
                       .claims = machine.lock_claims(),
                       .keys = machine.keys(),
                       .objects = machine.coordination_records(),
                       .machines = state.router->machines()};
  const machine::KeySpace keys = machine.reads()->key_space();
  report.revision = keys.revision;
  report.compacted = keys.compacted;
  return report;
}

std::string range_text(const std::vector<DamagedEntry>& holes) {
  const std::string first = std::to_string(holes.front().index.value());
  return holes.size() == 1 ? "entry " + first
                           : std::to_string(holes.size()) + " entries between " + first + " and " +
                                 std::to_string(holes.back().index.value());
}

// Says how a start would treat the log.
void judge_log(const DirectoryReport& report, const OfflineState* state, std::vector<std::string>& problems) {
  if (!report.log || report.log->damaged.empty()) return;
  const std::string which = range_text(report.log->damaged) + " of the log rotted on this disk";
  const bool covered = state != nullptr && state->holes.empty();
  problems.push_back(which + (covered ? "; the checkpoint covers them, so a start repairs this: check the disk"
                                      : "; a start leaves its replica without a vote until a leader has replaced them"));
}

// A start does not need the headers; when both copies are gone, entries count as damaged.
void judge_headers(const log::Recovery& log, std::vector<std::string>& problems) {
  for (const log::SegmentFile& file : log.chain) {
    if (file.spoiled_copies == 0) continue;
    problems.push_back("one of the two copies of the header of " + log::file_name(log::FileUse::Segment, file.segment) +
                       " does not verify; a scrub of the running replica writes it again: check the disk");
  }
}

void judge_floor(const OfflineState& state, std::vector<std::string>& problems) {
  if (!state.floor || !state.holes.empty()) return;
  problems.push_back("this log lacks entries that it had once, up to entry " + std::to_string(state.floor->index.value()) +
                     "; its replica does not campaign before a leader has sent them");
}

std::string sentence(const absl::Status& status) { return std::string(sentence_of(status)); }

void look_at_stores(const OfflineDirectory& directory, bool verify, DirectoryReport& report) {
  if (directory.log().ok()) {
    report.log = report_of(*directory.log());
    judge_headers(*directory.log(), report.problems);
  } else {
    report.problems.push_back("log: " + sentence(directory.log().status()));
  }
  if (!directory.checkpoint().ok()) {
    report.problems.push_back("checkpoint: " + sentence(directory.checkpoint().status()));
    return;
  }
  const storage::OfflineCheckpoint& checkpoint = **directory.checkpoint();
  report.checkpoint = CheckpointReport{.applied = checkpoint.applied(),
                                       .rows = checkpoint.rows(),
                                       .digest = checkpoint.digest(),
                                       .installed = checkpoint.installed()};
  if (!verify) return;
  if (const absl::Status checked = checkpoint.verify(); !checked.ok())
    report.problems.push_back("checkpoint: " + sentence(checked));
}

void look_at_state(const OfflineDirectory& directory, const InspectOptions& options, DirectoryReport& report) {
  const absl::StatusOr<OfflineState> state = backup::state_of(directory, options.machines);
  judge_log(report, state.ok() ? &*state : nullptr, report.problems);
  if (state.ok()) {
    report.state = report_of(*state);
    judge_floor(*state, report.problems);
    return;
  }
  const bool blank = absl::IsNotFound(state.status());
  const bool not_at_hand = reason_of(state.status()) == Reason::MachineMissing;
  const bool told = !directory.log().ok() || !directory.checkpoint().ok();  // reported with its store
  if (!told) (blank || not_at_hand ? report.notes : report.problems).push_back(sentence(state.status()));
}

absl::StatusOr<DirectoryReport> inspect_at(const std::string& path, const InspectOptions& options) {
  const auto directory = OfflineDirectory::open(path, OfflineDirectory::Payloads::AboveCheckpoint);
  if (!directory.ok()) return directory.status();
  const storage::Identity& identity = (*directory)->identity();
  DirectoryReport report{
      .path = path, .cluster = identity.cluster, .replica = identity.replica, .store = identity.store, .boot = identity.boot};
  look_at_stores(**directory, options.verify, report);
  look_at_state(**directory, options, report);
  return report;
}

// A copy of mixed moments shows damage in another place each time, or only once. Damage on the disk stays.
constexpr int kCopies = 5;
constexpr char kFromCopy[] =
    "read from a copy of the directory, which a replica may have had open: the copy lacks its later writes";
constexpr char kPerhapsTorn[] =
    "each of 5 copies had problems; if the replica writes much, the copying alone can cause them: stop the replica and inspect "
    "its directory to be certain";

absl::Status of_original(const absl::Status& status, const std::string& copy, const std::string& path) {
  return absl::Status(status.code(), absl::StrReplaceAll(status.message(), {{copy, path}}));
}

absl::StatusOr<DirectoryReport> inspect_copies(const std::string& path, InspectOptions options) {
  options.verify = true;  // otherwise a page of another moment may pass
  absl::StatusOr<DirectoryReport> report;
  for (int left = kCopies; left > 0; --left) {
    const absl::StatusOr<storage::DirectoryCopy> copy = storage::DirectoryCopy::make(path, options.copy_in);
    if (!copy.ok()) return copy.status();
    report = inspect_at(copy->path(), options);
    if (!report.ok()) {
      report = of_original(report.status(), copy->path(), path);
      if (absl::IsDataLoss(report.status())) continue;
      return report;
    }
    report->path = path;
    for (std::string& problem : report->problems) absl::StrReplaceAll({{copy->path(), path}}, &problem);
    for (std::string& note : report->notes) absl::StrReplaceAll({{copy->path(), path}}, &note);
    if (report->problems.empty()) break;
  }
  if (!report.ok()) return report;
  report->notes.emplace_back(kFromCopy);
  if (!report->problems.empty()) report->notes.emplace_back(kPerhapsTorn);
  return report;
}

}  // namespace

absl::StatusOr<DirectoryReport> inspect_directory(const std::string& path, const InspectOptions& options) {
  return options.copy_in.empty() ? inspect_at(path, options) : inspect_copies(path, options);
}

}  // namespace coordkit
