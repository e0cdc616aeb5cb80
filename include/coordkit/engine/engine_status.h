// A replica's view of itself at one moment: its state, the reason, the missing members, and
// problems that need an operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/raft/core.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// The state of a replica: it says what the replica can do at the moment.
enum class ReplicaState : uint8_t {
  WaitingForMembers,  // blank, before genesis: every listed member must be seen once, with the same
                      // list
  Uninvited,          // blank, and the cluster exists without it: a change of members must add it
                      // (or put it in another's place)
  Starting,           // has a log, but knows no leader or is not registered with it yet
  CatchingUp,         // follows a leader and is far behind it: calls here are answered late, local
                      // reads are old
  Ready,              // a leader is known and this replica registered with it
  Learner,            // as Ready, but without a vote
  Removed,            // no longer a member; quiet, and refuses calls
  Quarantine,         // up, silent, not voting: see the reason
  Halted,             // stopped for good by a fault
};

// A member that does not answer, as far as this replica can tell.
struct MissingMember {
  // As the configuration in force has it; before genesis, as this process was started with it.
  ReplicaId id = {};
  // From the same source. Empty: not known.
  std::string address = {};
  Duration silence = {};  // time since the last message from it; since this replica was opened, if
                          // it has sent none
  bool received = false;  // whether anything was received since then
  std::string why = {};   // a sentence; empty: nothing is known yet
};
// "replica 2 at 10.0.0.2:7400 was last heard 12 s ago: nothing listens there", one after the other.
std::string roll_call(const std::vector<MissingMember>& missing);

// A peer that was started with a list of members that differs from this replica's, or from the list
// that its cluster was founded with.
struct DifferingList {
  ReplicaId peer;        // whose hello, or whose founding list, differs
  std::string sentence;  // how the lists differ, and the cure
};

// The distance that a replica in state CatchingUp still has to go.
struct CatchUp {
  Index committed;           // on the leader, as far as this replica knows
  uint64_t entries = 0;      // committed entries that are not applied here yet
  Index state;               // the state after this entry is being sent to it; zero: the log is
                             // enough
  uint64_t state_bytes = 0;  // the arrived part of that state's rows
};

struct EngineStatus {
  // This replica now.
  ReplicaState state = ReplicaState::Starting;
  std::string reason;  // for every state except Ready and Learner: a sentence, which names the
                       // missing members where they matter
  // Zero: before genesis.
  ClusterId cluster;
  Index applied;                               // the state after this entry is in force here
  Index checkpointed;                          // the newest state that is durable here
  uint64_t digest = 0;                         // of the applied state
  size_t requests = 0;                         // in progress
  size_t request_bytes = 0;                    // of these
  std::optional<CatchUp> catch_up;             // in state CatchingUp
  std::optional<raft::Status> core;            // absent before genesis
  std::string change;                          // the step that the change of members started here
                                               // waits for; empty: no change is in progress
  std::vector<std::string> warnings;           // problems that need an operator; sentences
  std::vector<MissingMember> missing;          // members without a connection, and on a leader
                                               // those that do not answer; by id
  std::vector<DifferingList> differing_lists;  // by peer; while this replica knows no leader
  uint64_t feature_level = 0;                  // in force
  uint64_t rejected = 0;                       // messages that were dropped because their sender
                                               // may not send them (docs/decisions/0018)
};

}  // namespace coordkit
