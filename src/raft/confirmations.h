// "Do I still lead?" (thesis 6.4). A heartbeat round answers a question if it began after the question and a quorum answered
// it in this term. One round answers every question asked before it. No answer is given before an entry of the leader's own
// term is committed (regression R59). Until then the leader does not know its commit index.
//
// One object per leadership. When the leadership ends, so does the object, and every open question is refused.
#pragma once

#include <deque>
#include <optional>

#include "absl/functional/function_ref.h"
#include "raft/outbox.h"

namespace coordkit::raft {

class Confirmations {
 public:
  explicit Confirmations(const Options& options) : options_(options) {}

  // ---- questions. `commit`: the commit index when it was asked. `alone`: no round is needed
  void ask(Ticket ticket, Index commit, bool alone);
  bool round_wanted() const;
  // `start`: our first entry of this term. `agreed`: the round that a quorum has answered.
  void answer(Index commit, Index start, absl::FunctionRef<uint64_t()> agreed, Outbox& out);
  void refuse(Outbox& out);

  // ---- rounds
  uint64_t round() const { return round_; }  // the last round begun in this term
  void begin_round(LaggingTime now);
  // Everything that an answer to this round may answer was sent after this time. nullopt: the round began too long ago to
  // know.
  std::optional<LaggingTime> begun(uint64_t round) const;

 private:
  struct Question {
    Ticket ticket;
    uint64_t round = 0;  // the first round begun after the question; zero: not begun yet
    Index commit;        // the commit index when it was asked
  };
  struct Round {
    uint64_t number = 0;
    LaggingTime begun;
  };
  void belong_to_round();  // for questions that have no round
  void note_begun(LaggingTime now);

  const Options& options_;
  uint64_t round_ = 1;
  uint64_t confirmed_ = 0;          // a quorum answered this round
  std::deque<Round> rounds_;        // those of the last election timeout, at most two per heartbeat interval; oldest first
  std::deque<Question> questions_;  // in the order asked; those without a round come last
};

}  // namespace coordkit::raft
