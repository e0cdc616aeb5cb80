// The sequences of this replica's calls that all replicas keep a record of. These are the unanswered ones and, above the lowest
// of them, the answered ones. An answer is kept until the origin reports that it no longer awaits any that old. So the window
// bounds what this origin costs everywhere.
// Invariant: lowest_unanswered() never falls.
#pragma once

#include <cstdint>

#include "base/ring.h"
#include "coordkit/engine/engine.h"

namespace coordkit::engine {

inline constexpr size_t kRequestOverhead = 192;  // what the encoding of a request adds to its command and guard, at most

class SequenceWindow {
 public:
  // Kept by all replicas for this origin; beyond it, calls are delayed.
  static constexpr size_t kAnswerBytesMax = 64 << 20;
  // The same together with what those under way may add: a call that could make it more is delayed.
  static constexpr size_t kAnswerBytesEver = 256 << 20;

  static constexpr size_t kNoLimit = SIZE_MAX / 4;
  // `command_bytes_max`: of the commands in the window that have no answer yet.
  explicit SequenceWindow(const EngineOptions& options, size_t command_bytes_max = kNoLimit)
      : options_(options), command_bytes_max_(command_bytes_max) {}

  Sequence lowest_unanswered() const { return lowest_; }  // the next one if nothing is unanswered
  bool empty() const { return places_.empty(); }          // nothing is unanswered
  // Whether another call fits, with a command of so many bytes. Releases, cancels and closes have a quarter of the window to
  // themselves. A command that is larger than the window fits alone.
  bool room(Urgency urgency, size_t command_bytes = 0) const;
  // The next sequence, for this call. Its answer has at most so many bytes.
  Sequence open(Ticket call, size_t answer_bytes_max, size_t command_bytes = 0);
  // The call with this sequence; zero: it is answered, or has never been in the window.
  Ticket unanswered(Sequence sequence) const;
  // Its answer has so many bytes. The first one counts.
  void keep(Sequence sequence, size_t bytes);
  // It is answered, or will not be.
  void close(Sequence sequence);

  // Calls `visit(sequence, call)` for all unanswered ones, in their order. It must not open or close any.
  template <typename Visit>
  void for_each_unanswered(Visit visit) const {
    for (size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].unanswered) visit(lowest_ + i, places_[i].unanswered);
    }
  }

 private:
  // A sequence from lowest_ on. A call that ended without an answer may still be executed.
  struct Place {
    Ticket unanswered;   // whose it is; zero: it is over
    size_t bytes = 0;    // of its answer, once that is kept; else what it may have
    size_t command = 0;  // bytes of the command, until its answer is kept
    bool kept = false;
  };

  Sequence next() const { return lowest_ + places_.size(); }
  bool has(Sequence sequence) const { return sequence >= lowest_ && sequence < next(); }

  const EngineOptions& options_;
  const size_t command_bytes_max_;
  Sequence lowest_{1};        // I: next() if nothing is unanswered; all below is answered, and never falls
  Ring<Place> places_;        // I: the first is unanswered
  size_t kept_bytes_ = 0;     // I: the sum of Place::bytes of those that are kept
  size_t bytes_ = 0;          // I: of all
  size_t command_bytes_ = 0;  // I: the sum of Place::command
};

}  // namespace coordkit::engine
