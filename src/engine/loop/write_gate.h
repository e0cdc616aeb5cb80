// The writes to the log store and the messages that wait for them. The core numbers its own writes; that of the genesis comes
// before them. A message leaves when `after <= durable` (ARCHITECTURE.md, "One rule orders disk and network").
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/ring.h"
#include "coordkit/engine/engine.h"
#include "coordkit/raft/core.h"

namespace coordkit::engine {

class WriteGate {
 public:
  // The genesis, as the first write of all. `truncate_after`: in the place of another one.
  void bootstrap(GroupId group, raft::Genesis genesis, EngineEffects& effects, std::optional<Index> truncate_after = {});
  bool founding() const { return genesis_.has_value(); }
  std::optional<raft::Genesis> take_founded() { return std::exchange(genesis_, std::nullopt); }

  void submit(LogWrite write, LaggingTime now, EngineEffects& effects);
  // Reported by the store.
  void written(WriteNumber number, LaggingTime now);
  // The newest durable one of the core's own writes, in its own numbers; zero: none.
  WriteNumber durable_of_core() const;

  void send(raft::Send one, EngineEffects& effects);
  void release(std::vector<Outbound>& sends) { release(durable_, sends); }
  void release(WriteNumber durable, std::vector<Outbound>& sends);  // not more than it has submitted
  void clear();

  // FLT_P11. A sentence once the store has owed an answer for longer than `limit`; empty: it does not.
  std::string slow(LaggingTime now, Duration limit) const;

 private:
  WriteNumber to_store(WriteNumber core_number) const { return core_number + before_core_; }

  uint64_t before_core_ = 0;
  std::optional<raft::Genesis> genesis_;  // its write is under way
  struct Waiting {
    WriteNumber after;
    Outbound message;
  };
  Ring<Waiting> waiting_;  // for a write to be durable. I: ordered by what they wait for
  WriteNumber durable_;
  WriteNumber submitted_;             // the newest write
  std::optional<LaggingTime> since_;  // since when the store has owed an answer
};

}  // namespace coordkit::engine
