// Everything that a leader knows about one peer, and the append stream to it (thesis 3.5, 10.2.1).
//
//   Probe   where the logs agree is unknown: one append at a time
//   Stream  they agree up to `match`: appends are pipelined within a window of messages and bytes
//   Behind  the entry at `next` is no longer in our log: no appends, until a match says that the peer got a state
//
// INV_R18: match < next. Both are relative to one stream. A reconnected peer may be a new incarnation without the old state.
// So a new stream starts from match zero, and answers to an older one count for nothing (regression R03).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/check.h"
#include "coordkit/ports/clock.h"
#include "coordkit/raft/entry.h"
#include "coordkit/types.h"

namespace coordkit::raft {

// The unanswered appends of a stream. A ring that keeps its memory.
class AppendWindow {
 public:
  AppendWindow(size_t messages_max, size_t bytes_max) : ring_(messages_max), bytes_max_(bytes_max) {}

  bool full() const { return count_ == ring_.size() || bytes_ >= bytes_max_; }
  void sent(Index last, size_t bytes, LaggingTime now) {
    COORDKIT_CHECK(!full());
    ring_[(head_ + count_++) % ring_.size()] = {last, bytes, now};
    bytes_ += bytes;
  }
  // How long the newest of the answered appends took; zero: there are none.
  Duration answered(Index match, LaggingTime now) {
    Duration took{};
    for (; count_ > 0 && ring_[head_].last <= match; --count_) {
      took = now - ring_[head_].sent;
      bytes_ -= ring_[head_].bytes;
      head_ = (head_ + 1) % ring_.size();
    }
    return took;
  }
  Duration waits(LaggingTime now) const { return count_ > 0 ? now - ring_[head_].sent : Duration(); }
  void clear() { head_ = count_ = bytes_ = 0; }

 private:
  struct Append {
    Index last;
    size_t bytes = 0;
    LaggingTime sent;
  };
  std::vector<Append> ring_;
  size_t bytes_max_;
  size_t head_ = 0;
  size_t count_ = 0;
  size_t bytes_ = 0;
};

// How long answers take: a moving average.
class AnswerTime {
 public:
  void took(Duration time) {
    if (time > Duration::zero()) mean_ += (time - mean_) / (mean_ > Duration::zero() ? 8 : 1);
  }
  Duration mean() const { return mean_; }  // zero: not known

 private:
  Duration mean_{};
};

// A heartbeat whose answer is awaited. At most one is tracked per peer; an answer to it or to any later one will do. A newer
// heartbeat replaces it once it must have been lost.
struct Beat {
  uint64_t round = 0;  // zero: none tracked
  LaggingTime sent;
  Index upto;  // everything up to here had been sent to the peer before it
};

struct Progress {
  enum class State : uint8_t { Probe, Stream, Behind };

  ReplicaId peer;
  StoreId store;  // the incarnation that everything below describes
  uint64_t stream = 0;
  Index match;   // durable there and equal to our log, as acknowledged within this stream
  Index stored;  // the same within any stream of this leadership: a new stream has to prove it again, but the disk has it
  Index next;    // INV_R18: match < next
  State state = State::Probe;
  uint64_t probe_round = 0;  // Probe: confirmation round at the time the probe was sent; valid while probing
  bool probing = false;      // Probe: one append is on its way
  AppendWindow window;
  AnswerTime answers;                       // to appends
  bool relied_on = false;                   // for the next commit (DeferredFollowers)
  bool spare = false;                       // entries are kept from it in this turn
  LaggingTime waited = LaggingTime::min();  // when it last waited for a commit (SendCommit)
  Index commit_sent;                        // highest commit index that went with this stream
  Index commit_announced;                   // commit index that must be sent without waiting for an append
  bool heard = false;                       // an answer has come, within any stream of this leadership
  uint64_t answered_round = 0;
  LaggingTime contact;        // a message sent at this time was answered; at first, the time when we started to count
  LaggingTime lease_contact;  // the same, but zero at first: a lease may rest on it
  LaggingTime lost = LaggingTime::min();  // a contact up to this time says nothing about now (PeerDown)
  Beat beat;

  Progress(ReplicaId id, StoreId its_store, const AppendWindow& empty, Index first_probe, LaggingTime now)
      : peer(id), store(its_store), next(first_probe), window(empty), contact(now) {}

  // Starts over with a new stream, probing first where the old one agreed.
  void restart(uint64_t new_stream) {
    stream = new_stream;
    next = match ? match.next() : next;
    match = commit_sent = commit_announced = Index();
    beat = {};
    answered_round = 0;
    probe_from(next);
  }

  void probe_from(Index first) {
    next = std::max(first, match.next());
    state = State::Probe;
    probing = false;
    window.clear();
  }

  void accepted(Index upto, LaggingTime now) {
    if (upto < match) return;  // overtaken by a later answer
    match = upto;
    stored = std::max(stored, match);
    answers.took(window.answered(upto, now));
    next = state == State::Stream ? std::max(next, match.next()) : match.next();
    state = State::Stream;
    probing = false;
    COORDKIT_CHECK_MSG(match < next, "INV_R18");
  }

  bool kept_waiting(Index last) const { return spare && next <= last; }

  // An append was sent, in this confirmation round.
  void sent(std::span<const Entry> entries, uint64_t round, LaggingTime now) {
    if (state == State::Probe) {
      probing = true;
      probe_round = round;
    } else if (!entries.empty()) {
      size_t bytes = 0;
      for (const Entry& entry : entries) bytes += entry.bytes();
      next = next + entries.size();
      window.sent(next.previous(), bytes, now);
    }
  }

  void fall_behind() {
    state = State::Behind;
    probing = false;
    window.clear();
  }

  // A rejection below what has been acknowledged since, or of a probe that is no longer the current one, is stale.
  bool current_rejection(Index rejected) const {
    if (state == State::Behind || rejected <= match) return false;
    return state == State::Probe ? rejected.next() == next : rejected < next;
  }
};

}  // namespace coordkit::raft
