// Birth of an engine: options checked, state restored from the checkpoint, the log's tail handed to the core.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/mutant.h"
#include "engine/engine_impl.h"
#include "raft/quorum.h"

namespace coordkit {

absl::Status EngineOptions::validate() const {
  std::string problems;
  const auto problem = [&](std::string sentence) { problems += (problems.empty() ? "" : "; ") + std::move(sentence); };
  if (const absl::Status status = raft.validate(); !status.ok()) problem(std::string(status.message()));
  if (members.empty()) problem("no members: list at least this replica");
  bool self_listed = false;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!members[i].id) problem("a member has id 0: ids start at 1");
    self_listed = self_listed || members[i].id == raft.self;
    for (size_t j = 0; j < i; ++j) {
      if (members[i].id == members[j].id) {
        problem("member id " + std::to_string(members[i].id.value()) + " is listed twice");
      } else if (!members[i].address.empty() && members[i].address == members[j].address) {
        problem("address " + members[i].address + " is listed twice");
      }
    }
  }
  if (!members.empty() && !self_listed) {
    problem("replica " + std::to_string(raft.self.value()) + " is not among the members: add it, or correct its id");
  }
  if (!new_cluster) problem("new_cluster must be a random non-zero id");
  if (requests_max == 0) problem("requests_max must be at least 1");
  if (request_bytes_max == 0 || request_bytes_max > 15 << 20) problem("request_bytes_max must be 1 to 15 MiB");
  if (request_bytes_in_flight_max < request_bytes_max) {
    problem("request_bytes_in_flight_max must be at least request_bytes_max");
  }
  if (apply_bytes_per_turn == 0) problem("apply_bytes_per_turn must be at least 1");
  if (window == 0 || window > 1024) problem("window must be 1 to 1024");
  if (checkpoint_entries == 0) problem("checkpoint_entries must be at least 1");
  if (timers_per_entry == 0 || timers_per_entry > engine::kFiredTimersMax) {
    problem("timers_per_entry must be 1 to " + std::to_string(engine::kFiredTimersMax));
  }
  if (digest_entries != 0 && digest_entries < engine::kDigestEntriesMin) {
    problem("digest_entries must be 0, or at least " + std::to_string(engine::kDigestEntriesMin));
  }
  if (state_chunk_bytes == 0 || state_chunk_bytes > 8 << 20) problem("state_chunk_bytes must be 1 to 8 MiB");
  if (state_bytes_per_second == 0) problem("state_bytes_per_second must be at least 1");
  if (state_view_idle <= Duration::zero() || state_view_max <= Duration::zero()) {
    problem("state_view_idle and state_view_max must be above zero");
  }
  return problems.empty() ? absl::OkStatus() : make_error(Reason::InvalidArgument, problems);
}

void EngineEffects::clear() {
  writes.clear();
  sends.clear();
  completions.clear();
  events.clear();
  renewals.clear();
  log_reads.clear();
  checkpoint.reset();
  compact.reset();
  views.clear();
  staging.clear();
  restore.reset();
  restored.reset();
  discarded.reset();
  leadership.reset();
  cluster.reset();
  divergence.reset();
  peers.reset();
  halted.reset();
}

absl::StatusOr<std::unique_ptr<Engine>> Engine::recover(EngineOptions options, std::vector<HostedMachine> machines,
                                                        RecoveredLog log, const CheckpointView& checkpoint, Now now) {
  if (absl::Status status = options.validate(); !status.ok()) return status;
  absl::btree_set<MachineId> ids;
  for (const HostedMachine& hosted : machines) {
    if (!hosted.machine || !hosted.id || !ids.insert(hosted.id).second) {
      return make_error(Reason::InvalidArgument, "every machine needs an id of its own, from 1");
    }
  }
  try {
    auto engine = std::make_unique<engine::EngineImpl>(std::move(options), std::move(machines), log);
    if (absl::Status status = engine->start(std::move(log), checkpoint, now); !status.ok()) return status;
    return engine;
  } catch (const std::exception& error) {  // what the stores gave makes no sense to a machine or to the core
    return absl::DataLossError(error.what());
  }
}

}  // namespace coordkit

namespace coordkit::engine {
namespace {

// Whether a log that does not start beyond this position has it.
bool holds(const RecoveredLog& log, Position position) {
  if (position.index == log.base.index) return position.term == log.base.term;
  const uint64_t place = position.index - log.base.index - 1;
  return place < log.entries.size() && log.entries[place].term == position.term;
}

}  // namespace

EngineImpl::EngineImpl(EngineOptions options, std::vector<HostedMachine> machines, RecoveredLog& log)
    : options_(std::move(options)),
      origin_{options_.raft.self, log.store, log.boot},
      router_(std::move(machines), options_.digest_entries),
      founding_(options_, log.store),
      proposals_(options_, origin_),
      reads_(options_.raft.election_timeout, log.boot),
      sleep_(options_.raft.election_timeout),
      divergence_(options_.raft.self, options_.raft.election_timeout),
      attestation_(options_, origin_),
      marks_(mutant(Mutant::MarksForgotten) ? std::vector<PeerMark>() : std::move(log.peers)),
      sender_(options_),
      receiver_(options_),
      change_(options_, log.store, log.boot),
      transfer_(options_, log.boot) {
  options_.raft.store = log.store;
}

absl::Status EngineImpl::start(RecoveredLog log, const CheckpointView& checkpoint, Now now) {
  if (!log.damaged.empty()) {
    quarantined_ = true;
    reason_ = "entries " + std::to_string(log.damaged.front().index.value()) + " to " +
              std::to_string(log.damaged.back().index.value()) + " of the log are rotten on this disk; replace this member";
    return absl::OkStatus();
  }
  const Position applied = checkpoint.applied();
  const bool blank = !applied.index && !log.base.index && log.entries.empty();
  if (blank) return absl::OkStatus();  // genesis comes first

  if (applied.index) {
    if (absl::Status status = router_.restore(checkpoint); !status.ok()) return status;
    checkpointed_ = applied.index;
    std::vector<MachineTimerOp> timers;
    router_.timers(timers);
    for (const MachineTimerOp& one : timers) keeper_.apply(one.machine, one.op, now.lagging);
  }
  if (applied.index < log.base.index && !mutant(Mutant::GapAtOpenTaken)) {
    return absl::DataLossError("the log starts after entry " + std::to_string(log.base.index.value()) +
                               " but the checkpoint was taken at " + std::to_string(applied.index.value()) +
                               ": the two do not belong together; restore both from the same moment, or replace this member");
  }
  // A state from a peer becomes durable before the log is reset (docs/decisions/0006). If that was cut short it is made up
  // for now: what the log has that contradicts the state was never committed.
  const bool replaced = !holds(log, applied);
  if (replaced) {
    log.base = applied;
    log.entries.clear();
  }
  if (absl::Status status = router_.check_hosted(log.entries); !status.ok()) return status;
  attestation_.begin(Attestation::Disk::WithLog);
  EngineEffects ignored;  // nothing is sent before the first turn
  effects_ = &ignored;
  start_core({.hard_state = log.hard_state,
              .base = log.base,
              .configuration = router_.configuration(),
              .configuration_index = router_.configuration_at().index,
              .applied = applied,
              .entries = std::move(log.entries),
              .log_replaced = replaced,
              .attested = false},
             now.lagging);
  if (std::string why = directory_of_another(); !why.empty()) quarantine(std::move(why));
  effects_ = nullptr;
  return absl::OkStatus();
}

Proposals::Road EngineImpl::road() const {
  if (!knows_leader()) return Proposals::Road::NoLeader;
  return router_.origins().registered(origin_) ? Proposals::Road::Open : Proposals::Road::Unregistered;
}

EngineStatus EngineImpl::status() const {
  EngineStatus status{.cluster = router_.genesis() ? router_.genesis()->cluster : ClusterId(),
                      .applied = router_.applied().index,
                      .digest = router_.digest(),
                      .requests = proposals_.size() + reads_.size()};
  if (core_) status.core = core_->status();
  if (halted_ || quarantined_) {
    status.state = halted_ ? ReplicaState::Halted : ReplicaState::Quarantine;
    status.reason = reason_;
  } else if (!core_) {
    status.state = founding_.uninvited() ? ReplicaState::Uninvited : ReplicaState::WaitingForMembers;
    status.reason = founding_.reason();
  } else if (removed_) {
    status.state = ReplicaState::Removed;
    status.reason = removal();
  } else if (road() != Proposals::Road::Open) {
    status.state = ReplicaState::Starting;
    if (attestation_.waiting()) status.reason = "waits until a majority of the members has said what it remembers of this disk";
  } else {
    status.state = raft::is_voter(core_->configuration(), self()) ? ReplicaState::Ready : ReplicaState::Learner;
  }
  if (const auto offer = receiver_.offer(); offer && status.reason.empty()) {
    status.reason = "being sent the state after entry " + std::to_string(offer->at.index.value());
  }
  status.change = change_.waits_for();
  status.warnings = warnings();
  return status;
}

}  // namespace coordkit::engine
