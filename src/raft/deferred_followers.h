// The followers that the next commit can do without (docs/decisions/0038). The leader and the quickest of its followers are a
// quorum. Where the leader's own disk is slow, one more follower joins them. Under load the other followers are its spares:
// they get entries a moment later. So several batches become one message and one sync to them.
//
// All followers get all entries at once in three cases: without load, while members change, and for a heartbeat interval
// after events that make it uncertain which followers are quick. Such events are a new leadership, a connection that came or
// went, and entries that were still not committed when the spares got them. A follower that waits for a commit is no spare,
// nor is one that lacks more than the newest entries.
#pragma once

#include "raft/log/raft_log.h"
#include "raft/peers.h"

namespace coordkit::raft {

class DeferredFollowers {
 public:
  explicit DeferredFollowers(const Options& options) : options_(options) {}

  void stop_deferring(LaggingTime now) { all_until_ = now + options_.heartbeat_interval; }
  // Called before the appends of each turn: decides on Progress::spare.
  void choose(Peers& peers, const Log& log, LaggingTime now);
  LaggingTime due() const { return due_; }  // when the spares get the entries kept from them; max(): none are kept

 private:
  void watch_own_disk(const Log& log, LaggingTime now);
  bool must_not_defer(const Log& log, LaggingTime now);
  bool rely_on_quickest(Peers& peers, const Configuration& configuration, LaggingTime now) const;

  const Options& options_;
  AnswerTime own_disk_;
  Index own_upto_;  // in the log since own_since_ and not durable here; zero: nothing is waited for
  LaggingTime own_since_;
  LaggingTime grown_at_;  // the log grew to last_ then
  Index last_;
  LaggingTime all_until_;
  LaggingTime due_ = LaggingTime::max();
  Index kept_after_;    // a peer that lacks this entry still catches up, and is no spare
  Index kept_through_;  // the entry that should be committed when it is due
};

}  // namespace coordkit::raft
