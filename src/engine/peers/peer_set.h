// The other replicas as seen by this one: the connected ones with their capacities (capacities.h), and those missing or far
// away (reachability.h, round_trips.h). It says which to connect to, and what must be sent to peers that no log reaches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/apply/router.h"
#include "engine/loop/consensus.h"
#include "engine/loop/unrest.h"
#include "engine/members/capacities.h"
#include "engine/members/member_lists.h"
#include "engine/peers/reachability.h"
#include "engine/peers/round_trips.h"

namespace coordkit::engine {

// Election timeouts after which the silence of a peer or a disk is no passing matter.
inline constexpr int kSilentTimeouts = 10;

class PeerSet {
 public:
  explicit PeerSet(const EngineOptions& options)
      : options_(options), round_trips_(options.raft.election_timeout), unrest_(options.raft.election_timeout) {}

  // ---- reports of the transport. However many ids it names, those that are not ours to connect with are kept while connected
  void turn_began(LaggingTime now) { reachability_.began(now); }
  // False: it is ignored, because its settings differ dangerously from ours, or because its build cannot read what is written.
  bool connected(const Hello& hello, LaggingTime now);
  // The cluster's feature level: a peer whose build supports less is ignored.
  void require(uint64_t feature_level, LaggingTime now);
  void lost(ReplicaId peer, LaggingTime now);
  void refused(ReplicaId peer, std::string why);
  std::string why_refused(ReplicaId peer) const { return reachability_.why_refused(peer); }  // a sentence; empty: it is not
  void unreachable(ReplicaId peer, std::string why);

  // ---- messages
  // One that is not accepted is counted.
  bool admits(ReplicaId from, const Message& message, ReplicaId leader, const raft::Configuration& applied);
  const Hello* hello_of(ReplicaId peer) const { return members_.hello_of(peer); }
  const Hello* member(ReplicaId peer) const;  // null: not accepted as a member
  void sent(const raft::Send& one, LaggingTime now) { round_trips_.sent(one.to, one.message, now); }
  template <typename RaftMessage>
  void received(ReplicaId from, const RaftMessage& message, LaggingTime now) {
    round_trips_.received(from, message, now);
  }
  void receive(ReplicaId from, const SteppedAside& message);
  std::vector<ReplicaId> present() const { return reachability_.present(); }

  // ---- the configuration
  // Another one is in force, on append or because its entry was truncated, or at the same position: what peers told of a joint
  // one that is over leaves some out. Returns those accepted as members from here on. nullopt: the same one.
  std::optional<std::vector<Hello>> follow(const raft::Core& core, ClusterId cluster);
  // Whether this replica, on this store, is removed: by what is committed, or by a message of a peer that knows what is
  // (thesis 4.2.3). A message from a leader ends it (R44).
  bool removes_us(const raft::Core& core, const Router& router, StoreId own);
  // The peers to be connected with, when that changed. `core`: null before the genesis.
  void report_targets(const raft::Core* core, const Router& router, std::vector<Peer> prospects, EngineEffects& effects);

  // ---- what peers must be told outside the log, repeated until they show that they know it
  void inform(const Router& router, Turn& turn);
  void inform_soon() { inform_again_ = LaggingTime::min(); }
  void leadership_changed(Term term, LaggingTime now) {
    inform_soon();
    unrest_.leadership_changed(term, now);
  }
  LaggingTime next_deadline(const Consensus& consensus, const Router& router) const;
  // A blank peer can only be invited; anything else sent to it would be wasted, and may be large.
  void drop_for_blank(std::vector<Outbound>& sends) const;

  // ---- for operators
  std::vector<MissingMember> missing(const raft::Core* core, LaggingTime now) const;
  void warnings(const std::vector<MissingMember>& missing, LaggingTime now, std::vector<std::string>& out) const;
  // The lists of members that wait for their genesis.
  std::vector<DifferingList> differing_lists(const raft::Configuration& configuration) const;
  uint64_t rejected() const { return rejected_; }

 private:
  Duration silence_max() const;
  void add_uninitiated(const raft::Configuration& configuration, std::vector<MissingMember>& missing) const;
  bool expects(ReplicaId peer) const;
  void disregard(ReplicaId peer, LaggingTime now);
  void refuse(ReplicaId peer, std::string why, LaggingTime now);

  const EngineOptions& options_;
  Members members_;
  Reachability reachability_;
  RoundTrips round_trips_;
  Unrest unrest_;
  absl::btree_map<ReplicaId, std::string> disagreements_;  // of connected peers, tolerable ones
  Position followed_;                                      // the configuration in force that members_ knows
  uint64_t follows_ = 0;                                   // how often that was another one
  uint64_t feature_level_ = 0;                             // required
  std::vector<Peer> targets_;                              // as the transport knows them
  struct Basis {                                           // what they were made from
    uint64_t follows;
    Position applied;
    std::vector<Peer> prospects;
    bool operator==(const Basis&) const = default;
  };
  std::optional<Basis> basis_;
  bool named_once_ = false;  // the log has named this replica as a member
  LaggingTime inform_again_ = LaggingTime::min();
  uint64_t rejected_ = 0;  // messages of peers that may not send them
};

}  // namespace coordkit::engine
