// The watches, and how far each has been served. The class is pure, so that the rules of watches are in one place
// (docs/semantics.md S-21 to S-28).
//
// History is read in pieces (machine/keys/changes.h). The front reads for all watches that are Live. It reads and decodes each
// change once, and delivers it to the watches that it concerns. A watch that starts in the past, or had no room, reads for
// itself until it has caught up. A reader's progress is a place in the history, and nothing else is kept for it. So a slow
// watch costs only its own reading, and changes to this replica's state between two reads do not matter.
//
// A process without a state has no front. Each watch asks for its next piece (to_ask), and takes the answer as it would take
// a piece that it reads. At the end of history its question waits for a change. A watch without room asks nothing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "client/calls/deliveries.h"
#include "coordkit/ports/clock.h"
#include "machine/keys/changes.h"
#include "machine/keys/key_space.h"
#include "machine/keys/watch_index.h"

namespace coordkit::client {

absl::Status check_watch(const WatchOptions& options);

// A piece of history that a watch asks for.
struct WantedPiece {
  WatchId id;
  machine::ChangesAfter place;
  Duration waits{};  // for a change, at the end of history
};

class Watches {
 public:
  // A piece of this replica's own history; nullopt: it cannot be read now. No function: the history is elsewhere.
  using Read = std::function<std::optional<machine::Changes>(const machine::ChangesAfter&)>;
  Watches(Deliveries& deliveries, Read read) : deliveries_(deliveries), read_(std::move(read)) {}

  // The options have passed check_watch().
  WatchId add(WatchOptions options, WatchObserver observer);
  bool remove(WatchId id);             // false: there is no such watch. No further call of it begins, even if some are queued
  bool ask_progress(WatchId id);       // false: there is no such watch
  void stop(const absl::Status& why);  // ends all watches

  // Watches to be created; they count as requested from here on.
  std::vector<WatchId> to_make();
  bool any_to_make() const { return !wanting_.empty(); }
  void made(WatchId id, const machine::KeySpace& state, LaggingTime now);
  void not_made(WatchId id);

  // ---- if history is elsewhere
  // The questions of the watches that need a piece. advance() says whether there are any.
  std::vector<WantedPiece> to_ask(LaggingTime now);
  void answered(WatchId id, absl::StatusOr<machine::Changes> piece, LaggingTime now);
  bool interrupt(WatchId id);  // true: its question waits, and is to be withdrawn

  void restored();  // this replica's state was replaced by a later one
  // Continues to read and deliver. True: there is more to read at once.
  bool advance(LaggingTime now);
  LaggingTime next_progress() const { return due_progress_.empty() ? LaggingTime::max() : due_progress_.begin()->first; }

  void retry();  // resumes watches that were not created, or not answered
  bool any_to_retry() const { return !failed_.empty(); }
  void look_for_room();  // resumes watches that had no room and have some now
  bool any_without_room() const { return !full_.empty(); }
  // Whether advance() would have something to deliver even if nothing was applied.
  bool to_look(LaggingTime now) const { return !asking_.empty() || next_progress() <= now; }
  size_t size() const { return all_.size(); }

 private:
  enum class State : uint8_t { Wanting, Asked, Failed, Live, CatchingUp, Fetching, Full };
  struct Place {
    Revision revision;
    uint32_t sub = 0;
  };
  struct Listener {
    WatchObserver observer;
    std::atomic<bool> deaf{false};
  };
  // The last question, if history is elsewhere.
  struct Fetch {
    LaggingTime asked{};
    Duration waits{};
    uint64_t progress = 0;  // of the progress that was asked for: what the answer will cover
    bool at_end = false;    // it was answered, and nothing was left
    bool overdue = false;   // a progress report is due, and waits for the answer
  };
  struct One {
    WatchOptions options;
    std::shared_ptr<Listener> listener;
    std::shared_ptr<std::atomic<size_t>> taken = std::make_shared<std::atomic<size_t>>(0);  // bytes of its undelivered batches
    State state = State::Wanting;
    bool ahead = false;            // starts at a revision that did not exist when it was created
    Revision start;                // Live: nothing before it is delivered
    Place next;                    // unless Live: where it continues; zero: it was not created
    std::vector<WatchEvent> read;  // CatchingUp: not delivered yet, because the last revision is not complete
    uint64_t progress_asked = 0;
    LaggingTime quiet_since{};
    LaggingTime progress_due = LaggingTime::max();
    Fetch fetch;
    std::vector<uint32_t> hits;  // while the front delivers: the events of the revision that concern it
  };
  struct Front {
    Place next;
    std::vector<WatchEvent> read;  // of an incomplete revision
    absl::btree_set<WatchId> live;
    machine::WatchIndex index;  // of those
    uint64_t previous = 0;      // how many of them want previous entries

    void start_at(Revision revision) {
      next = {revision, 0};
      read.clear();
    }
  };
  struct SharedRevision {  // a revision of the front, in shared form
    WatchEvents whole;
    WatchEvents plain;  // without previous entries; made when it is needed
    bool previous = false;
  };

  bool advance_front(LaggingTime now);
  void skip_gone(Revision compacted);
  size_t tell_front(LaggingTime now);
  void tell_hits(WatchId id, One& one, SharedRevision& shared, LaggingTime now);
  bool advance_behind(LaggingTime now);
  bool catch_up(WatchId id, One& one, LaggingTime now);
  bool take_piece(WatchId id, One& one, machine::Changes piece, LaggingTime now);
  bool tell_read(WatchId id, One& one, LaggingTime now);
  void join_front(WatchId id, One& one, Revision next);
  void leave_front(WatchId id, One& one);
  bool tell(WatchId id, One& one, WatchEvents events, LaggingTime now);
  void report_asked_progress();
  void report_due_progress(LaggingTime now);
  std::optional<Revision> progress_of(const One& one) const;
  void deliver(One& one, WatchBatch batch, size_t bytes);
  void end(WatchId id, Revision revision, absl::Status why);
  void erase(WatchId id);
  bool start_is_missing(const One& one) const {
    return one.ahead && (elsewhere() ? one.fetch.at_end : one.state == State::Live && front_.next.revision <= one.start);
  }
  bool elsewhere() const { return read_ == nullptr; }

  Deliveries& deliveries_;
  Read read_;
  absl::btree_map<WatchId, std::unique_ptr<One>> all_;
  Front front_;  // while any watch is Live
  absl::btree_set<WatchId> wanting_;
  absl::btree_set<WatchId> failed_;
  absl::btree_set<WatchId> behind_;  // those that are CatchingUp
  absl::btree_set<WatchId> full_;
  absl::btree_set<WatchId> asking_;  // watches that asked for progress
  absl::btree_set<std::pair<LaggingTime, WatchId>> due_progress_;
  WatchId served_;  // of those behind: the last one served
  uint64_t last_id_ = 0;
};

}  // namespace coordkit::client
