// A copy of the keys of an interval that follows the store. It gives all present keys first, then
// every change, each once and in order, without a gap between the two. If changes were missed (they
// were compacted before this replica could report them), the whole copy is read again and the
// observer is notified.
//
//   Mirror mirror(*replica, MirrorOptions::prefix("services/"),
//                 [](const MirrorSeen& seen, const MirrorEntries& all) { ... });
//
// Settings (config.h) and lists of services (registry.h) are made of mirrors. Reading a mirror
// takes no round trip. It lags behind the store by as much as this replica does. A decision that
// must not rest on an old copy belongs in a transaction that compares the keys it rests on
// (Compare::modified).
//
// Threads: all methods are thread-safe. The observer runs on the replica's callback thread, one
// call at a time, and must not block for long.
// Lifetime: it ends with this object or with end(), which waits as Observation::end() does
// (observation.h). It may outlive the replica, and has then ended with Stopped.
// Errors: while no leader answers, and on a replica that was removed, it stays unchanged and
// retries. If the replica has halted, it ends with ReplicaFailed.
// Example: examples/10_config.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "coordkit/client/watch_events.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

class Service;

// The interval of keys, and how it is followed.
struct MirrorOptions {
  std::string key;         // the interval, as in RangeOperation; it must not be empty:
                           // kInvalidArgument (EmptyKey, EmptyRange)
  std::string end = {};    // exclusive; empty: the one key
  size_t room = 16 << 20;  // bytes of changes that wait for the observer, as WatchOptions::room

  static MirrorOptions of(std::string key) { return {.key = std::move(key)}; }  // of one key
  // All keys that start with `prefix`; empty: every key.
  static MirrorOptions prefix(std::string prefix) {
    std::string end = prefix_end(prefix);
    return {.key = std::move(prefix), .end = std::move(end)};
  }
};

using MirrorEntries = std::map<std::string, KeyValue>;  // by key

// One report to the observer.
struct MirrorSeen {
  // The kind of a report.
  enum class What : uint8_t {
    Snapshot = 1,  // first: all present keys
    Changes = 2,   // `events`, of whole revisions
    Resync = 3,    // changes were missed; all present keys once more, and none of the earlier copy
    Ended = 4,     // last: `why`
  };
  What what = What::Snapshot;  // which kind of report it is
  Revision revision;           // the revision that the copy shows from here on: all of it, and
                               // nothing later
  WatchEvents events;          // of Changes; otherwise none
  absl::Status why;            // of Ended; otherwise OK
};
// Gets each report, with all entries as they are after it.
using MirrorObserver = absl::AnyInvocable<void(const MirrorSeen&, const MirrorEntries& all)>;

class Mirror {
 public:
  Mirror() = default;  // follows nothing: get() and entries() are empty
  // Begins to follow the store.
  Mirror(const Service& service, MirrorOptions options, MirrorObserver observer = {});
  Mirror(Mirror&&) noexcept = default;
  Mirror& operator=(Mirror&& other) noexcept;  // ends this one
  ~Mirror();                                   // end()

  // Blocks until there is a copy. kDeadlineExceeded (CallTimeout): not yet. kFailedPrecondition
  // (InCallback): this is a callback of the replica. If it has ended: the reason.
  absl::Status wait_ready(Duration timeout = std::chrono::seconds(10)) const;
  // From here on the copy is not updated, and the observer is not called. Waits for a running call
  // of the observer, as Observation::end() does. May be called again.
  void end();

  // These show one key, or all of them, at revision(). Before the first copy: empty.
  std::optional<KeyValue> get(const std::string& key) const;
  MirrorEntries entries() const;
  // The revision of the store that the copy shows; zero: there is no copy yet. If only other keys
  // change it rises as well, a moment after this call. To wait for the revision of a write, call it
  // again until it is reached.
  Revision revision() const;

 private:
  friend class Registry;
  template <typename T>
  friend class Config;
  struct Rep;
  template <typename Ready>
  absl::Status wait_until(Duration timeout, Ready ready) const;
  absl::Status wait_told(Duration timeout) const;  // as wait_ready(), and the observer has been
                                                   // called
  Mirror(std::shared_ptr<class Host> host, MirrorOptions options, MirrorObserver observer);
  std::shared_ptr<Rep> rep_;
};

}  // namespace coordkit
