// The members of the cluster, and how to change them (door 1): see Replica::change_membership and
// members().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/raft/membership.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// A request to change the members. Its parts take effect together, in the order in which they are
// written:
//
//   replica->change_membership(MembershipChange().add(4, "10.0.0.4:7400").remove(2))
//
// Threads: built by one thread. Cheap to copy.
class MembershipChange {
 public:
  // Adds a new replica. It runs on an empty data directory and lists itself and some existing
  // members. It learns first. It gets a vote, together with the rest of the change, when it has
  // nearly caught up.
  MembershipChange& add(uint64_t id, std::string address);
  // Keeps the replica that was added last a learner. A learner receives everything, serves reads
  // and calls, and never votes.
  MembershipChange& as_learner();
  MembershipChange& remove(uint64_t id);  // voter or learner
  // Puts `id` in the place of `old`, with its vote if it had one. The same id twice: the replica is
  // the same machine with a new data directory, after a disk was lost.
  MembershipChange& replace(uint64_t old, uint64_t id, std::string address);
  MembershipChange& promote(uint64_t id);  // a learner gets a vote
  MembershipChange& demote(uint64_t id);   // a voter becomes a learner

  // kInvalidArgument listing every problem: an empty change, id 0, an id twice, an invalid address,
  // as_learner() without add(). `host_and_port`: addresses are those of the TCP transport.
  // Otherwise they may be any text, for a transport of your own.
  absl::Status validate(bool host_and_port = true) const;
  // The change in the engine's form.
  std::vector<raft::MemberChange> changes() const;

 private:
  struct Change {
    raft::MemberChange change;
    bool votes = false;  // promoted once it has caught up
  };
  std::vector<Change> changes_;
  bool misplaced_ = false;  // an as_learner() that follows no add()
};

// Options of Replica::change_membership().
struct MembershipOptions {
  // Only if this configuration is in force, else Conflict. Use the value of members().index when
  // you decided. Absent: the configuration in force when the change's turn comes.
  std::optional<Index> expected = {};
  // A newcomer may have much to learn. If time runs out before, added members stay learners. Legal:
  // above zero.
  Duration timeout = std::chrono::minutes(5);
};

// One member, as the log knows it.
struct MemberInfo {
  // How a member takes part.
  enum class Role : uint8_t {
    Voter,
    Leaving,  // votes until the change under way is complete, and not afterwards
    Learner,
  };
  uint64_t id = 0;          // chosen by the operator
  std::string address;      // for the transport
  Role role = Role::Voter;  // in the configuration in force
  StoreId store;            // the data directory that may act as this member
  // Only on the leader. Absent: this member is the leader itself, or this replica does not lead.
  std::optional<uint64_t> lag;      // entries of the leader's log that it has not acknowledged
  std::optional<Duration> silence;  // since a message to it that it has answered
};

// The configuration in force in this replica's view: the newest in its log, committed or not.
struct MemberList {
  std::vector<MemberInfo> members;  // by id; empty before this replica belongs to a cluster
  Index index;                      // of its entry
  bool joint = false;               // a change is half done; the leader completes it
};

}  // namespace coordkit
