// All that one replica has gone through since its start, with a real engine behind it. A life is a number; an input leads to
// another one. Engines cannot be copied, so a new life is replayed from its start; each only once. Two lives that differ
// only in the order of two greetings to which the engine did not react are one.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "coordkit/engine/engine.h"
#include "initialization.h"

namespace coordkit::explore {

using Number = uint32_t;

std::vector<Peer> members_of(List list);

struct InitializationDisk {
  StoreId store;
  BootCounter boot;  // of the last start
  raft::HardState hard_state = {};
  std::vector<raft::Entry> entries = {};
  std::vector<PeerMark> peers = {};
  List list = List::Right;  // of the next start

  void apply(const LogWrite& write);
  friend bool operator==(const InitializationDisk&, const InitializationDisk&) = default;
};

struct Durable {  // its oldest write is
  friend bool operator==(const Durable&, const Durable&) = default;
};
using InitializationInput = std::variant<Hello, std::pair<ReplicaId, GenesisOffer>, Durable>;

struct Life {
  ReplicaId id;
  Number start = 0;                                        // the disk it began with
  std::vector<Number> inputs;                              // since then
  Number before = 0;                                       // the life without the last input
  bool silent = true;                                      // after the last input it wrote and sent nothing
  std::vector<LogWrite> writes;                            // submitted since then
  std::deque<LogWrite> pending;                            // those not reported durable
  std::vector<std::pair<ReplicaId, GenesisOffer>> offers;  // sent by the last input
  ClusterId cluster;                                       // whose genesis is in force here; zero: none
  std::vector<ReplicaId> voters;                           // of that
  std::string halted;
};

class Lives {
 public:
  static constexpr uint64_t kReplicas = 3;

  Number begin(ReplicaId id, InitializationDisk disk);  // the boot counter is raised here
  Number after(Number life, const InitializationInput& input);
  const Life& operator[](Number life) const { return lives_[life]; }
  const std::vector<LogWrite>& writes_of(Number life) const { return lives_[life].writes; }
  const InitializationDisk& start_of(Number life) const { return disks_[lives_[life].start]; }
  size_t size() const { return lives_.size(); }

 private:
  Number live(ReplicaId id, Number start, std::vector<Number> inputs);
  bool swaps(Number life, Number input) const;
  Number number_of(const InitializationInput& input);
  Number number_of(InitializationDisk disk);

  std::vector<InitializationDisk> disks_;
  std::vector<InitializationInput> inputs_;
  std::deque<Life> lives_;
  std::map<std::pair<ReplicaId, Number>, Number> begun_;
  std::map<std::pair<Number, Number>, Number> next_;  // life and input
};

}  // namespace coordkit::explore
