// What every replica of a cluster must set alike. Each says it in its hello, and who meets another one compares.
//
// Differences of two kinds: those by which two processes could trust one lock are dangerous, and two replicas that have one do
// not hear each other until one of them was restarted with the other's value; other differences are a warning. To change what
// is dangerous, restart one replica after the other: from the moment when a majority has the new value, it goes on by that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

struct Agreement {
  struct Machine {
    MachineId id;
    uint64_t version = 0;  // OwnMachine::version
    friend bool operator==(const Machine&, const Machine&) = default;
  };
  uint32_t rate_error_ppm = 0;  // the next three as of ReplicaOptions
  Duration election_timeout{};  // of moment for safety only with leader_leases
  bool leader_leases = false;
  uint64_t digest_entries = 0;
  uint64_t revisions_kept = 0;  // CompactionPolicy
  Duration history_kept{};
  std::vector<Machine> machines = {};  // the host's, by ascending ids, at most kAgreedMachinesMax
  friend bool operator==(const Agreement&, const Agreement&) = default;
};
inline constexpr size_t kAgreedMachinesMax = 64;

// As sentences; empty: there is nothing of that kind.
struct Disagreement {
  std::string dangerous;
  std::string tolerable;
};
Disagreement compare(const Agreement& mine, ReplicaId peer, const Agreement& theirs);

}  // namespace coordkit
