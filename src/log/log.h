// The segmented log over a FileSystem. It is synchronous and has no threads and no clock. The caller appends a batch, syncs
// it, and may then call it durable. When idle, the caller appends a mark. Everything else is in here: rolling to the next
// segment, recycling, recovery, and the rewrite of the tail after an open.
//
// Failure: the first error that leaves the state of the disk in doubt is final; every later call returns it. The exception is
// the next segment, until it has its name. kResourceExhausted says that it lacks space or descriptors, and kUnavailable that
// its file has an error. Then nothing was written, and the caller may retry the same append (may_retry()). A disk on which
// no file can be made at kSegmentTriesMax tries is taken to be lost.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/ports/file_system.h"
#include "coordkit/ports/log_store.h"
#include "log/batch.h"
#include "log/entry_index.h"
#include "log/kept_peer_marks.h"
#include "log/log_options.h"
#include "log/record_reader.h"
#include "log/recovery.h"
#include "log/segment.h"
#include "log/spare_segments.h"

namespace coordkit::log {

struct OpenedLog;

class Log {
 public:
  static constexpr int kSegmentTriesMax = 100;  // ten seconds, as a store tries again

  // Recovers, rewrites everything that is not known to be durable into a new segment, and only then returns.
  static absl::StatusOr<OpenedLog> open(FileSystem& files, const LogOptions& options);

  // Writes all steps as one batch; not durable yet. Entries must be contiguous and intact.
  absl::Status append(std::span<const LogWrite> steps);
  bool fits(std::span<const LogWrite> steps) const;  // without another segment
  absl::Status append_mark() { return append({}); }  // a segment keeps some room for marks
  absl::Status sync();  // of everything appended; then recycles the segments that compaction has freed

  // Whether a mark would tell recovery anything new: no mark is above the last batch yet, or freed space waits for recycling.
  bool progress_due() const { return mark_due_; }

  absl::StatusOr<std::vector<raft::Entry>> read(Index first, Index last, size_t bytes_max);
  // Verifies entries from `from` on as read() does, and the headers of their segments, until `bytes_max` are read. A copy of
  // a header that does not verify is rewritten. If that fails in the segment in use, the failure is final (log_scrub.cc).
  LogScrub scrub(Index from, size_t bytes_max);
  // Checks that every segment still has its name. Without one, the next start would miss all that is written: that is final.
  absl::Status look_for_files();
  // The bytes that only this entry needs. nullopt: there are none, or the entry is not in the log, or it is damaged.
  std::optional<DiskRange> place(Index index) const;

  // Entries up to `through` are no longer needed. Their segments are recycled by the first sync after the next append.
  absl::Status compact(Position through);

  // The caller makes spares at leisure: where one is wanted, it runs a SpareMaker and adds what that has made. An error of a
  // spare costs the log nothing else.
  SpareSegments& spares() { return spares_; }

  const LogState& state() const { return state_; }
  DiskPosition durable() const { return durable_; }         // synced up to here; the next batch carries it as its mark
  const absl::Status& failure() const { return failure_; }  // not ok: the final one
  bool may_retry(const absl::Status& status) const {        // `status`: of an append
    return failure_.ok() && (absl::IsResourceExhausted(status) || absl::IsUnavailable(status));
  }
  uint64_t bytes_left() const { return in_use_.capacity - in_use_.end; }  // of the segment in use
  uint64_t bytes_on_disk() const;                                         // segments and spares
  uint64_t bytes_written() const { return bytes_written_; }  // since the open, with headers and padding, but no spares
  size_t index_bytes() const { return index_.memory_bytes(); }

 private:
  struct Segment {
    uint64_t capacity = 0;
    std::unique_ptr<File> file;
    std::optional<SegmentHeader> header;  // nullopt: it was lost before the open
  };

  struct SegmentInUse {
    uint32_t segment = 0;
    uint32_t format = 1;
    uint64_t capacity = 0;
    uint32_t end = 0;  // of its last batch
    DiskPosition place() const { return {segment, end}; }
  };

  Log(FileSystem& files, const LogOptions& options) : files_(files), options_(options), spares_(files, options_) {}
  absl::Status start(const Recovery& recovery);  // log_open.cc
  SegmentHeader plan(const Recovery& recovery, DiskPosition from);
  absl::Status rewrite(const Recovery& recovery, SegmentHeader header, DiskPosition from);
  absl::Status remove_unfinished(const Recovery& recovery);
  absl::Status clean_up(const Recovery& recovery);
  absl::Status check(std::span<const LogWrite> steps) const;
  absl::Status keep_needed_repairs(std::span<LogWrite> steps) const;
  absl::Status write_batch(std::span<const LogWrite> steps);
  absl::Status fill(std::span<const LogWrite> steps);
  absl::Status roll(size_t batch_bytes);
  absl::StatusOr<SpareSegments::Open> next_spare(uint64_t bytes);
  absl::StatusOr<Segment> next_segment(uint64_t bytes, uint32_t& spare);
  absl::StatusOr<raft::Entry> read_one(Index index, RecordReader& reader) const;
  void advance(std::span<const LogWrite> steps, std::span<const Placed> placed, uint32_t batch_bytes);
  void truncate(Index keep);
  absl::Status recycle();
  absl::Status final_failure(absl::Status status);
  RecordKey key(uint32_t segment) const { return {options_.store, segment}; }
  Position position_of(Index index) const;

  FileSystem& files_;
  const LogOptions options_;
  absl::Status failure_;  // set once

  LogState state_;
  std::vector<Identity> previous_;  // entries of the newest batch
  EntryIndex index_;                // I: of the entries after state_.base, up to state_.last
  KeptPeerMarks peers_;
  std::map<uint32_t, Segment> segments_;
  SpareSegments spares_;

  SegmentInUse in_use_;
  uint32_t next_format_ = 1;            // of the segment after the one in use
  DiskPosition durable_;                // synced up to here
  uint32_t first_segment_durable_ = 1;  // segments below it may be recycled
  bool mark_due_ = false;
  uint64_t bytes_written_ = 0;
};

struct OpenedLog {
  std::unique_ptr<Log> log;
  raft::HardState hard_state;
  Position base;
  std::vector<raft::Entry> entries;
  std::vector<DamagedEntry> damaged;
  std::vector<PeerMark> peers;
};

}  // namespace coordkit::log
