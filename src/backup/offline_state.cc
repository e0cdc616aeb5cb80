#include "backup/offline_state.h"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "absl/container/btree_set.h"
#include "backup/rows_machine.h"
#include "coordkit/engine/coordination_machine.h"
#include "coordkit/error.h"
#include "engine/apply/log_command.h"
#include "engine/apply/machine_factory.h"
#include "engine/apply/router_meta.h"
#include "engine/disks/lost_entries.h"
#include "engine/disks/matching_stores.h"

namespace coordkit::backup {
namespace {

using Ids = absl::btree_set<MachineId>;

struct Machines {
  std::vector<HostedMachine> hosted;
  const machine::Machine* coordination = nullptr;
  Ids as_rows;  // of machines that are not available
};

absl::Status not_at_hand(Index index, MachineId machine) {
  return make_error(
      Reason::MachineMissing,
      "entry " + std::to_string(index.value()) + " of the log, after the checkpoint, is a command of machine " +
          std::to_string(machine.value()) +
          ", which this program does not have: only the host's own program can do this (BackupOptions::machines)");
}

// Machines that have rows, as the checkpoint's own row about the cluster names them.
absl::StatusOr<std::vector<MachineId>> begun(const CheckpointView& checkpoint) {
  std::vector<MachineId> found;
  absl::Status status = checkpoint.scan(engine::meta_key(), [&](std::string_view, std::string_view value) {
    const absl::StatusOr<engine::RouterMeta> meta = engine::decode_router_meta(value);
    if (meta.ok()) found = meta->begun;
    return meta.status();
  });
  if (!status.ok()) return status;
  return found;
}

absl::StatusOr<Machines> machines_for(const CheckpointView& checkpoint, const std::vector<OwnMachine>& own) {
  Machines machines;
  auto coordination = std::make_unique<machine::Machine>(row_prefix(kCoordination));
  machines.coordination = coordination.get();
  machines.hosted.push_back({kCoordination, std::move(coordination)});
  Ids known = {kCoordination};
  for (const OwnMachine& one : own) {
    if (one.id < kFirstHostMachine || !known.insert(one.id).second) {
      return make_error(Reason::InvalidArgument, "every machine needs an id of its own, from 16 up");
    }
    absl::StatusOr<std::unique_ptr<StateMachine>> made = engine::made_machine(one);
    if (!made.ok()) return made.status();
    machines.hosted.push_back({one.id, *std::move(made)});
  }
  const absl::StatusOr<std::vector<MachineId>> present = begun(checkpoint);
  if (!present.ok()) return present.status();
  for (const MachineId id : *present) {
    if (!known.insert(id).second) continue;
    machines.hosted.push_back({id, std::make_unique<RowsMachine>(id)});
    machines.as_rows.insert(id);
  }
  return machines;
}

absl::Status check_at_hand(std::span<const raft::Entry> entries, const engine::Router& router, const Ids& as_rows) {
  const auto missing = [&](MachineId id) { return as_rows.contains(id) || router.machine(id) == nullptr; };
  for (const raft::Entry& entry : entries) {
    if (entry.kind != raft::EntryKind::Command) continue;
    const absl::StatusOr<engine::LogCommand> command = engine::decode_command(entry.payload.view());
    if (!command.ok()) {
      return make_error(Reason::Corrupt,
                        "entry " + std::to_string(entry.index.value()) +
                            " of the log is no command of this version: " + std::string(command.status().message()));
    }
    if (const auto* request = std::get_if<engine::Request>(&*command)) {
      if (missing(request->machine)) return not_at_hand(entry.index, request->machine);
      if (request->guard && missing(request->guard->machine)) return not_at_hand(entry.index, request->guard->machine);
    } else if (const auto* fired = std::get_if<engine::FireTimers>(&*command)) {
      if (missing(fired->machine)) return not_at_hand(entry.index, fired->machine);
    }
  }
  return absl::OkStatus();
}

absl::Status blank_or_lost(const OfflineDirectory& directory) {
  if (directory.had_log()) {
    return make_error(Reason::Corrupt, "the data directory " + directory.path() +
                                           " had a log with entries, and now it has none: its files are not all there");
  }
  return make_error(Reason::NotFound, "the data directory " + directory.path() +
                                          " is blank: its replica waits for the birth of its cluster or for an invitation");
}

absl::StatusOr<OfflineState> build(const OfflineDirectory& directory, const std::vector<OwnMachine>& own) {
  if (!directory.checkpoint().ok()) return directory.checkpoint().status();
  if (!directory.log().ok()) return directory.log().status();
  const storage::OfflineCheckpoint& checkpoint = **directory.checkpoint();
  const Position applied = checkpoint.applied();
  RecoveredLog log = directory.recovered();
  OfflineState state{.certain = applied};
  const engine::LostEntries lost = engine::LostEntries::cut(log, applied);
  if (lost.any()) state.floor = lost.floor();
  state.holes = log.damaged;
  state.peers = log.peers;
  if (!applied.index && !log.base.index && log.entries.empty()) {
    if (!state.holes.empty()) return make_error(Reason::Corrupt, "entry 1 of the log, which names the cluster, is rotten");
    return blank_or_lost(directory);
  }

  absl::StatusOr<Machines> machines = machines_for(checkpoint, own);
  if (!machines.ok()) return machines.status();
  state.coordination = machines->coordination;
  state.router = std::make_unique<engine::Router>(std::move(machines->hosted));
  if (applied.index) {
    if (absl::Status status = state.router->restore(checkpoint); !status.ok()) return status;
  }
  if (absl::Status status = engine::check_stores_match(log, checkpoint); !status.ok()) return status;
  std::span<const raft::Entry> ahead;  // none, if the log was not restarted after a state from a peer
  if (engine::holds_entry(log, applied)) {
    ahead = std::span(log.entries).subspan(std::min<size_t>(log.entries.size(), applied.index - log.base.index));
  }
  if (absl::Status status = check_at_hand(ahead, *state.router, machines->as_rows); !status.ok()) return status;
  engine::RouterOutput nobody_waits;
  state.router->apply(ahead, nobody_waits);
  if (!state.router->genesis())
    return make_error(Reason::Corrupt, "the log does not begin with the initialization of a cluster");
  return state;
}

}  // namespace

absl::StatusOr<OfflineState> state_of(const OfflineDirectory& directory, const std::vector<OwnMachine>& machines) try {
  return build(directory, machines);
} catch (const std::exception& error) {  // a machine cannot read what is stored, or a machine of the host threw
  return make_error(Reason::Corrupt, "the state cannot be rebuilt: " + std::string(error.what()));
} catch (...) {
  return make_error(Reason::HostThrew, "a machine threw something that is no std::exception while the state was rebuilt");
}

}  // namespace coordkit::backup
