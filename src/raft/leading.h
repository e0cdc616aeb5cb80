// Everything that a replica is and does only while it leads. The object exists from election to the end of that leadership,
// so that nothing is carried over from one leadership to the next.
//
//   leading.cc     peers' answers, the commit rule, leases (thesis 3.5, 3.6, 6.4.1)
//   appending.cc   the messages of a turn (thesis 3.5, 10.2.1)
//   deferred_followers.h  the followers that the next commit can do without
//   catching_up.h  what peers lack: entries that must stay, states to be sent (thesis 5)
//   change_rules.h which membership changes are accepted, and when one is complete (thesis 4)
#pragma once

#include <optional>
#include <span>

#include "raft/catching_up.h"
#include "raft/confirmations.h"
#include "raft/deferred_followers.h"
#include "raft/disk_monitor.h"
#include "raft/log/log_reader.h"
#include "raft/log/raft_log.h"
#include "raft/members/change_rules.h"
#include "raft/outbox.h"
#include "raft/peers.h"

namespace coordkit::raft {

class Leading {
 public:
  // The log is that of the newly elected leader, before its first entry of the term.
  Leading(const Options& options, const Log& log, StreamNumbers& streams, LaggingTime now);

  // ---- what happens to the log
  void match_changed() { match_changed_ = true; }  // called when the own disk or the end of the log has moved
  void members_changed(const Log& log, StreamNumbers& streams, LaggingTime now);
  // Thesis 3.6.2, fig. 3.7.
  void advance_commit(Log& log);
  bool own_entry_committed(const Log& log) const { return log.commit() >= start_; }

  // ---- answers of peers
  void connected(ReplicaId peer, StreamNumbers& streams, const Step& step);
  void lost(ReplicaId peer, LaggingTime now);  // zero: all are lost
  void receive(ReplicaId from, const AppendReply& reply, const Step& step);
  void receive(ReplicaId from, const HeartbeatReply& reply, const Step& step);
  bool current_stream(ReplicaId from, Term echoed, uint64_t stream) const;
  const Peers& peers() const { return peers_; }

  // ---- time
  LaggingTime quorum_contact(const Log& log, LaggingTime now) const;
  // The next time at which there is something to do without an input: a heartbeat, news of a commit, the expiry.
  LaggingTime next_deadline(const Log& log, LaggingTime now) const;
  bool heartbeat_comes_due(const Log& log, LaggingTime now);
  bool expired(const Log& log, LaggingTime now);
  // The time since which a quorum has followed us, for a lease.
  std::optional<LaggingTime> lease_start(const Log& log, LaggingTime now) const;

  // ---- leadership confirmations
  uint64_t round() const { return confirmations_.round(); }
  void ask(Ticket ticket, const Log& log);
  void answer_questions(const Log& log, Outbox& out);
  void refuse_questions(Outbox& out) { confirmations_.refuse(out); }

  // ---- messages
  void send_turn(const Step& step);
  void send_commit(ReplicaId peer, const Step& step);
  void send_read_back(Index first, std::span<const Entry> entries, const Step& step);

  // ---- members, and those of them that lag
  ChangeRules change_rules(const Log& log, LaggingTime now) const {
    return {options_, peers_, log, own_entry_committed(log), now};
  }
  CatchingUp catching_up(const Log& log, LaggingTime now) const { return {options_, peers_, since_, log, now}; }

  // ---- transfer targets (thesis 3.10)
  ReplicaId self() const { return options_.self; }
  bool may_succeed(ReplicaId id, const Log& log) const { return peers_.find(id) && votes_on(log.configuration(), id); }
  ReplicaId best_successor(const Log& log, LaggingTime now) const;
  // The peer that should lead because our own disk stalls. Zero: none was found, but step down. nullopt: keep leading.
  std::optional<ReplicaId> relief(const Log& log, LaggingTime now) const;
  DiskMonitor& disk_monitor() { return disk_monitor_; }

 private:
  uint64_t match_of(ReplicaId id, const Log& log) const;
  void received_from(Progress& peer, uint64_t round);
  LaggingTime expiry(const Log& log, LaggingTime now) const { return quorum_contact(log, now) + options_.election_timeout; }

  void begin_round(const Step& step);
  void replicate(Progress& peer, const Step& step);
  void send_commit_news(const Step& step);
  void probe_at_base(const Progress& peer, const Step& step);
  void send_append(Progress& peer, std::span<const Entry> entries, const Step& step);
  void send_heartbeat(Progress& peer, const Step& step);

  const Options& options_;
  const Term term_;
  const Index start_;  // our first entry of this term
  const LaggingTime since_;
  Peers peers_;
  Confirmations confirmations_;
  DiskMonitor disk_monitor_;
  DeferredFollowers deferred_;
  bool match_changed_ = true;  // the commit rule has something to look at
  bool heartbeat_due_ = true;
  LaggingTime leads_until_ = LaggingTime::min();  // not above expiry(): with the same members, contacts only get later
  LaggingTime heartbeat_deadline_;
  LaggingTime commit_news_due_ = LaggingTime::max();  // for peers that no append has informed; max(): there are none
};

}  // namespace coordkit::raft
