// What replicas have promised each other, as the world saw it: votes, acknowledgements and starts, each with who heard of it
// and whether that one still must know. A disk that is set back to an earlier image forgets some of them, and here is told
// which.
//
// Nothing is compared that replicas compare: a disk holds a vote if it had given it by then, and what it acknowledged if it
// knows the term of that leader and the very entry is there with all before it. So the simulator may set back any disk at any
// time. What must hold of it (INV_R23): such a replica takes part in nothing if one of those that answered it had heard of
// something forgotten, had it on its own disk or was never stopped since. Who forgot nothing that anybody had heard goes on,
// and the other invariants judge what comes of it. The rest is beyond the promise (docs/decisions/0017).
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "coordkit/engine.h"
#include "sim/node.h"

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
    TrueTime at{};        // when it was that; zero: not known
    PeerMark lacks = {};  // what it knows that it has lost, as it says itself
  };
  void set_back(uint32_t node, Disk now);  // before it is

  // Of a disk that was set back, once its replica takes part again.
  enum class Verdict : uint8_t {
    Whole,    // nobody had heard of anything that is missing
    Unknown,  // somebody had, but nobody who answered must know of it
    Told,     // who answered knew: never to be
  };
  Verdict judge(uint32_t node) const;
  void stands_again(uint32_t node) { forgotten_.erase(nodes_[node]->log().id()); }

 private:
  struct Promise {
    enum class Kind : uint8_t { Vote, Holds, Start } kind = Kind::Vote;
    Term term;
    ReplicaId vote;
    Index match;
    uint64_t chain = 0;  // of the entry; zero: not known
    BootCounter boot;
    uint32_t by = 0;
    uint32_t heard_by = 0;  // the one who promised: relied on by itself
    StoreId listener;
    uint32_t epoch = 0;  // of the process that heard
    uint64_t turn = 0;   // in which it did
    TrueTime at{};
    bool counts = false;   // for the listener, who goes by a configuration that names that disk
    WriteNumber rides_on;  // the write after it; zero: none yet
    bool stored = false;   // and that is durable
  };
  bool relied_on(uint32_t node, const Promise& promise) const;
  static bool held(const Promise& promise, const Disk& disk);
  void hear(uint32_t node, uint32_t from, Promise promise);
  void hear(uint32_t node, uint32_t from, const Message& message);
  void heard_late(StoreId store, const Promise& promise);
  uint64_t chain_at(uint32_t node, Index index) const;
  bool knows(const Promise& promise) const;
  static bool outlived(const Promise& promise, BootCounter boot);
  bool lists(uint32_t node, uint32_t other) const;

  const World& world_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  std::map<StoreId, std::vector<Promise>> promises_;                       // by who gave them
  std::map<std::tuple<StoreId, uint32_t, Promise::Kind>, size_t> newest_;  // of them, by who heard it
  std::map<uint32_t, std::vector<std::pair<StoreId, size_t>>> new_;        // heard by this process, not yet durable there
  std::map<StoreId, std::vector<Promise>> forgotten_;                      // of disks that were set back
  std::map<uint32_t, std::set<uint32_t>> answered_;                        // who told this process what it knows
};

}  // namespace coordkit::sim
