// The real segmented log on a simulated file system: what SimLogStore keeps beside its model. It plays both threads of
// src/storage/log/log_disk.cc, one call at a time: batches are written and synced, the next segment is created piece by piece
// in between, and marks are written when the store is idle.
//
// It knows which bytes lie below the durable mark on disk: rot there is what recovery promises to detect.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "log/log.h"
#include "sim/world/file_system.h"
#include "sim/world/world.h"

namespace coordkit::sim {

struct LogFilesOptions {
  uint64_t segment_bytes = 256 << 10;
  uint64_t small_segment_bytes = 64 << 10;
  Duration idle_before_mark = std::chrono::milliseconds(20);
};

class LogOnDisk {
 public:
  explicit LogOnDisk(Random random) : random_(random), files_(random_.fork()) {}

  void set_options(const LogFilesOptions& options) { options_ = options; }
  const LogFilesOptions& options() const { return options_; }

  // The real recovery; once per process.
  absl::StatusOr<log::OpenedLog> open(StoreId store);
  // Written and synced as one batch. An error with may_retry(): nothing was written, try again.
  absl::Status write(std::span<const LogWrite> steps);
  absl::Status write_mark() { return write({}); }
  bool may_retry(const absl::Status& status) const { return log_->may_retry(status); }
  const absl::Status& failure() const { return log_->failure(); }  // not OK: the final one
  bool progress_due() const { return log_->progress_due(); }
  // Advances the creation of the next segment. Lack of space is reported through LogSpace, not as an error. A file with an
  // error is made again after a pause that doubles.
  absl::Status prepare(TrueTime now);
  // Why there is no spare although one is wanted, or was dropped since the last look. OK: nothing has failed.
  const absl::Status& look_at_spares();
  LogSpace space() const { return short_of_space_ ? LogSpace::Low : LogSpace::Ample; }
  absl::StatusOr<std::vector<raft::Entry>> read(Index first, Index last, size_t bytes_max) {
    return log_->read(first, last, bytes_max);
  }
  LogScrub scrub(Index from, size_t bytes_max) const { return log_->scrub(from, bytes_max); }
  absl::Status compact(Position through) { return log_->compact(through); }
  const log::LogState& state() const { return log_->state(); }

  // Calls for files that hold nothing yet: `after` of them succeed, then `count` fail, unless the process ends before.
  void fail_spares(uint64_t after, uint64_t count);

  // The process ends. It may have handed the first of these writes to the system, which does not mean to the disk.
  void end_process(std::span<const LogWrite> unwritten);
  void lose_power() { files_.lose_power(); }

  // Restores the disk to when its highest mark was this.
  void restore(const SimFileSystem::Image& files, const log::DiskPosition& marked);
  const log::DiskPosition& marked() const { return marked_; }

  SimFileSystem& files() { return files_; }
  const SimFileSystem& files() const { return files_; }

  struct Place {
    std::string name;
    size_t page = 0;
  };
  // A page in use below the durable mark. One copy of the newest segment's header is never chosen: if both were lost, nothing
  // could prove the vote.
  std::optional<Place> place_below_mark();
  // Makes the disk's newest copy of this entry unreadable.
  void rot(StoreId store, Index index);
  // The same until pass() undoes it, if the entry still exists. False: it is already damaged, or nowhere.
  bool rot_passing(Index index);
  void pass();
  bool rots(Index index) const { return passing_.contains(index); }
  size_t passing() const { return passing_.size(); }
  bool passing_after(Index index) const { return passing_.upper_bound(index) != passing_.end(); }
  void forget_passing(Index through) { passing_.erase(passing_.begin(), passing_.upper_bound(through)); }

 private:
  absl::Status spare_fails(absl::Status why, TrueTime now);

  Random random_;
  SimFileSystem files_;
  LogFilesOptions options_;
  std::unique_ptr<log::Log> log_;
  std::optional<log::SpareMaker> spare_;  // being created
  bool short_of_space_ = false;
  absl::Status spare_failure_;
  Duration spare_pause_{};  // before the next attempt, after one that failed
  TrueTime spare_again_at_{};
  log::DiskPosition marked_;  // the highest mark on disk
  struct Flipped {
    std::string file;
    uint64_t at = 0;
    std::string bytes;  // from there on, as they are now: no other entry needs them
  };
  std::map<Index, Flipped> passing_;
  struct Copy {  // of an entry
    std::string file;
    uint64_t at = 0;  // its record's header, in a run its payload
    uint64_t payload = 0;
  };
  std::optional<Copy> place_of(StoreId store, Index index) const;
};

}  // namespace coordkit::sim
