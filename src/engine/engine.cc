// Birth of an engine: options checked, state restored from the checkpoint, the log's tail handed to the core.
#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "base/mutant.h"
#include "base/with_reason.h"
#include "coordkit/error.h"
#include "engine/engine_impl.h"
#include "raft/quorum.h"

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
  } catch (const std::exception& error) {  // what the stores gave makes no sense to a machine or to the core
    return make_error(Reason::Corrupt, error.what());
  } catch (...) {
    return make_error(Reason::HostThrew, Outcome::None,
                      "a machine threw something that is no std::exception while it was restored");
  }
}

}  // namespace coordkit

namespace coordkit::engine {
namespace {

std::string named(Position position) {
  return "entry " + std::to_string(position.index.value()) + " of term " + std::to_string(position.term.value());
}

Position last_of(const RecoveredLog& log) { return log.entries.empty() ? log.base : log.entries.back().position(); }

constexpr const char* kNotOfOneMoment =
    ": the two do not belong together; restore both from the same moment, or replace this member";

// Whether a log that does not start beyond this position has it.
bool holds(const RecoveredLog& log, Position position) {
  if (position.index == log.base.index) return position.term == log.base.term;
  const uint64_t place = position.index - log.base.index - 1;
  return place < log.entries.size() && log.entries[place].term == position.term;
}

// A checkpoint that was taken here was taken of entries that were durable in the log beside it, and these are never cut. A
// state from a peer becomes durable before the log starts again after it (docs/decisions/0006), but no member is sent one
// before it has stored the genesis and with it a term. So these pairs mean that one of the two has lost something, and
// with it perhaps votes and acknowledgements (FLT_D21).
absl::Status pair_of_stores(const RecoveredLog& log, const CheckpointView& checkpoint) {
  const Position applied = checkpoint.applied();
  if (applied.index < log.base.index && !mutant(Mutant::GapAtOpenTaken)) {
    return make_error(Reason::Corrupt, "the log starts after entry " + std::to_string(log.base.index.value()) +
                                           " but the checkpoint was taken at " + std::to_string(applied.index.value()) +
                                           kNotOfOneMoment);
  }
  if (mutant(Mutant::LogGoneTaken)) return absl::OkStatus();
  const bool gone = !log.hard_state.term && !log.base.index && log.entries.empty();
  if (applied.index && gone) {
    return make_error(Reason::Corrupt,
                      "the checkpoint was taken at " + named(applied) + " but the log is empty" + kNotOfOneMoment);
  }
  if (!checkpoint.installed() && !holds(log, applied)) {
    return make_error(Reason::Corrupt, "the checkpoint was taken at " + named(applied) + " but the log, which ends with " +
                                           named(last_of(log)) + ", does not hold that entry" + kNotOfOneMoment);
  }
  return absl::OkStatus();
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
      marks_({}),
      sender_(options_),
      receiver_(options_),
      round_trips_(options_.raft.election_timeout),
      change_(options_, log.store, log.boot),
      transfer_(options_, log.boot) {
  options_.raft.store = log.store;
}

absl::Status EngineImpl::start(RecoveredLog log, const CheckpointView& checkpoint, Now now) {
  const Position applied = checkpoint.applied();
  const bool genesis_lost = !log.damaged.empty() && log.damaged.front().index == Index(1) && !applied.index;
  if (genesis_lost) {
    quarantined_ = true;
    reason_ = "entry 1 of the log, which names the cluster, is rotten on this disk; replace this member";
    return absl::OkStatus();
  }
  lost_ = LostEntries::cut(log, applied);
  marks_ = PeerMarks(mutant(Mutant::MarksForgotten) ? std::vector<PeerMark>() : std::move(log.peers));
  if (lost_.any() && !mutant(Mutant::FloorForgotten)) marks_.lacks(origin_.store, lost_.term(), lost_.floor());
  const bool blank = !applied.index && !log.base.index && log.entries.empty();
  if (blank && log.had_log && !mutant(Mutant::LogGoneTaken)) {
    return make_error(Reason::Corrupt,
                      "this data directory had a log with entries, and now it has none: restore it with all "
                      "its files from one moment, or replace this member");
  }
  if (blank) return absl::OkStatus();  // genesis comes first

  if (applied.index) {
    if (absl::Status status = router_.restore(checkpoint); !status.ok()) return status;
    checkpointed_ = applied.index;
    std::vector<MachineTimerOp> timers;
    router_.timers(timers);
    for (const MachineTimerOp& one : timers) keeper_.apply(one.machine, one.op, now.lagging, applied.index);
  }
  if (absl::Status status = pair_of_stores(log, checkpoint); !status.ok()) return status;
  // A state from a peer becomes durable before the log is reset (docs/decisions/0006). If that was cut short it is made up
  // for now: what the log has that contradicts the state was never committed.
  const bool replaced = !holds(log, applied);
  if (replaced) {
    log.base = applied;
    log.entries.clear();
  }
  std::span<const raft::Entry> ahead = log.entries;
  if (applied.index > log.base.index) ahead = ahead.subspan(std::min<size_t>(ahead.size(), applied.index - log.base.index));
  if (absl::Status status = router_.check_hosted(ahead); !status.ok()) return status;
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
              .attested = false,
              .floor = lost_.floor()},
             now.lagging);
  if (std::string why = directory_of_another(); !why.empty()) quarantine(std::move(why));
  effects_ = nullptr;
  return absl::OkStatus();
}

Proposals::Road EngineImpl::road() const {
  if (!knows_leader()) return Proposals::Road::NoLeader;
  return router_.origins().registered(origin_) ? Proposals::Road::Open : Proposals::Road::Unregistered;
}

std::string EngineImpl::why_starting(const std::vector<MissingMember>& missing) const {
  if (attestation_.waiting()) {
    const std::string who = missing.empty() ? "" : "; " + roll_call(missing);
    return "waits until a majority of the members has said what it remembers of this disk" + who;
  }
  if (!leadership_.leader && lost_.any()) return lost_.why_waiting();
  if (!last_turn_) return "no leader is known yet: this replica has just been opened";
  return leadership_.leader ? "catching up with the leader" : why_no_leader(core_->configuration(), missing);
}

// Behind for so long that it is no matter of a few messages on their way.
std::optional<CatchUp> EngineImpl::catch_up() const {
  constexpr int kTimeouts = 4;
  if (!leadership_.leader || leads() || !last_turn_ || attestation_.waiting()) return std::nullopt;
  const Index applied = router_.applied().index;
  CatchUp left{.committed = core_->leader_commit()};
  left.entries = left.committed - std::min(applied, left.committed);
  const std::optional<LaggingTime> fresh_at = core_->fresh_at();
  const bool old = fresh_at ? last_turn_->lagging - *fresh_at > kTimeouts * options_.raft.election_timeout
                            : road() != Proposals::Road::Open && left.entries > 0;
  const std::optional<StateOffer> offer = receiver_.offer();
  if (!old && !offer) return std::nullopt;
  if (offer) {
    left.state = offer->at.index;
    left.state_bytes = receiver_.bytes();
  }
  return left;
}

namespace {

std::string sentence_of(const CatchUp& left) {
  std::string behind = std::to_string(left.entries) + " entries behind the leader";
  if (!left.state) return behind;
  return behind + ", being sent the state after entry " + std::to_string(left.state.value()) + ": " +
         std::to_string(left.state_bytes >> 20) + " MiB so far";
}

}  // namespace

EngineStatus EngineImpl::status() const {
  EngineStatus status{.cluster = router_.genesis() ? router_.genesis()->cluster : ClusterId(),
                      .applied = router_.applied().index,
                      .digest = router_.digest(),
                      .requests = proposals_.size() + reads_.size()};
  if (core_) status.core = core_->status();
  status.missing = missing();
  if (halted_ || quarantined_) {
    status.state = halted_ ? ReplicaState::Halted : ReplicaState::Quarantine;
    status.reason = reason_;
  } else if (!core_) {
    status.state = founding_.uninvited() ? ReplicaState::Uninvited : ReplicaState::WaitingForMembers;
    status.reason = founding_.reason();
    const bool waits = !founding_.uninvited() && !status.missing.empty();
    if (waits) status.reason += "; " + roll_call(status.missing);
  } else if (removed_) {
    status.state = ReplicaState::Removed;
    status.reason = removal();
  } else if ((status.catch_up = catch_up())) {
    status.state = ReplicaState::CatchingUp;
    status.reason = sentence_of(*status.catch_up);
  } else if (road() != Proposals::Road::Open) {
    status.state = ReplicaState::Starting;
    status.reason = why_starting(status.missing);
  } else {
    status.state = raft::is_voter(core_->configuration(), self()) ? ReplicaState::Ready : ReplicaState::Learner;
  }
  status.change = change_.waits_for();
  status.warnings = warnings(status.missing);
  status.unheard = unheard_;
  return status;
}

}  // namespace coordkit::engine
