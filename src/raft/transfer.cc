// Handing leadership over (thesis 3.10): no more proposals, the target catches up, then TimeoutNow lets it campaign at once
// and the voters do not hold the living leader against it. A lost TimeoutNow is sent again with each round. At the deadline
// the leader goes on; a campaign that it no longer waits for is still a lawful one.
//
// A leader whose own disk stalls does the same by itself: it can lead for ever without it (10.2.1), but one more failure
// would then cost more than a disk. Where every disk is slow that would send leadership round and round, so it yields only
// to one that stored promptly what the own disk did not, and not before it has led for a while.
#include <algorithm>

#include "raft/core_impl.h"

namespace coordkit::raft {

void Core::Impl::on(const Transfer& transfer) {
  using Kind = TransferFate::Kind;
  const auto answer = [&](Kind kind) { transfers_.push_back({transfer.ticket, kind}); };
  if (!leads()) return answer(Kind::NotLeader);
  if (handover_) return answer(Kind::InProgress);
  const ReplicaId target = transfer.target ? transfer.target : best_successor([](ReplicaId) { return true; });
  if (is_self(target)) return answer(Kind::Done);
  const Progress* peer = progress_of(target);
  if (!peer || !fit(*peer)) return answer(Kind::Unfit);
  handover_ = Handover{transfer.ticket, target, transfer.deadline, term()};
}

// Votes now and after a change that is under way.
bool Core::Impl::fit(const Progress& peer) const {
  const auto& voters = configuration().voters;
  return std::any_of(voters.begin(), voters.end(), [&peer](const Member& voter) { return voter.id == peer.peer; });
}

// The one with the most of our log among those who answer and suit; of equals the lowest id. Zero: nobody.
ReplicaId Core::Impl::best_successor(absl::FunctionRef<bool(ReplicaId)> suits) const {
  const Progress* best = nullptr;
  for (const Progress& peer : peers_) {
    if (!fit(peer) || !peer.match || !suits(peer.peer) || now_ - peer.contact >= options_.election_timeout) continue;
    if (!best || peer.match > best->match) best = &peer;
  }
  return best ? best->peer : ReplicaId();
}

// Its log is ours to the last entry, so it wins if a majority answers. From here on leases are void (6.4.1).
void Core::Impl::hand_over() {
  if (!handover_ || handover_->told_round == round_) return;
  const Progress* target = progress_of(handover_->target);
  if (!target || target->match != log_.last().index) return;
  handover_->told_round = round_;
  lease_void_ = term();
  send(target->peer, WriteNumber(), TimeoutNow{term()});
}

// A follower that is told so campaigns without asking first; one whose disk still owes a vote would only burn a term.
void Core::Impl::receive(ReplicaId, const TimeoutNow&) {
  if (leadership_.role != Role::Follower || !may_campaign()) return;
  cause_ = Cause::Transfer;
  request({Role::Candidate, term(), ReplicaId()});
}

// After each input: is it over, and how?
void Core::Impl::judge_transfer() {
  using Kind = TransferFate::Kind;
  if (!handover_) return;
  const bool decided = term() > handover_->term && leadership_.leader;
  if (decided) return end_transfer(leadership_.leader == handover_->target ? Kind::Done : Kind::Lost);
  if (now_ >= handover_->deadline) return end_transfer(Kind::Expired);
  if (!leads()) return;
  const Progress* target = progress_of(handover_->target);
  if (!target || !fit(*target)) end_transfer(Kind::Unfit);
}

void Core::Impl::end_transfer(TransferFate::Kind kind) {
  if (handover_->ticket) transfers_.push_back({handover_->ticket, kind});
  handover_.reset();
}

// ---- the own disk (faults P10, P11)

Duration Core::Impl::disk_lag_max() const {
  return options_.disk_lag_max == Duration::zero() ? options_.election_timeout : options_.disk_lag_max;
}

void Core::Impl::watch_own_disk() {
  constexpr int kTimeoutsLedFirst = 10;
  if (disk_lag_max() == Duration::max()) return;
  notice_disk_lag();
  if (!disk_lag_ || handover_ || now_ - disk_lag_->since < disk_lag_max()) return;
  if (now_ - led_since_ >= kTimeoutsLedFirst * options_.election_timeout) yield_to_prompt();
}

// What was in the log when the lag began is either durable, which ends it, or it tells who is prompt: who acknowledges within
// half an election timeout, again and again.
void Core::Impl::notice_disk_lag() {
  const Index last = log_.last().index;
  if (disk_lag_ && disk_.durable() >= disk_lag_->upto) disk_lag_.reset();
  if (!disk_lag_) {
    if (disk_.durable() >= last) return;
    disk_lag_ = DiskLag{.upto = last, .since = now_, .asked = last, .asked_at = now_};
    for (const Progress& peer : peers_) disk_lag_->prompt.push_back(peer.peer);
    return;
  }
  if (now_ - disk_lag_->asked_at < options_.election_timeout / 2) return;
  std::erase_if(disk_lag_->prompt, [this](ReplicaId id) {
    const Progress* peer = progress_of(id);
    return !peer || peer->match < disk_lag_->asked;
  });
  disk_lag_->asked = last;
  disk_lag_->asked_at = now_;
}

// Tried for one timeout, then left alone for another. If that came to nothing and the prompt can elect one of them without
// us, we make room: with such a disk we win no election.
void Core::Impl::yield_to_prompt() {
  const auto prompt = [this](ReplicaId id) {
    return std::find(disk_lag_->prompt.begin(), disk_lag_->prompt.end(), id) != disk_lag_->prompt.end();
  };
  if (disk_lag_->refused && quorum_agrees(configuration(), prompt)) return request({Role::Follower, term(), ReplicaId()});
  const ReplicaId target = best_successor(prompt);
  if (!target) return;
  handover_ = Handover{Ticket(), target, now_ + options_.election_timeout, term()};
  disk_lag_->since = handover_->deadline;
  disk_lag_->refused = true;
}

}  // namespace coordkit::raft
