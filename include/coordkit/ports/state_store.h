// Port: a checkpoint of the applied state as a key-value table, written incrementally in the
// background.
//
// Data, applied position, membership, origins and timers change in one atomic unit (they must:
// tests named REG_F31). Keys are at most 64 bytes, made by the machines (fixed-width: machine,
// table, id); user keys live in values. Every value is stored with a checksum keyed by its key, and
// a digest over all rows is verified at open.
// A peer's whole state arrives as ranges of rows. They are staged beside the present rows, unseen,
// and install() makes them the state in one atomic, durable step. Every range of keys is staged
// once or more; keys that no range covered stay empty.
//
// Threads: calls that start work come from the turns of one engine, one at a time. open() comes
// before the first of them and close() after the last, on any thread. view() and scrub() are called
// on other threads in between. A view is read by one thread, and may outlive close(). Completions
// are posted to the StateSink from any thread.
// Lifetime: the sink outlives close().
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
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// The changes since the previous checkpoint. A row without a value is deleted. A key appears at
// most once.
struct CheckpointBatch {
  // One row that is put or, without a value, deleted.
  struct Row {
    std::string key;                   // 1 to kStateKeyBytesMax bytes
    std::optional<std::string> value;  // absent: the row is deleted
    friend bool operator==(const Row&, const Row&) = default;
  };
  Position applied;  // the state is the one right after this entry
  // In any order.
  std::vector<Row> rows;
  bool whole = false;  // the rows are the whole state: they replace all that is stored, in whatever
                       // condition it is

  // Both of these add a row. A caller names each key once.
  void put(std::string key, std::string value) { rows.push_back({std::move(key), std::move(value)}); }
  void erase(std::string key) { rows.push_back({std::move(key), std::nullopt}); }
};

// The keys after `after` (exclusive; empty: from the first) up to `upto` (inclusive; empty: to the
// last). If each range's `after` is the previous range's `upto`, the ranges cover every key once.
struct KeyRange {
  std::string after;  // exclusive; empty: from the first key
  std::string upto;   // inclusive; empty: to the last key

  // Whether the key lies in the range.
  bool contains(std::string_view key) const { return key > after && (upto.empty() || key <= upto); }
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

// The longest key of a row, in bytes.
inline constexpr size_t kStateKeyBytesMax = 64;

// The sum of a value, keyed by its key: XXH3-64 of the value, seeded with that of the key.
uint64_t value_sum(std::string_view key, std::string_view value);

// A sum over rows in any order. Adding and removing a row undo each other. Every store makes its
// digests with it.
struct RowDigest {
  uint64_t sum = 0;           // of the rows' hashes, modulo 2^64
  uint64_t exclusive_or = 0;  // of the same hashes
  uint64_t rows = 0;          // how many there are

  void add(std::string_view key, uint64_t value_sum);     // adds a row; `value_sum` is that of its
                                                          // value
  void remove(std::string_view key, uint64_t value_sum);  // undoes add() with the same arguments
  uint64_t value() const;                                 // all three in one number
  friend bool operator==(const RowDigest&, const RowDigest&) = default;
};

// Reads one consistent checkpoint, key by key in ascending byte order.
class CheckpointView {
 public:
  // Takes one row. The bytes live as long as the call. An error ends the scan.
  using Visitor = absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)>;
  virtual ~CheckpointView() = default;
  virtual Position applied() const = 0;  // {0, 0}: empty, nothing was ever checkpointed
  // True: this state was installed, and no batch was committed since. The log beside it may not
  // have started again after it yet. A log that lacks a state committed here has lost something.
  virtual bool installed() const = 0;
  // Visits every row whose key starts with `prefix`. Stops at the first error: the visitor's, or
  // kDataLoss of its own.
  virtual absl::Status scan(std::string_view prefix, Visitor visit) const = 0;
  // Visits every row in `range`, under the same rules.
  virtual absl::Status scan_range(const KeyRange& range, Visitor visit) const = 0;
  // RowDigest::value() over all rows: equal for equal rows, whatever the store and the order of
  // their arrival.
  virtual uint64_t digest() const = 0;
};

// The receiver of a StateStore's reports, in the order of the calls. Callable from any thread;
// never blocks.
class StateSink {
 public:
  virtual ~StateSink() = default;
  virtual void checkpointed(Position applied) = 0;  // that batch is durable
  virtual void staged(Ticket ticket) = 0;           // that range is staged; not durable
  virtual void installed(Position applied) = 0;     // durable: the staged rows are the state, and
                                                    // every later view shows them
  // The staged rows do not have that digest: the state is unchanged, and nothing is staged any
  // more.
  virtual void install_refused(Position applied, absl::Status why) = 0;
  virtual void checkpoint_failed(absl::Status why) = 0;  // by any call; final: the replica halts
  // The stored rows do not verify or are gone, or a write or sync of them failed, which leaves them
  // in doubt. Pending work is dropped and will not be answered. Until a whole batch
  // (CheckpointBatch::whole) is durable in a fresh place, later commits and installs are dropped
  // too, and staging waits: the state in memory is the truth. The store reports this again if the
  // whole batch fails, after a pause that grows.
  virtual void checkpoint_damaged(absl::Status why) { checkpoint_failed(std::move(why)); }
  // Pending work waits, because the disk is full (a sentence) or returns errors (kDataLoss). OK: it
  // continues.
  virtual void checkpoint_waits(absl::Status why) { static_cast<void>(why); }
};

class StateStore {
 public:
  virtual ~StateStore() = default;
  // Opens, verifies every row and the digest; may block. kDataLoss: rotten (quarantine).
  // kFailedPrecondition: foreign.
  virtual absl::StatusOr<Position> open(StateSink& sink) = 0;
  // Starts writing one batch. At most one is in progress, and never together with an install. Never
  // blocks.
  virtual void commit(CheckpointBatch batch) = 0;

  // Starts to put a peer's rows beside the present ones; they replace everything staged in `range`.
  // `rows` are ascending, inside the range, and each has a value (src/base/row_sums.h:
  // check_chunk). Staged rows do not survive an open. Never blocks; the caller bounds how many are
  // in progress.
  virtual void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) = 0;
  // Starts to make the staged rows the state at `applied`, if `digest` is theirs; later staging
  // starts from nothing. At most one is in progress, and never together with a commit. Views of the
  // previous state still show that state. Never blocks.
  virtual void install(Position applied, uint64_t digest) = 0;
  // Drops the rows that earlier calls staged; reports nothing. Never blocks.
  virtual void unstage() = 0;

  // The last durable checkpoint. Later commits and installs do not change it. May block; not called
  // in a turn.
  virtual absl::StatusOr<std::unique_ptr<CheckpointView>> view() = 0;
  // Reads and verifies all stored rows, in a view. kDataLoss: they are damaged. `pace` gets the
  // number of bytes read and may sleep; if it returns false, the scrub ends with kAborted. May
  // block for long; not called in a turn. The default verifies rows and digest.
  using Pace = absl::FunctionRef<bool(size_t bytes)>;
  // `pace` is called from inside, on the calling thread.
  virtual absl::Status scrub(Pace pace);
  // Ends all threads of the store. No completion is posted once this has returned. Idempotent; may
  // block.
  virtual void close() = 0;
};

}  // namespace coordkit
