#include "raft/log/raft_log.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace coordkit::raft {
namespace {

// A log entry implies that its term was known; a genesis entry arrives before any hard state does.
HardState known_hard_state(const HardState& recovered, Position last) {
  return recovered.term >= last.term ? recovered : HardState{last.term, ReplicaId()};
}

// Committed by definition: the checkpoint, and the genesis that every member stored before the first vote.
Index known_commit(const Recovered& recovered) {
  const bool genesis =
      !recovered.base.index && !recovered.entries.empty() && recovered.entries.front().kind == EntryKind::Genesis;
  return std::max({recovered.base.index, recovered.applied.index, genesis ? Index(1) : Index()});
}

// Up to where entries came without their contents (LogStore::checkpointed); zero: all are complete.
Index left_out(const std::vector<Entry>& entries, Index applied) {
  Index last;
  for (const Entry& entry : entries) {
    if (entry.index <= applied && entry.kind == EntryKind::Command && entry.payload.empty()) last = entry.index;
  }
  return last;
}

}  // namespace

Log::Log(const Options& options, Recovered recovered)
    : options_(options),
      cache_(recovered.base, std::move(recovered.configuration),
             recovered.configuration_index ? recovered.configuration_index : recovered.base.index, recovered.entries),
      disk_(recovered.log_replaced ? recovered.hard_state : known_hard_state(recovered.hard_state, cache_.last()),
            cache_.last().index),
      retention_(options, recovered.base.index, recovered.applied),
      commit_(known_commit(recovered)),
      applied_(std::max(recovered.applied.index, recovered.base.index)),
      everyone_has_(recovered.base.index),
      rollback_checked_(recovered.rollback_checked),
      floor_(recovered.floor) {
  COORDKIT_CHECK_MSG(commit_ <= last().index, "INV_R10 the checkpoint is ahead of the recovered log");
  for (const Entry& entry : recovered.entries) retention_.append(entry.index, entry.bytes());
  if (recovered.log_replaced) {
    disk_.reset(recovered.base);
    // The state may have been durable before the term in which it came.
    if (term() < recovered.base.term) disk_.set_hard_state({recovered.base.term, ReplicaId()});
  }
  cache_.forget(left_out(recovered.entries, recovered.applied.index));
  if (lacks_promised() && !recovered.log_replaced) disk_.cut_behind();
  cache_.evict(applied_, options_.cache_bytes_max);
}

// The term that a peer told may be an upper bound. If our log reaches that index, our entry there is the one that the peer
// meant, and it counts. If that entry is joint and over, the log itself must hold the entry that ends it.
bool Log::goes_by_told() const {
  const Position own = cache_.in_force().at;
  const bool same = own.index == told_.at.index && !newer(told_.at, last());
  return newer(told_.at, own) && !same;
}

const Configuration& Log::configuration() const {
  return goes_by_told() ? told_.configuration : cache_.in_force().configuration;
}

Position Log::configuration_position() const { return goes_by_told() ? told_.at : cache_.in_force().at; }

bool Log::learn(SettledMembers told) {
  const bool news = newer(told.at, told_.at) && newer(told.at, configuration_position());
  if (told.at.index <= commit_ || !news) return false;
  if (newer(told.at, floor_)) floor_ = told.at;
  told.known_in = std::max(told.known_in, told_.known_in);
  told_ = std::move(told);
  return goes_by_told();
}

void Log::append(Entry&& entry) {
  disk_.appended(entry.bytes());
  retention_.append(entry.index, entry.bytes());
  if (entry.kind == EntryKind::Configuration) everyone_has_ = base().index;
  cache_.append(std::move(entry));
}

void Log::truncate_after(Index index) {
  COORDKIT_CHECK_MSG(index >= commit_, "INV_R10 truncation of committed entries");
  cache_.truncate_after(index);
  retention_.truncate_after(index);
  disk_.truncated_after(index);
}

// Log matching (thesis 3.5): one equal position means an equal prefix. Up to our commit index the logs are equal: a leader
// has everything committed (3.6.3), and contradicted() found nothing else. This also covers the entries before our base
// (regression R21).
bool Log::agrees(Position previous) const { return previous.index <= commit_ || term_at(previous.index) == previous.term; }

// Keeps the equal entries, truncates only at the first real conflict (regression R19), and appends the rest.
bool Log::adopt(std::vector<Entry>& entries) {
  bool members_changed = false;
  for (Entry& entry : entries) {
    if (entry.index <= base().index) continue;
    const std::optional<Term> own = term_at(entry.index);
    if (own == entry.term) continue;
    if (own) truncate_after(entry.index.previous());
    members_changed = members_changed || entry.kind == EntryKind::Configuration;
    append(std::move(entry));
  }
  return members_changed;
}

void Log::start_after(const Installed& installed) {
  cache_.reset(installed.at, installed.configuration, installed.configuration_index);
  disk_.reset(installed.at);
  retention_.reset(installed.at.index);
  everyone_has_ = installed.at.index;
}

// Removes nothing that is not in a durable checkpoint and in the durable log (thesis 5.1; regression R31).
std::optional<Position> Log::compact(Index needed) {
  const Index checkpointed = retention_.checkpoint();
  const Index through = std::min({checkpointed, retention_.removable(everyone_has_, needed), durable(), commit_});
  const std::optional<Term> through_term = term_at(through);
  if (through <= base().index || !through_term) return std::nullopt;
  cache_.compact(through);
  retention_.compact(through);
  return Position{through, *through_term};
}

void Log::raise_commit(Index to) {
  if (to <= commit_) return;
  COORDKIT_CHECK_MSG(to <= last().index, "INV_R03 commit beyond the log");
  commit_ = to;
}

void Log::raise_applied(Index to) { applied_ = std::max(applied_, std::min(to, commit_)); }
void Log::raise_everyone_has(Index to) { everyone_has_ = std::max(everyone_has_, std::min(to, commit_)); }
void Log::evict_applied() { cache_.evict(std::min(applied_, durable()), options_.cache_bytes_max); }

Index Log::needed_as_follower() const {
  const Index own = retention_.pinned() ? retention_.pinned() : last().index;
  const Index others = retention_.needed_by_others();
  return others ? std::min(own, others) : own;
}

bool Log::lacks_promised() const { return newer(floor_, last()); }

bool Log::reached_by(Position last) const {
  if (lacks_promised() && newer(floor_, last)) return false;
  return !newer(this->last(), last);
}

// A durable log that reaches as far as the lost one holds all that was acknowledged with it. If the terms are equal, it is
// the same log up to there. A leader of a later term had all of it before its own first entry (docs/safety.md, lemma D4).
void Log::drop_reached_floor() {
  if (!floor_.index) return;
  const Position durable_end{durable(), term_at(durable()).value_or(Term())};
  if (!newer(floor_, durable_end)) floor_ = {};
}

Position durable_position(const Log& log) {
  const std::optional<Term> term = log.term_at(log.durable());
  return term ? Position{log.durable(), *term} : Position{};
}

// The one leader of a term makes one entry a place, so other contents there show two leaders of one term, committed or not.
// Terms never fall along a log. Before our base, our own terms are forgotten. So a term there that is above the term of the
// base shows another entry as well.
std::optional<Position> contradicted(const Log& log, Position theirs, uint64_t their_sum) {
  if (theirs.index > log.last().index) return std::nullopt;
  const std::optional<Term> own = log.term_at(theirs.index);
  const uint64_t own_sum = log.cache().content_sum_at(theirs.index);
  if (own == theirs.term && own_sum != 0 && their_sum != 0 && own_sum != their_sum) return theirs;
  if (theirs.index > log.commit()) return std::nullopt;
  const bool possible = own ? theirs.term == *own : theirs.term <= log.base().term;
  if (possible) return std::nullopt;
  return own ? Position{theirs.index, *own} : log.base();
}

// Settled members that a peer told us are not passed on: if they were wrong, the error ends with the process that believed
// it. After a start, a replica may know of fewer commits than there were. But a change begins only after the one before it is
// committed. So all configurations of a log except the newest are committed, and a joint one before the newest is over.
SettledMembers settled_members(const Log& log) {
  const LogCache::InForce& newest = log.cache().in_force();
  if (newest.at.index <= log.commit()) return {newest.at, newest.configuration, log.term()};
  const LogCache::InForce& before = log.cache().configuration_at(newest.at.index.previous());
  const bool was_joint = !before.configuration.outgoing.empty();
  return {before.at, was_joint ? newest.configuration : before.configuration, log.term()};
}

}  // namespace coordkit::raft
