// A node's log store: the queue of a process's writes, reads and marks before the disk of its log (log_disk.h), each after a
// latency of its own. It outlives every incarnation of the node.
//
// Writes to one store become durable in order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "base/random.h"
#include "coordkit/ports/log_store.h"
#include "sim/world/log_disk.h"
#include "sim/world/log_image.h"
#include "sim/world/world.h"
#include "sim/world/write_queue.h"

namespace coordkit::sim {

struct DiskQuality {
  Duration sync_min = std::chrono::microseconds(60);
  Duration sync_max = std::chrono::microseconds(400);
  uint64_t spike_per_million = 0;  // syncs that take `spike`
  Duration spike = std::chrono::milliseconds(200);

  Duration draw(Random& random) const;  // the duration of one sync
};

class SimLogStore final : public LogStore {
 public:
  SimLogStore(World& world, uint32_t node, StoreId store, Random random)
      : world_(world), node_(node), random_(random), disk_(node, store, random_) {}

  absl::StatusOr<RecoveredLog> open(LogSink& sink) override;
  void submit(LogWrite write) override;
  void read(Index first, Index last, size_t bytes_max) override;
  void scrub(Index from, std::function<void(LogScrub)> done) override;
  void compact(Position through) override;
  void close() override { sink_ = nullptr; }

  // Events of the world. Events of an earlier boot are ignored.
  void synced(const Event& event);
  void read_done(const Event& event);
  void idle(const Event& event);
  // Unsynced writes survive up to a random point.
  void crash(CrashKind kind);
  // The disk as it was when it was copied, and a blank one. Only between two processes.
  void restore(const LogDisk::Image& image);
  void lose(StoreId replacement);

  void set_quality(const DiskQuality& quality) { quality_ = quality; }
  void hurry();                     // slow writes in progress continue at the present quality
  bool rot_passing(Index applied);  // an entry up to here, until the process ends; false: none
  bool failed() const { return failed_; }
  WriteNumber durable_number() const { return writes_.durable(); }  // of this process
  const LogImage& submitted() const { return submitted_; }          // what the running process believes it has written
  size_t unsynced() const { return writes_.size(); }

  LogDisk& disk() { return disk_; }
  const LogDisk& disk() const { return disk_; }
  // About the disk; observers ask this all the time.
  StoreId id() const { return disk_.id(); }
  BootCounter boot() const { return disk_.boot(); }
  bool stands_for(StoreId store) const { return disk_.stands_for(store); }
  const LogImage& durable() const { return disk_.durable(); }

 private:
  struct Read {
    Index first;
    Index last;
    size_t bytes_max;
    WriteNumber after;  // sees every earlier write
  };
  struct Compaction {
    Position through;
    WriteNumber after;  // behind the writes up to here
  };
  void schedule(TrueTime at, EventKind kind, uint64_t item) { world_.schedule(at, kind, node_, epoch_, item); }
  void write_batch();
  void persisted();
  void mark_later(TrueTime at);
  void try_compact();
  void report(LogSpace space);
  void report_wait(absl::Status why);  // for something other than room; OK: no more
  void report_spare(const absl::Status& why);
  void fail(absl::Status why);

  World& world_;
  const uint32_t node_;
  Random random_;
  LogDisk disk_;
  DiskQuality quality_;
  LogSink* sink_ = nullptr;
  uint32_t epoch_ = 0;  // of opens; a boot counter can be rolled back
  LogImage submitted_;
  WriteQueue writes_;
  std::optional<Compaction> compaction_;  // wanted
  std::optional<TrueTime> mark_at_;       // scheduled; when the log will have been idle for long enough
  struct Reported {                           // the sink
    LogSpace space = LogSpace::Ample;
    absl::Status waits, spare_fails;
  } reported_;
  bool failed_ = false;
  std::map<uint64_t, Read> reads_;
  uint64_t next_read_ = 1;
};

}  // namespace coordkit::sim
