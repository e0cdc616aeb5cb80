// The members according to the logs: the observer's own account, kept from what replicas write, never asked of an engine.
//
// A replica acts by the newest configuration of its log, committed or not (thesis 4.1). INV_R12: a leader appends the next one
// only when the previous one is committed, and the two are neighbours: a joint step keeps the old voters as its other half.
// A majority is one of stores, not of ids: a replica that lost its disk is not the one that acknowledged. The content of a lost
// disk is kept here, because a leader may rightly have counted it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "coordkit/sim/situations.h"
#include "sim/world/disk.h"
#include "sim/world/state_disk.h"

namespace coordkit::sim {

class MembershipObserver {
 public:
  MembershipObserver(uint32_t nodes, SituationCounts& situations)
      : logs_(nodes), states_(nodes), before_(nodes), known_(nodes), situations_(situations) {}

  void own(uint32_t node, const SimLogStore& log, const SimStateStore& state) {
    logs_[node] = &log;
    states_[node] = &state;
  }
  // A process starts or ends: unsynced entries may be gone, truncated ones back.
  void look_again(uint32_t node);
  // The process ends, and acted by these members last: it may have committed by them what others report in its place, and die
  // before it wrote them.
  void stopped(uint32_t node, const raft::Configuration& used) { before_[node] = used; }
  void disk_lost(uint32_t node);  // called before the loss

  // A write, before the store takes it. `leading`: by a leader, for its own term.
  enum class Writer : uint8_t { Leader, Follower };
  void written(uint32_t node, const LogWrite& write, Writer writer, Index committed);
  void committed(const raft::Entry& entry);

  const raft::Configuration& in_force(uint32_t node) const;  // empty: it knows none
  Position in_force_at(uint32_t node) const;                 // its entry; zero: none
  const raft::Configuration& newest_committed() const { return newest().configuration; }
  // The committed configuration of that very entry, if it is newer than the one of `node`'s log; null: it is not. The term
  // decides first: an overtaken leader's configuration is older than the one that took its place, at whatever index.
  // `replaced`: another entry was committed in the place of the log's own. Then the committed one in force there is newer too.
  const raft::Configuration* newer_than_log(uint32_t node, Index index, bool replaced) const;
  bool overtaken(uint32_t node) const;  // by a committed configuration
  // In every configuration that a running process uses and none has overtaken, a majority of each half still has its disks.
  bool majorities_have_disks(const std::function<bool(uint32_t)>& runs) const;
  std::optional<uint32_t> voter_without_disk() const;  // of any configuration in use that none has overtaken
  bool member(uint32_t node) const;                    // by the newest committed one, with the disk it has now

  void turn_over(uint32_t node) { before_[node].reset(); }
  void reach(Situation situation) { ++situations_[static_cast<size_t>(situation)]; }

  // A majority of each half.
  using Agrees = std::function<bool(const raft::Member&)>;
  static bool quorum(const raft::Configuration& configuration, const Agrees& agrees);
  // Whether the holders are a majority of each half of the configuration that `node` uses, or used when the turn began: leaders
  // may commit by one configuration and append the next in one turn.
  using Holds = std::function<bool(const LogImage& log, Index state)>;
  bool quorum_holds(uint32_t node, const Holds& holds) const;
  std::string describe(uint32_t node) const;  // the configuration it uses, and how far each of these disks is
  void vote_sent(uint32_t node, Term term, ReplicaId candidate);
  bool quorum_voted(uint32_t candidate, Term term) const;

 private:
  struct Known {
    Position at;
    raft::Configuration configuration;
  };
  const Known& newest() const;  // that is committed
  const Known& in_use(uint32_t node) const;
  bool disk_holds(StoreId store, const Holds& holds) const;
  void append(uint32_t node, const raft::Entry& entry);
  void note_transition(const raft::Configuration& before, const raft::Configuration& after);

  struct LostDisk {
    LogImage log;
    Index state;
  };

  std::vector<const SimLogStore*> logs_;
  std::vector<const SimStateStore*> states_;
  std::vector<std::optional<raft::Configuration>> before_;  // per node: before the one of this turn, or the last of a dead one
  std::vector<std::vector<Known>> known_;                   // per node: of its log, ascending
  std::map<Index, Known> committed_;
  std::map<StoreId, LostDisk> lost_;
  std::map<std::pair<Term, ReplicaId>, std::set<std::pair<ReplicaId, StoreId>>> votes_;  // candidate -> voters
  std::set<ReplicaId> previous_;                                                         // were members once and then removed
  SituationCounts& situations_;
};

}  // namespace coordkit::sim
