// A node's log: a store over the real segmented log, byte by byte, with a model beside it. It outlives every incarnation
// of the node.
//
// Writes to one store become durable in order, each after a latency of its own; after a crash the model allows what was
// durable plus some prefix of what was submitted and not yet synced, and real recovery must find just that (INV_S01). The
// chain of an entry sums up the entry and all before it, so "the same prefix" is one comparison for the observer.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/random.h"
#include "coordkit/log_store.h"
#include "coordkit/sim/options.h"
#include "sim/log_on_disk.h"
#include "sim/world.h"

namespace coordkit::sim {

struct DiskQuality {
  Duration sync_min = std::chrono::microseconds(60);
  Duration sync_max = std::chrono::microseconds(400);
  uint64_t spike_per_million = 0;  // syncs that take `spike`
  Duration spike = std::chrono::milliseconds(200);

  Duration draw(Random& random) const;  // the duration of one sync
};

uint64_t chain_hash(uint64_t previous, const raft::Entry& entry);

// The content of a log at one moment.
struct LogImage {
  struct Record {
    raft::Entry entry;  // what was written
    uint64_t chain = 0;
    bool rotten = false;  // and is no longer readable
  };
  raft::HardState hard_state;
  std::map<Term, ReplicaId> votes;  // all this store ever gave
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

  void write(const LogWrite& write, uint64_t reset_chain = 0);  // of the position it restarts after
  void rot(Index index);
  void forget(Position through);
  void reset(Position new_base, uint64_t chain);
};

enum class CrashKind : uint8_t {
  Process,  // what it wrote to the system is still there for the next process
  Power,    // only what was synced is certain to remain
};

class SimLogStore final : public LogStore {
 public:
  SimLogStore(World& world, uint32_t node, StoreId store, Random random)
      : world_(world), node_(node), store_(store), random_(random), bytes_(random_.fork()) {}

  // Recovers from the bytes and throws a Violation if the model does not allow the result. An error: a fault is in
  // force. A disk that is not intact() and has lost acknowledged writes without a trace opens as if it were rolled back.
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
  struct Image;
  // Everything is gone, durable data too; the replacement has another id. Only between two processes.
  void lose(StoreId replacement);
  // The whole disk, and the disk as it was when it was copied. Only between two processes.
  Image image() const;
  void restore(const Image& image);

  // Faults. Those that recovery can only detect, not undo, leave a disk that is not intact until it is found to be whole again.
  void set_faults(const FileFaults& faults);
  void lose_power_in_open(uint64_t calls) { bytes_.files().die_after(calls + 1); }  // in the next open, if it makes that many
  bool rot();                       // somewhere below the durable mark; false: nothing to rot yet
  bool misdirect();                 // the next write overwrites something else
  void rot(Index index);            // what the disk holds of this entry
  bool rot_passing(Index applied);  // an entry up to here, until the process ends; false: none
  bool rots() const { return bytes_.passing() != 0; }
  bool rots_in_use() const { return bytes_.passing_after(compacted_.index); }  // compacted entries do not count
  bool intact() const { return !rotten_ && !lost_; }
  bool found_unsynced() const { return found_unsynced_; }  // by the last open
  bool found_holes() const { return found_holes_; }        // by the last open
  bool rotten_only() const { return rotten_ && !lost_; }
  bool failed() const { return failed_; }
  uint64_t file_bytes() const { return bytes_.files().bytes(); }

  void set_quality(const DiskQuality& quality) { quality_ = quality; }
  void set_files(const LogFilesOptions& options) { bytes_.set_options(options); }
  void hurry();  // slow writes in progress continue at the present quality
  void set_defects(const Defects& defects) { defects_ = defects; }
  // Knows the chain of a committed position, where a reset log restarts.
  void set_history(std::function<uint64_t(Position)> history) { history_ = std::move(history); }
  StoreId id() const { return store_; }
  // Whether this is that disk, with everything it ever acknowledged.
  bool stands_for(StoreId store) const { return store == store_ && !set_back_; }
  bool was_set_back() const { return touched_; }  // ever
  void stand_again();                             // it was rolled back, and lacks nothing that matters
  // Some of its files are gone. Between two processes; false: there are none.
  enum class Files : uint8_t { All, Newest, Any };
  bool lose_files(Files which);
  // Called with what an open has found when acknowledged writes are missing without a trace: equivalent to a rollback.
  void set_forgetful(std::function<void(const Image&)> forgets) { forgets_ = std::move(forgets); }
  BootCounter boot() const { return boot_; }
  WriteNumber durable_number() const { return durable_number_; }  // of this process
  const LogImage& durable() const { return durable_; }            // what certainly survives a crash now
  const LogImage& submitted() const { return submitted_; }        // what the running process believes it has written
  size_t unsynced() const { return batch_.size() + pending_.size(); }

 private:
  struct Pending {
    LogWrite write;
    TrueTime due;
  };
  struct Read {
    Index first;
    Index last;
    size_t bytes_max;
    WriteNumber after;  // sees every earlier write
  };
  void plant_defects(log::OpenedLog& found);
  void forget(const log::OpenedLog& found);
  void schedule(TrueTime at, EventKind kind, uint64_t item);
  void write_batch();
  void persisted();
  void try_compact();
  void report(LogSpace space);
  void fail(absl::Status why);
  void answer(const Read& wanted);
  WriteNumber submitted_number() const;

  World& world_;
  const uint32_t node_;
  StoreId store_;
  Random random_;
  LogOnDisk bytes_;
  DiskQuality quality_;
  Defects defects_;
  std::function<uint64_t(Position)> history_;
  std::function<void(const Image&)> forgets_;
  LogSink* sink_ = nullptr;
  BootCounter boot_;
  uint32_t epoch_ = 0;  // of opens; a boot counter can be rolled back
  LogImage durable_;
  LogImage submitted_;
  bool set_back_ = false;
  bool touched_ = false;  // ever
  bool had_log_ = false;  // as recorded in a file beside it
  WriteNumber durable_number_;
  std::deque<Pending> pending_;
  std::vector<LogWrite> batch_;     // being written, or waiting for space
  std::vector<LogWrite> doubtful_;  // of dead processes: each crash leaves a prefix of them
  std::optional<Position> compact_wanted_;
  WriteNumber compact_after_;  // behind the writes up to here
  Position compacted_;         // as far as the log was told to; the disk may lag
  TrueTime last_sync_{};
  TrueTime mark_at_{};
  bool mark_scheduled_ = false;
  LogSpace space_ = LogSpace::Ample;
  bool failed_ = false;
  bool found_unsynced_ = false;
  bool found_holes_ = false;
  bool rotten_ = false;  // durable bytes were changed since it was last found to be whole
  bool lost_ = false;    // acknowledged ones were never written
  std::map<uint64_t, Read> reads_;
  uint64_t next_read_ = 1;
};

struct SimLogStore::Image {
  SimFileSystem::Image files;
  LogImage log;
  std::vector<LogWrite> doubtful;
  Position compacted;
  StoreId store;
  BootCounter boot;
  bool had_log = false;
  log::DiskPosition marked;
};

}  // namespace coordkit::sim
