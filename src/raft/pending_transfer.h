// A leadership transfer that was begun here (thesis 3.10). The leader accepts no more proposals, and the target catches up.
// Then TimeoutNow lets the target campaign at once, and voters grant their votes although the leader is alive. A lost
// TimeoutNow is sent again with each round. At the deadline the leader resumes. A campaign for which it no longer waits is
// still legitimate.
//
// A leader refuses proposals for at most two election timeouts in ten, however many transfers are requested. A transfer lasts
// at most two, and the next one begins after a pause of four times as long as the last one took.
//
// It outlives the leadership, so that its outcome can be reported. So does the mark that voids the lease of the term in which
// TimeoutNow was sent (6.4.1).
#pragma once

#include <optional>

#include "raft/leading.h"

namespace coordkit::raft {

class PendingTransfer {
 public:
  // Requested by the host. `leading`: null if we do not lead. Refusals are answered at once.
  void ask(const Options& options, const Transfer& transfer, const Leading* leading, const Log& log, LaggingTime now,
           Outbox& out);
  // Called with each heartbeat: a leader whose own disk stalls transfers leadership unasked. True: it should step down.
  bool leave_stalled_disk(const Options& options, Leading& leading, const Log& log, LaggingTime now);
  bool under_way() const { return transfer_.has_value(); }
  ReplicaId target() const { return transfer_ ? transfer_->target : ReplicaId(); }  // zero: none
  LaggingTime deadline() const { return transfer_ ? transfer_->deadline : LaggingTime::max(); }

  // Sends the order once per confirmation round.
  void send_order(const Leading& leading, const Log& log, Outbox& out);
  // Sent at once, however much of the log the successor has: we are leaving.
  void send_last_order(ReplicaId successor, Term term, Outbox& out);
  Term lease_void() const { return lease_void_; }

  // Called after each input: ends a transfer that is over, and reports its outcome.
  void judge(const Leadership& leadership, const Leading* leading, const Log& log, LaggingTime now, Outbox& out);

 private:
  struct UnderWay {
    Ticket ticket;  // zero: initiated here
    ReplicaId target;
    LaggingTime since;
    LaggingTime deadline;
    Term term;                   // in which it began
    uint64_t ordered_round = 0;  // TimeoutNow was last sent in this confirmation round
  };
  void end(TransferOutcome::Kind kind, LaggingTime now, Outbox& out);

  std::optional<UnderWay> transfer_;
  LaggingTime rest_until_ = LaggingTime::min();  // no transfer begins before this time
  Term lease_void_;
};

}  // namespace coordkit::raft
