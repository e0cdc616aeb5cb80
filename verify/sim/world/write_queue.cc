#include "sim/world/write_queue.h"

#include <algorithm>
#include <utility>

namespace coordkit::sim {

TrueTime WriteQueue::add(LogWrite write, TrueTime at) {
  last_due_ = std::max(last_due_, at);
  pending_.push_back({std::move(write), last_due_});
  return last_due_;
}

void WriteQueue::hurry(TrueTime at) {
  last_due_ = at;
  for (Pending& pending : pending_) pending.due = std::min(pending.due, at);
}

const std::vector<LogWrite>& WriteQueue::take_due(TrueTime now) {
  while (!pending_.empty() && pending_.front().due <= now) {
    batch_.push_back(std::move(pending_.front().write));
    pending_.pop_front();
  }
  return batch_;
}

void WriteQueue::batch_written() {
  durable_ = batch_.back().number;
  batch_.clear();
}

std::vector<LogWrite> WriteQueue::end() {
  std::vector<LogWrite> unwritten = std::exchange(batch_, {});
  for (Pending& pending : pending_) unwritten.push_back(std::move(pending.write));
  pending_.clear();
  last_due_ = TrueTime{};
  return unwritten;
}

WriteNumber WriteQueue::newest() const {
  if (!pending_.empty()) return pending_.back().write.number;
  return batch_.empty() ? durable_ : batch_.back().number;
}

}  // namespace coordkit::sim
