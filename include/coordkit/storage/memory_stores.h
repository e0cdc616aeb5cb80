// Stores that live in memory: for unit tests and examples, never for production.
//
// A "restart" is calling open() again on the same object. Completed work is still there, other work
// is gone, exactly as after a power cut. With StoreCompletion::OnDemand a test decides when (and
// whether) the "disk" finishes.
//
// Threads: callable from any. Completions are posted on the calling thread, after the store's own
// lock was released.
// Example: tests/unit/storage/memory_stores_test.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/ports/state_store.h"

namespace COORDKIT_EXPORT coordkit {

// When a memory store finishes its work.
enum class StoreCompletion : uint8_t {
  Immediate,  // every operation completes inside the call that starts it
  OnDemand,   // operations complete in complete_one() and complete_all() only
};

// A log in memory: see above.
class MemoryLogStore final : public LogStore {
 public:
  // `store` is the identity that open() answers; every open() raises the boot counter.
  explicit MemoryLogStore(StoreId store, StoreCompletion completion = StoreCompletion::Immediate)
      : store_(store), completion_(completion) {}

  absl::StatusOr<RecoveredLog> open(LogSink& sink) override;
  void submit(LogWrite write) override;
  void read(Index first, Index last, size_t bytes_max) override;
  void compact(Position through) override;
  void close() override;

  // Completes the oldest write in progress; false if there is none.
  bool complete_one();
  void complete_all();  // completes all writes in progress
  // From here on nothing completes, and the sink is notified once.
  void fail(absl::Status why);
  // As if the disk had lost its copy of this entry: it cannot be read, and the next open names it,
  // until it is repaired.
  void rot(Index index);
  size_t pending() const;  // writes in progress

 private:
  void perform(const LogWrite& write);
  Index last() const { return durable_.empty() ? base_.index : durable_.back().index; }

  const StoreId store_;
  const StoreCompletion completion_;
  mutable std::mutex mutex_;
  LogSink* sink_ = nullptr;  // null while closed
  bool failed_ = false;
  BootCounter boot_;
  raft::HardState hard_state_;
  Position base_;
  std::vector<PeerMark> peers_;
  std::deque<raft::Entry> durable_;
  std::set<Index> rotten_;  // of durable_
  std::deque<LogWrite> pending_;
};

// A checkpoint in memory: see above.
class MemoryStateStore final : public StateStore {
 public:
  // Begins empty.
  explicit MemoryStateStore(StoreCompletion completion = StoreCompletion::Immediate);
  ~MemoryStateStore() override;

  absl::StatusOr<Position> open(StateSink& sink) override;
  void commit(CheckpointBatch batch) override;
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override;
  void install(Position applied, uint64_t digest) override;
  void unstage() override;
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override;  // copies all rows
  void close() override;

  // Completes the oldest operation in progress; false if there is none.
  bool complete_one();
  void complete_all();  // completes all operations in progress
  // From here on nothing completes, and the sink is notified once.
  void fail(absl::Status why);
  size_t pending() const;  // operations in progress

 private:
  struct Content;
  template <typename Operation>
  void start(Operation operation);

  const StoreCompletion completion_;
  mutable std::mutex mutex_;
  StateSink* sink_ = nullptr;
  bool failed_ = false;
  const std::unique_ptr<Content> content_;
};

}  // namespace coordkit
