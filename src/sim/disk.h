// A node's disk: a log store and a state store as images in memory that know what survives a crash.
//
// Writes to one store become durable in order, each after a latency of its own; a crash keeps what is durable plus a random
// prefix of what was submitted and not yet synced. The images outlive every incarnation of the node. The chain of an entry
// sums up the entry and all before it, so "the same prefix" is one comparison for the observer.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/row_map.h"
#include "coordkit/log_store.h"
#include "coordkit/sim/options.h"
#include "coordkit/state_store.h"
#include "sim/world.h"

namespace coordkit::sim {

struct DiskQuality {
  Duration sync_min = std::chrono::microseconds(60);
  Duration sync_max = std::chrono::microseconds(400);
  uint64_t spike_per_million = 0;  // syncs that take `spike`
  Duration spike = std::chrono::milliseconds(200);
};

uint64_t chain_hash(uint64_t previous, const raft::Entry& entry);

// The content of a log at one moment.
struct LogImage {
  struct Record {
    raft::Entry entry;  // what was written
    uint64_t chain = 0;
    bool rotten = false;  // and what cannot be read any more
  };
  raft::HardState hard_state;
  std::map<Term, ReplicaId> votes;  // every one this store ever gave
  Position base;
  uint64_t base_chain = 0;
  std::deque<Record> records;
  std::vector<PeerMark> peers;

  Index first() const { return base.index.next(); }
  Index last() const { return base.index + records.size(); }
  bool contains(Index index) const { return index > base.index && index <= last(); }
  const Record& at(Index index) const { return records[index - base.index - 1]; }
  Term last_term() const { return records.empty() ? base.term : records.back().entry.term; }
  // Chain after `index`; the caller knows base <= index <= last.
  uint64_t chain(Index index) const { return index == base.index ? base_chain : at(index).chain; }

  void write(const LogWrite& write, uint64_t reset_chain = 0);  // of what it starts again after
  void rot(Index index);
  void forget(Position through);
  void reset(Position new_base, uint64_t chain);
};

class SimLogStore final : public LogStore {
 public:
  SimLogStore(World& world, uint32_t node, StoreId store, Random random)
      : world_(world), node_(node), store_(store), random_(random) {}

  absl::StatusOr<RecoveredLog> open(LogSink& sink) override;
  void submit(LogWrite write) override;
  void read(Index first, Index last, size_t bytes_max) override;
  void compact(Position through) override;
  void close() override { sink_ = nullptr; }

  // Events of the world. Events of an earlier boot are not for us.
  void synced(const Event& event);
  void read_done(const Event& event);
  // What the disk holds of this entry is lost: it cannot be read, and the next open names it, until it is repaired.
  void rot(Index index);
  // Power is gone: unsynced writes survive up to a random point.
  void crash();
  // Everything is gone, what was durable too; the replacement has another id. Only between two processes.
  void lose(StoreId replacement);
  // What a copy of the disk would hold, and the disk as it was when that was copied. Only between two processes.
  struct Image {
    LogImage log;
    BootCounter boot;
  };
  Image image() const { return {durable_, boot_}; }
  void restore(const Image& image);

  void set_quality(const DiskQuality& quality) { quality_ = quality; }
  void hurry();  // what is under way slowly goes on at the present quality
  void set_defects(const Defects& defects) { defects_ = defects; }
  // Knows the chain of a committed position: where a reset log starts again.
  void set_history(std::function<uint64_t(Position)> history) { history_ = std::move(history); }
  StoreId id() const { return store_; }
  // Whether this is that disk, with all it ever acknowledged.
  bool stands_for(StoreId store) const { return store == store_ && !set_back_; }
  BootCounter boot() const { return boot_; }
  const LogImage& durable() const { return durable_; }      // what a crash now is sure to leave
  const LogImage& submitted() const { return submitted_; }  // what the running process believes to have written
  WriteNumber durable_number() const { return durable_number_; }
  size_t unsynced() const { return pending_.size(); }

 private:
  struct Read {
    Index first;
    Index last;
    size_t bytes_max;
  };
  void persist(const LogWrite& write);

  World& world_;
  const uint32_t node_;
  StoreId store_;
  Random random_;
  DiskQuality quality_;
  Defects defects_;
  std::function<uint64_t(Position)> history_;
  LogSink* sink_ = nullptr;
  BootCounter boot_;
  uint32_t epoch_ = 0;  // of opens; a boot counter can be set back
  LogImage durable_;
  LogImage submitted_;
  bool set_back_ = false;
  WriteNumber durable_number_;
  std::deque<LogWrite> pending_;
  TrueTime last_sync_{};
  std::map<uint64_t, Read> reads_;
  uint64_t next_read_ = 1;
};

class SimStateStore final : public StateStore {
 public:
  SimStateStore(World& world, uint32_t node, Random random) : world_(world), node_(node), random_(random) {}

  absl::StatusOr<Position> open(StateSink& sink) override;
  void commit(CheckpointBatch batch) override;
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override;
  void install(Position applied, uint64_t digest) override;
  void unstage() override;
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override;
  void close() override { sink_ = nullptr; }

  void synced(const Event& event);
  // Power is gone: what is staged is lost, and what was under way survives up to a random point.
  void crash();
  void lose() { rows_ = RowMap(); }  // everything; only between two processes
  const RowMap& image() const { return rows_; }
  void restore(const RowMap& image) { rows_ = image; }

  void set_quality(const DiskQuality& quality) { quality_ = quality; }
  void hurry();
  Position applied() const { return rows_.applied(); }
  const RowsByKey& rows() const { return rows_.rows(); }

 private:
  struct Pending {
    uint64_t number;
    StateOperation operation;
  };
  void start(StateOperation operation);

  World& world_;
  const uint32_t node_;
  Random random_;
  DiskQuality quality_;
  StateSink* sink_ = nullptr;
  uint32_t epoch_ = 0;
  RowMap rows_;
  std::deque<Pending> pending_;
  TrueTime last_sync_{};
  uint64_t started_ = 0;  // operations ever; numbers them
};

}  // namespace coordkit::sim
