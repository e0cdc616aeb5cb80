// Entries that left memory, and when they may leave the disk. A failed or unsound read never leads to anything being sent,
// applied or truncated (regression R27): it is tried again later.
#include <algorithm>

#include "base/mutant.h"
#include "base/sums.h"
#include "raft/core_impl.h"

namespace coordkit::raft {

std::span<const Entry> Core::Impl::committed(Index first, size_t bytes_max) {
  if (first > commit_ || first <= log_.base().index) return {};
  if (first >= log_.first_cached()) return log_.cached(first, commit_, bytes_max);
  if (!apply_window_.empty() && apply_window_.front().index <= first && first <= apply_window_.back().index) {
    return std::span<const Entry>(apply_window_).subspan(first - apply_window_.front().index);
  }
  apply_window_.clear();
  apply_wants_ = first;
  request_read(first, std::min(commit_, log_.first_cached().previous()), bytes_max);
  return {};
}

void Core::Impl::applied(Index applied) {
  applied_ = std::max(applied_, std::min(applied, commit_));
  freshness_.applied(applied_);
  log_.evict(std::min(applied_, disk_.durable()), options_.cache_bytes_max);
}

void Core::Impl::request_read(Index first, Index last, size_t bytes_max) {
  std::erase_if(reads_, [this](const Read& read) { return read.failed && now_ - *read.failed >= options_.heartbeat_interval; });
  if (std::any_of(reads_.begin(), reads_.end(), [first](const Read& read) { return read.first == first; })) return;
  reads_.push_back({first, std::nullopt});
  read_requests_.push_back({first, last, bytes_max});
}

bool Core::Impl::intact(Index asked, const std::vector<Entry>& entries) const {
  Index expected = asked;
  for (const Entry& entry : entries) {
    if (entry.index != expected || log_.term_at(entry.index) != entry.term || !content_intact(options_.group, entry))
      return false;
    expected = expected.next();
  }
  return !entries.empty() && entries.back().index <= commit_;
}

void Core::Impl::on(LogRead& read) {
  const auto asked =
      std::find_if(reads_.begin(), reads_.end(), [&](const Read& r) { return r.first == read.first && !r.failed; });
  if (asked == reads_.end()) return;
  if (!read.entries.ok() || !(intact(read.first, *read.entries) || mutant(Mutant::UnsoundReadTaken))) {
    asked->failed = now_;
    return;
  }
  reads_.erase(asked);
  for (Progress& peer : peers_) {
    const bool waits = peer.state == Progress::State::Stream && peer.next == read.first && !peer.window.full();
    if (waits) send_append(peer, *read.entries);
  }
  if (apply_wants_ == read.first) {
    apply_wants_.reset();
    apply_window_ = *std::move(read.entries);
  }
}

void Core::Impl::on(const Checkpointed& checkpoint) {
  if (checkpoint.applied.index > checkpoint_.index && checkpoint.applied.index <= commit_) checkpoint_ = checkpoint.applied;
  unreadable_ = std::max(unreadable_, checkpoint.unreadable);
}

// What all members have durably goes, and what the budget for those who lack it does not cover. A peer that catches up, by the
// log or by a state, finds the entries it needs next, unless that takes so long that they outgrow the larger budget, or they
// are rotten here.
Index Core::Impl::spared() const {
  const Index through = std::max({everyone_has_, retained_.spared(), unreadable_});
  return std::min(through, std::max({needed(), pinnable_.spared(), unreadable_}));
}

// Nothing goes that is not in a durable checkpoint and in the durable log (thesis 5.1; regression R31).
std::optional<Position> Core::Impl::compact() {
  const Index checkpointed = mutant(Mutant::CompactsAhead) ? applied_ : checkpoint_.index;
  const Index through = std::min({checkpointed, spared(), disk_.durable(), commit_});
  const std::optional<Term> through_term = log_.term_at(through);
  if (through <= log_.base().index || !through_term) return std::nullopt;
  log_.compact(through);
  retained_.compact(through);
  pinnable_.compact(through);
  lag_.compact(through);
  std::erase_if(reads_, [through](const Read& read) { return read.first <= through; });
  return Position{through, *through_term};
}

}  // namespace coordkit::raft
