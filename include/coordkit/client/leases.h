// Leases of keys as asynchronous calls: a face of a Client, made by Client::leases() for as long as that one lives. A key that
// was put with a lease goes when the lease ends: revoked, or not renewed for its time to live (docs/semantics.md S-29 to S-33).
//
// A lease that is kept lives like a session: this client renews it in the one message that renews its sessions, without log
// entries, and its handle knows until when it may be trusted. One that is only granted is renewed by renew(), from anywhere;
// each renewal is a log entry. Rules for callbacks, deadlines and outcomes are the Client's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coordkit/client/handles.h"
#include "coordkit/client/options.h"
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class Client;

struct KeepLeaseOptions {
  Duration ttl{};   // above zero, at most 9,000,000,000 s; raised to the floor of 50 ms
  LeaseId id = {};  // zero: one is drawn, 2^62 or above
  CallDeadline deadline = {};
  // Every change of phase, in order, each once, through the Notifier; the first is the one it was granted with.
  absl::AnyInvocable<void(SessionPhase)> on_phase = {};
  Duration give_up{};  // longest time in jeopardy; zero: as ClientOptions say
};

// A lease that this client keeps: shared, read by any thread without a lock. It may outlive the client, and is then not valid.
class KeyLeaseState {
 public:
  KeyLeaseState(LeaseId id, SessionRef life, bool short_lived) : id_(id), life_(std::move(life)), short_lived_(short_lived) {}

  LeaseId id() const { return id_; }                 // for PutOperation::lease
  Duration ttl() const { return life_->ttl(); }      // as granted: never below the one asked for
  bool short_lived() const { return short_lived_; }  // below three election timeouts: it may not outlive a change of leader
  // Are its keys certainly there, by the holder's own clock, unless it was revoked? `now` must be a reading made for
  // this question. Phases and deadline are those of a session (docs/time.md).
  bool valid(LeadingTime now) const { return life_->valid(now); }
  Duration remaining(LeadingTime now) const { return life_->remaining(now); }
  SessionPhase phase() const { return life_->phase(); }
  LeadingTime validity_deadline() const { return life_->validity_deadline(); }
  bool revoked() const { return life_->closed(); }  // by this handle, or Client::stop() was called
  void invalidate() { life_->invalidate(); }        // first half of a revoke: any thread; the client sends it

 private:
  friend class LeaseCalls;
  const LeaseId id_;
  const SessionRef life_;
  const bool short_lived_;
};
using KeyLeaseRef = std::shared_ptr<KeyLeaseState>;

// What grant() and renew() answer.
struct GrantedLease {
  LeaseId id;
  Duration ttl{};            // as granted
  bool short_lived = false;  // below three election timeouts: it may not outlive a change of leader
  Revision revision;         // of the store, which neither changes
  Index index;               // of the entry
};
struct RevokedLease {
  uint64_t deleted = 0;  // keys that went with it
  Revision revision;     // theirs; of the store, if there were none
  Index index;
};
struct LeaseInfo {
  LeaseId id;
  Duration ttl{};                      // as granted
  Duration remaining{};                // by the leader's clock; zero: its end is under way
  ReplicaId keeper;                    // the replica whose client keeps it; zero: none does
  std::vector<std::string> keys = {};  // if they were asked for, ascending
  friend bool operator==(const LeaseInfo&, const LeaseInfo&) = default;
};
struct LeaseDetails {
  LeaseInfo lease;
  Revision revision;  // of the store that was read
  Index as_of;        // the applied state that was read
};
struct LeaseList {
  std::vector<LeaseInfo> leases;  // by remaining time, then by id
  Index as_of;
};

class LeaseCalls {
 public:
  explicit LeaseCalls(Client& client) : client_(&client) {}

  // Grants a lease and keeps it renewed until it is revoked. A caller that does not learn of it leaves none behind.
  // InvalidArgument, TtlTooLarge, LeaseExists (NONE); CallTimeout.
  CallId keep(KeepLeaseOptions options, Callback<KeyLeaseRef> done);
  // Not valid from this call on, whatever the answer; retried until it has ended. One that has ended: OK.
  CallId revoke(const KeyLeaseRef& lease, DoneCallback done, CallDeadline deadline = {});

  // The same errors, for one that is not kept.
  CallId grant(LeaseId id, Duration ttl, Callback<GrantedLease> done, CallDeadline deadline = {});
  // The full TTL again. LeaseNotFound: it has ended, or never was.
  CallId renew(LeaseId id, Callback<GrantedLease> done, CallDeadline deadline = {});
  // Ends it at once, kept or not. LeaseNotFound.
  CallId revoke(LeaseId id, Callback<RevokedLease> done, CallDeadline deadline = {});
  // LeaseNotFound; NoLeader or CallTimeout (NONE): no leader answered by the deadline.
  CallId time_to_live(LeaseId id, bool keys, Callback<LeaseDetails> done, CallDeadline deadline = {});
  CallId list(Callback<LeaseList> done, CallDeadline deadline = {});

 private:
  Client* client_;
};

}  // namespace coordkit
