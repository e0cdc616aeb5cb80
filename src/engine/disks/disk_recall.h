// The memory of replicas about each other's disks, and what this one learns about its own (docs/decisions/0009, 0017, 0024).
// That is the rollback check after a start, the marks of peers written with the log, and the entries that this disk has lost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/disks/lost_entries.h"
#include "engine/disks/rollback_check.h"
#include "engine/loop/consensus.h"
#include "engine/peers/peer_marks.h"

namespace coordkit::engine {

class DiskRecall {
 public:
  DiskRecall(const EngineOptions& options, const Origin& self) : self_(self), check_(options, self), marks_({}) {}

  // ---- the start
  // Takes the lost entries out of the log, and the marks.
  void recover(RecoveredLog& log, Position applied);
  Position floor() const { return lost_.floor(); }
  void begin(RollbackCheck::Disk disk) { check_.begin(disk); }

  // ---- the own disk
  void connected(ReplicaId peer) { check_.connected(peer); }
  void lost(ReplicaId peer) { check_.lost(peer); }
  bool waiting() const { return check_.waiting(); }
  bool answered(ReplicaId peer) const { return check_.answered(peer); }
  // Asks peers, and lets the core take part once a majority has answered.
  void check(Turn& turn);
  // While it waits: what a peer says that the disk lacks, as a sentence; empty: none does.
  std::string claim(const raft::Core& core) const {
    return waiting() ? check_.claim(core.configuration(), core.configuration_position()) : std::string();
  }
  // A sentence: the disk lacks something that the peer remembers, though this replica has taken part.
  std::optional<std::string> receive(const Hello& from, const RecallReply& reply, const raft::Core& core);
  void mend_log(Turn& turn);
  LaggingTime next_deadline() const { return check_.next_deadline(); }

  // ---- peers' disks. `member`: the hello of a peer accepted as a member, else null
  void receive(ReplicaId from, const RecallRequest& request, const Hello* hello, const Hello* member, const raft::Core& core,
               EngineEffects& effects);
  void turn_begins(const raft::Core* core);
  struct Claim {
    enum class What : uint8_t { Nothing, Campaign, Vote, Acknowledgement, Durable } what = What::Nothing;
    Term term;
    Position durable;
  };
  static Claim claim_of(const raft::Message& message);
  void note(ReplicaId from, const Hello* member, const Claim& claim, const raft::Core& core);
  void forget_nonmembers(const raft::Configuration& in_force, const raft::Configuration& applied);
  std::optional<std::vector<PeerMark>> take_changed() { return marks_.take_changed(); }

  // ---- sentences
  std::string why_waiting() const { return lost_.any() ? lost_.why_waiting() : std::string(); }
  void warnings(std::vector<std::string>& out) const {
    lost_.warnings(out);
    if (!check_.disbelief().empty()) out.push_back(check_.disbelief());
  }

 private:
  const Origin self_;
  RollbackCheck check_;
  PeerMarks marks_;
  LostEntries lost_;
  Term campaign_;  // in progress when the turn began; zero: none
};

}  // namespace coordkit::engine
