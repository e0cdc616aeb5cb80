// What a session and a hold look like from outside: small shared objects, written by the client's owner thread and read by
// any thread without a lock. They are what the handles of door 1 (Session, Grant, Mutex) point to.
//
// The question they exist for is valid(now): may I still trust this? It reads the caller's own clock, so it is false from
// the deadline on even if the client's thread is late, paused or gone (docs/semantics.md S-52; docs/time.md LT-1, LT-8).
// Lifetime: shared; they may outlive the client. After Client::stop() valid() is false for ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/clock.h"
#include "coordkit/records.h"
#include "coordkit/types.h"

namespace coordkit {

// Valid -> Jeopardy (own deadline passed, not known to be lost) -> Valid again with the same tokens, or Lost, which is final.
enum class SessionPhase : uint8_t { Valid = 1, Jeopardy = 2, Lost = 3 };

class SessionState {
 public:
  SessionState(SessionId id, Duration ttl) : id_(id), ttl_(ttl) {}
  SessionState(const SessionState&) = delete;
  SessionState& operator=(const SessionState&) = delete;

  SessionId id() const { return id_; }
  Duration ttl() const { return ttl_; }  // as granted: never below the one asked for
  // Is the session live by the holder's own clock? `now` must be a reading made for this question.
  bool valid(LeadingTime now) const { return phase() == SessionPhase::Valid && now < validity_deadline(); }
  SessionPhase phase() const { return phase_.load(std::memory_order_acquire); }
  // The moment valid() turns false if no renewal is confirmed before; LeadingTime::min() when nothing is confirmed.
  LeadingTime validity_deadline() const { return LeadingTime(Duration(deadline_.load(std::memory_order_acquire))); }
  bool closed() const { return closed_.load(std::memory_order_acquire); }  // close() or Client::stop() was called

  // First half of a close (T8): nothing of this session is valid from here on. Any thread; the client sends the close.
  void invalidate() {
    closed_.store(true, std::memory_order_release);
    phase_.store(SessionPhase::Lost, std::memory_order_release);
  }

 private:
  friend class SessionWriter;
  const SessionId id_;
  const Duration ttl_;
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
  HoldState(SessionRef session, std::string name, std::string owner_tag, Token token, Index since, HoldTerms terms = {})
      : session_(std::move(session)),
        name_(std::move(name)),
        owner_tag_(std::move(owner_tag)),
        token_(token),
        since_(since),
        terms_(std::move(terms)) {}
  HoldState(const HoldState&) = delete;
  HoldState& operator=(const HoldState&) = delete;

  const SessionRef& session() const { return session_; }
  const std::string& name() const { return name_; }
  const std::string& owner_tag() const { return owner_tag_; }
  Token token() const { return token_; }  // the fencing token; never changes
  Index since() const { return since_; }  // the entry that granted
  const HoldTerms& terms() const { return terms_; }
  // LT-8: the session is within its deadline and the grant is neither released, nor known lost, nor about to become less
  // (a downgrade under way).
  bool valid(LeadingTime now) const { return !released() && !lost() && !suspended() && session_->valid(now); }
  bool released() const { return released_.load(std::memory_order_acquire); }
  bool suspended() const { return suspended_.load(std::memory_order_acquire); }
  bool lost() const { return lost_.load(std::memory_order_acquire) || session_->phase() == SessionPhase::Lost; }
  // Stops once, when the hold first turned invalid by other means than its release: session in jeopardy or lost. It stays
  // stopped even if the session recovers; valid() then says so.
  std::stop_token lost_token() const { return stop_.get_token(); }

  // First half of a release (T8): invalid from here on. Any thread; true for the first caller, who then has the client
  // send the release.
  bool invalidate() { return !released_.exchange(true, std::memory_order_acq_rel); }

 private:
  friend class SessionWriter;
  const SessionRef session_;
  const std::string name_;
  const std::string owner_tag_;
  const Token token_;
  const Index since_;
  const HoldTerms terms_;
  std::atomic<bool> released_{false};
  std::atomic<bool> suspended_{false};
  std::atomic<bool> lost_{false};
  std::stop_source stop_;  // request_stop() runs user code: only ever called through the Notifier
};

using HoldRef = std::shared_ptr<HoldState>;

}  // namespace coordkit
