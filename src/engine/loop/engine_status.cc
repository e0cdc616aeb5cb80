// For operators of a replica: its state, the reason, and everything that needs their attention.
#include <exception>
#include <new>
#include <utility>

#include "engine/loop/engine_impl.h"
#include "raft/quorum.h"

namespace coordkit::engine {
namespace {

std::string what_is_left(const CatchUp& left) {
  std::string behind = std::to_string(left.entries) + " entries behind the leader";
  if (!left.state) return behind;
  return behind + ", being sent the state after entry " + std::to_string(left.state.value()) + ": " +
         std::to_string(left.state_bytes >> 20) + " MiB so far";
}

std::string removal(ReplicaId self) {
  return "replica " + std::to_string(self.value()) +
         " was removed from the cluster: stop it, or add it again with change_membership on a running replica";
}

// FLT_S08. It cannot make this replica do wrong; but the replica that sends it is faulty, or not the one
// it claims to be.
std::string disbelief(const raft::TermLeap& leap) {
  return "replica " + std::to_string(leap.from.value()) + " claimed term " + std::to_string(leap.claimed.value()) +
         ", far beyond this cluster's, " + std::to_string(leap.count) + (leap.count == 1 ? " time" : " times") +
         ": the claim was ignored; check its machine and its disk";
}

// Zero: a machine threw, perhaps the one that has halted this replica. An operator that looks must not suffer for it.
uint64_t digest_of(const Router& router, std::string& why_not) try {
  return router.digest();
} catch (const std::bad_alloc&) {  // an index of the state may be half-changed
  throw;
} catch (const std::exception& error) {
  why_not = std::string("the state has no digest: ") + error.what();
  return 0;
}

}  // namespace

EngineStatus EngineImpl::status() const {
  const Router& router = state_.router();
  const Load load = calls_.load();
  std::string no_digest;
  EngineStatus status{.cluster = router.genesis() ? router.genesis()->cluster : ClusterId(),
                      .applied = router.applied().index,
                      .checkpointed = checkpoints_.checkpointed(),
                      .digest = failing_.told.ok() ? digest_of(router, no_digest) : 0,
                      .requests = load.requests,
                      .request_bytes = load.bytes};
  status.feature_level = router.feature_level();
  if (core()) status.core = core()->status();
  if (clock_.last()) status.missing = peers_.missing(core(), clock_.last()->lagging);
  if (condition_.halted() || condition_.quarantined()) {
    status.state = condition_.halted() ? ReplicaState::Halted : ReplicaState::Quarantine;
    status.reason = condition_.reason();
  } else if (!core()) {
    status.state = founding_.uninvited() ? ReplicaState::Uninvited : ReplicaState::WaitingForMembers;
    status.reason = founding_.reason();
    const bool waits = !founding_.uninvited() && !status.missing.empty();
    if (waits) status.reason += "; " + roll_call(status.missing);
  } else if (condition_.removed()) {
    status.state = ReplicaState::Removed;
    status.reason = removal(self());
  } else if ((status.catch_up = catch_up())) {
    status.state = ReplicaState::CatchingUp;
    status.reason = what_is_left(*status.catch_up);
  } else if (calls_.route(consensus_, router) != Proposals::Route::Open) {
    status.state = ReplicaState::Starting;
    status.reason = why_starting(status.missing);
  } else {
    status.state = raft::is_voter(core()->configuration(), self()) ? ReplicaState::Ready : ReplicaState::Learner;
  }
  if (!core()) status.differing_lists = founding_.differing_lists();
  if (core() && !consensus_.leader()) status.differing_lists = peers_.differing_lists(core()->configuration());
  status.change = calls_.members().change_waits_for(consensus_.knows_leader());
  status.warnings = warnings(status.missing);
  for (const DifferingList& one : status.differing_lists) status.warnings.push_back(one.sentence);
  if (!no_digest.empty()) status.warnings.push_back(std::move(no_digest));
  status.rejected = peers_.rejected();
  return status;
}

std::vector<std::string> EngineImpl::warnings(const std::vector<MissingMember>& missing) const {
  std::vector<std::string> found;
  peers_.warnings(missing, clock_.last() ? clock_.last()->lagging : LaggingTime(), found);
  const Duration silence_max = kSilentTimeouts * options_.raft.election_timeout;
  std::string slow = clock_.last() ? consensus_.writes().slow(clock_.last()->lagging, silence_max) : std::string();
  if (!slow.empty()) found.push_back(std::move(slow));
  condition_.warnings(consensus_.holds_back(), found);
  checkpoints_.warnings(found);
  states_.warnings(found);
  recall_.warnings(found);
  if (!state_.warning().empty()) found.push_back(state_.warning());
  if (!core()) return found;
  if (!consensus_.leader() && !founding_.kept().empty()) found.push_back(founding_.kept());
  if (const std::optional<raft::TermLeap> leap = core()->status().leap) found.push_back(disbelief(*leap));
  return found;
}

std::string EngineImpl::why_starting(const std::vector<MissingMember>& missing) const {
  if (recall_.waiting()) {
    const std::string who = missing.empty() ? "" : "; " + roll_call(missing);
    return "waits for a majority of the members to report what they remember of this disk" + who;
  }
  const bool leaderless = !consensus_.leader();
  if (std::string lost = recall_.why_waiting(); leaderless && !lost.empty()) return lost;
  if (!clock_.last()) return "no leader is known yet: this replica has just been opened";
  return leaderless ? why_no_leader(core()->configuration(), missing) : "catching up with the leader";
}

// Behind for so long that it is not a matter of a few messages in flight.
std::optional<CatchUp> EngineImpl::catch_up() const {
  constexpr int kTimeouts = 4;
  if (!consensus_.leader() || consensus_.leads() || !clock_.last() || recall_.waiting()) return std::nullopt;
  CatchUp left{.committed = core()->leader_commit()};
  left.entries = left.committed - std::min(applied(), left.committed);
  const std::optional<LaggingTime> fresh_at = core()->fresh_at();
  const bool old = fresh_at ? clock_.last()->lagging - *fresh_at > kTimeouts * options_.raft.election_timeout
                            : calls_.route(consensus_, state_.router()) != Proposals::Route::Open && left.entries > 0;
  const std::optional<StateOffer> offer = states_.offer();
  if (!old && !offer) return std::nullopt;
  if (offer) {
    left.state = offer->at.index;
    left.state_bytes = states_.bytes();
  }
  return left;
}

}  // namespace coordkit::engine
