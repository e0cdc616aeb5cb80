// Settings that every replica of a cluster must share. Each replica states them in its hello, and a
// replica that meets another one compares them.
//
// A difference is dangerous if it could let two processes trust one lock. Two replicas with a
// dangerous difference ignore each other until one of them is restarted with the other's value. Any
// other difference is a warning. To change a dangerous setting, restart one replica after the
// other. Once a majority has the new value, the cluster works with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

struct Agreement {
  struct Machine {         // a machine of the host's own, from ReplicaOptions::machines
    MachineId id;          // kFirstHostMachine and up
    uint64_t version = 0;  // OwnMachine::version
    friend bool operator==(const Machine&, const Machine&) = default;
  };
  uint32_t rate_error_ppm = 0;         // this and the next two: as in ReplicaOptions
  Duration election_timeout{};         // matters for safety only with leader_leases
  bool leader_leases = false;          // a difference is dangerous
  uint64_t digest_entries = 0;         // EngineOptions::digest_entries
  uint64_t revisions_kept = 0;         // CompactionPolicy
  Duration history_kept{};             // CompactionPolicy::age; zero: history is not kept by age
  std::vector<Machine> machines = {};  // the host's, by ascending ids, at most kAgreedMachinesMax
  friend bool operator==(const Agreement&, const Agreement&) = default;
};
// The most entries of Agreement::machines.
inline constexpr size_t kAgreedMachinesMax = 64;

// The differences as sentences. Empty: there is none of that kind.
struct Disagreement {
  std::string dangerous;  // neither replica listens to the other
  std::string tolerable;  // the replicas work together, and an operator gets a warning
};
// Compares this replica's settings with those in the hello of `peer`. Pure.
Disagreement compare(const Agreement& mine, ReplicaId peer, const Agreement& theirs);

}  // namespace coordkit
