// What a session and a hold look like from outside: small shared objects, written by the client's owner thread and read by
// any thread without a lock. They are what the handles of door 1 (Session, Grant, Mutex) point to.
//
// The question they exist for is valid(now): may I still trust this? It reads the caller's own clock, so it is false from
// the deadline on even if the client's thread is late, paused or gone (docs/semantics.md S-52; docs/time.md LT-1, LT-8).
// Lifetime: shared; they may outlive the client. After Client::stop() valid() is false for ever.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordkit/client/lazy_stop_source.h"
#include "coordkit/clock.h"
#include "coordkit/export.h"
#include "coordkit/records.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Valid -> Jeopardy (own deadline passed, not known to be lost) -> Valid again with the same tokens, or Lost, which is final.
enum class SessionPhase : uint8_t { Valid = 1, Jeopardy = 2, Lost = 3 };
constexpr std::string_view name_of(SessionPhase phase) {
  switch (phase) {
    case SessionPhase::Valid: return "Valid";
    case SessionPhase::Jeopardy: return "Jeopardy";
    case SessionPhase::Lost: return "Lost";
  }
  return "?";
}

// Locks that the session grants by itself (S-58); src/client/delegations.h.
class Delegation;
class Delegations;

class SessionState {
 public:
  SessionState(SessionId id, Duration ttl, std::string metadata = {}, std::string secret = {})
      : id_(id), ttl_(ttl), metadata_(std::move(metadata)), secret_(std::move(secret)) {}
  SessionState(const SessionState&) = delete;
  SessionState& operator=(const SessionState&) = delete;

  SessionId id() const { return id_; }
  Duration ttl() const { return ttl_; }  // as granted: never below the one asked for
  const std::string& metadata() const { return metadata_; }
  // What Client::resume_session() has to be shown to take the session over after a restart. Anyone who knows it can. Empty: the
  // session cannot be resumed.
  const std::string& secret() const { return secret_; }
  // Is the session live by the holder's own clock? `now` must be a reading made for this question.
  bool valid(LeadingTime now) const { return phase() == SessionPhase::Valid && remaining(now) > Duration::zero(); }
  // How long valid() stays true without another renewal; zero in jeopardy, when lost, and when the clock stepped back: no
  // deadline is further away than the TTL (LT-9).
  Duration remaining(LeadingTime now) const {
    const LeadingTime deadline = validity_deadline();
    if (phase() != SessionPhase::Valid || now >= deadline) return Duration::zero();
    return deadline == LeadingTime::max() || deadline - now <= ttl_ ? deadline - now : Duration::zero();
  }
  SessionPhase phase() const { return phase_.load(std::memory_order_acquire); }
  // The moment valid() turns false if no renewal is confirmed before; LeadingTime::min() when nothing is confirmed.
  LeadingTime validity_deadline() const { return LeadingTime(Duration(deadline_.load(std::memory_order_acquire))); }
  // Null where none was set.
  const std::shared_ptr<Delegations>& delegations() const { return delegations_; }
  bool closed() const { return closed_.load(std::memory_order_acquire); }  // close() or Client::stop() was called

  // For a ValidityWatch: takes a session whose deadline has passed from valid to jeopardy. Any thread; true for the caller that
  // made the change, and then has to announce it.
  bool expire(LeadingTime now) {
    SessionPhase valid = SessionPhase::Valid;
    return now >= validity_deadline() &&
           phase_.compare_exchange_strong(valid, SessionPhase::Jeopardy, std::memory_order_acq_rel);
  }

  // First half of a close (T8): nothing of this session is valid from here on. Any thread; the client sends the close.
  void invalidate() {
    closed_.store(true, std::memory_order_release);
    phase_.store(SessionPhase::Lost, std::memory_order_release);
  }

 private:
  friend class SessionWriter;
  const SessionId id_;
  const Duration ttl_;
  const std::string metadata_;
  const std::string secret_;
  std::shared_ptr<Delegations> delegations_;  // set before anybody else sees the session
  std::atomic<int64_t> deadline_{LeadingTime::min().time_since_epoch().count()};
  std::atomic<SessionPhase> phase_{SessionPhase::Jeopardy};  // Lost is never left
  std::atomic<bool> closed_{false};
};

using SessionRef = std::shared_ptr<SessionState>;

// What a hold is besides its name and token.
struct HoldTerms {
  LockMode mode = LockMode::Exclusive;
  bool counted = false;                // by re-entry: several handles may stand for one hold
  std::vector<NamedLock> others = {};  // held together with it, under the same token
};

class HoldState {
 public:
  // `until`: when a hold with a longest time (S-51) ends by itself.
  HoldState(SessionRef session, std::string_view name, std::string_view owner_tag, Token token, Index since,
            LeadingTime until = LeadingTime::max(), HoldTerms terms = {}, std::shared_ptr<Delegation> delegation = nullptr)
      : session_(std::move(session)),
        name_(name),
        owner_tag_(owner_tag),
        token_(token),
        since_(since),
        until_(until),
        terms_(std::move(terms)),
        delegation_(std::move(delegation)) {}
  HoldState(const HoldState&) = delete;
  HoldState& operator=(const HoldState&) = delete;

  const SessionRef& session() const { return session_; }
  const std::string& name() const { return name_; }
  const std::string& owner_tag() const { return owner_tag_; }
  Token token() const { return token_; }        // the fencing token; never changes
  Index since() const { return since_; }        // the entry that granted
  LeadingTime until() const { return until_; }  // max() without a longest time
  const HoldTerms& terms() const { return terms_; }
  // What a local hold (S-58), which its session granted by itself, was granted from. Null: the log granted it.
  const std::shared_ptr<Delegation>& delegation() const { return delegation_; }
  // LT-8: the session is within its deadline, the grant is neither released, nor known lost, nor about to become less (a
  // downgrade under way), and its own longest time is not over (S-51). A local hold is released, or known lost, before the
  // next one is granted from the same delegation, so this also says that it is the current one.
  bool valid(LeadingTime now) const { return !released() && !lost() && !suspended() && now < until_ && session_->valid(now); }
  bool released() const { return released_.load(std::memory_order_acquire); }
  bool suspended() const { return suspended_.load(std::memory_order_acquire); }
  bool lost() const { return lost_.load(std::memory_order_acquire) || session_->phase() == SessionPhase::Lost; }
  // Stops once, when the hold first turned invalid by other means than its release: session in jeopardy or lost, or its
  // longest time over. It stays
  // stopped even if the session recovers; valid() then says so.
  std::stop_token lost_token() const { return stop_.get_token(); }

  // First half of a release (T8): invalid from here on. Any thread; true for the first caller, who then has the client
  // send the release.
  bool invalidate() { return !released_.exchange(true, std::memory_order_acq_rel); }

  // Stops lost_token(), which runs user code: only where announcements are made. Repeats do nothing.
  void report_invalid() { stop_.request_stop(); }
  bool reported_invalid() const { return stop_.stop_requested(); }

  // Where the ValidityWatch of its session keeps it: for that one alone.
  size_t watched_at() const { return watched_at_; }
  void set_watched_at(size_t place) { watched_at_ = place; }

 private:
  friend class SessionWriter;
  const SessionRef session_;
  const std::string name_;
  const std::string owner_tag_;
  const Token token_;
  const Index since_;
  const LeadingTime until_;
  const HoldTerms terms_;
  const std::shared_ptr<Delegation> delegation_;
  std::atomic<bool> released_{false};
  std::atomic<bool> suspended_{false};
  std::atomic<bool> lost_{false};
  size_t watched_at_ = 0;
  LazyStopSource stop_;  // request_stop() runs user code: only ever called through the Notifier
};

using HoldRef = std::shared_ptr<HoldState>;

}  // namespace coordkit
