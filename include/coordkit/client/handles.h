// Sessions and holds as others see them: small shared objects that the client's owner thread
// writes, and that any thread reads without a lock. The handles of door 1 (Session, Grant, Mutex)
// point to them.
//
// Their purpose is the question valid(now): may I still trust this? It reads the caller's own
// clock. So it is false from the deadline on, even if the client's thread is late, paused or gone
// (docs/semantics.md S-52; docs/time.md LT-1, LT-8).
//
// Lifetime: shared; they may outlive the client. After Client::stop() valid() is false for ever.
#pragma once

#include <algorithm>
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
#include "coordkit/client/ref.h"
#include "coordkit/client/text_pair.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/clock.h"
#include "coordkit/records.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Valid -> Jeopardy (own deadline passed, not known to be lost) -> Valid again with the same
// tokens, or Lost, which is final.
enum class SessionPhase : uint8_t { Valid = 1, Jeopardy = 2, Lost = 3 };

// Locks that the session itself grants (S-58); src/client/locks/lent_delegations.h.
class Delegation;
class Delegations;

// A session as its client keeps it and any thread reads it.
class SessionState : public RefCounted {
 public:
  // In jeopardy, until the client confirms a deadline. An empty secret: it cannot be resumed.
  SessionState(SessionId id, Duration ttl, std::string_view metadata = {}, std::string_view secret = {})
      : id_(id), ttl_(ttl), texts_(secret, metadata) {}
  ~SessionState();

  SessionId id() const { return id_; }   // the same for its whole life, also after a resume
  Duration ttl() const { return ttl_; }  // as granted: never below the requested one
  // As it was opened with; empty: none.
  std::string metadata() const { return std::string(texts_.second()); }
  // The secret that Client::resume_session() demands to take the session over after a restart.
  // Anyone who knows it can do that. Empty: the session cannot be resumed.
  std::string secret() const { return std::string(texts_.first()); }
  // Whether the session is live by the holder's own clock. `now` must be a reading made for this
  // question.
  bool valid(LeadingTime now) const { return phase() == SessionPhase::Valid && remaining(now) > Duration::zero(); }
  // How long valid() stays true without another renewal. Zero in jeopardy, when lost, and when the
  // clock stepped back: no deadline is further away than the TTL (LT-9).
  Duration remaining(LeadingTime now) const {
    const LeadingTime deadline = validity_deadline();
    if (phase() != SessionPhase::Valid || now >= deadline) return Duration::zero();
    return deadline == (LeadingTime::max)() || deadline - now <= ttl_ ? deadline - now : Duration::zero();
  }
  // Valid may be out of date: ask valid().
  SessionPhase phase() const { return phase_.load(std::memory_order_acquire); }
  // The moment valid() becomes false if no renewal is confirmed before; LeadingTime::min() when
  // nothing is confirmed.
  LeadingTime validity_deadline() const { return LeadingTime(Duration(deadline_.load(std::memory_order_acquire))); }
  // Null until a lock is first lent to the session; then it lives as long as the state.
  Delegations* delegations() const { return delegations_.load(std::memory_order_acquire); }
  // close() or Client::stop() was called.
  bool closed() const { return closed_.load(std::memory_order_acquire); }

  // Stops once, when the session is Lost.
  std::stop_token lost_token() const { return stop_.get_token(); }
  void report_lost() { stop_.request_stop(); }  // runs user code: only where announcements are made

  // For a ValidityWatch: moves a session whose deadline has passed from valid to jeopardy. Callable
  // on any thread. True for the caller that made the change; it then has to announce it.
  bool expire(LeadingTime now) {
    SessionPhase valid = SessionPhase::Valid;
    return now >= validity_deadline() &&
           phase_.compare_exchange_strong(valid, SessionPhase::Jeopardy, std::memory_order_acq_rel);
  }

  // First half of a close (T8): nothing of this session is valid from here on. Callable on any
  // thread; the client sends the close.
  void invalidate() {
    closed_.store(true, std::memory_order_release);
    phase_.store(SessionPhase::Lost, std::memory_order_release);
  }

 private:
  friend class SessionWriter;
  static constexpr size_t kSecretBytes = 32;                 // for secrets that door 1 draws
  std::atomic<SessionPhase> phase_{SessionPhase::Jeopardy};  // Lost is never left
  std::atomic<bool> closed_{false};
  const SessionId id_;
  const Duration ttl_;
  const TextPair<kSecretBytes> texts_;  // secret, metadata
  std::atomic<Delegations*> delegations_{nullptr};
  LazyStopSource stop_;
  std::atomic<int64_t> deadline_{(LeadingTime::min)().time_since_epoch().count()};
};

using SessionRef = Ref<SessionState>;  // null: no session

// The facts about a hold besides its name and token.
struct HoldTerms {
  LockMode mode = LockMode::Exclusive;  // as it was granted
  bool counted = false;                 // by re-entry: several handles may share one hold
  std::vector<NamedLock> others = {};   // held together with it, under the same token
};

// A hold as its client keeps it and any thread reads it: a lock, permits, a place or a claimed
// item.
class HoldState : public RefCounted {
 public:
  // `until`: when a hold with a longest time (S-51) ends.
  HoldState(SessionRef session, std::string_view name, std::string_view owner_tag, Token token, Index since,
            LeadingTime until = (LeadingTime::max)(), HoldTerms terms = {}, std::shared_ptr<Delegation> delegation = nullptr)
      : mode_(terms.mode),
        counted_(terms.counted),
        session_(std::move(session)),
        token_(token),
        since_(since),
        texts_(name, owner_tag) {
    if (until == (LeadingTime::max)() && terms.others.empty() && delegation == nullptr) return;
    extension_ = std::make_unique<Extension>(
        Extension{.until = until, .others = std::move(terms.others), .delegation = std::move(delegation)});
  }

  const SessionRef& session() const { return session_; }  // never null
  // The name of the lock or object; the first of several locks.
  std::string name() const { return std::string(texts_.first()); }
  // The thread of control that holds it; may be empty.
  std::string owner_tag() const { return std::string(texts_.second()); }
  // The fencing token; never changes.
  Token token() const { return token_; }
  // The entry that granted it.
  Index since() const { return since_; }
  // max() without a longest time.
  LeadingTime until() const { return extension_ ? extension_->until : (LeadingTime::max)(); }
  // A copy of what the grant said, besides name and token.
  HoldTerms terms() const { return {mode_, counted_, extension_ ? extension_->others : std::vector<NamedLock>()}; }
  bool counted() const { return counted_; }  // as in terms()
  // The delegation that granted this local hold (S-58). Null: the log granted it.
  Delegation* delegation() const { return extension_ ? extension_->delegation.get() : nullptr; }
  // LT-8: the session is within its deadline, and the hold's own longest time is not over (S-51).
  // The grant is neither released, nor known lost, nor about to become less (a downgrade in
  // progress). A local hold is released, or known lost, before the same delegation grants the next
  // one. So this also says that it is the current one.
  bool valid(LeadingTime now) const { return !released() && !lost() && !suspended() && now < until() && session_->valid(now); }
  // How long valid() stays true without another renewal; zero when it is not.
  Duration remaining(LeadingTime now) const {
    return valid(now)
               ? (std::min)(session_->remaining(now), until() == (LeadingTime::max)() ? (Duration::max)() : until() - now)
               : Duration::zero();
  }
  // By this process: a release, a finished change of its mode, a leave or an acknowledgement.
  bool released() const { return released_.load(std::memory_order_acquire); }
  // A downgrade is being decided; it is valid again if that is refused.
  bool suspended() const { return suspended_.load(std::memory_order_acquire); }
  // Known to be lost, alone or with its session.
  bool lost() const { return lost_.load(std::memory_order_acquire) || session_->phase() == SessionPhase::Lost; }
  // Stops once, when the hold first became invalid by other means than its release: its session is
  // in jeopardy or lost, or its longest time is over. It stays stopped even if the session
  // recovers; valid() then says so.
  std::stop_token lost_token() const { return stop_.get_token(); }

  // First half of a release (T8): invalid from here on. Callable on any thread. True for the first
  // caller, which then has the client send the release.
  bool invalidate() { return !released_.exchange(true, std::memory_order_acq_rel); }

  // Listeners of `former`, which becomes this hold, are notified of the end of this one, unless
  // they were notified already. Call it before any other thread knows this hold.
  void take_listeners(const HoldState& former) {
    if (!former.reported_invalid()) stop_.share(former.stop_);
  }

  // Stops lost_token(), which runs user code: only where announcements are made. Repeats do
  // nothing.
  void report_invalid() { stop_.request_stop(); }
  // Whether report_invalid() was called.
  bool reported_invalid() const { return stop_.stop_requested(); }

  // Holds are made and destroyed by the thousand on any thread: each thread keeps some of those
  // that it freed.
  static void* operator new(size_t bytes);
  static void operator delete(void* hold, size_t bytes) noexcept;  // to those of the calling thread

 private:
  friend class SessionWriter;
  static constexpr size_t kNameBytes = 16;  // of name and owner tag together; longer ones are
                                            // allocated apart
  struct Extension {                        // for the few holds that need it
    LeadingTime until;
    std::vector<NamedLock> others;
    std::shared_ptr<Delegation> delegation;
    static void* operator new(size_t bytes) { return HoldState::operator new(bytes); }
    static void operator delete(void* extension, size_t bytes) noexcept { HoldState::operator delete(extension, bytes); }
  };
  std::atomic<bool> released_{false};
  std::atomic<bool> suspended_{false};
  std::atomic<bool> lost_{false};
  const LockMode mode_ : 7;
  const bool counted_ : 1;
  const SessionRef session_;
  const Token token_;
  const Index since_;
  const TextPair<kNameBytes> texts_;      // name, owner tag
  std::unique_ptr<Extension> extension_;  // null: no field of it is set
  LazyStopSource stop_;                   // request_stop() runs user code: only called through the
                                          // Notifier
};

using HoldRef = Ref<HoldState>;  // null: nothing is held

}  // namespace coordkit
