// Compares the lists of members that replicas were started with, and says how two of them differ (FLT_A19).
// Pure. A peer's list holds sums of addresses, so a difference names the address that is listed here.
#pragma once

#include <string>
#include <vector>

#include "coordkit/engine/engine_status.h"
#include "coordkit/ports/transport.h"
#include "coordkit/raft/entry.h"

namespace coordkit::engine {

struct ListComparison {
  // They describe two clusters: other ids, or one address under two ids. Two names of one address part nobody.
  bool parts = false;
  std::string how;  // a part of a sentence; empty: they are alike, or the peer does not say
};
ListComparison compare_lists(const std::vector<Peer>& mine, const std::vector<ListedMember>& theirs);

// The voters of a genesis as a list.
std::vector<Peer> list_of(const std::vector<raft::Member>& members);

DifferingList differing_list(ReplicaId peer, const std::string& how);

// "1, 2 and 3"
std::string names_of(const std::vector<Peer>& members);

}  // namespace coordkit::engine
