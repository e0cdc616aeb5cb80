// A copy of the keys of an interval that follows the store: what is there, then every change, each once and in order, without
// a gap between the two. When changes were missed (they were compacted before this replica could tell them) the copy is taken
// anew and the observer notified.
//
//   Mirror mirror(*replica, MirrorOptions::prefix("services/"), [](const MirrorSeen& seen, const MirrorEntries& all) { ... });
//
// It is what settings (config.h) and lists of who is there (registry.h) are made of. A look at it takes no round trip, and lags
// behind the store by as much as this replica does; a decision that must not be taken on an old copy belongs in a transaction
// that compares what it rests on (Compare::modified).
//
// Threads: all methods are thread-safe. The observer runs on the replica's callback thread, one call at a time, and must not
// block for long. Lifetime: ends with this object or with end(), which waits as Observation::end() does (observation.h); may
// outlive the replica, then it has ended with Stopped. Failure: while no leader answers, and on a replica that was removed, it
// stays as it is and goes on trying; with one that has halted it ends with ReplicaFailed. Example: examples/10_config.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "coordkit/client/watch.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

class Replica;

struct MirrorOptions {
  std::string key;  // the interval, as in RangeOperation; it must not be empty: kInvalidArgument (EmptyKey, EmptyRange)
  std::string end = {};
  size_t room = 16 << 20;  // bytes of changes that wait for the observer, as WatchOptions::room

  static MirrorOptions of(std::string key) { return {.key = std::move(key)}; }
  static MirrorOptions prefix(std::string prefix) {
    std::string end = prefix_end(prefix);
    return {.key = std::move(prefix), .end = std::move(end)};
  }
};

using MirrorEntries = std::map<std::string, KeyValue>;

struct MirrorSeen {
  enum class What : uint8_t {
    Snapshot = 1,  // first: all there is
    Changes = 2,   // `events`, of whole revisions
    Resync = 3,    // changes were missed; all there is, once more, and nothing of what was before it
    Ended = 4,     // last: `why`
  };
  friend constexpr std::string_view name_of(What one) {
    switch (one) {
      case What::Snapshot: return "Snapshot";
      case What::Changes: return "Changes";
      case What::Resync: return "Resync";
      case What::Ended: return "Ended";
    }
    return "?";
  }
  What what = What::Snapshot;
  Revision revision;   // what the copy shows from here on: all of it, and nothing later
  WatchEvents events;  // of Changes; otherwise none
  absl::Status why;
};
using MirrorObserver = absl::AnyInvocable<void(const MirrorSeen&, const MirrorEntries& all)>;

class Mirror {
 public:
  Mirror() = default;  // follows nothing
  Mirror(const Replica& replica, MirrorOptions options, MirrorObserver observer = {});
  Mirror(Mirror&&) noexcept = default;
  Mirror& operator=(Mirror&& other) noexcept;  // ends this one
  ~Mirror();                                   // end()

  // Blocks until there is a copy to look at. kDeadlineExceeded (CallTimeout): not yet; otherwise why it has ended.
  // kFailedPrecondition (InCallback): this is a callback of the replica.
  absl::Status wait_ready(Duration timeout = std::chrono::seconds(10)) const;
  // From here on the copy is not followed any further, and the observer is not called. Waits for a call of the observer, as
  // Observation::end() does. May be called again.
  void end();

  // One key, or all of them, as of revision(). Before the first copy: nothing.
  std::optional<KeyValue> get(const std::string& key) const;
  MirrorEntries entries() const;
  // The revision of the store that the copy shows; zero: there is no copy yet. Where only other keys change it follows as well,
  // a moment after it was asked for: whoever waits for the revision of a write calls it again until it is reached.
  Revision revision() const;

 private:
  friend class Registry;
  template <typename T>
  friend class Config;
  struct Rep;
  template <typename Ready>
  absl::Status wait_until(Duration timeout, Ready ready) const;
  absl::Status wait_told(Duration timeout) const;  // as wait_ready(), and the observer has been told
  Mirror(std::shared_ptr<class Host> host, MirrorOptions options, MirrorObserver observer);
  std::shared_ptr<Rep> rep_;
};

}  // namespace coordkit
