// Makes a new cluster from the directories that a lost majority left behind. It finds the directory that knows most, and the
// entries that none of them can know.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/btree_set.h"
#include "backup/backup.h"
#include "backup/offline_directory.h"
#include "backup/offline_state.h"
#include "backup/restore.h"
#include "base/with_reason.h"
#include "coordkit/error.h"
#include "raft/members/configuration_rules.h"
#include "raft/position.h"
#include "raft/quorum.h"

namespace coordkit::backup {
namespace {

// One given directory, as far as it could be read. The state of all but the best one is dropped at once.
struct Survivor {
  SurvivorReport report;
  std::unique_ptr<OfflineDirectory> directory;
  std::optional<OfflineState> state;
  std::vector<PeerMark> peers;
  std::optional<Position> floor;
};

std::string entry_text(Position position) {
  return "entry " + std::to_string(position.index.value()) + " of term " + std::to_string(position.term.value());
}

std::string problem_of(const OfflineState& state) {
  if (!state.holes.empty()) {
    return "entry " + std::to_string(state.holes.front().index.value()) +
           " of its log rotted: the entries after it cannot be used";
  }
  if (state.floor) {
    return "its log lacks entries that it had once, up to entry " + std::to_string(state.floor->index.value());
  }
  return {};
}

// Damage is passed over. A directory refused for another reason may be whole. If it counted as lost, a majority could be
// given up, or the best of all directories.
absl::StatusOr<Survivor> passed_over(Survivor survivor, const absl::Status& why) {
  if (!absl::IsDataLoss(why)) {
    return make_error(*reason_of(with_reason(why)),
                      survivor.report.path + ": " + std::string(sentence_of(why)) +
                          " (the directory may be whole: correct this, or leave the directory out if it is lost)");
  }
  survivor.report.problem = sentence_of(why);
  return survivor;
}

absl::StatusOr<Survivor> look_at(const std::string& path, const std::vector<OwnMachine>& machines) {
  Survivor survivor{.report = {.path = path}};
  auto directory = OfflineDirectory::open(path, OfflineDirectory::Payloads::AboveCheckpoint);
  if (!directory.ok()) return passed_over(std::move(survivor), directory.status());
  survivor.directory = *std::move(directory);
  survivor.report.replica = survivor.directory->identity().replica;
  survivor.report.store = survivor.directory->identity().store;
  absl::StatusOr<OfflineState> state = state_of(*survivor.directory, machines);
  if (!state.ok()) return passed_over(std::move(survivor), state.status());
  survivor.report.certain = state->certain;
  survivor.report.last = state->at();
  survivor.report.problem = problem_of(*state);
  survivor.report.usable = true;
  survivor.peers = std::exchange(state->peers, {});
  survivor.floor = state->floor;
  survivor.state = *std::move(state);
  return survivor;
}

absl::Status of_two_clusters(const Survivor& a, const Survivor& b) {
  return make_error(Reason::InvalidArgument,
                    a.report.path + " and " + b.report.path + " are directories of different clusters: give those of one");
}

absl::Status none_usable(const std::vector<Survivor>& survivors) {
  std::string why;
  for (const Survivor& survivor : survivors) {
    why += (why.empty() ? "" : "; ") + survivor.report.path + ": " + survivor.report.problem;
  }
  return make_error(Reason::Corrupt, "none of the directories can be used: " + why);
}

// The best so far keeps its state; all others drop theirs.
absl::StatusOr<size_t> choose(std::vector<Survivor>& survivors) {
  std::optional<size_t> best;
  for (size_t i = 0; i < survivors.size(); ++i) {
    if (!survivors[i].report.usable) continue;
    if (!best) {
      best = i;
      continue;
    }
    Survivor& chosen = survivors[*best];
    if (chosen.state->router->genesis()->cluster != survivors[i].state->router->genesis()->cluster) {
      return of_two_clusters(chosen, survivors[i]);
    }
    const bool better = raft::newer(survivors[i].report.last, chosen.report.last);
    (better ? chosen : survivors[i]).state.reset();
    if (better) best = i;
  }
  if (!best) return none_usable(survivors);
  return *best;
}

// The voters of a configuration, while members change those before and after it. `found`: those that left a directory from
// which nothing is missing.
struct Voters {
  absl::btree_set<ReplicaId> all, found;
};

Voters voters_of(const raft::Configuration& configuration, const std::vector<Survivor>& survivors) {
  absl::btree_set<StoreId> whole;
  for (const Survivor& survivor : survivors) {
    if (survivor.report.usable && survivor.report.problem.empty()) whole.insert(survivor.report.store);
  }
  Voters voters;
  for (const auto* half : {&configuration.voters, &configuration.outgoing}) {
    for (const raft::Member& member : *half) {
      voters.all.insert(member.id);
      if (whole.contains(member.store)) voters.found.insert(member.id);
    }
  }
  return voters;
}

std::string voter_name(const raft::Configuration& configuration, StoreId store) {
  const raft::Member* owner = raft::owner_of(configuration, store);
  return owner == nullptr ? "a former member" : "replica " + std::to_string(owner->id.value());
}

// Reports the survivors' memory of missing disks: promises that can no longer be kept.
void tell_known_losses(const raft::Configuration& configuration, Position end, const std::vector<Survivor>& survivors,
                       std::vector<std::string>& losses) {
  Position farthest = end;
  std::string whose;
  const auto hear = [&](Position position, std::string name) {
    if (!raft::newer(position, farthest)) return;
    farthest = position;
    whose = std::move(name);
  };
  for (const Survivor& survivor : survivors) {
    for (const PeerMark& mark : survivor.peers) {
      hear({mark.match.index, mark.match.term ? mark.match.term : mark.term}, voter_name(configuration, mark.store));
    }
    if (survivor.floor) hear(*survivor.floor, voter_name(configuration, survivor.report.store));
  }
  if (whose.empty()) return;
  losses.push_back(whose + " is known to have held " + entry_text(farthest) + ": everything after " + entry_text(end) +
                   " is lost, acknowledged or not");
}

std::vector<std::string> losses_of(const OfflineState& state, const RecoverReport& report,
                                   const std::vector<Survivor>& survivors) {
  std::vector<std::string> losses;
  losses.push_back("writes that were acknowledged by the other " + std::to_string(report.voters - report.found) + " of " +
                   std::to_string(report.voters) +
                   " voters and are not in the directories given are lost; their number is not known here");
  tell_known_losses(state.configuration(), state.at(), survivors, losses);
  if (raft::newer(state.at(), state.certain)) {
    losses.push_back("entries " + std::to_string(state.certain.index.next().value()) + " to " +
                     std::to_string(state.at().index.value()) +
                     " are kept although some of the newest may never have been acknowledged: a call that ended with an "
                     "unknown outcome may turn out to have taken effect");
  }
  return losses;
}

absl::Status majority_is_here(uint64_t found, uint64_t voters) {
  return make_error(Reason::Conflict, std::to_string(found) + " of the " + std::to_string(voters) +
                                          " voters are here, a majority: start these replicas, and nothing is lost; for a "
                                          "second cluster beside this one make a backup and restore it");
}

}  // namespace

absl::StatusOr<RecoverReport> recover(const std::vector<std::string>& directories, const RecoverOptions& options,
                                      ClusterId id) {
  if (directories.empty()) {
    return make_error(Reason::InvalidArgument, "no directories: name at least one that a replica of the lost cluster left");
  }
  if (options.accept_loss) {
    if (absl::Status status = validate(options.restore); !status.ok()) return status;
  }
  std::vector<Survivor> survivors;
  for (const std::string& path : directories) {
    absl::StatusOr<Survivor> survivor = look_at(path, options.machines);
    if (!survivor.ok()) return survivor.status();
    survivors.push_back(*std::move(survivor));
  }
  const absl::StatusOr<size_t> chosen = choose(survivors);
  if (!chosen.ok()) return chosen.status();
  Survivor& best = survivors[*chosen];
  OfflineState& state = *best.state;
  const Voters voters = voters_of(state.configuration(), survivors);
  RecoverReport report{.survivors = {}, .chosen = *chosen, .voters = voters.all.size(), .found = voters.found.size()};
  for (const Survivor& survivor : survivors) report.survivors.push_back(survivor.report);
  if (raft::quorum_agrees(state.configuration(), [&](ReplicaId one) { return voters.found.contains(one); })) {
    return majority_is_here(report.found, report.voters);
  }
  report.losses = losses_of(state, report, survivors);
  if (!options.accept_loss) return report;

  absl::StatusOr<RowsByKey> rows = rows_of(state);
  if (!rows.ok()) return rows.status();
  const Position applied = state.at();
  best.state.reset();
  absl::StatusOr<RestoreReport> made = make_cluster(
      {.rows = *std::move(rows), .applied = applied, .cluster = best.directory->identity().cluster}, options.restore, id);
  if (!made.ok()) return made.status();
  report.made = *std::move(made);
  return report;
}

}  // namespace coordkit::backup
