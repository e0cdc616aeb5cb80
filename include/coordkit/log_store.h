// Port: where the replicated log and the hard state become durable.
//
// Threads: submit(), read() and compact() are called from the turns of one engine, one at a time; open() before the first of
// them and close() after the last, on whatever thread; scrub() on a thread of its own in between. Completions are posted to the
// LogSink from any thread, from inside a call as well. Lifetime: the sink outlives close(). Failure: after one failed sync
// nothing later is attempted, ever; the store says so once through failed(). Own implementations: run the conformance suite in
// coordkit/testing/log_store_suite.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/peer_mark.h"
#include "coordkit/raft/entry.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// One atomic step of the log, in this order: hard state, reset, truncation, entries, repairs, marks. All parts together become
// durable or the store fails. Entries are contiguous and start right after the reset's base, the truncation point or the
// current end.
struct LogWrite {
  WriteNumber number;
  std::optional<raft::HardState> hard_state = {};
  std::optional<Position> reset_to = {};     // discard the whole log and start again after this: a peer's state was installed
  std::optional<Index> truncate_after = {};  // drop every entry with a larger index first
  std::vector<raft::Entry> entries = {};
  // Intact entries in the place of damaged ones, any of them in ascending order; nothing else of the log changes. Each matches
  // its content sum and whatever is known of the damaged one. Those that are not damaged, or not any more, are passed over.
  std::vector<raft::Entry> repairs = {};
  std::optional<std::vector<PeerMark>> peers = {};  // in the place of all that were stored; at most kPeerMarksMax
  // The cluster's, as applied here: from now on the store may write what builds of a lower level cannot read. Never sinks.
  uint64_t feature_level = 0;

  friend bool operator==(const LogWrite&, const LogWrite&) = default;
};

inline constexpr size_t kPeerMarksMax = 1024;

// How much room a log has left on its disk.
enum class LogSpace : uint8_t {
  Ample,
  Low,   // the next segment cannot be made for lack of space: refuse new proposals
  Full,  // writes wait for space
};
constexpr std::string_view name_of(LogSpace space) {
  switch (space) {
    case LogSpace::Ample: return "Ample";
    case LogSpace::Low: return "Low";
    case LogSpace::Full: return "Full";
  }
  return "?";
}

// Where a LogStore reports. Implemented by the engine's host; callable from any thread; never blocks.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // Everything up to and including this write is durable. Numbers only grow; intermediate ones may be skipped.
  virtual void written(WriteNumber number) = 0;
  // The answer to read(): entries from `first` on, possibly fewer than asked, never none without an error.
  virtual void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) = 0;
  // The store has failed for good. Nothing after the last written() may be taken as durable.
  virtual void log_failed(absl::Status why) = 0;
  // The room changed; a store whose writes wait for room says so. One that never does is taken to have ample room.
  virtual void log_space(LogSpace space) { static_cast<void>(space); }
  // Writes wait for something other than room, a file descriptor say; OK: they go on. Said when it changes, or never.
  virtual void log_waits(absl::Status why) { static_cast<void>(why); }
};

// An entry that was durable and whose bytes on this disk are rotten: no torn tail. Term and sum are given where the
// disk proves them, else they are zero; both known, only that very entry can replace it.
struct DamagedEntry {
  Index index;
  Term term;
  uint64_t content_sum = 0;

  friend bool operator==(const DamagedEntry&, const DamagedEntry&) = default;
};

// What open() found. Entries follow `base` without a gap, but for the holes that `damaged` names, in ascending order.
struct RecoveredLog {
  StoreId store;
  BootCounter boot;  // already raised and durable for this open
  raft::HardState hard_state;
  Position base;                      // the log starts after this position; {0, 0} for a log from the beginning
  std::vector<raft::Entry> entries;   // commands up to LogStore::checkpointed() perhaps with empty payloads
  std::vector<DamagedEntry> damaged;  // what the checkpoint does not cover of them the leader replaces
  std::vector<PeerMark> peers;        // as last written
  // Kept apart from the log: this store held entries once. A log without any has lost them. A store that cannot know says no.
  bool had_log = false;
};

// What reading a part of the log once more has shown.
struct LogScrub {
  Index next = {};                      // the scrub goes on here; zero: it has come to the end
  size_t bytes = 0;                     // that were read
  Index first_bad = {}, last_bad = {};  // entries that do not verify; zero: there are none
  absl::Status why = {};                // of the first of them; without one: what else did not verify
};

class LogStore {
 public:
  virtual ~LogStore() = default;

  // The state after this entry is in a durable checkpoint: open() may give commands up to there with empty payloads, so that a
  // long log takes no memory. read() has them whole. Called before open(), if at all.
  virtual void checkpointed(Index applied) { static_cast<void>(applied); }

  // Opens and recovers; called once, before anything else but checkpointed(); may block. kFailedPrecondition: foreign or
  // already opened directory, unknown format (nothing was touched). kDataLoss: what is there cannot be trusted or repaired
  // here.
  virtual absl::StatusOr<RecoveredLog> open(LogSink& sink) = 0;

  // How many bytes have been written to its files since open(), headers and padding included. On any thread, also after
  // close(). Zero: the store does not count.
  virtual uint64_t bytes_written() const { return 0; }
  // Bytes of memory in which it knows where its entries lie. On any thread, also after close(). Zero: the store does not count.
  virtual uint64_t index_bytes() const { return 0; }

  // Starts a write; numbers rise by one. Never blocks.
  virtual void submit(LogWrite write) = 0;

  // The same for a caller that can lend a thread. True: to wake one of the store's own would cost more than the write, so it
  // waits for perform_deferred(), which the caller owes from now on. False: it was submitted, or perform_deferred() is owed
  // already.
  virtual bool defer(LogWrite write) {
    submit(std::move(write));
    return false;
  }
  // Makes durable what was deferred, on this thread, and reports it from here. Blocks for as long as the disk does; meanwhile
  // the other calls go on. A call that is not owed has no effect.
  virtual void perform_deferred() {}

  // Starts reading entries [first, last], at most `bytes_max` but at least one entry; answers through log_read().
  virtual void read(Index first, Index last, size_t bytes_max) = 0;

  // Starts verifying entries from `from` on, as many as fit a moment; `done` is called on any thread, unless the store closes
  // first. A store that cannot says that there is nothing to look at.
  virtual void scrub(Index from, std::function<void(LogScrub)> done) {
    static_cast<void>(from);
    done({});
  }

  // Entries up to and including `through` may be forgotten: they are in a durable checkpoint and no peer needs them.
  virtual void compact(Position through) = 0;

  // Ends all threads of the store; no completion is posted once this has returned. Idempotent; may block.
  virtual void close() = 0;
};

}  // namespace coordkit
