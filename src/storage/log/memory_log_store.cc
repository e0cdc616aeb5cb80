#include <algorithm>

#include "base/check.h"
#include "coordkit/error.h"
#include "coordkit/storage/memory_stores.h"

namespace coordkit {

absl::StatusOr<RecoveredLog> MemoryLogStore::open(LogSink& sink) {
  std::scoped_lock lock(mutex_);
  if (sink_ != nullptr) return make_error(Reason::InUse, "this memory log is already open; close it first");
  sink_ = &sink;
  failed_ = false;
  pending_.clear();
  boot_ = boot_.next();
  RecoveredLog recovered{.store = store_, .boot = boot_, .hard_state = hard_state_, .base = base_, .peers = peers_};
  for (const raft::Entry& entry : durable_) {
    if (rotten_.contains(entry.index)) {
      recovered.damaged.push_back({entry.index, entry.term, entry.content_sum});
    } else {
      recovered.entries.push_back(entry);
    }
  }
  return recovered;
}

void MemoryLogStore::submit(LogWrite write) {
  {
    std::scoped_lock lock(mutex_);
    if (sink_ == nullptr || failed_) return;
    pending_.push_back(std::move(write));
  }
  if (completion_ == StoreCompletion::Immediate) complete_all();
}

void MemoryLogStore::perform(const LogWrite& write) {
  if (write.reset_to) {
    base_ = *write.reset_to;
    durable_.clear();
    rotten_.clear();
  }
  if (write.hard_state) hard_state_ = *write.hard_state;
  if (write.peers) peers_ = *write.peers;
  if (write.truncate_after) {
    while (!durable_.empty() && durable_.back().index > *write.truncate_after) durable_.pop_back();
    rotten_.erase(rotten_.upper_bound(*write.truncate_after), rotten_.end());
  }
  for (const raft::Entry& entry : write.entries) {
    COORDKIT_CHECK(entry.index == last().next());
    durable_.push_back(entry);
  }
  for (const raft::Entry& entry : write.repairs) {
    if (!rotten_.contains(entry.index)) continue;
    COORDKIT_CHECK_MSG(entry == durable_[entry.index - base_.index - 1], "a repair with another content");
    rotten_.erase(entry.index);
  }
}

bool MemoryLogStore::complete_one() {
  LogSink* sink = nullptr;
  WriteNumber number;
  {
    std::scoped_lock lock(mutex_);
    if (sink_ == nullptr || failed_ || pending_.empty()) return false;
    perform(pending_.front());
    sink = sink_;
    number = pending_.front().number;
    pending_.pop_front();
  }
  sink->written(number);
  return true;
}

void MemoryLogStore::complete_all() {
  while (complete_one()) {
  }
}

void MemoryLogStore::read(Index first, Index last_wanted, size_t bytes_max) {
  LogSink* sink = nullptr;
  std::vector<raft::Entry> entries;
  bool rotten = false;
  {
    std::scoped_lock lock(mutex_);
    if (sink_ == nullptr || failed_) return;
    sink = sink_;
    // A submitted write can be read, durable or not: a later read sees every earlier write.
    std::deque<raft::Entry> log = durable_;
    Index base = base_.index;
    std::set<Index> holes = rotten_;
    for (const LogWrite& pending : pending_) {
      if (pending.reset_to) log.clear(), holes.clear(), base = pending.reset_to->index;
      const std::optional<Index> keep = pending.truncate_after;
      while (keep && !log.empty() && log.back().index > *keep) log.pop_back();
      if (keep) holes.erase(holes.upper_bound(*keep), holes.end());
      for (const raft::Entry& entry : pending.repairs) holes.erase(entry.index);
      log.insert(log.end(), pending.entries.begin(), pending.entries.end());
    }
    size_t bytes = 0;
    for (Index index = first; index > base && index <= last_wanted && index - base <= log.size(); index = index.next()) {
      const raft::Entry& entry = log[index - base - 1];
      bytes += entry.bytes();
      if (bytes > bytes_max && !entries.empty()) break;
      rotten = rotten || holes.contains(index);
      entries.push_back(entry);
    }
  }
  if (rotten) {
    sink->log_read(first, make_error(Reason::Corrupt, "an entry from " + std::to_string(first.value()) + " on is rotten"));
  } else if (entries.empty()) {
    sink->log_read(first, absl::OutOfRangeError("entry " + std::to_string(first.value()) + " is not in the log"));
  } else {
    sink->log_read(first, std::move(entries));
  }
}

void MemoryLogStore::compact(Position through) {
  std::scoped_lock lock(mutex_);
  if (through.index <= base_.index) return;
  while (!durable_.empty() && durable_.front().index <= through.index) durable_.pop_front();
  rotten_.erase(rotten_.begin(), rotten_.upper_bound(through.index));
  base_ = through;
}

void MemoryLogStore::rot(Index index) {
  std::scoped_lock lock(mutex_);
  if (index > base_.index && index <= last()) rotten_.insert(index);
}

void MemoryLogStore::fail(absl::Status why) {
  LogSink* sink = nullptr;
  {
    std::scoped_lock lock(mutex_);
    if (sink_ == nullptr || failed_) return;
    failed_ = true;
    pending_.clear();
    sink = sink_;
  }
  sink->log_failed(std::move(why));
}

size_t MemoryLogStore::pending() const {
  std::scoped_lock lock(mutex_);
  return pending_.size();
}

void MemoryLogStore::close() {
  std::scoped_lock lock(mutex_);
  sink_ = nullptr;
}

}  // namespace coordkit
