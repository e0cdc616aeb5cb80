// What a replica knows of itself at one moment: its state, why, who is missing, and what an operator should look after.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/raft/core.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

enum class ReplicaState : uint8_t {
  WaitingForMembers,  // blank, before genesis: every listed member must be seen once, with the same list
  Uninvited,          // blank, and the cluster exists without it: it must be added (or replaced) by a change of members
  Starting,           // has a log, knows no leader or is not registered with it yet
  CatchingUp,         // follows a leader and is far behind it: calls here are answered late, local reads are old
  Ready,              // a leader is known and this replica registered with it
  Learner,            // as Ready, but without a vote
  Removed,            // not a member any more; quiet, and refuses calls
  Quarantine,         // up, silent, not voting: see the reason
  Halted,             // stopped for good on a fault
};
constexpr std::string_view name_of(ReplicaState state) {
  switch (state) {
    case ReplicaState::WaitingForMembers: return "WaitingForMembers";
    case ReplicaState::Uninvited: return "Uninvited";
    case ReplicaState::Starting: return "Starting";
    case ReplicaState::CatchingUp: return "CatchingUp";
    case ReplicaState::Ready: return "Ready";
    case ReplicaState::Learner: return "Learner";
    case ReplicaState::Removed: return "Removed";
    case ReplicaState::Quarantine: return "Quarantine";
    case ReplicaState::Halted: return "Halted";
  }
  return "?";
}

// A member that is not heard, as far as this replica can tell.
struct MissingMember {
  ReplicaId id = {};
  std::string address = {};
  Duration silence = {};  // since something was last received from it; of one that sent nothing, since this replica was opened
  bool received = false;  // something, since then
  std::string why = {};   // a sentence; empty: nothing is known yet
};
// "replica 2 at 10.0.0.2:7400 was last heard 12 s ago: nothing listens there", one after the other.
std::string roll_call(const std::vector<MissingMember>& missing);

// A peer that was started with another list of members than this replica, or than its cluster was founded with.
struct DifferingList {
  ReplicaId peer;
  std::string sentence;  // how the lists differ, and the cure
};

// What a replica that catches up has still before it.
struct CatchUp {
  Index committed;           // by the leader, as far as this replica knows
  uint64_t entries = 0;      // of these, not applied here yet
  Index state;               // it is being sent the state after this entry; zero: the log is enough
  uint64_t state_bytes = 0;  // of that state's rows, that have arrived
};

struct EngineStatus {
  ReplicaState state = ReplicaState::Starting;
  std::string reason;  // of every state but Ready and Learner: a sentence, which names who is missing where that matters
  ClusterId cluster;
  Index applied;
  Index checkpointed;                          // the newest state that is durable here
  uint64_t digest = 0;                         // of the applied state
  size_t requests = 0;                         // under way
  size_t request_bytes = 0;                    // of these
  std::optional<CatchUp> catch_up;             // in state CatchingUp
  std::optional<raft::Status> core;            // absent before genesis
  std::string change;                          // what the change of members started here waits for; empty: none is under way
  std::vector<std::string> warnings;           // what an operator should look after; sentences
  std::vector<MissingMember> missing;          // members without a connection, and of a leader those that do not answer; by id
  std::vector<DifferingList> differing_lists;  // by peer; while this replica knows no leader
  uint64_t feature_level = 0;                  // in force
  uint64_t rejected = 0;                       // messages that were dropped because of who said them (docs/decisions/0018)
};

}  // namespace coordkit
