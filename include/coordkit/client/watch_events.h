// Watches of the revisioned store: every change of a key or an interval, in order, each once,
// served by this replica from its own state (docs/semantics.md S-21 to S-28).
//
// A watch is delivered in batches. One batch has all events of a revision, or of several whole ones
// when the watch catches up; never a part. Events are shared between watches.
//
// A watch lags behind a linearizable read by as much as this replica lags. It may be resumed on any
// replica, from the revision after the last one it reported, by events or by a progress report. It
// ends with its replica: Stopped, or ReplicaFailed if the replica has halted. On a removed replica
// it waits, and resumes if the replica becomes a member again.
//
// The events of a batch take room until their last copy is destroyed. A watch whose room is full
// gets nothing until room is given back. Then it reads the missed events from the history. If that
// is compacted meanwhile it ends with Compacted. Nothing else waits for it.
//
// At a remote a watch ends with PermissionDenied when it may not read all of its range any more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "coordkit/export.h"
#include "coordkit/keys/key_operations.h"
#include "coordkit/name_of.h"
#include "coordkit/records.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

using WatchId = Id<struct WatchIdTag>;  // of one client

// Options of a watch.
struct WatchOptions {
  // The interval, as in RangeOperation; an empty key is the lowest there is. An empty interval:
  // EmptyRange.
  std::string key;
  std::string end = {};  // as in RangeOperation
  // The first revision to deliver, inclusive. Zero: the first after the revision in Created. Above
  // the newest: nothing is delivered before that revision exists. Below the compacted: Compacted.
  Revision from = {};
  bool previous = false;  // events carry the previous entry, unless that history is compacted
  bool puts = true;       // false: puts are left out; the same for deletes. Neither:
                          // InvalidArgument
  bool deletes = true;    // false: deletes are left out
  // A progress report after this long without events, in sync; at least 100 ms.
  Duration progress_every = std::chrono::minutes(10);
  size_t room = 16 << 20;  // bytes of events that are not destroyed yet; the first batch may be
                           // larger

  static WatchOptions of(std::string key) { return {.key = std::move(key)}; }  // of one key
  // All keys that start with `prefix`; empty: every key.
  static WatchOptions prefix(std::string prefix) {
    std::string end = prefix_end(prefix);
    return {.key = std::move(prefix), .end = std::move(end)};
  }
};

// One change of one key.
struct WatchEvent {
  KeyValue entry;                    // of a delete: key and mod only
  std::optional<KeyValue> previous;  // if requested

  bool deleted() const { return entry.version == 0; }  // false: a put
  // A put of a key that was not there.
  bool created() const { return !deleted() && entry.create == entry.mod; }
  friend bool operator==(const WatchEvent&, const WatchEvent&) = default;
};

// The events of a batch, a range that may be empty. Copies share the events; the last copy gives
// their room back.
class WatchEvents {
 public:
  using value_type = WatchEvent;                                   // of the range
  using const_iterator = std::vector<WatchEvent>::const_iterator;  // of all()
  using iterator = const_iterator;                                 // events do not change

  WatchEvents() = default;  // none
  // They take no room.
  explicit WatchEvents(std::vector<WatchEvent> events)
      : events_(std::make_shared<const std::vector<WatchEvent>>(std::move(events))) {}
  // The same events with a room of their own.
  WatchEvents in(std::shared_ptr<void> room) const {
    WatchEvents same = *this;
    same.room_ = std::move(room);
    return same;
  }

  // Valid as long as this object or a copy of it.
  const std::vector<WatchEvent>& all() const {
    static const std::vector<WatchEvent> kNone;
    return events_ ? *events_ : kNone;
  }
  // These read all(). Iterators and references are valid as long as its answer.
  const_iterator begin() const { return all().begin(); }
  const_iterator end() const { return all().end(); }
  size_t size() const { return all().size(); }
  bool empty() const { return all().empty(); }
  // These three need an event that is there: `place` is below size().
  const WatchEvent& operator[](size_t place) const { return all()[place]; }
  const WatchEvent& front() const { return all().front(); }
  const WatchEvent& back() const { return all().back(); }
  friend bool operator==(const WatchEvents& a, const WatchEvents& b) { return a.all() == b.all(); }

 private:
  std::shared_ptr<const std::vector<WatchEvent>> events_;  // null: none
  std::shared_ptr<void> room_;                             // null: they take none
};

// A batch of a watch, or a report about it.
struct WatchBatch {
  // The kind of a batch.
  enum class What : uint8_t {
    Created = 1,   // first, once: the watch has begun; `revision` is the newest one here
    Events = 2,    // `revision` is that of the last event
    Progress = 3,  // everything up to `revision` has been delivered
    Pending = 4,   // progress was requested, and the revision to start from does not exist yet
    Ended = 5,     // last: `why` is the reason; with Compacted `revision` is where to start again
  };
  What what = What::Created;  // says which other fields are set
  Revision revision;          // as What says; zero: ended, but not with Compacted
  WatchEvents events;         // of Events; otherwise none
  absl::Status why;           // of Ended; otherwise OK
};

// Runs where all announcements of a client run, one call at a time for each watch.
using WatchObserver = absl::AnyInvocable<void(WatchBatch)>;

}  // namespace coordkit
