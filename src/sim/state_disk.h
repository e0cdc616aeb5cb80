// A node's state store: a model in memory of atomic commits, each after its own latency. It outlives every
// incarnation of the node; a crash keeps what was committed, and a random prefix of what was in progress.
//
// Rows may rot (FLT_D08). Each is stored with its sum, so a damaged one is detected whenever it is read: by a view, by an
// open, which reads everything, and in staged rows by the install. A row that is rewritten is whole again, and so is
// everything once a whole batch was committed. Rot may pass with the process: then it was in what was read, not on the disk. A
// disk may be full for a while (FLT_D04).
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/row_map.h"
#include "coordkit/state_store.h"
#include "sim/disk.h"
#include "sim/world.h"

namespace coordkit::sim {

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
  // What is staged is lost, and operations in progress survive up to a random point.
  void crash();
  void set_errors(uint64_t per_million) { errors_per_million_ = per_million; }  // of commits and the like; the first is final
  void set_full(bool full);                                                     // commits and the like wait
  bool failed() const { return failed_; }                                       // a write failed, and ended the process
  bool rot();          // a row, or what is staged; false: nothing stored
  bool rot_passing();  // a row, until it is written again or the process ends
  bool rots() const { return !rotten_.empty() || !passing_.empty(); }
  bool intact() const { return rotten_.empty() && !gone_; }
  // Its files are gone. Only between two processes; false: there are none.
  bool lose_files();
  void stands_again() { gone_ = false; }  // the log had everything needed to rebuild it
  void lose() { restore(RowMap()); }      // everything; only between two processes
  const RowMap& image() const { return rows_; }
  void restore(const RowMap& image) {
    rows_ = image;
    whole_again();
    gone_ = false;
  }

  void set_quality(const DiskQuality& quality) { quality_ = quality; }
  void hurry();
  Position applied() const { return rows_.applied(); }
  bool installed() const { return rows_.installed(); }
  const RowsByKey& rows() const { return rows_.rows(); }

 private:
  struct Pending {
    uint64_t number;
    StateOperation operation;
  };
  class View;
  void start(StateOperation operation);
  StateReport perform(StateOperation operation);
  StateReport perform_one(CheckpointBatch& batch);
  StateReport perform_one(StageRows& stage);
  StateReport perform_one(InstallStaged& install);
  StateReport perform_one(Unstage& unstage);
  absl::Status verify(std::string_view key) const;
  void whole_again() {
    rotten_.clear();
    passing_.clear();
  }
  void tell_waiting(bool waits);

  World& world_;
  const uint32_t node_;
  Random random_;
  DiskQuality quality_;
  StateSink* sink_ = nullptr;
  uint32_t epoch_ = 0;
  RowMap rows_;
  std::set<std::string, std::less<>> rotten_;   // keys
  std::set<std::string, std::less<>> passing_;  // keys
  bool gone_ = false;                           // rows that were committed
  bool staged_ = false;                         // something is staged
  bool staged_rotten_ = false;
  std::deque<Pending> pending_;
  TrueTime last_sync_{};
  uint64_t started_ = 0;  // operations ever; numbers them
  uint64_t errors_per_million_ = 0;
  bool failed_ = false;
  bool full_ = false;
  bool waits_ = false;  // as reported to the sink
};

}  // namespace coordkit::sim
