// A node's state store: a model in memory of atomic commits, each after its own latency. It outlives every
// incarnation of the node; a crash keeps what was committed, and a random prefix of what was in progress.
//
// All rot is on its disk (rows_on_disk.h). A disk may be full for a while (FLT_D04). A write may fail, with or without
// effect: then only a whole batch changes what is stored, and where that fails too, another one is asked for after a pause
// (FLT_D22).
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/row_map.h"
#include "coordkit/ports/state_store.h"
#include "sim/world/disk.h"
#include "sim/world/rows_on_disk.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class SimStateStore final : public StateStore {
 public:
  SimStateStore(World& world, uint32_t node, Random random) : world_(world), node_(node), random_(random), disk_(random_) {}

  absl::StatusOr<Position> open(StateSink& sink) override;
  void commit(CheckpointBatch batch) override;
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override;
  void install(Position applied, uint64_t digest) override;
  void unstage() override;
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override { return disk_.view(); }
  void close() override { sink_ = nullptr; }

  void synced(const Event& event);
  // Staged rows are lost, and operations in progress survive up to a random point.
  void crash();
  void set_errors(uint64_t per_million) { errors_.per_million = per_million; }  // of commits and the like
  void fail_next(uint64_t count) { errors_.left = count; }                      // so many of them, until the process ends
  void set_full(bool full);                                                     // commits and the like wait
  bool in_doubt() const { return doubt_.any; }                                  // one failed, and nothing whole came since

  void set_quality(const DiskQuality& quality) { quality_ = quality; }
  void hurry();  // slow writes in progress continue at the present quality
  RowsOnDisk& disk() { return disk_; }
  const RowsOnDisk& disk() const { return disk_; }
  Position applied() const { return disk_.applied(); }  // what certainly survives a crash now

 private:
  struct Pending {
    uint64_t number;
    StateOperation operation;
  };
  void start(StateOperation operation);
  std::deque<Pending>::iterator next();
  void perform(StateOperation operation);
  void fail(StateOperation operation);
  void doubt();
  void tell_waiting(bool waits);

  World& world_;
  const uint32_t node_;
  Random random_;
  RowsOnDisk disk_;
  DiskQuality quality_;
  StateSink* sink_ = nullptr;
  uint32_t epoch_ = 0;
  std::deque<Pending> pending_;
  TrueTime last_sync_{};
  uint64_t started_ = 0;  // operations ever; numbers them
  struct Errors {
    uint64_t per_million = 0;
    uint64_t left = 0;
  } errors_;
  struct Doubt {
    bool any = false;
    bool pauses = false;  // after a whole batch that failed
    Duration pause{};     // the last one
  } doubt_;
  bool full_ = false;
  bool waits_ = false;  // as reported to the sink
};

}  // namespace coordkit::sim
