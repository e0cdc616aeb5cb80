// Leases of keys: a key that was put with a lease is deleted when the lease ends, because it was
// revoked or because it was not renewed within its time to live. Use it for keys that shall vanish
// with the process that wrote them: a service's address, a worker's status.
//
//   Leases leases(*replica);
//   KeyLease mine = *leases.keep({.ttl = std::chrono::seconds(10)});
//   kv.put({.key = "service/a", .value = address, .lease = mine.id()});
//
// A kept lease is renewed without log entries, together with the process's sessions. By this
// machine's clock it knows until when it may be trusted. To hold locks, open a session; keys can be
// attached to a session as well, by its id. docs/semantics.md S-29 to S-33.
//
// Threads: all methods are thread-safe. Callbacks of the *_async methods run on the engine's
// thread, where nothing may block.
// Lifetime: may outlive the replica. Then no lease is valid and every call is kFailedPrecondition.
// Errors: outcome_of() says whether a call may have taken effect, as it may with CallTimeout, or
// Stopped.
#pragma once

#include <memory>
#include <vector>

#include "coordkit/call.h"
#include "coordkit/client/leases.h"
#include "coordkit/export.h"
#include "coordkit/service.h"

namespace COORDKIT_EXPORT coordkit {

// A lease that is renewed as long as a copy of this object lives. Destroying the last copy revokes
// it, without waiting.
class KeyLease {
 public:
  KeyLease() = default;  // no lease: never valid

  LeaseId id() const;        // for PutOperation::lease; zero: no lease
  Duration ttl() const;      // as granted, never below the requested one
  bool short_lived() const;  // the TTL is below three election timeouts: it may not outlive a
                             // change of leader
  // Whether the holder may still count on its keys being there. False from its own deadline on,
  // before anybody else could see them expire. A revoke by its id is not covered.
  bool valid() const;
  SessionPhase phase() const;             // as that of a session
  Duration remaining() const;             // until valid() turns false, unless it is renewed
  LeadingTime validity_deadline() const;  // as Session::validity_deadline()

  // Ends the lease and deletes its keys. Invalid from here on, whatever the answer except
  // InCallback. OK if it had ended before. on_phase is not called any more; revoke_async() still
  // reports Lost.
  absl::Status revoke();
  AsyncCall revoke_async(absl::AnyInvocable<void(absl::Status)> done);

 private:
  friend class Leases;
  class Handle;
  explicit KeyLease(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<Handle> handle_;
};

// Options of Leases::keep().
struct LeaseOptions {
  Duration ttl = std::chrono::seconds(10);      // how long its keys outlive the last renewal.
                                                // Raised to 50 ms
  LeaseId id = {};                              // zero: one is drawn, 2^62 or above
  Duration timeout = std::chrono::seconds(10);  // of the call
  // Reports every change of phase, in order, each once, on the replica's callback thread. It ends
  // with KeyLease::revoke(), or when the last copy is destroyed. Both wait for a running call of
  // it, as those of a session do (SessionOptions::on_phase).
  absl::AnyInvocable<void(SessionPhase)> on_phase = {};
  Duration give_up = {};  // how long in jeopardy until it is revoked and Lost. Zero: max(3 x ttl,
                          // 10 election timeouts)
};

// The leases of the cluster: kept by this process, or renewed by hand.
class Leases {
 public:
  // The leases, as this replica serves them.
  explicit Leases(const Service& service);
  Leases(const Leases&) = default;  // a moved-from object is unchanged
  Leases& operator=(const Leases&) = default;

  // Grants a lease and keeps it. kInvalidArgument (TTL not above zero), kOutOfRange (TtlTooLarge:
  // above 9,000,000,000 s), kAlreadyExists (LeaseExists).
  absl::StatusOr<KeyLease> keep(LeaseOptions options = {});
  AsyncCall keep_async(LeaseOptions options, Callback<KeyLease> done);

  // Grants a lease that is not kept. It ends after its TTL, unless renew() is called, by any
  // process. The call is a log entry. Errors as above.
  absl::StatusOr<GrantedLease> grant(Duration ttl, LeaseId id = {}, Duration timeout = std::chrono::seconds(10));
  // Gives a lease its full TTL again. The call is a log entry. kNotFound (LeaseNotFound): it has
  // ended, and nothing brings it back.
  absl::StatusOr<GrantedLease> renew(LeaseId id, Duration timeout = std::chrono::seconds(10));
  // grant() without blocking.
  AsyncCall grant_async(Duration ttl, LeaseId id, Duration timeout, Callback<GrantedLease> done);
  // renew() without blocking.
  AsyncCall renew_async(LeaseId id, Duration timeout, Callback<GrantedLease> done);

  // Ends anybody's lease at once, with all its keys, in one revision. kNotFound (LeaseNotFound).
  absl::StatusOr<RevokedLease> revoke(LeaseId id, Duration timeout = std::chrono::seconds(10));
  AsyncCall revoke_async(LeaseId id, Duration timeout, Callback<RevokedLease> done);

  // How much time the lease has left, by the leader's clock, and its keys if requested. kNotFound
  // (LeaseNotFound), kUnavailable (NoLeader), kDeadlineExceeded.
  absl::StatusOr<LeaseDetails> time_to_live(LeaseId id, bool keys = false, Duration timeout = std::chrono::seconds(10)) const;
  AsyncCall time_to_live_async(LeaseId id, bool keys, Duration timeout, Callback<LeaseDetails> done) const;
  // All leases, ordered by their remaining time. kUnavailable, kDeadlineExceeded.
  absl::StatusOr<LeaseList> list(Duration timeout = std::chrono::seconds(10)) const;
  AsyncCall list_async(Duration timeout, Callback<LeaseList> done) const;

 private:
  std::shared_ptr<class Host> host_;
};

}  // namespace coordkit
