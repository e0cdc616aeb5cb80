// The contents of the log: entries, hard state, and the configuration that names the voters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/bytes.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {
namespace raft {

// Numbers are on disk and on the wire: never reused, never renumbered.
enum class EntryKind : uint8_t {
  LeaderStart = 1,    // first entry of every leader; empty payload (thesis 6.4)
  Genesis = 2,        // index 1 of every cluster: cluster id, token base, first configuration
  Configuration = 3,  // a change of members
  Command = 4,        // for the router and the machines behind it
};

// One record of the replicated log. The leader that appended the entry makes the content sum once,
// over group, term, index, kind and payload. It travels with the entry and is verified at every hop
// (base/sums.h).
struct Entry {
  Index index;                          // its place in the log, from 1
  Term term;                            // of the leader that appended it
  EntryKind kind = EntryKind::Command;  // which part of the replica reads the payload
  uint64_t content_sum = 0;             // XXH3-64, see content_sum.h
  SharedBytes payload;                  // shared with copies of the entry; empty for LeaderStart

  // Index and term together. With the history of the log they name this entry.
  Position position() const { return {index, term}; }
  // The size that limits count: payload and a share for the header.
  size_t bytes() const { return payload.size() + 48; }
  friend bool operator==(const Entry&, const Entry&) = default;
};

// The facts that a replica must never forget (thesis fig. 3.1). Zero vote: none in this term.
struct HardState {
  Term term;       // the current term; zero: before genesis
  ReplicaId vote;  // the candidate that got this replica's vote in that term
  friend bool operator==(const HardState&, const HardState&) = default;
};

struct Member {         // one replica in a configuration
  ReplicaId id;         // chosen by the operator
  StoreId store = {};   // the only data directory that may act as this member
  std::string address;  // for the transport; opaque here
  friend bool operator==(const Member&, const Member&) = default;
};

// The voters and learners. `outgoing` is non-empty while a change is joint: then both halves must
// agree (thesis 4.3).
struct Configuration {
  std::vector<Member> voters = {};    // sorted by id, ids unique
  std::vector<Member> outgoing = {};  // sorted by id
  std::vector<Member> learners = {};  // sorted by id; receive the log, never count
  friend bool operator==(const Configuration&, const Configuration&) = default;
};

// The newest configuration that is known to be committed, and its place. A joint one that is over
// appears without the members that leave.
struct SettledMembers {
  Position at;                  // of its entry; its term may be an upper bound. Zero: nothing is
                                // known
  Configuration configuration;  // of that entry
  Term known_in;                // it is committed in this term or an earlier one: the leader of
                                // any later term has it
  friend bool operator==(const SettledMembers&, const SettledMembers&) = default;
};

// The initialization of a cluster, agreed on before the first vote and stored as entry 1 of term 1
// everywhere.
struct Genesis {
  ClusterId cluster;            // drawn at random by the founder
  uint64_t token_base = 0;      // tokens start above this: (seconds since 2020-01-01 UTC) << 31
  Configuration configuration;  // the first one: all listed members, as voters
  uint64_t feature_level = 0;   // the cluster's first level: every founder supports it
  friend bool operator==(const Genesis&, const Genesis&) = default;
};

}  // namespace raft
}  // namespace coordkit
