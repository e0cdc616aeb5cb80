#include "engine/calls/sequence_window.h"

#include <algorithm>
#include <utility>

namespace coordkit::engine {

bool SequenceWindow::room(Urgency urgency, size_t command_bytes) const {
  const size_t command_bytes_then = command_bytes_ + command_bytes;
  if (urgency == Urgency::Reserved) {
    const size_t most = std::max(command_bytes_max_, options_.request_bytes_max + kGuardBytesMax + kRequestOverhead);
    const bool fits = command_bytes_ == 0 || command_bytes_then <= most + command_bytes_max_ / 4;
    return fits && places_.size() < options_.window + options_.window / 4 + 1;
  }
  const bool fits = command_bytes_ == 0 || command_bytes_then <= command_bytes_max_;
  const bool bytes = kept_bytes_ <= kAnswerBytesMax && bytes_ + kResultBytesMax <= kAnswerBytesEver;
  return fits && bytes && places_.size() < options_.window;
}

Sequence SequenceWindow::open(Ticket call, size_t answer_bytes_max, size_t command_bytes) {
  const Sequence sequence = next();
  places_.push_back({.unanswered = call, .bytes = answer_bytes_max, .command = command_bytes});
  bytes_ += answer_bytes_max;
  command_bytes_ += command_bytes;
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
  command_bytes_ -= std::exchange(place.command, 0);
}

void SequenceWindow::close(Sequence sequence) {
  places_[sequence - lowest_].unanswered = {};
  for (; !places_.empty() && !places_.front().unanswered; places_.pop_front()) {
    const Place& over = places_.front();
    bytes_ -= over.bytes;
    command_bytes_ -= over.command;
    if (over.kept) kept_bytes_ -= over.bytes;
    lowest_ = lowest_.next();
  }
}

}  // namespace coordkit::engine
