// Keeps sessions renewed. One message covers all of this process, or as few messages as may name them. It leaves V/3 after
// the last one SENT, more often while attempts stay unanswered (docs/time.md T1, T3; docs/semantics.md S-45). All times are
// the holder's leading clock.
//
// An answer counts for the attempt that it names and for the moment when that attempt was sent; receipt time is never used.
// An attempt extends a session only if the session was known when the attempt was sent, is not Lost, and the answer covers
// it. Orphans are sessions of this process that the leader renewed and that are unknown here (an open whose answer was lost).
// They are excluded from then on, so that they expire.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "client/sessions/session_table.h"
#include "coordkit/client/statistics.h"
#include "coordkit/engine/engine_message.h"

namespace coordkit::client {

inline constexpr size_t kAttemptsKept = 64;  // attempts whose send time is remembered, for each message of an attempt

// The timer of a session carries the session's number.
constexpr TimerId timer_of(SessionId id) { return TimerId(id.value()); }
constexpr SessionId session_of(TimerId id) { return SessionId(id.value()); }

class Renewals {
 public:
  Renewals(const ClientOptions& options, SessionTable& sessions) : options_(options), sessions_(sessions) {}

  // The first attempt that will cover the sessions known now.
  uint64_t next_attempt() const { return last_attempt_ + 1; }

  // A session opened with this reference is renewed from V/3 after it.
  void add(const TimerGroup& of, const Session& session, LeadingTime reference);
  // The session became Lost: it is excluded until its end is known.
  void exclude(const TimerGroup& of, SessionId id);
  // The session's end is known: it is neither included nor excluded any more.
  void ended(const TimerGroup& of, SessionId id);
  // The same for an id that is not a session of ours, or is unknown.
  void stranger_ended(SessionId id);

  // The next attempt that is due, if one is. The caller posts it in this very turn, and asks again.
  std::optional<RenewRequest> due(LeadingTime now);
  LeadingTime next_due() const { return by_due_.empty() ? LeadingTime::max() : by_due_.begin()->first; }
  // A new leader is known: unanswered attempts are repeated at once.
  void hurry(LeadingTime now);
  // After a step back of the clock, earlier due times are meaningless.
  void restart(LeadingTime now);

  // Opens by their numbers: the oldest one under way, and the next one to begin; equal: none is under way.
  struct Opens {
    uint64_t oldest = 0;
    uint64_t next = 0;
  };
  // Extends the sessions that the answer covers. Returns sessions that the attempt included and the answer does not cover:
  // their end may be near or past. An unknown id may be that of one of the opens.
  std::vector<SessionId> confirm(const RenewReply& reply, const Opens& opens, LeadingTime now);

  size_t orphans() const;
  uint64_t attempts() const { return last_attempt_; }
  uint64_t looks() const { return looks_; }  // at groups: the cost of their number, counted instead of timed
  const RenewalStatistics& statistics() const { return statistics_; }

 private:
  struct Group {
    absl::btree_set<SessionId> members;
    absl::btree_set<SessionId> excluded;  // lost, and not known to have ended
    absl::btree_set<TimerId> orphans;
    absl::btree_map<TimerId, uint64_t> unknown;  // not orphans yet: they may belong to opens before this number
    TimerId highest;
    uint64_t sum = 0;  // over the members
    LeadingTime last_sent = LeadingTime::min();
    uint64_t sent = 0;                            // the newest attempt that names it
    uint64_t answered = 0;                        // the newest attempt that was answered
    uint32_t unanswered = 0;                      // attempts that were sent after the answered one
    LeadingTime newest_due = LeadingTime::max();  // of members not yet covered by an attempt
    LeadingTime due = LeadingTime::max();
    size_t ids() const { return members.size() + excluded.size() + orphans.size(); }  // in a message or in its answer
  };
  using Groups = absl::btree_map<TimerGroup, Group>;
  struct Attempt {
    uint64_t number = 0;
    LeadingTime sent;
    bool answered = false;
  };

  RenewRequest::Group describe(const TimerGroup& key, const Group& group) const;
  void set_due(const TimerGroup& key, Group& group, LeadingTime due);
  void reschedule(const TimerGroup& key, Group& group);
  void erase_if_over(Groups::iterator at);
  Duration pause(const TimerGroup& key, const Group& group) const;
  // The first answer to an attempt that reports on sessions of ours.
  void count(Attempt& attempt, const RenewReply& reply, LeadingTime now);
  void confirm(const RenewReply::Group& reply, const Attempt& attempt, const Opens& opens, LeadingTime now,
               std::vector<SessionId>& doubtful);

  const ClientOptions& options_;
  SessionTable& sessions_;
  Groups groups_;
  absl::btree_set<std::pair<LeadingTime, TimerGroup>> by_due_;  // I: {Group::due} of groups with members
  absl::btree_set<TimerGroup> with_strangers_;                  // I: all groups that have orphans or unknown timers
  std::deque<Attempt> sent_;                                    // consecutive numbers
  // Members whose end became known after this attempt: an older answer may still list them. Pruned together with sent_.
  absl::btree_map<SessionId, uint64_t> ended_;
  uint64_t last_attempt_ = 0;
  RenewalStatistics statistics_;
  uint64_t looks_ = 0;
};

}  // namespace coordkit::client
