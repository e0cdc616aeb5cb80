// Port: a checkpoint of the applied state as a key-value table, written incrementally in the background.
//
// Data, applied position, membership, origins and timers change in one atomic unit (they must: tests named REG_F31). Keys are
// at most 64 bytes, made by the machines (fixed-width: machine, table, id); user keys live in values. Every value is
// stored with a checksum keyed by its key, and a digest over all rows is verified at open.
// Threads: called from the turn of one engine; completions are posted to the StateSink from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/types.h"

namespace coordkit {

// What changed since the checkpoint before. A row without a value is deleted. A key appears at most once.
struct CheckpointBatch {
  struct Row {
    std::string key;
    std::optional<std::string> value;
    friend bool operator==(const Row&, const Row&) = default;
  };
  Position applied;  // the state is the one after exactly this entry
  std::vector<Row> rows;

  void put(std::string key, std::string value) { rows.push_back({std::move(key), std::move(value)}); }
  void erase(std::string key) { rows.push_back({std::move(key), std::nullopt}); }
};

// Reads one consistent checkpoint, key by key in ascending byte order.
class CheckpointView {
 public:
  using Visitor = absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)>;
  virtual ~CheckpointView() = default;
  virtual Position applied() const = 0;  // {0, 0}: empty, nothing was ever checkpointed
  // Visits every row whose key starts with `prefix`; stops at the first error, the visitor's or kDataLoss of its own.
  virtual absl::Status scan(std::string_view prefix, Visitor visit) const = 0;
};

// Where a StateStore reports. Callable from any thread; never blocks.
class StateSink {
 public:
  virtual ~StateSink() = default;
  virtual void checkpointed(Position applied) = 0;       // that batch is durable
  virtual void checkpoint_failed(absl::Status why) = 0;  // final: the replica halts
};

class StateStore {
 public:
  virtual ~StateStore() = default;
  // Opens, verifies every row and the digest; may block. kDataLoss: rotten (quarantine). kFailedPrecondition: foreign.
  virtual absl::StatusOr<Position> open(StateSink& sink) = 0;
  // Starts writing one batch; at most one is under way. Never blocks.
  virtual void commit(CheckpointBatch batch) = 0;
  // The last durable checkpoint as it is now; later commits do not change it. May block; not called in a turn.
  virtual absl::StatusOr<std::unique_ptr<CheckpointView>> view() = 0;
  // Ends all threads of the store; no completion is posted once this has returned. Idempotent; may block.
  virtual void close() = 0;
};

}  // namespace coordkit
