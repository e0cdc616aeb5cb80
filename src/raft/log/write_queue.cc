#include "raft/log/write_queue.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace coordkit::raft {

void WriteQueue::set_hard_state(const HardState& next) {
  const bool new_term = next.term > hard_state_.term;
  COORDKIT_CHECK_MSG(new_term || (next.term == hard_state_.term && (!hard_state_.vote || hard_state_.vote == next.vote)),
                     "INV_R03 hard state went back");
  if (next == hard_state_) return;
  if (new_term) term_write_ = next_write();
  vote_write_ = next_write();
  hard_state_ = next;
  hard_state_changed_ = true;
}

void WriteQueue::truncated_after(Index index) {
  if (index >= handed_out_) return;  // only entries that are in no write yet
  truncate_after_ = std::min(truncate_after_.value_or(index), index);
  handed_out_ = index;
  durable_ = std::min(durable_, index);
  for (UnderWay& write : under_way_) write.last = std::min(write.last, index);
}

// Whatever the pending writes store, the log ends at the base once the next one is durable. Until then nothing else counts.
void WriteQueue::reset(Position base) {
  reset_to_ = base;
  truncate_after_.reset();
  cut_ = false;
  handed_out_ = durable_ = base.index;
  unwritten_bytes_ = 0;
  for (UnderWay& write : under_way_) write.last = base.index;
}

std::optional<LogWrite> WriteQueue::take(const LogCache& log) {
  const Index last = log.last().index;
  if (cut_ && last > handed_out_ && !truncate_after_) truncate_after_ = handed_out_;
  if (truncate_after_) cut_ = false;
  if (!hard_state_changed_ && !reset_to_ && !truncate_after_ && last == handed_out_) return std::nullopt;
  LogWrite write{.number = next_write(), .reset_to = reset_to_, .truncate_after = truncate_after_};
  if (hard_state_changed_) write.hard_state = hard_state_;
  if (last > handed_out_) {
    const auto entries = log.cached(handed_out_.next(), last, std::numeric_limits<size_t>::max());
    COORDKIT_CHECK(entries.size() == last - handed_out_);
    write.entries.assign(entries.begin(), entries.end());
  }
  under_way_.push_back({write.number, last, unwritten_bytes_});
  under_way_bytes_ += unwritten_bytes_;
  last_write_ = write.number;
  handed_out_ = last;
  hard_state_changed_ = false;
  reset_to_.reset();
  truncate_after_.reset();
  unwritten_bytes_ = 0;
  return write;
}

void WriteQueue::written(WriteNumber number) {
  COORDKIT_CHECK_MSG(number <= last_write_, "a write was reported that was never submitted");
  written_ = std::max(written_, number);
  while (!under_way_.empty() && under_way_.front().number <= written_) {
    COORDKIT_CHECK_MSG(under_way_.front().last >= durable_, "INV_R03 durable mark went back");
    durable_ = under_way_.front().last;
    under_way_bytes_ -= under_way_.front().bytes;
    under_way_.pop_front();
  }
}

WriteNumber WriteQueue::covering(Index index) const {
  if (index <= durable_) return {};
  if (index > handed_out_) return next_write();
  const auto write = std::find_if(under_way_.begin(), under_way_.end(), [index](const UnderWay& w) { return w.last >= index; });
  COORDKIT_CHECK(write != under_way_.end());
  return write->number;
}

}  // namespace coordkit::raft
