// "Do I still lead?" (thesis 6.4). A question is answered by a heartbeat round that began after it was asked and that a quorum
// answered in this term; one round releases every question asked before it. Nothing is answered before an entry of the own
// term is committed (regression R59): until then the leader does not know what is.
//
// A reign has one of these; it ends with it, and every question is refused then.
#pragma once

#include <deque>
#include <optional>

#include "absl/functional/function_ref.h"
#include "raft/outbox.h"

namespace coordkit::raft {

class Confirmations {
 public:
  explicit Confirmations(const Options& options) : options_(options) {}

  // ---- questions. `commit`: when it was asked. Alone: no round is needed
  void ask(Ticket ticket, Index commit, bool alone);
  bool round_wanted() const;
  // `start`: our first entry of this term. `agreed`: the round that a quorum has answered.
  void answer(Index commit, Index start, absl::FunctionRef<uint64_t()> agreed, Outbox& out);
  void refuse(Outbox& out);

  // ---- rounds
  uint64_t round() const { return round_; }  // the last one begun in this term
  void begin_round(LaggingTime now);
  // A time before which everything was sent that an answer to this round may answer; nothing: it is too long ago.
  std::optional<LaggingTime> begun(uint64_t round) const;

 private:
  friend class CoreTwin;
  struct Question {
    Ticket ticket;
    uint64_t round;  // the first one begun after the question; zero: not begun yet
    Index commit;    // when it was asked
  };
  struct Round {
    uint64_t number = 0;
    LaggingTime begun;
  };
  void note_begun(LaggingTime now);

  const Options& options_;
  uint64_t round_ = 1;
  uint64_t confirmed_ = 0;          // a quorum answered this round
  std::deque<Round> rounds_;        // of the last election timeout, two in a heartbeat interval at most; oldest first
  std::deque<Question> questions_;  // in the order asked; those without a round are last
};

}  // namespace coordkit::raft
