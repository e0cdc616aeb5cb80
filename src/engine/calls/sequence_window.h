// The sequences of this replica's calls that all replicas keep a record of. These are the unanswered ones and, above the lowest
// of them, the answered ones. An answer is kept until the origin reports that it no longer awaits any that old. So the window
// bounds what this origin costs everywhere.
// Invariant: lowest_unanswered() never falls.
#pragma once

#include "base/ring.h"
#include "coordkit/engine/engine.h"

namespace coordkit::engine {

class SequenceWindow {
 public:
  // Kept by all replicas for this origin; beyond it, calls are delayed.
  static constexpr size_t kAnswerBytesMax = 64 << 20;
  // The same together with what those under way may add: a call that could make it more is delayed.
  static constexpr size_t kAnswerBytesEver = 256 << 20;

  explicit SequenceWindow(const EngineOptions& options) : options_(options) {}

  Sequence lowest_unanswered() const { return lowest_; }  // the next one if nothing is unanswered
  // Whether another call fits. Releases, cancels and closes have a quarter of the window to themselves.
  bool room(Urgency urgency) const;
  // The next sequence, for this call, whose answer has at most so many bytes.
  Sequence open(Ticket call, size_t answer_bytes_max);
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
    Ticket unanswered;  // whose it is; zero: it is over
    size_t bytes = 0;   // of its answer, once that is kept; else what it may have
    bool kept = false;
  };

  Sequence next() const { return lowest_ + places_.size(); }
  bool has(Sequence sequence) const { return sequence >= lowest_ && sequence < next(); }

  const EngineOptions& options_;
  Sequence lowest_{1};     // I: next() if nothing is unanswered; all below is answered, and never falls
  Ring<Place> places_;     // I: the first is unanswered
  size_t kept_bytes_ = 0;  // I: the sum of Place::bytes of those that are kept
  size_t bytes_ = 0;       // I: of all
};

}  // namespace coordkit::engine
