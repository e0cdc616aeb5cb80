// Leases of keys. A kept lease is the life of a session (sessions.h). Only the leader knows how much time a lease still has.
// A query of its timer travels as a renewal that renews nothing, and is confirmed like a renewal (docs/decisions/0012).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "client/calls/calls.h"
#include "client/calls/write_calls.h"
#include "client/sessions/sessions.h"
#include "coordkit/client/leases.h"

namespace coordkit::client {

class Leases {
 public:
  Leases(const ClientOptions& options, Requests& requests, Calls& calls, Sessions& sessions, WriteCalls& writes)
      : options_(options), requests_(requests), calls_(calls), sessions_(sessions), writes_(writes) {}

  // ---- calls (coordkit/client/leases.h)
  CallId keep(KeepLeaseOptions options, Callback<KeyLeaseRef> done);
  CallId write(const machine::Request& request, Callback<GrantedLease> done, CallDeadline deadline);
  CallId time_to_live(LeaseId id, bool keys, Callback<LeaseDetails> done, CallDeadline deadline);
  CallId list(Callback<LeaseList> done, CallDeadline deadline);

  void looked(const RenewReply& reply, Now now);
  void clear() { looks_.clear(); }

 private:
  // Reads one lease with or without its keys, or all leases, and the leader's report about their timers.
  struct Reading {
    std::optional<LeaseId> one = {};  // absent: all leases
    bool with_keys = false;
    ReadOptions options = {};  // of the next page
    std::vector<machine::LeaseRow> rows = {};
    std::vector<std::string> keys = {};
    absl::btree_map<TimerId, Duration> remaining = {};
    size_t looked = 0;  // rows whose timers have been queried
    Revision revision = {};
    Index as_of = {};
    bool begun = false;
  };
  using ReadingRef = std::shared_ptr<Reading>;
  struct Look {  // query of timers, answered by the leader
    CallId call;
    ReadingRef reading;
    std::vector<TimerId> timers;
  };

  bool short_lived(Duration ttl) const { return ttl < 3 * options_.election_timeout; }
  CallId read(Reading reading, AnyCallback callback, CallDeadline deadline);
  void ask_page(CallId id, const ReadingRef& reading);
  void page_read(CallId id, const ReadingRef& reading, absl::StatusOr<machine::Leases> read, const Completion& completion,
                 Now now);
  void look_at_timers(CallId id, const ReadingRef& reading, Now now);
  void post_look(uint64_t attempt, Now now);
  void complete(CallId id, const Reading& reading);

  const ClientOptions& options_;
  Requests& requests_;
  Calls& calls_;
  Sessions& sessions_;
  WriteCalls& writes_;
  absl::btree_map<uint64_t, Look> looks_;  // by attempt
  uint64_t last_look_ = 0;
};

}  // namespace coordkit::client
