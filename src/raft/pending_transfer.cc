#include "raft/pending_transfer.h"

#include <algorithm>

namespace coordkit::raft {
namespace {

constexpr int kTransferTimeouts = 2;  // election timeouts that one transfer may last
constexpr int kRestShare = 4;         // the pause after a transfer, in multiples of the time that the transfer took

}  // namespace

// Nothing of our term need be committed yet; 3.10 does not ask for it. The order waits until the target has our whole log,
// with the first entry of the term. The target of the order is then elected by the usual rules.
void PendingTransfer::ask(const Options& options, const Transfer& transfer, const Leading* leading, const Log& log,
                          LaggingTime now, Outbox& out) {
  using End = TransferOutcome::Kind;
  const auto answer = [&](End kind) { out.transfers.push_back({transfer.ticket, kind}); };
  if (!leading) return answer(End::NotLeader);
  if (transfer_) return answer(End::InProgress);
  if (now < rest_until_) return answer(End::Expired);
  const ReplicaId target = transfer.target ? transfer.target : leading->best_successor(log, now);
  if (target == leading->self()) return answer(End::Done);
  if (!leading->may_succeed(target, log)) return answer(End::Unfit);
  const LaggingTime latest = now + kTransferTimeouts * options.election_timeout;
  transfer_ = UnderWay{transfer.ticket, target, now, std::min(transfer.deadline, latest), log.term()};
}

bool PendingTransfer::leave_stalled_disk(const Options& options, Leading& leading, const Log& log, LaggingTime now) {
  leading.disk_monitor().look(log.last().index, log.durable(), leading.peers(), now);
  const std::optional<ReplicaId> successor = transfer_ || now < rest_until_ ? std::nullopt : leading.relief(log, now);
  if (!successor) return false;
  if (!*successor) return true;
  transfer_ = UnderWay{Ticket(), *successor, now, now + options.election_timeout, log.term()};
  leading.disk_monitor().handing_over(transfer_->deadline);
  return false;
}

// Once the target's log equals ours to the last entry, it wins if a majority answers. From here on leases are void (6.4.1).
void PendingTransfer::send_order(const Leading& leading, const Log& log, Outbox& out) {
  if (!transfer_ || transfer_->ordered_round == leading.round()) return;
  const Progress* target = leading.peers().find(transfer_->target);
  if (!target || target->match != log.last().index) return;
  transfer_->ordered_round = leading.round();
  send_last_order(target->peer, log.term(), out);
}

void PendingTransfer::send_last_order(ReplicaId successor, Term term, Outbox& out) {
  lease_void_ = term;
  out.send(successor, WriteNumber(), TimeoutNow{term});
}

void PendingTransfer::judge(const Leadership& leadership, const Leading* leading, const Log& log, LaggingTime now,
                            Outbox& out) {
  using End = TransferOutcome::Kind;
  if (!transfer_) return;
  const bool decided = leadership.term > transfer_->term && leadership.leader;
  if (decided) return end(leadership.leader == transfer_->target ? End::Done : End::Lost, now, out);
  if (now >= transfer_->deadline) return end(End::Expired, now, out);
  if (leading && !leading->may_succeed(transfer_->target, log)) end(End::Unfit, now, out);
}

void PendingTransfer::end(TransferOutcome::Kind kind, LaggingTime now, Outbox& out) {
  rest_until_ = now + kRestShare * (now - transfer_->since);
  if (transfer_->ticket) out.transfers.push_back({transfer_->ticket, kind});
  transfer_.reset();
}

}  // namespace coordkit::raft
