// Port: makes the replicated log and the hard state durable. To check an implementation of your
// own, run the conformance suite in coordkit/testing/log_store_suite.h.
//
// Threads: submit(), read() and compact() are called from the turns of one engine, one at a time.
// open() comes before the first of them and close() after the last, on any thread. scrub() runs in
// between, on a thread of its own. Completions are posted to the LogSink from any thread, also from
// inside a call.
// Lifetime: the sink outlives close().
// Errors: after one failed sync nothing later is attempted, ever. The store reports that once
// through log_failed().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/peer_mark.h"
#include "coordkit/raft/entry.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// One atomic step of the log, in this order: hard state, reset, truncation, entries, repairs,
// marks. All parts become durable together, or the store fails. Entries are contiguous. They start
// right after the reset's base, the truncation point or the current end.
struct LogWrite {
  WriteNumber number;  // from 1, rising by one
  // Absent: unchanged.
  std::optional<raft::HardState> hard_state = {};
  std::optional<Position> reset_to = {};     // discard the whole log and start again after this: a
                                             // peer's state was installed
  std::optional<Index> truncate_after = {};  // drop every entry with a larger index first
  std::vector<raft::Entry> entries = {};     // appended; empty: none
  // Intact entries that replace damaged ones, any of them in ascending order; nothing else of the
  // log changes. Each matches its content sum and all that is known of the damaged entry. Repairs
  // of entries that are not damaged, or no longer, are skipped.
  std::vector<raft::Entry> repairs = {};
  std::optional<std::vector<PeerMark>> peers = {};  // replaces all stored marks; at most
                                                    // kPeerMarksMax
  // The cluster's level, as applied here. From now on the store may write in forms that builds of a
  // lower level cannot read. Never falls.
  uint64_t feature_level = 0;

  friend bool operator==(const LogWrite&, const LogWrite&) = default;
};

// The most marks that one LogWrite may have.
inline constexpr size_t kPeerMarksMax = 1024;

// How much room the log's disk has left.
enum class LogSpace : uint8_t {
  Ample,
  Low,   // there is no space for the next segment: refuse new proposals
  Full,  // writes wait for space
};

// The receiver of a LogStore's reports. Implemented by the engine's host; callable from any thread;
// never blocks.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // Everything up to and including this write is durable. Numbers only grow; intermediate ones may
  // be skipped.
  virtual void written(WriteNumber number) = 0;
  // The answer to read(): entries from `first` on, possibly fewer than requested. Without an error
  // there is at least one.
  virtual void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) = 0;
  // The store has failed for good. Nothing after the last written() may be taken as durable.
  virtual void log_failed(absl::Status why) = 0;
  // The room changed. A store whose writes wait for room reports it. A store that never reports is
  // taken to have ample room.
  virtual void log_space(LogSpace space) { static_cast<void>(space); }
  // Writes wait for something other than room, such as a file descriptor. OK: they continue.
  // Reported when it changes, or never.
  virtual void log_waits(absl::Status why) { static_cast<void>(why); }
  // The file that is kept ready for the next writes has an error. Nothing was lost, writes continue
  // without it, and the store makes another one. OK: one is ready again. A store may stay silent.
  virtual void log_spare_fails(absl::Status why) { static_cast<void>(why); }
};

// An entry that was durable and whose bytes on this disk are rotten. It is not a torn tail. Term
// and sum are given where the disk proves them, else they are zero. If both are known, only that
// very entry can replace it.
struct DamagedEntry {
  Index index;               // of the damaged entry
  Term term;                 // zero: not known
  uint64_t content_sum = 0;  // as Entry::content_sum; zero: not known

  friend bool operator==(const DamagedEntry&, const DamagedEntry&) = default;
};

// The result of open(). Entries follow `base` without a gap, except for the holes that `damaged`
// names, in ascending order.
struct RecoveredLog {
  StoreId store;                      // the identity of this store, drawn once and kept
  BootCounter boot;                   // already raised and durable for this open
  raft::HardState hard_state;         // as last made durable; zeros for a new log
  Position base;                      // the log starts after this position; {0, 0} for a log from
                                      // the beginning
  std::vector<raft::Entry> entries;   // commands up to LogStore::checkpointed() may have empty
                                      // payloads
  std::vector<DamagedEntry> damaged;  // the leader replaces those that the checkpoint does not
                                      // cover
  std::vector<PeerMark> peers;        // as last written
  // Kept apart from the log: this store held entries once. A log without entries has then lost
  // them. A store that cannot know says false.
  bool had_log = false;
};

// The result of reading a part of the log once more.
struct LogScrub {
  Index next = {};   // the scrub continues here; zero: it has reached the end
  size_t bytes = 0;  // that were read
  // These are entries that do not verify, the first and the last one; zero: there are none.
  Index first_bad = {}, last_bad = {};  // entries that do not verify; zero: there are none
  absl::Status why = {};                // about the first bad entry; without a bad entry: about
                                        // another part that did not verify
};

class LogStore {
 public:
  virtual ~LogStore() = default;

  // The state after this entry is in a durable checkpoint. open() may return commands up to there
  // with empty payloads, so that a long log takes no memory. read() returns them whole. Called
  // before open(), if at all.
  virtual void checkpointed(Index applied) { static_cast<void>(applied); }

  // Opens and recovers. Called once, before anything else except checkpointed(); may block.
  // kFailedPrecondition: the directory is foreign or already open, or has an unknown format
  // (nothing was touched). kDataLoss: the stored log cannot be trusted or repaired here.
  virtual absl::StatusOr<RecoveredLog> open(LogSink& sink) = 0;

  // How many bytes have been written to its files since open(), headers and padding included.
  // Callable on any thread, also after close(). Zero: the store does not count.
  virtual uint64_t bytes_written() const { return 0; }
  // The bytes of memory that hold the places of its entries. Callable on any thread, also after
  // close(). Zero: the store does not count.
  virtual uint64_t index_bytes() const { return 0; }

  // Starts a write; numbers rise by one. Never blocks.
  virtual void submit(LogWrite write) = 0;

  // The same for a caller that can lend a thread. True: waking a thread of the store would cost
  // more than the write. So the write waits for perform_deferred(), which the caller owes from now
  // on. False: it was submitted, or perform_deferred() is owed already.
  virtual bool defer(LogWrite write) {
    submit(std::move(write));
    return false;
  }
  // Makes the deferred writes durable, on this thread, and reports them from here. Blocks for as
  // long as the disk does. Other calls are not held up meanwhile. A call that is not owed has no
  // effect.
  virtual void perform_deferred() {}

  // Starts reading entries [first, last], at most `bytes_max` but at least one entry; answers
  // through log_read().
  virtual void read(Index first, Index last, size_t bytes_max) = 0;

  // Starts verifying entries from `from` on, as many as fit a moment. `done` is called on any
  // thread, unless the store closes first. A store that cannot scrub reports the end at once.
  virtual void scrub(Index from, std::function<void(LogScrub)> done) {
    static_cast<void>(from);
    done({});
  }

  // Entries up to and including `through` may be dropped: they are in a durable checkpoint and no
  // peer needs them.
  virtual void compact(Position through) = 0;

  // Ends all threads of the store; no completion is posted once this has returned. Idempotent; may
  // block.
  virtual void close() = 0;
};

}  // namespace coordkit
