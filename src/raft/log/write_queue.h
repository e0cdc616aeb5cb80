// The state of this replica's own disk: the hard state and log suffix not yet handed out, the writes in progress, and the
// durable part. It answers the one question that orders all I/O: which write must be durable before a message may leave?
//
//   durable() <= handed out <= last of the log       (a truncation pulls all three back, a reset sets them to its base)
#pragma once

#include <deque>
#include <optional>

#include "coordkit/ports/log_store.h"
#include "raft/log/log_cache.h"

namespace coordkit::raft {

class WriteQueue {
 public:
  WriteQueue(const HardState& recovered, Index last) : hard_state_(recovered), handed_out_(last), durable_(last) {}

  const HardState& hard_state() const { return hard_state_; }
  void set_hard_state(const HardState& next);  // INV_R03: term and vote never fall back

  void appended(size_t bytes) { unwritten_bytes_ += bytes; }
  void truncated_after(Index index);
  void cut_behind() { cut_ = true; }  // the store has entries beyond ours: they are removed with the first append
  void reset(Position base);          // the log starts again after the position of a durable state

  // Everything that changed since the last call as one write, or nothing.
  std::optional<LogWrite> take(const LogCache& log);
  void written(WriteNumber number);

  // The write to wait for; zero if it is durable already. A change not yet taken belongs to the next write.
  WriteNumber covering(Index index) const;  // every entry up to `index` of the log as it is now
  WriteNumber covering_term() const { return pending(term_write_); }
  WriteNumber covering_vote() const { return pending(vote_write_); }
  bool hard_state_durable() const { return term_write_ <= written_ && vote_write_ <= written_; }

  Index durable() const { return durable_; }
  WriteNumber next_write() const { return last_write_.next(); }
  size_t unsynced_bytes() const { return unwritten_bytes_ + under_way_bytes_; }  // an upper bound after a truncation

 private:
  struct UnderWay {
    WriteNumber number;
    Index last;  // of the log after this write, as far as no later truncation took it back
    size_t bytes = 0;
  };
  WriteNumber pending(WriteNumber number) const { return number > written_ ? number : WriteNumber(); }

  HardState hard_state_;
  bool hard_state_changed_ = false;
  WriteNumber term_write_;  // the write that stores the current term; zero: recovered
  WriteNumber vote_write_;
  std::optional<Position> reset_to_;
  std::optional<Index> truncate_after_;  // among the entries that were handed out
  bool cut_ = false;                     // the next append removes entries beyond those that were handed out
  Index handed_out_;                     // entries up to here are in writes already taken
  size_t unwritten_bytes_ = 0;

  std::deque<UnderWay> under_way_;  // numbers rise, `last` never falls
  size_t under_way_bytes_ = 0;
  WriteNumber last_write_;  // taken
  WriteNumber written_;     // reported durable
  Index durable_;
};

}  // namespace coordkit::raft
