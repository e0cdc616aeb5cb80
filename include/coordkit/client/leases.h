// Leases of keys as asynchronous calls. This is one side of a Client, made by Client::leases() and
// valid as long as that Client. A key that was put with a lease is deleted when the lease ends:
// revoked, or not renewed within its time to live (docs/semantics.md S-29 to S-33).
//
// A kept lease lives like a session. This client renews it in the one message that renews its
// sessions, without log entries, and its handle knows until when it may be trusted. A lease that is
// only granted is renewed by renew(), from anywhere; each renewal is a log entry. The Client's
// rules for callbacks, deadlines and outcomes apply.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coordkit/client/client_options.h"
#include "coordkit/client/handles.h"
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class Client;

// Options of LeaseCalls::keep().
struct KeepLeaseOptions {
  Duration ttl{};              // above zero, at most 9,000,000,000 s; raised to the floor of 50 ms
  LeaseId id = {};             // zero: one is drawn, 2^62 or above
  CallDeadline deadline = {};  // absent: as CallDeadline says
  // Reports every change of phase, in order, each once, through the Notifier. The first is the
  // phase it was granted with.
  absl::AnyInvocable<void(SessionPhase)> on_phase = {};
  Duration give_up{};  // longest time in jeopardy; zero: as in ClientOptions
};

// A lease that this client keeps: shared, read by any thread without a lock. It may outlive the
// client, and is then invalid.
class KeyLeaseState {
 public:
  // For LeaseCalls::keep(). `life`: its phases and its deadline.
  KeyLeaseState(LeaseId id, SessionRef life, bool short_lived) : id_(id), life_(std::move(life)), short_lived_(short_lived) {}

  LeaseId id() const { return id_; }             // for PutOperation::lease
  Duration ttl() const { return life_->ttl(); }  // as granted: never below the requested one
  // Below three election timeouts: it may not outlive a change of leader.
  bool short_lived() const { return short_lived_; }
  // Whether its keys are certainly there, by the holder's own clock, unless it was revoked. `now`
  // must be a reading made for this question. Phases and deadline are those of a session
  // (docs/time.md).
  bool valid(LeadingTime now) const { return life_->valid(now); }
  // How long valid() stays true without another renewal; zero when it is not.
  Duration remaining(LeadingTime now) const { return life_->remaining(now); }
  // As that of a session. Lost: ended, revoked or given up.
  SessionPhase phase() const { return life_->phase(); }
  // When valid() turns false without another renewal; LeadingTime::min(): nothing is confirmed.
  LeadingTime validity_deadline() const { return life_->validity_deadline(); }
  bool revoked() const { return life_->closed(); }  // by this handle, or Client::stop() was called
  // First half of a revoke: any thread; the client sends it.
  void invalidate() { life_->invalidate(); }

 private:
  friend class LeaseCalls;
  const LeaseId id_;
  const SessionRef life_;
  const bool short_lived_;
};
using KeyLeaseRef = std::shared_ptr<KeyLeaseState>;  // null: no lease

// The answer of grant() and renew().
struct GrantedLease {
  LeaseId id;                // as asked for, or as it was drawn
  Duration ttl{};            // as granted
  bool short_lived = false;  // below three election timeouts: it may not outlive a change of leader
  Revision revision;         // of the store; neither call changes it
  Index index;               // of the entry
};
// The answer of revoke() by id.
struct RevokedLease {
  uint64_t deleted = 0;  // keys that were deleted with it
  Revision revision;     // of their deletion; the store's, if there were none
  Index index;           // of the entry
};
// A lease at one moment.
struct LeaseInfo {
  LeaseId id;                          // never zero
  Duration ttl{};                      // as granted
  Duration remaining{};                // by the leader's clock; zero: it is about to end
  ReplicaId keeper;                    // the replica whose client keeps it; zero: no client does
  std::vector<std::string> keys = {};  // if requested, ascending
  friend bool operator==(const LeaseInfo&, const LeaseInfo&) = default;
};
// The answer of LeaseCalls::time_to_live().
struct LeaseDetails {
  LeaseInfo lease;    // with its keys, if requested
  Revision revision;  // of the store that was read
  Index as_of;        // the applied state that was read
};
// The answer of LeaseCalls::list().
struct LeaseList {
  std::vector<LeaseInfo> leases;  // by remaining time, then by id
  Index as_of;                    // the applied state that was read
};

// The calls. Made by Client::leases().
class LeaseCalls {
 public:
  explicit LeaseCalls(Client& client) : client_(&client) {}  // `client` outlives it

  // Grants a lease and keeps it renewed until it is revoked. If the caller does not learn of it, no
  // lease is left behind. InvalidArgument, TtlTooLarge, LeaseExists (NONE); CallTimeout.
  CallId keep(KeepLeaseOptions options, Callback<KeyLeaseRef> done);
  // Invalid from this call on, whatever the answer; retried until it has ended. OK if it had ended
  // already.
  CallId revoke(const KeyLeaseRef& lease, DoneCallback done, CallDeadline deadline = {});

  // The same errors, for a lease that is not kept.
  CallId grant(LeaseId id, Duration ttl, Callback<GrantedLease> done, CallDeadline deadline = {});
  // Gives it the full TTL again. LeaseNotFound: it has ended, or never existed.
  CallId renew(LeaseId id, Callback<GrantedLease> done, CallDeadline deadline = {});
  // Ends it at once, kept or not. LeaseNotFound.
  CallId revoke(LeaseId id, Callback<RevokedLease> done, CallDeadline deadline = {});
  // LeaseNotFound; NoLeader or CallTimeout (NONE): no leader answered by the deadline.
  CallId time_to_live(LeaseId id, bool keys, Callback<LeaseDetails> done, CallDeadline deadline = {});
  // All leases. Which there are is linearizable; their times are the leader's. NoLeader or
  // CallTimeout (NONE): no leader answered by the deadline.
  CallId list(Callback<LeaseList> done, CallDeadline deadline = {});

 private:
  Client* client_;
};

}  // namespace coordkit
