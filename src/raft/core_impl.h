// One replica of the protocol, put together. It owns its parts, passes each input through the gate to the responsible part,
// and then does everything that follows from it. Where things are:
//
//   core.cc           one step: time, the gate, the handler, finish_step(); the drain of a turn
//   admission.h       which messages are accepted; term_reach.h how far a term is believed
//   election.cc       votes, terms, roles (thesis 3.4, 9.6, 6.2); voting.h judges, campaigning.h counts
//   leading.h         the leader's half: replication, the commit rule (3.5, 3.6, 10.2.1), leases; confirmations.h (6.4)
//   following.cc      the follower's half (3.5); leader_news.h has the leaders' statements
//   pending_transfer.h  handing leadership over (3.10); disk_monitor.h decides when it happens without a request
//   joint_change.cc   the membership (4); change_rules.h judges, pending_change.h
//   raft_log.h        the log, its disk, and the part that must stay; log_reader.h reads back evicted entries
//   installing.cc     a state in place of entries that are gone (5)
//
// Handlers never change the role: they request it and finish_step() performs it when they are done.
#pragma once

#include <memory>
#include <optional>

#include "coordkit/export.h"
#include "coordkit/raft/core.h"
#include "raft/admission.h"
#include "raft/campaigning.h"
#include "raft/election_timer.h"
#include "raft/leader_news.h"
#include "raft/leading.h"
#include "raft/log/log_reader.h"
#include "raft/log/raft_log.h"
#include "raft/members/pending_change.h"
#include "raft/outbox.h"
#include "raft/pending_transfer.h"
#include "raft/roles.h"
#include "raft/term_reach.h"
#include "raft/voting.h"

namespace coordkit::raft {

class COORDKIT_HIDDEN Core::Impl {
 public:
  Impl(const Options& options, Recovered recovered, LaggingTime now);

  void step(Input input, LaggingTime now);
  void drain(Effects& effects);
  LaggingTime next_deadline() const;
  std::span<const Entry> committed(Index first, size_t bytes_max) { return reader_.committed(first, bytes_max, log_, now_); }
  void applied(Index applied);

  Status status() const;
  std::optional<Lease> lease() const;
  std::optional<LaggingTime> fresh_at() const;
  Index proven() const { return leading_ ? log_.last().index : news_.verified; }
  bool holds_back() const { return leading_ ? leading_->catching_up(log_, now_).holds_back() : news_.hold_back; }
  const Leadership& leadership() const { return roles_.now(); }
  const Leading* leading() const { return leading_ ? &*leading_ : nullptr; }
  const LeaderNews& news() const { return news_; }
  const Log& log() const { return log_; }
  Voting voting() const { return {*options_, log_, roles_.now(), news_, now_}; }
  Admission admission() const;
  LaggingTime next_question() const;

 private:
  // ---- core.cc
  void take(Input& input);
  void on(Received& received);
  void reject_term_leap(ReplicaId from, const Message& message);
  void on(Propose& proposals);
  ProposalOutcome::Kind admit(const Proposal& proposal) const;
  Position append(EntryKind kind, SharedBytes payload);
  void finish_step();
  void watch_time();
  Step here() { return {log_, reader_, outbox_, now_}; }

  // ---- election.cc
  void perform(const Transition& transition);
  void become_follower(const Transition& transition);
  void begin_campaign(Role role, Cause cause);
  void ask_for_votes();
  void become_leader();
  void receive(ReplicaId from, const VoteRequest& request);
  bool grant(ReplicaId from, const VoteRequest& request);
  void receive(ReplicaId from, const TimeoutNow& order);
  void receive(ReplicaId from, const Removed& news);

  // ---- following.cc
  void follow(ReplicaId leader);
  void receive(ReplicaId from, AppendRequest& request);
  void receive(ReplicaId from, const Heartbeat& heartbeat);
  bool contradicts(ReplicaId from, const AppendRequest& request);
  void commit_verified(Index leader_commit, Index everyone_has);

  // ---- joint_change.cc
  void on(const ChangeMembership& change);
  void on(SettledMembers& told);
  void decide_members();

  // ---- installing.cc
  void on(const Installed& installed);
  void start_log_after(const Installed& installed);

  const std::shared_ptr<const Options> options_;  // shared: parts refer to it, in copies as well (verify/twin)
  LaggingTime now_;
  Log log_;
  LogReader reader_;
  Outbox outbox_;
  Roles roles_;
  ElectionTimer election_timer_;  // armed unless we lead
  LeaderNews news_;
  std::optional<Campaigning> campaigning_;  // I: exists while the role is PreCandidate or Candidate
  std::optional<Leading> leading_;          // I: exists while the role is Leader
  StreamNumbers streams_;
  PendingTransfer transfer_;
  PendingChange change_;
  TermReach reach_;
  std::optional<TermLeap> leap_;
};

}  // namespace coordkit::raft
