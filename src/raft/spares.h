// Who the next commit can do without (docs/decisions/0038). The leader and the quickest of its followers are a quorum, or one
// more of them where its own disk is slow. Under load the others, its spares, get entries a moment later, so that several
// batches are one message and one sync to them.
//
// All get all at once without load, while members change, and for a heartbeat interval after anything that makes it uncertain
// who is quick: a new leadership, a connection that came or went, entries that were still not committed when the spares got
// them. Who waits for what is committed is no spare, nor is who lacks more than the newest entries.
#pragma once

#include "raft/log.h"
#include "raft/peers.h"

namespace coordkit::raft {

class Spares {
 public:
  explicit Spares(const Options& options) : options_(options) {}

  void all_get_all(LaggingTime now) { all_until_ = now + options_.heartbeat_interval; }
  // Before the appends of each turn: decides on Progress::spare.
  void choose(Peers& peers, const Log& log, LaggingTime now);
  LaggingTime due() const { return due_; }  // when the spares get what was kept from them; max(): nothing was

 private:
  friend class CoreTwin;
  void watch_own_disk(const Log& log, LaggingTime now);
  bool all_get_all_now(const Log& log, LaggingTime now);
  bool rely_on_quickest(Peers& peers, const Configuration& configuration, LaggingTime now) const;

  const Options& options_;
  AnswerTime own_disk_;
  Index own_upto_;  // in the log since own_since_ and not durable here; zero: nothing is waited for
  LaggingTime own_since_;
  LaggingTime grown_at_;  // the log grew to last_ then
  Index last_;
  LaggingTime all_until_;
  LaggingTime due_ = LaggingTime::max();
  Index kept_after_;    // who lacks this one still catches up, and is no spare
  Index kept_through_;  // what should be committed when it is due
};

}  // namespace coordkit::raft
