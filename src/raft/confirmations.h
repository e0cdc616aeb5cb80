// "Do I still lead?" (thesis 6.4). A question is answered by a heartbeat round that began after it was asked and that a quorum
// answered in this term; one round answers every question asked before it. No answer is given before an entry of the leader's
// own term is committed (regression R59): until then the leader does not know what is.
//
// One object per leadership; when that ends, so does the object, and every open question is refused.
#pragma once

#include <deque>
#include <optional>

#include "absl/functional/function_ref.h"
#include "raft/outbox.h"

namespace coordkit::raft {

class Confirmations {
 public:
  explicit Confirmations(const Options& options) : options_(options) {}

  // ---- questions. `commit`: when it was asked. `alone`: no round is needed
  void ask(Ticket ticket, Index commit, bool alone);
  bool round_wanted() const;
  // `start`: our first entry of this term. `agreed`: the round that a quorum has answered.
  void answer(Index commit, Index start, absl::FunctionRef<uint64_t()> agreed, Outbox& out);
  void refuse(Outbox& out);

  // ---- rounds
  uint64_t round() const { return round_; }  // the last one begun in this term
  void begin_round(LaggingTime now);
  // Everything that an answer to this round may answer was sent after this time; nullopt: too long ago to know.
  std::optional<LaggingTime> begun(uint64_t round) const;

 private:
  friend class CoreTwin;
  struct Question {
    Ticket ticket;
    uint64_t round = 0;  // the first one begun after the question; zero: not begun yet
    Index commit;        // when it was asked
  };
  struct Round {
    uint64_t number = 0;
    LaggingTime begun;
  };
  void belong_to_round();  // questions that have none
  void note_begun(LaggingTime now);

  const Options& options_;
  uint64_t round_ = 1;
  uint64_t confirmed_ = 0;          // a quorum answered this round
  std::deque<Round> rounds_;        // of the last election timeout, two in a heartbeat interval at most; oldest first
  std::deque<Question> questions_;  // in the order asked; those without a round are last
};

}  // namespace coordkit::raft
