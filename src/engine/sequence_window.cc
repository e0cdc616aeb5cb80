#include "engine/sequence_window.h"

namespace coordkit::engine {

bool SequenceWindow::room(Urgency urgency) const {
  if (urgency == Urgency::Reserved) return places_.size() < options_.window + options_.window / 4 + 1;
  return places_.size() < options_.window && kept_bytes_ <= kAnswerBytesMax;
}

Sequence SequenceWindow::open(Ticket call) {
  const Sequence sequence = next();
  places_.push_back({.unanswered = call});
  return sequence;
}

Ticket SequenceWindow::unanswered(Sequence sequence) const {
  return has(sequence) ? places_[sequence - lowest_].unanswered : Ticket();
}

void SequenceWindow::keep(Sequence sequence, size_t bytes) {
  if (!has(sequence)) return;
  Place& place = places_[sequence - lowest_];
  if (place.kept) return;
  place.kept = bytes;
  kept_bytes_ += bytes;
}

void SequenceWindow::close(Sequence sequence) {
  places_[sequence - lowest_].unanswered = {};
  for (; !places_.empty() && !places_.front().unanswered; places_.pop_front()) {
    kept_bytes_ -= places_.front().kept.value_or(0);
    lowest_ = lowest_.next();
  }
}

}  // namespace coordkit::engine
