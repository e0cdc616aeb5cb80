// The disk of a node's log: the real segmented log, byte by byte, and beside it the model of what these bytes must hold. It
// outlives every incarnation of the node.
//
// After a crash the model allows what was durable plus some prefix of what was submitted and not yet synced, and real
// recovery must find just that (INV_S01).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/sim/sim_options.h"
#include "sim/faults/log_damage.h"
#include "sim/world/log_image.h"
#include "sim/world/log_on_disk.h"

namespace coordkit::sim {

enum class CrashKind : uint8_t {
  Process,  // what it wrote to the system is still there for the next process
  Power,    // only what was synced is certain to remain
};

class LogDisk {
 public:
  LogDisk(uint32_t node, StoreId store, Random& random)
      : node_(node), store_(store), bytes_(random.fork()), damage_(bytes_, random) {}

  // Recovers from the bytes and throws a Violation if the model does not allow the result. An error: a fault is in
  // force. A disk that is not intact and has lost acknowledged writes without a trace opens as if it were rolled back.
  absl::StatusOr<RecoveredLog> open();
  // Written and synced as one batch. An error for which bytes().may_retry(): nothing was written, try again.
  absl::Status write(std::span<const LogWrite> batch);
  absl::Status write_mark() { return bytes_.write_mark(); }
  // After each sync, of a batch or of a mark: what the log was told to forget is gone for good.
  absl::Status persisted(TrueTime now);
  absl::Status compact(Position through);
  absl::StatusOr<std::vector<raft::Entry>> read(Index first, Index last, size_t bytes_max);
  // The process ends. These writes survive up to a random point.
  void end_process(CrashKind kind, std::vector<LogWrite> unwritten);

  // The whole disk, and the disk as it was when it was copied. Only between two processes.
  struct Image {
    SimFileSystem::Image files;
    LogImage log;
    std::vector<LogWrite> doubtful;
    Position compacted;
    StoreId store;
    BootCounter boot;
    bool had_log = false;
    log::DiskPosition marked;
  };
  Image image() const;
  void restore(const Image& image);
  // Everything is gone, durable data too; the replacement has another id. Only between two processes.
  void lose(StoreId replacement);

  StoreId id() const { return store_; }
  BootCounter boot() const { return boot_; }
  // Whether this is that disk, with everything it ever acknowledged.
  bool stands_for(StoreId store) const { return store == store_ && !set_back_; }
  bool was_set_back() const { return touched_; }        // ever
  void stand_again();                                   // it was rolled back, and lacks nothing that matters
  const LogImage& durable() const { return durable_; }  // what certainly survives a crash now
  Index compacted() const { return compacted_.index; }  // as far as the log was told to; the disk may lag
  struct Findings {
    bool unsynced = false;  // writes that were not known to be durable
    bool holes = false;
  };
  const Findings& found() const { return found_; }  // by the last open

  LogDamage& damage() { return damage_; }
  const LogDamage& damage() const { return damage_; }
  LogOnDisk& bytes() { return bytes_; }
  const LogOnDisk& bytes() const { return bytes_; }
  bool rots() const { return bytes_.passing() != 0; }
  bool rots_in_use() const { return bytes_.passing_after(compacted_.index); }       // compacted entries do not count
  void lose_power_in_open(uint64_t calls) { bytes_.files().die_after(calls + 1); }  // in the next, if it makes that many

  // Knows the chain of a committed position, where a reset log restarts.
  void set_history(std::function<uint64_t(Position)> history) { history_ = std::move(history); }
  uint64_t reset_chain(const LogWrite& write) const { return write.reset_to ? history_(*write.reset_to) : 0; }
  // Called with what an open has found when acknowledged writes are missing without a trace: equivalent to a rollback.
  void set_forgetful(std::function<void(const Image&)> forgets) { forgets_ = std::move(forgets); }
  void set_defects(const Defects& defects) { defects_ = defects; }
  const Defects& defects() const { return defects_; }

 private:
  absl::Status accept(const log::OpenedLog& found);
  absl::Status accept_loss(const log::OpenedLog& found);
  void forget(const log::OpenedLog& found);
  void plant_defects(log::OpenedLog& found);

  const uint32_t node_;
  StoreId store_;
  BootCounter boot_;
  LogOnDisk bytes_;
  LogDamage damage_;
  LogImage durable_;
  std::vector<LogWrite> doubtful_;  // of dead processes: each crash leaves a prefix of them
  Position compacted_;
  bool had_log_ = false;  // as recorded in a file beside it
  bool set_back_ = false;
  bool touched_ = false;
  Findings found_;
  std::function<uint64_t(Position)> history_;
  std::function<void(const Image&)> forgets_;
  Defects defects_;
};

}  // namespace coordkit::sim
