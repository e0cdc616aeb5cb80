// The sessions that this process opened and everything known about them: phase, validity deadline, holds with their longest
// times, unanswered releases, the outcomes of their acquires. The table decides phases by the holder's clock; it posts
// nothing. Lost sessions wait in take_lost() for the client, which ends the calls and posts the close.
//
// Invariants: a session's deadline only grows, except that a gap forgets it (docs/time.md LT-9). A phase is announced exactly
// when it changes. Every hold that a phase makes invalid is asked to stop once, in the same step.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "base/handle_pool.h"
#include "base/linked.h"
#include "base/spare_nodes.h"
#include "client/calls/deliveries.h"
#include "client/locks/hold_limits.h"
#include "client/locks/line.h"
#include "client/locks/pending_acquire.h"
#include "client/locks/pending_releases.h"
#include "client/locks/statistics.h"
#include "client/sessions/lifecycle.h"
#include "coordkit/client/client_options.h"
#include "coordkit/client/validity_watch.h"
#include "coordkit/ports/state_machine.h"
#include "machine/command.h"

namespace coordkit::client {

// Several of its holds have one token only if they are counted. A process may have a million sessions, so rarely used fields
// are stored apart.
struct Session : WatchedSession {
  using Acquires = Linked<PendingAcquire, &PendingAcquire::before, &PendingAcquire::after>;
  struct Extension {
    LeaseId lease;       // set: this is not a session but the life of this lease of keys; zero: a session
    Index bound_at;      // the entry of the resume; reports of the log about earlier bindings are obsolete
    Duration give_up{};  // longest time in jeopardy; zero: the default
    LeadingTime confirmed_meanwhile = LeadingTime::min();   // the deadline that counts once previous_trusts is over
    absl::btree_map<Token, uint64_t> releases_counted;      // number of the last release, of counted holds not over here
    absl::btree_map<std::string, Line, std::less<>> lines;  // S-58: of locks that the session has as delegations, or will have
    std::vector<CallId> closing;                            // callers of close
  };

  SessionPhase phase = SessionPhase::Jeopardy;
  bool questioned = false;  // a read is under way, because a renewal did not cover the session
  // Resumed, and the previous process may still trust its deadline. So the session is not valid, and the log releases nothing
  // of it.
  bool previous_trusts = false;
  uint32_t handle = 0;                              // of its record in the table
  LeadingTime jeopardy_since = LeadingTime::max();  // while in jeopardy
  uint64_t first_attempt = 0;  // renewals below it do not count: they were sent before the session was known, or before a gap
  PendingReleases releases;
  Acquires acquires;                     // of pending calls, ended with Lost if the session is lost
  std::unique_ptr<Extension> extension;  // null: it has no such fields

  // S-43: a command names the unanswered releases. If there are more than it can name, it must not overtake them.
  bool overfull() const { return releases.size() > machine::kPriorReleasesMax; }
  SessionId id() const { return state->id(); }
  Duration ttl() const { return state->ttl(); }
  LeadingTime deadline() const { return state->validity_deadline(); }
  LeaseId lease() const { return extension ? extension->lease : LeaseId(); }
  Index bound_at() const { return extension ? extension->bound_at : Index(); }
  // Null: the session has no line for this lock.
  Line* line(std::string_view lock) const {
    if (extension == nullptr) return nullptr;
    const auto found = extension->lines.find(lock);
    return found != extension->lines.end() ? &found->second : nullptr;
  }
  Extension& make_extension() {
    if (extension == nullptr) extension = std::make_unique<Extension>();
    return *extension;
  }
};

class SessionTable {
 public:
  SessionTable(const ClientOptions& options, Deliveries& deliveries);

  // An acknowledged open first posted at `reference`. `reference` min: it confirms nothing, because of a gap in between, or
  // because it is a resume.
  struct NewSession {
    SessionRef state;
    LeadingTime reference = LeadingTime::min();
    uint64_t first_attempt = 0;
    OnPhase on_phase;
    Duration give_up{};
    bool previous_trusts = false;
    LeaseId lease = {};
    Index bound_at;
  };
  Session& add(NewSession added, LeadingTime now);
  // The previous process of a resumed session no longer trusts it.
  void previous_over(Session& session, LeadingTime now);
  // Null: the session was never known here, or has ended.
  Session* find(SessionId id);
  // The same session, if this client has had it without a break. A session that went to another process and came back has
  // other handles, and earlier questions do not apply to it.
  Session* find(const SessionRef& state);
  Session* find_live(const SessionRef& state);  // like find(); null also if it is lost
  const absl::btree_map<SessionId, Session*>& all() const { return sessions_; }
  // The session has ended in the log: forgets it. Must be Lost.
  void erase(SessionId id);

  // A renewal sent at `sent` was confirmed. A deadline in the past changes nothing.
  void confirm(Session& session, LeadingTime sent, LeadingTime now);
  void lose(Session& session, SessionEvent why);  // `why`: Ended or Closed
  // Records that the grant is known. In jeopardy the hold is asked to stop at once, because it is not valid.
  HoldRef grant(Session& session, std::string_view name, std::string_view owner_tag, Token token, Index since,
                LeadingTime until, HoldTerms terms);
  // Takes a hold that a resumed session brought along. It is asked to stop when it is lost, or becomes invalid again after it
  // was valid.
  HoldRef adopt(Session& session, std::string_view name, std::string_view owner_tag, Token token, Index since, HoldTerms terms);
  // Replaces the hold by another one, under a new token. It is treated like a grant, and listeners of the former hold are
  // notified.
  HoldRef replace(Session& session, const HoldRef& former, Token token, Index since, HoldTerms terms);
  void lose(Session& session, Token hold);             // everything with this token is lost
  void lose(Session& session, const HoldRef& hold);    // only this handle
  bool forget(Session& session, const HoldRef& hold);  // for a released hold; false: it was not held
  void stop(const HoldRef& hold);                      // notifies its owner that it is invalid

  // The longest times of holds. Those of local holds (S-58) are for StickyLines to add and remove.
  HoldLimits& limits() { return limits_; }
  // Sessions with releases that are to be posted. The end of a session removes it.
  using ReleasesDue = absl::btree_set<SessionId, std::less<SessionId>, SpareNodes<SessionId>>;
  ReleasesDue& releases_due() { return releases_due_; }
  Statistics& statistics() { return statistics_; }
  LockStatistics lock_statistics() const;  // the same, with the grants by other threads

  // Handles deadlines and give-ups that are due. Cheap while there are none.
  void run_timers(LeadingTime now);
  LeadingTime next_timer() const { return next_timer_; }
  // LT-9: turns came `late` by more than was promised, or (max) the clock stepped back. Free if the delay matters to no
  // session.
  void gap(Duration late, uint64_t next_attempt, LeadingTime now);

  // How many sessions the passing of time alone has examined: the cost of late turns, counted instead of timed.
  uint64_t looks() const { return looks_; }

  Duration validity_of(Duration ttl) const;
  Duration renewal_interval(Duration ttl) const { return validity_of(ttl) / 3; }
  // Sessions that became Lost since the last call, ascending per batch.
  std::vector<SessionId> take_lost() { return std::exchange(lost_, {}); }

 private:
  void raise(Session& session, SessionEvent event, LeadingTime now);
  void catch_up(Session& session, LeadingTime now);
  void watch_validity(const Session& session);
  HoldRef added(Session& session, HoldRef hold);
  uint64_t granted_by_threads() const;  // of local holds, by Delegations::acquire(); including sessions that are gone
  // While it is locked, no watch looks at holds.
  std::unique_lock<std::mutex> guard() const {
    return options_.watch != nullptr ? options_.watch->guard() : std::unique_lock<std::mutex>();
  }
  void announce(Session& session);
  LeadingTime timer_of(const Session& session) const;
  void await(const Session& session) { next_timer_ = std::min(next_timer_, timer_of(session)); }

  const ClientOptions& options_;
  Deliveries& deliveries_;
  HandlePool<Session, 64> records_;  // in chunks of a size to which the allocator adds hardly anything
  absl::btree_map<SessionId, Session*> sessions_;
  Session* found_ = nullptr;  // the latest one, which is nearly always wanted next; null: none
  std::vector<SessionId> lost_;
  HoldLimits limits_;
  ReleasesDue releases_due_;
  Statistics statistics_;
  uint64_t granted_by_gone_ = 0;
  LeadingTime next_timer_ = LeadingTime::max();   // not above any session's timer
  Duration shortest_interval_ = Duration::max();  // not above any session's renewal_interval()
  uint64_t looks_ = 0;
};

}  // namespace coordkit::client
