// Opening an engine: options checked, state restored from the checkpoint, the log's tail handed to the core.
#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "base/with_reason.h"
#include "coordkit/error.h"
#include "engine/engine_impl.h"
#include "engine/pair_of_stores.h"
#include "raft/membership.h"

namespace coordkit {

absl::Status EngineOptions::validate() const {
  std::string problems;
  const auto problem = [&](std::string sentence) { problems += (problems.empty() ? "" : "; ") + std::move(sentence); };
  if (const absl::Status status = raft.validate(); !status.ok()) problem(std::string(sentence_of(status)));
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
  if (token_base > engine::kTokenBaseMax) problem("token_base must be below 2^63 - 1, or no tokens are left");
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
  more_expired = false;
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
  threw.clear();
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
    if (absl::Status status = engine->start(std::move(log), checkpoint, now); !status.ok()) return with_reason(status);
    return engine;
  } catch (const engine::NewerLevel& newer) {
    return make_error(Reason::NewerFormat, newer.what());
  } catch (const engine::MachineThrew& threw) {  // which says nothing about the disk
    return make_error(Reason::HostThrew, threw.what());
  } catch (const std::exception& error) {  // a machine or the core cannot read what the stores returned
    return make_error(Reason::Corrupt, error.what());
  } catch (...) {
    return make_error(Reason::HostThrew, Outcome::NoEffect,
                      "a machine threw something that is no std::exception while it was restored");
  }
}

}  // namespace coordkit

namespace coordkit::engine {
namespace {

// What this directory's own log says at the start: it belongs to another replica (FLT_P18). On a copy of it this replica would
// repeat that one's votes and acknowledgements. Empty: it is ours, or no replica's. Later entries prove nothing: while it
// catches up, a replica reads about members that no longer exist.
std::string directory_of_another(const Origin& self, const raft::Configuration& in_force, const raft::Configuration& applied) {
  const raft::Member* other = nullptr;
  for (const raft::Configuration* configuration : {&in_force, &applied}) {
    const raft::Member* owner = raft::owner_of(*configuration, self.store);
    if (owner && owner->id == self.replica) return "";
    if (owner) other = owner;
  }
  if (other == nullptr) return "";
  return "this data directory is that of replica " + std::to_string(other->id.value()) + ", and this is replica " +
         std::to_string(self.replica.value()) + ": start it on its own directory, or on an empty one and replace the member";
}

}  // namespace

EngineImpl::EngineImpl(EngineOptions options, std::vector<HostedMachine> machines, const RecoveredLog& log)
    : options_(std::move(options)),
      clock_(options_.raft.election_timeout),
      condition_(options_),
      founding_(options_, log.store),
      consensus_(options_.raft),
      recall_(options_, Origin{options_.raft.self, log.store, log.boot}),
      peers_(options_),
      calls_(options_, Origin{options_.raft.self, log.store, log.boot}),
      state_(options_, std::move(machines)),
      expirations_(options_),
      level_raise_(options_),
      checkpoints_(options_),
      states_(options_) {
  options_.raft.store = log.store;
}

absl::Status EngineImpl::start(RecoveredLog log, const CheckpointView& checkpoint, Now now) {
  const Position applied = checkpoint.applied();
  const bool genesis_lost = !log.damaged.empty() && log.damaged.front().index == Index(1) && !applied.index;
  if (genesis_lost) {
    condition_.quarantine("entry 1 of the log, which names the cluster, is rotten on this disk; replace this member");
    return absl::OkStatus();
  }
  recall_.recover(log, applied);
  const bool blank = !applied.index && !log.base.index && log.entries.empty();
  if (blank && log.had_log) {
    return make_error(Reason::Corrupt,
                      "this data directory had a log with entries, and now it has none: restore it with all "
                      "its files from one moment, or replace this member");
  }
  if (blank) return absl::OkStatus();  // genesis comes first

  Router& router = state_.router();
  if (applied.index) {
    if (absl::Status status = router.restore(checkpoint); !status.ok()) return status;
    checkpoints_.begin_at(applied.index);
    std::vector<MachineTimerOp> timers;
    router.timers(timers);
    for (const MachineTimerOp& one : timers) expirations_.timers().apply(one.machine, one.op, now.lagging, applied.index);
  }
  if (absl::Status status = pair_of_stores(log, checkpoint); !status.ok()) return status;
  // A state from a peer becomes durable before the log is reset (docs/decisions/0006). If that was interrupted it is completed
  // now: entries of the log that contradict the state were never committed.
  const bool replaced = !holds_entry(log, applied);
  if (replaced) {
    log.base = applied;
    log.entries.clear();
  }
  std::span<const raft::Entry> ahead = log.entries;
  if (applied.index > log.base.index) ahead = ahead.subspan(std::min<size_t>(ahead.size(), applied.index - log.base.index));
  if (absl::Status status = router.check_readable(ahead); !status.ok()) return status;
  recall_.begin(RollbackCheck::Disk::WithLog);
  EngineEffects ignored;  // nothing is sent before the first turn
  Turn turn{{now.lagging, {}}, ignored, consensus_};
  start_core({.hard_state = log.hard_state,
              .base = log.base,
              .configuration = router.configuration(),
              .configuration_index = router.configuration_at().index,
              .applied = applied,
              .entries = std::move(log.entries),
              .log_replaced = replaced,
              .rollback_checked = false,
              .floor = recall_.floor()},
             turn);
  std::string why = directory_of_another(calls_.origin(), core()->configuration(), router.configuration());
  if (!why.empty()) quarantine(std::move(why), ignored);
  return absl::OkStatus();
}

void EngineImpl::start_core(raft::Recovered recovered, Turn& turn) {
  consensus_.start(std::move(recovered), turn.now.lagging);
  // Genesis is committed by definition: from here on the members are known and it can be offered to them.
  state_.apply(consensus_, SIZE_MAX);
  if (state_.router().genesis()) turn.effects.cluster = state_.router().genesis()->cluster;
  follow_members(turn);
}

}  // namespace coordkit::engine
