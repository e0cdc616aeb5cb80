// The commands of leases of keys (docs/semantics.md S-29 to S-33). They are part of machine::Request; command.h has the rules
// of the encoding.
#pragma once

#include <tuple>

#include "coordkit/types.h"
#include "machine/objection.h"

namespace coordkit::machine {

// Drawn lease ids start here: the upper half of the values that a signed column takes. So they collide neither with the small
// numbers that callers choose nor with the ids of sessions.
inline constexpr uint64_t kDrawnLease = uint64_t{1} << 62;

// Creates a lease. A lease bound to a process is renewed with that process's sessions; an unbound one only by RenewLease.
struct GrantLease {
  LeaseId id;  // zero: kDrawnLease and the index of the entry, or the next free number above it
  Duration ttl{};
  ReplicaId node;  // with the following fields: the process; zero: unbound
  BootCounter boot;
  uint64_t incarnation = 0;
  static constexpr uint32_t kField = 84;  // among Request's fields, never reused; so are those below
  static constexpr auto fields() {
    using G = GrantLease;
    return std::tuple(&G::id, &G::ttl, &G::node, &G::boot, &G::incarnation);
  }
  friend bool operator==(const GrantLease&, const GrantLease&) = default;
};

// A renewal, by any caller: the lease has its full TTL again.
struct RenewLease {
  LeaseId id;
  static constexpr uint32_t kField = 85;
  static constexpr auto fields() { return std::tuple(&RenewLease::id); }
  friend bool operator==(const RenewLease&, const RenewLease&) = default;
};

// Ends a lease and deletes its keys.
struct RevokeLease {
  LeaseId id;
  SessionId number;  // only the lease that was given this number, not a later one of the same id; zero: any
  static constexpr uint32_t kField = 86;
  static constexpr auto fields() { return std::tuple(&RevokeLease::id, &RevokeLease::number); }
  friend bool operator==(const RevokeLease&, const RevokeLease&) = default;
};

Objection check(const GrantLease& grant);  // InvalidArgument, TtlTooLarge

}  // namespace coordkit::machine
