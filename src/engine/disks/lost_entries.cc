#include "engine/disks/lost_entries.h"

#include <algorithm>

namespace coordkit::engine {
namespace {

std::string range_of(const std::vector<DamagedEntry>& damaged) {
  const std::string first = std::to_string(damaged.front().index.value());
  if (damaged.size() == 1) return "entry " + first + " of the log on this disk";
  return std::to_string(damaged.size()) + " entries between " + first + " and " + std::to_string(damaged.back().index.value()) +
         " of the log on this disk";
}

// Including holes. The term of a hole at the end may be lost with it; the newest term the disk knows is never below it.
Position end_of_all(const RecoveredLog& log) {
  const Position whole = log.entries.empty() ? log.base : log.entries.back().position();
  if (log.damaged.empty() || log.damaged.back().index < whole.index) return whole;
  const DamagedEntry& last = log.damaged.back();
  return {last.index, last.term ? last.term : log.hard_state.term};
}

}  // namespace

LostEntries LostEntries::cut(RecoveredLog& log, Position applied) {
  LostEntries lost;
  const auto own = std::ranges::find(log.peers, log.store, &PeerMark::store);
  if (own != log.peers.end()) {
    lost.which_ = "entries of the log on this disk";
    lost.raise_floor(own->term, own->match);
    log.peers.erase(own);
  }
  if (log.damaged.empty()) return lost;
  lost.which_ = range_of(log.damaged);
  const Position end = end_of_all(log);
  lost.cover(log, applied);
  if (log.damaged.empty()) return lost;
  lost.raise_floor(log.hard_state.term, end);
  const Index first = log.damaged.front().index;
  std::erase_if(log.entries, [first](const raft::Entry& entry) { return entry.index > first; });
  return lost;
}

// Where the checkpoint's own entry is intact it must match; otherwise the two do not belong together, which others detect.
void LostEntries::cover(RecoveredLog& log, Position applied) {
  const Index end = end_of_all(log).index;
  if (log.damaged.front().index > applied.index || applied.index > end) return;
  const auto at = std::ranges::find(log.entries, applied.index, &raft::Entry::index);
  if (at != log.entries.end() && at->term != applied.term) return;
  std::erase_if(log.entries, [applied](const raft::Entry& entry) { return entry.index <= applied.index; });
  std::erase_if(log.damaged, [applied](const DamagedEntry& hole) { return hole.index <= applied.index; });
  log.base = applied;
  covered_ = applied;
}

// A disk that loses entries while it still lacks others has promised the sum of both.
void LostEntries::raise_floor(Term term, Position end) {
  term_ = std::max(term_, term);
  floor_ = {std::max(floor_.index, end.index), std::max(floor_.term, end.term)};
}

Position LostEntries::end_for(Term now, Position last) const {
  return any() && now == term_ && last.index < floor_.index ? floor_ : last;
}

std::string LostEntries::why_waiting() const {
  if (!any()) return {};
  return which_ + " had rotted; until a leader has replaced what this disk held up to entry " +
         std::to_string(floor_.index.value()) + " this replica does not campaign";
}

void LostEntries::warnings(std::vector<std::string>& out) const {
  if (which_.empty()) return;
  if (any()) return out.push_back(why_waiting() + ": check this disk");
  out.push_back(which_ + " had rotted; the checkpoint or the leader's log has replaced what it held: check this disk");
}

}  // namespace coordkit::engine
