// Which members are heard, since when the others are not, and why as far as known here: for the operator, never for a
// decision.
//
// Two sources are combined. The transport says who is connected and what it met where no peer is. A leader also knows
// who answers: a member may be connected and silent, in quarantine, halted, or with a disk that hangs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/engine/engine.h"

namespace coordkit::engine {

class Reachability {
 public:
  void connected(const Hello& hello);
  void lost(ReplicaId peer, LaggingTime now);
  bool remembers(ReplicaId peer) const { return seen_.contains(peer); }
  void forget(ReplicaId peer) { seen_.erase(peer); }
  // All that are not connected, but those of `peers`.
  void forget_others(const std::vector<Peer>& peers);
  // It must not take part, for what its hello says.
  void refused(ReplicaId peer, std::string why) { set_refused(peer, std::move(why), false); }
  // The process at its address is not the peer, or turns this replica away.
  void refused_at_address(ReplicaId peer, std::string why) { set_refused(peer, std::move(why), true); }
  // Reported by the peer itself; ends with its next start. Empty: it takes part again.
  void stepped_aside(ReplicaId peer, std::string_view why);
  // The last report about the address of a peer counts.
  void unreachable(ReplicaId peer, std::string why);

  // Those of `peers`, without `self`, that are not connected, run with another store, or are in quarantine; and connected ones
  // that `core`, a leader's, has not heard for `silence_max`.
  std::vector<MissingMember> missing(const std::vector<Peer>& peers, ReplicaId self, const raft::Status* core, LaggingTime now,
                                     Duration silence_max) const;
  // The refusals of the transport for a permanent reason, and the peers in quarantine; sentences.
  std::vector<std::string> explanations() const;
  // Those of `peers` that connect by themselves and are not reached at their addresses; sentences.
  std::vector<std::string> not_reached(const std::vector<Peer>& peers) const;
  std::string why_refused(ReplicaId peer) const;
  bool explained(ReplicaId peer) const;
  std::vector<ReplicaId> present() const;

  void began(LaggingTime now) {
    if (!began_) began_ = now;
  }

 private:
  void set_refused(ReplicaId peer, std::string why, bool at_address);

  struct Seen {
    bool connected = false;
    std::optional<LaggingTime> lost;  // when it was connected last
    std::string refused;
    bool at_address = false;  // `refused` is
    std::string unreachable;  // at its address
    BootCounter boot;
    StoreId store;
    std::string aside;  // why it is in quarantine
  };
  std::optional<LaggingTime> began_;
  absl::btree_map<ReplicaId, Seen> seen_;
};

// "no leader is known yet", and why: which voters are missing, and whether too many are.
std::string why_no_leader(const raft::Configuration& configuration, const std::vector<MissingMember>& missing);

}  // namespace coordkit::engine
