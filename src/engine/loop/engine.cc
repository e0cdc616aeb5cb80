// Opening an engine: options checked, state restored from the checkpoint, the log's tail handed to the core.
#include <algorithm>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "base/last_words.h"
#include "base/problems.h"
#include "base/with_reason.h"
#include "coordkit/error.h"
#include "engine/disks/matching_stores.h"
#include "engine/loop/engine_impl.h"
#include "raft/log/entry_codec.h"
#include "raft/members/configuration_rules.h"

namespace coordkit {
namespace {

void check_members(const std::vector<Peer>& members, ReplicaId self, Problems& problems) {
  if (members.empty()) return problems.add("members is empty: list this replica at least");
  if (members.size() > kMembersMax) return problems.add("members lists more than 64 replicas: list 64 at most");
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string id = std::to_string(members[i].id.value());
    if (!members[i].id) problems.add("a member has id 0: give it an id from 1 up");
    if (is_remote(members[i].id)) problems.add("member id " + id + " is not below 2^63: those ids are of remotes");
    if (members[i].address.size() > kAddressBytesMax)
      problems.add("the address of member " + id + " is longer than 1024 bytes");
    for (size_t j = 0; j < i; ++j) {
      if (members[i].id == members[j].id) {
        problems.add("member id " + id + " is listed twice: give each member an id of its own");
      } else if (!members[i].address.empty() && members[i].address == members[j].address) {
        problems.add("address " + members[i].address + " is listed twice: give each member an address of its own");
      }
    }
  }
  if (std::ranges::find(members, self, &Peer::id) == members.end())
    problems.add("replica " + std::to_string(self.value()) + " is not among the members: add it, or correct its id");
}

}  // namespace

absl::Status EngineOptions::validate() const {
  Problems problems;
  problems.add(raft.validate());
  check_members(members, raft.self, problems);
  if (!new_cluster) problems.add("new_cluster is 0: draw an id at random");
  if (token_base > engine::kTokenBaseMax) problems.add("token_base is not below 2^63 - 1, so no tokens are left");
  if (requests_max == 0) problems.add("requests_max is 0: give it 1 at least");
  if (request_bytes_max == 0 || request_bytes_max > 15 << 20)
    problems.add("request_bytes_max is not between 1 byte and 15 MiB");
  if (request_bytes_in_flight_max < request_bytes_max)
    problems.add("request_bytes_in_flight_max is below request_bytes_max: give it as much at least");
  if (apply_bytes_per_turn == 0) problems.add("apply_bytes_per_turn is 0: give it 1 at least");
  if (window == 0 || window > 1024) problems.add("window is not between 1 and 1024");
  if (checkpoint_entries == 0) problems.add("checkpoint_entries is 0: give it 1 at least");
  if (timers_per_entry == 0 || timers_per_entry > engine::kFiredTimersMax)
    problems.add("timers_per_entry is not between 1 and " + std::to_string(engine::kFiredTimersMax));
  if (digest_entries != 0 && digest_entries < engine::kDigestEntriesMin) {
    problems.add("digest_entries is neither 0 nor at least " + std::to_string(engine::kDigestEntriesMin) +
                 ": give it 0 to compare no digests");
  }
  if (state_chunk_bytes == 0 || state_chunk_bytes > 8 << 20) problems.add("state_chunk_bytes is not between 1 byte and 8 MiB");
  if (state_bytes_per_second == 0) problems.add("state_bytes_per_second is 0: give it 1 at least");
  if (state_view_idle <= Duration::zero()) problems.add("state_view_idle is not above zero");
  if (state_view_max <= Duration::zero()) problems.add("state_view_max is not above zero");
  return problems.status();
}

void EngineEffects::clear() {
  writes.clear();
  sends.clear();
  completions.clear();
  more_expired = false;
  events.clear();
  acts.clear();
  remote_answers.clear();
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
  } catch (const std::bad_alloc&) {
    return LastWords().no_memory();
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

// Says that this directory's own log belongs to another replica at the start (FLT_P18). On a copy of it this replica would
// repeat the votes and acknowledgements of that one. Empty: it is ours, or no replica's. Later entries prove nothing: while it
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

// A state after the genesis alone says nothing that the log does not, and the genesis may be another one by now, or give way.
bool is_of_genesis(Position applied, const RecoveredLog& log) {
  return applied.index == Index(1) && !log.base.index && !log.entries.empty();
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
  const Position stored = checkpoint.applied();
  const Position applied = is_of_genesis(stored, log) ? Position() : stored;
  const bool genesis_lost = !log.damaged.empty() && log.damaged.front().index == Index(1) && !applied.index;
  if (genesis_lost) {
    condition_.quarantine("entry 1 of the log, which names the cluster, is rotten on this disk; replace this member");
    return absl::OkStatus();
  }
  recall_.recover(log, applied);
  const bool blank = !applied.index && !log.base.index && log.entries.empty();
  const bool log_is_gone = blank && (log.had_log || log.hard_state.term);  // the genesis is stored before any term
  if (log_is_gone) {
    return make_error(Reason::Corrupt,
                      "this data directory had a log with entries, and now it has none: restore it with all "
                      "its files from one moment, or replace this member");
  }
  if (blank) return absl::OkStatus();         // genesis comes first
  const bool whole = !recall_.floor().index;  // it has lost no entries
  if (!applied.index && whole && founding_.gives_way(log)) return absl::OkStatus();

  Router& router = state_.router();
  if (applied.index) {
    if (absl::Status status = router.restore(checkpoint); !status.ok()) return status;
    checkpoints_.begin_at(applied.index);
    std::vector<MachineTimerOp> timers;
    router.timers(timers);
    for (const MachineTimerOp& one : timers) expirations_.timers().apply(one.machine, one.op, now.lagging, applied.index);
  }
  if (absl::Status status = check_stores_match(log, checkpoint); !status.ok()) return status;
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
  recall_.begin(RollbackCheck::Disk::WithHistory);
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
