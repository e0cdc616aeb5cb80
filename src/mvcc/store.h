// The revisioned store: keys in byte order, each with its changes since the last compaction (docs/semantics.md S-01 to S-03,
// S-06, S-19).
//
// Changes are kept in two places. Each key has its own, newest first; that answers a read at any revision. All changes from
// the revision `swept()` on are also in the window, in the order in which they were made. A watch reads the window, and a
// checkpoint writes it. So a reader of the past needs only a revision. Nothing is copied or locked for it. Nothing that it
// may still ask for is removed before a compaction says so.
//
// Compaction decides at once and frees later. From then on the history below `compacted()` is refused. sweep() takes whole
// revisions out of the window, a bounded number of changes at a time. The sweep belongs to the replicated state. So it is
// called at the same points everywhere, and the digest and the checkpoint say how far it got.
//
// Invariants: the window has every change of every revision in [max(swept, 2), revision], sub-numbers from 0 without a gap. A
// change outside of it (at rest) has no predecessor, and is its key's newest below the window. A tombstone is at rest only if
// its key has a change in the window. swept <= compacted <= revision.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordkit/types.h"
#include "mvcc/interval.h"
#include "mvcc/key_index.h"
#include "mvcc/refusal.h"
#include "mvcc/version.h"

namespace coordkit::mvcc {

inline constexpr uint64_t kChangeWeight = 64;  // of a change in addition to its key and value; part of the replicated behaviour

class Store {
 public:
  // The changes that one command makes: the first takes the next revision, the others share it.
  class Change {
   public:
    bool any() const { return next_sub_ != 0; }

   private:
    friend class Store;
    uint32_t next_sub_ = 0;
  };

  Revision revision() const { return counters_.revision; }    // 1 when fresh; never falls
  Revision compacted() const { return counters_.compacted; }  // reads below it are refused; zero: nothing is compacted
  Revision swept() const { return counters_.swept; }
  size_t size() const { return size_; }          // keys that exist now
  size_t versions() const { return versions_; }  // changes kept, tombstones included
  uint64_t bytes() const { return bytes_; }      // of the blocks of keys and changes
  // The weight of all changes kept, except deletes and changes that can no longer be read. The measure is the same everywhere
  // and in every version. A compaction at the newest revision leaves the weight of the existing keys.
  uint64_t weight() const { return weight_; }
  size_t to_sweep() const;  // changes still to be swept

  // ---- reading; `at` zero: now. Pointers hold until the next change.
  Refusal readable(Revision at) const;  // Compacted, FutureRevision
  const Version* find(std::string_view key, Revision at = {}) const;
  // Visits keys of the interval that existed at that revision, ascending, until `visit` says false. Returns how many keys and
  // newer changes it has passed.
  uint64_t scan(const Interval& interval, Revision at, absl::FunctionRef<bool(const Version&)> visit) const;
  // Visits every change from that one on, in order, until `visit` says false. Its revision must not be below swept().
  void changes(ChangeId from, absl::FunctionRef<bool(const Version&)> visit) const;
  // Keys attached to the lease, ascending. With `after` and `visit`: those above `after`, until `visit` says false.
  std::vector<std::string> attached(LeaseId lease) const;
  void attached(LeaseId lease, std::string_view after, absl::FunctionRef<bool(std::string_view)> visit) const;
  void every_lease(absl::FunctionRef<void(LeaseId)> visit) const;  // those that have keys

  // ---- changing
  void put(Change& change, std::string_view key, std::string_view value, LeaseId lease = {});
  bool erase(Change& change, std::string_view key);  // false: there was no such key, and nothing changed
  Refusal compact(Revision at);                      // InvalidArgument, Compacted, FutureRevision
  void sweep(size_t budget);                         // about this many changes; a revision is never split

  // ---- the checkpoint: a row for each change, ascending, and counters of the whole store
  struct Counters {
    Revision revision{1};
    Revision compacted;
    Revision swept;
    friend bool operator==(const Counters&, const Counters&) = default;
  };
  struct Row {
    std::string key;
    std::string value;
    ChangeId id;
    Stamp stamp;
    friend bool operator==(const Row&, const Row&) = default;
  };
  const Counters& counters() const { return counters_; }
  size_t to_collect() const;  // rows, added and removed
  // The changes since the previous call. Rows never change: they are added and removed.
  void collect(absl::FunctionRef<void(const Version&)> put, absl::FunctionRef<void(ChangeId)> erase);
  void forget_stored();                                     // the next collect() puts every row
  absl::Status restore_counters(const Counters& counters);  // first, into an empty store
  absl::Status restore(const Row& row);                     // ascending; kDataLoss: impossible
  absl::Status restored();                                  // after the last row

  uint64_t digest() const;  // of everything above
  uint64_t recomputed_digest() const;

 private:
  ChangeId next(Change& change);
  Key& key_of(std::string_view name);
  size_t stored_in_window() const;
  void append(Key& key, ChangeId id, const Stamp& stamp, std::string_view value);
  void attach(const Version& version);
  void detach(const Version& version);
  uint64_t hidden() const;
  void sweep_changes(size_t budget);
  void pass(Version& version);
  void drop(Version* version);
  absl::Status check_place(const Row& row) const;
  static absl::Status check_stamp(const Row& row, const Version* before, bool at_rest);

  Counters counters_;
  Keys keys_;
  std::deque<Version*> window_;
  absl::btree_map<LeaseId, absl::btree_set<std::string_view>> attached_;  // the names are the keys' own
  size_t size_ = 0;
  size_t versions_ = 0;
  uint64_t bytes_ = 0;
  uint64_t weight_ = 0;
  uint64_t digest_ = 0;  // sum over the changes

  ChangeId stored_;                                     // the last change of the window that the checkpoint has
  absl::btree_map<ChangeId, const Version*> unstored_;  // at rest, and not yet in the checkpoint
  std::vector<ChangeId> erased_;                        // in the checkpoint, and gone
};

}  // namespace coordkit::mvcc
