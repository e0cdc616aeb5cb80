#include "raft/log/log_cache.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "raft/log/entry_codec.h"

namespace coordkit::raft {

LogCache::LogCache(Position base, Configuration configuration, Index configuration_index, std::vector<Entry> entries)
    : terms_(base), first_cached_(base.index.next()) {
  configurations_.push_back({{configuration_index, base.term}, std::move(configuration)});
  entries_.reserve(entries.size());
  for (Entry& entry : entries) append(std::move(entry));
}

void LogCache::append(Entry&& entry) {
  terms_.append(entry.position());
  if (entry.kind == EntryKind::Genesis || entry.kind == EntryKind::Configuration) {
    absl::StatusOr<Configuration> configuration = configuration_of(entry);
    COORDKIT_CHECK_MSG(configuration.ok(), std::string(configuration.status().message()));
    configurations_.push_back({entry.position(), *std::move(configuration)});
  }
  bytes_ += entry.bytes();
  entries_.push_back(std::move(entry));
}

const LogCache::InForce& LogCache::configuration_at(Index index) const {
  const auto after = std::upper_bound(configurations_.begin() + 1, configurations_.end(), index,
                                      [](Index value, const InForce& one) { return value < one.at.index; });
  return *(after - 1);
}

void LogCache::truncate_after(Index index) {
  if (index >= last().index) return;
  COORDKIT_CHECK(index.next() >= first_cached_);  // only applied entries are evicted, and those are never truncated
  terms_.truncate_after(index);
  for (size_t keep = dropped_ + (index.next() - first_cached_); entries_.size() > keep; entries_.pop_back()) {
    bytes_ -= entries_.back().bytes();
  }
  while (configurations_.back().at.index > index) configurations_.pop_back();
}

void LogCache::compact(Index through) {
  terms_.compact(through);
  forget(through);
  size_t obsolete = 0;
  while (obsolete + 1 < configurations_.size() && configurations_[obsolete + 1].at.index <= through) ++obsolete;
  configurations_.erase(configurations_.begin(), configurations_.begin() + static_cast<ptrdiff_t>(obsolete));
}

void LogCache::reset(Position base, Configuration configuration, Index configuration_index) {
  *this = LogCache(base, std::move(configuration), configuration_index, {});
}

std::span<const Entry> LogCache::cached(Index first, Index last, size_t bytes_max) const {
  last = std::min(last, terms_.last().index);
  if (first < first_cached_ || first > last) return {};
  const Entry* begin = entries_.data() + dropped_ + (first - first_cached_);
  size_t count = 1;
  size_t bytes = begin->bytes();
  for (const size_t available = last.next() - first; count < available; ++count) {
    bytes += begin[count].bytes();
    if (bytes > bytes_max) break;
  }
  return {begin, count};
}

uint64_t LogCache::content_sum_at(Index index) const {
  if (index.next() == first_cached_) return sum_before_;
  if (index < first_cached_ || index > last().index) return 0;
  return entries_[dropped_ + (index - first_cached_)].content_sum;
}

size_t LogCache::memory_bytes() const {
  const size_t cached = entries_.size() - dropped_;
  return entries_.capacity() * sizeof(Entry) + bytes_ - cached * Entry{}.bytes();
}

void LogCache::forget(Index through) {
  if (through >= first_cached_) drop_front(through.next() - first_cached_);
}

void LogCache::evict(Index through, size_t bytes_max) {
  size_t count = 0;
  size_t bytes = bytes_;
  while (bytes > bytes_max && first_cached_ + count <= through) bytes -= entries_[dropped_ + count++].bytes();
  drop_front(count);
}

// Releases slots at once and moves the rest only when half of the vector is empty: O(1) per entry, contiguous for spans.
void LogCache::drop_front(size_t count) {
  if (count > 0) sum_before_ = entries_[dropped_ + count - 1].content_sum;
  for (size_t i = dropped_; i < dropped_ + count; ++i) {
    bytes_ -= entries_[i].bytes();
    entries_[i] = Entry{};
  }
  dropped_ += count;
  first_cached_ = first_cached_ + count;
  if (dropped_ * 2 <= entries_.size()) return;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<ptrdiff_t>(dropped_));
  dropped_ = 0;
}

}  // namespace coordkit::raft
