// The promises of replicas to each other, as the world saw them: votes, acknowledgements and starts. Each has the replica that
// learned of it and whether that one must still know. A disk that is rolled back to an earlier image forgets some of them, and
// this class learns which.
//
// Nothing is compared that replicas compare. A disk holds a vote if it had given it by then. It holds what it acknowledged if
// it knows the term of that leader and the very entry is there with all before it. So the simulator may roll back any disk at
// any time. The invariant (INV_R23): such a replica takes part in nothing if one of those that answered it had learned of
// something forgotten, had it on its own disk or was never stopped since. One that forgot nothing others had learned continues,
// and the other invariants judge the result. The rest is beyond the promise (docs/decisions/0017).
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "coordkit/engine/engine.h"
#include "sim/nodes/node.h"

namespace coordkit::sim {

class Promises {
 public:
  Promises(const World& world, const std::vector<std::unique_ptr<Node>>& nodes) : world_(world), nodes_(nodes) {}

  // In this order, for each turn of a node.
  void handles(uint32_t node, const EngineInput& input);  // before it
  void turned(uint32_t node);                             // the engine's part is done
  void writes(uint32_t node, WriteNumber number);
  void synced(uint32_t node);

  void started(uint32_t node);
  void stopped(uint32_t node);
  struct Disk {
    const LogImage& log;
    Position state;
    BootCounter boot;
    TrueTime at{};        // when it was in that state; zero: not known
    PeerMark lacks = {};  // what it knows it has lost, by its own account
  };
  void set_back(uint32_t node, Disk now);  // called before the rollback

  // The verdict on a disk that was rolled back, once its replica takes part again.
  enum class Verdict : uint8_t {
    Whole,    // no other replica had learned of anything missing
    Unknown,  // one had, but none that answered must know of it
    Known,    // one that answered knew: must never happen
    Unasked,  // those that answered were no majority: neither must this
  };
  Verdict judge(uint32_t node) const;
  void stands_again(uint32_t node) { forgotten_.erase(nodes_[node]->stores().log().id()); }

 private:
  struct Promise {
    enum class Kind : uint8_t { Vote, Holds, Start } kind = Kind::Vote;
    Term term;
    ReplicaId vote;
    Index match;
    uint64_t chain = 0;  // of the entry; zero: not known
    BootCounter boot;
    uint32_t by = 0;
    uint32_t learned_by = 0;  // the promising node itself: relied on by itself
    StoreId listener;
    uint32_t epoch = 0;  // of the process that learned of it
    uint64_t turn = 0;   // in which it did
    TrueTime at{};
    bool counts = false;   // for the listener, whose configuration names that disk
    WriteNumber rides_on;  // the write after it; zero: none yet
    bool stored = false;   // that write is durable
  };
  struct GivenAnswer {  // an answer as it was given: by which disk, and which members it said to be settled
    StoreId store;
    raft::Configuration members;
    bool operator==(const GivenAnswer&) const = default;
  };
  bool relied_on(uint32_t node, const Promise& promise) const;
  static bool held(const Promise& promise, const Disk& disk);
  void hear(uint32_t node, uint32_t from, Promise promise);
  void hear(uint32_t node, uint32_t from, const Message& message);
  void learned_late(StoreId store, const Promise& promise);
  uint64_t chain_at(uint32_t node, Index index) const;
  bool knows(const Promise& promise) const;
  bool majority_answered(uint32_t node) const;
  static bool outlived(const Promise& promise, BootCounter boot);
  bool lists(uint32_t node, uint32_t other) const;

  const World& world_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  std::map<StoreId, std::vector<Promise>> promises_;                       // by the store that gave them
  std::map<std::tuple<StoreId, uint32_t, Promise::Kind>, size_t> newest_;  // of them, by the node that learned of it
  std::map<uint32_t, std::vector<std::pair<StoreId, size_t>>> new_;        // learned by this process, not yet durable there
  std::map<StoreId, std::vector<Promise>> forgotten_;                      // of disks that were rolled back
  std::map<uint32_t, std::set<uint32_t>> answered_;                        // the nodes that answered this process
  std::map<uint32_t, std::map<uint32_t, std::vector<GivenAnswer>>> given_;         // and what it was told, by whom
};

}  // namespace coordkit::sim
