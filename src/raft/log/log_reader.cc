#include "raft/log/log_reader.h"

#include <algorithm>
#include <utility>

#include "base/sums.h"

namespace coordkit::raft {

std::span<const Entry> LogReader::committed(Index first, size_t bytes_max, const Log& log, LaggingTime now) {
  const LogCache& cache = log.cache();
  if (first > log.commit() || first <= log.base().index) return {};
  if (first >= cache.first_cached()) return cache.cached(first, log.commit(), bytes_max);
  if (!apply_window_.empty() && apply_window_.front().index <= first && first <= apply_window_.back().index) {
    return std::span<const Entry>(apply_window_).subspan(first - apply_window_.front().index);
  }
  apply_window_.clear();
  apply_wants_ = first;
  request(first, std::min(log.commit(), cache.first_cached().previous()), bytes_max, now);
  return {};
}

void LogReader::request(Index first, Index last, size_t bytes_max, LaggingTime now) {
  std::erase_if(reads_, [&](const Read& read) { return read.failed && now - *read.failed >= options_.heartbeat_interval; });
  if (std::any_of(reads_.begin(), reads_.end(), [first](const Read& read) { return read.first == first; })) return;
  reads_.push_back({first, std::nullopt});
  requests_.push_back({first, last, bytes_max});
}

bool LogReader::intact(Index asked, const std::vector<Entry>& entries, const Log& log) const {
  Index expected = asked;
  for (const Entry& entry : entries) {
    if (entry.index != expected || log.term_at(entry.index) != entry.term || !content_intact(options_.group, entry))
      return false;
    expected = expected.next();
  }
  return !entries.empty() && entries.back().index <= log.commit();
}

bool LogReader::accepts(const LogRead& read, const Log& log, LaggingTime now) {
  const auto asked =
      std::find_if(reads_.begin(), reads_.end(), [&](const Read& r) { return r.first == read.first && !r.failed; });
  if (asked == reads_.end()) return false;
  if (!read.entries.ok() || !intact(read.first, *read.entries, log)) {
    asked->failed = now;
    return false;
  }
  reads_.erase(asked);
  return true;
}

void LogReader::keep_for_apply(LogRead& read) {
  if (apply_wants_ != read.first) return;
  apply_wants_.reset();
  apply_window_ = *std::move(read.entries);
}

void LogReader::compacted(Index through) {
  std::erase_if(reads_, [through](const Read& read) { return read.first <= through; });
}

void LogReader::clear() {
  reads_.clear();
  requests_.clear();
  apply_window_.clear();
  apply_wants_.reset();
}

}  // namespace coordkit::raft
