#include "engine/calls/sequence_window.h"

#include <utility>

namespace coordkit::engine {

bool SequenceWindow::room(Urgency urgency) const {
  if (urgency == Urgency::Reserved) return places_.size() < options_.window + options_.window / 4 + 1;
  const bool bytes = kept_bytes_ <= kAnswerBytesMax && bytes_ + kResultBytesMax <= kAnswerBytesEver;
  return bytes && places_.size() < options_.window;
}

Sequence SequenceWindow::open(Ticket call, size_t answer_bytes_max) {
  const Sequence sequence = next();
  places_.push_back({.unanswered = call, .bytes = answer_bytes_max});
  bytes_ += answer_bytes_max;
  return sequence;
}

Ticket SequenceWindow::unanswered(Sequence sequence) const {
  return has(sequence) ? places_[sequence - lowest_].unanswered : Ticket();
}

void SequenceWindow::keep(Sequence sequence, size_t bytes) {
  if (!has(sequence)) return;
  Place& place = places_[sequence - lowest_];
  if (std::exchange(place.kept, true)) return;
  bytes_ += bytes - std::exchange(place.bytes, bytes);
  kept_bytes_ += bytes;
}

void SequenceWindow::close(Sequence sequence) {
  places_[sequence - lowest_].unanswered = {};
  for (; !places_.empty() && !places_.front().unanswered; places_.pop_front()) {
    const Place& over = places_.front();
    bytes_ -= over.bytes;
    if (over.kept) kept_bytes_ -= over.bytes;
    lowest_ = lowest_.next();
  }
}

}  // namespace coordkit::engine
