// A leadership transfer that was begun here (thesis 3.10): no more proposals, the target catches up, then TimeoutNow lets it
// campaign at once, and voters grant their votes although the leader is alive. A lost TimeoutNow is sent again with each round.
// At the deadline the leader resumes; a campaign that it no longer waits for is still legitimate.
//
// Whatever is asked of it, a leader refuses proposals for at most two election timeouts in ten: a transfer lasts at most two,
// and the next one begins after a rest of four times as long as the last one took.
//
// It outlives the leadership, so that its outcome can be reported, and so does the mark that voids the lease of the term in
// which TimeoutNow was sent (6.4.1).
#pragma once

#include <optional>

#include "raft/leading.h"

namespace coordkit::raft {

class PendingTransfer {
 public:
  // Requested by the host. `leading`: null if we do not. Refusals are answered at once.
  void ask(const Options& options, const Transfer& transfer, const Leading* leading, const Log& log, LaggingTime now,
           Outbox& out);
  // With each heartbeat: a leader whose own disk stalls transfers leadership unasked. True: it should step down.
  bool leave_stalled_disk(const Options& options, Leading& leading, const Log& log, LaggingTime now);
  bool under_way() const { return transfer_.has_value(); }
  ReplicaId target() const { return transfer_ ? transfer_->target : ReplicaId(); }  // zero: none
  LaggingTime deadline() const { return transfer_ ? transfer_->deadline : LaggingTime::max(); }

  // Once per confirmation round.
  void send_order(const Leading& leading, const Log& log, Outbox& out);
  // Sent at once, whatever its log has: we are leaving.
  void send_last_order(ReplicaId successor, Term term, Outbox& out);
  Term lease_void() const { return lease_void_; }

  // After each input: is it over, and with what outcome?
  void judge(const Leadership& leadership, const Leading* leading, const Log& log, LaggingTime now, Outbox& out);

 private:
  friend class CoreTwin;
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
  LaggingTime rest_until_ = LaggingTime::min();  // none begins before
  Term lease_void_;
};

}  // namespace coordkit::raft
