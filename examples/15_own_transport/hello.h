// Objections to the hello of a peer.
#pragma once

#include <coordkit/ports/transport.h>

#include <string>

namespace example {

inline std::string name_of(coordkit::ReplicaId id) { return "replica " + std::to_string(id.value()); }

// Why `mine` and the sender of `theirs` on a connection that should lead to `expected` (zero: any replica) cannot talk: a
// sentence that the operators of both can act on. Empty: they can.
inline std::string objection(const coordkit::Hello& mine, coordkit::ReplicaId expected, const coordkit::Hello& theirs) {
  const std::string they = name_of(theirs.from), we = name_of(mine.from);
  if (theirs.cluster_name != mine.cluster_name) {
    return they + " is of cluster '" + theirs.cluster_name + "' and " + we + " of '" + mine.cluster_name + "'; correct a name";
  }
  if (theirs.to != mine.from) return they + " found " + we + " where it looks for " + name_of(theirs.to) + "; correct its list";
  if (!theirs.from || theirs.from == mine.from) return "two processes are " + we + "; give one of them another id";
  if (expected && theirs.from != expected) return they + " answers in the place of " + name_of(expected) + "; correct the list";
  if (theirs.protocol_max < mine.protocol_min || theirs.protocol_min > mine.protocol_max) {
    return they + " and " + we + " have no protocol in common; bring the older one up to date";
  }
  if (theirs.cluster && mine.cluster && theirs.cluster != mine.cluster) {
    return they + " and " + we + " belong to two clusters of one name; one of them has a foreign data directory";
  }
  return {};
}

// Why this one cannot be the same replica while that one is connected. `right`: the data directory that the membership
// names, if it does. Empty: it is the same process, or a later one.
inline std::string objection_beside(const coordkit::Hello& connected, const coordkit::Hello& next, coordkit::StoreId right) {
  if (next.store != connected.store && next.store != right) {
    return name_of(next.from) + " is connected with another data directory; stop one of the two";
  }
  if (next.store == connected.store && next.boot < connected.boot) {
    return "an older process of " + name_of(next.from) + " still runs, or a copy of its data directory; stop it";
  }
  return {};
}

}  // namespace example
