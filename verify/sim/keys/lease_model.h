// The naive twin of the leases of keys: all that ever existed, and when each lived. The keys themselves are KeyModel's.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "machine/keys/lease_command.h"
#include "machine/result.h"

namespace coordkit::sim {

class LeaseModel {
 public:
  struct Lease {
    LeaseId id;
    SessionId number;
    Duration ttl{};
    ReplicaId keeper;  // zero: none
    Generation generation;
    Index from;
    Index until;  // zero: alive
    bool expired = false;
  };
  // Numbers come from the counter of the session ids.
  explicit LeaseModel(uint64_t& counter) : counter_(counter) {}

  // `of_session` tells whether an id belongs to a session.
  machine::Result run(const machine::GrantLease& grant, Index index, const std::function<bool(LeaseId)>& of_session);
  machine::Result run(const machine::RenewLease& renew);
  void end(LeaseId id, Index index, bool expired);

  const Lease* alive(LeaseId id) const;  // null: there is none
  // By its timer, if that was armed by the last renewal.
  const Lease* due(uint64_t timer, Generation generation) const;

  // The lease after `at`; null: no such lease.
  const Lease* at(LeaseId id, Index at) const;
  std::vector<Lease> all_at(Index at) const;
  bool expired(LeaseId id) const;  // the newest with this id
  // Was there no lease with this id after `from` or some later entry?
  bool was_missing(LeaseId id, Index from) const;

 private:
  Lease* find(LeaseId id);

  uint64_t& counter_;
  std::vector<Lease> leases_;  // as they were granted
};

}  // namespace coordkit::sim
