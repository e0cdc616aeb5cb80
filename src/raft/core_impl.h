// The state of one replica of the protocol and its handlers. Who is who:
//
//   core.cc          one step: time, the door, the handler, settle(); what a turn drains
//   admission.cc     the door: which messages are worth looking at
//   election.cc      votes, terms, roles (thesis 3.4, 9.6, 6.2)
//   leading.cc       the leader's half of replication and the commit rule (thesis 3.5, 3.6, 10.2.1)
//   following.cc     the follower's half (thesis 3.5)
//   transfer.cc      handing leadership over (thesis 3.10)
//   changing.cc      who is a member (thesis 4)
//   confirmation.cc  "do I still lead?" (thesis 6.4), by a round or by a lease; how old what is applied here may be
//   reading.cc       entries that are no longer in memory; compaction
//   installing.cc    a state in place of entries that are gone (thesis 5)
//
// Handlers never change the role: they request it and settle() performs it when they are done.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/mutant.h"
#include "base/random.h"
#include "coordkit/raft/core.h"
#include "raft/freshness.h"
#include "raft/log_cache.h"
#include "raft/log_weight.h"
#include "raft/progress.h"
#include "raft/quorum.h"
#include "raft/write_queue.h"

namespace coordkit::raft {

// Nothing counts this far in the life of a cluster; the room above keeps `+ 1` and batch arithmetic from wrapping.
inline constexpr uint64_t kCountMax = ~uint64_t{0} - (uint64_t{1} << 32);

// Thesis 3.6.1: the later term wins, then the higher index (regression R15).
constexpr bool newer(Position a, Position b) { return a.term != b.term ? a.term > b.term : a.index > b.index; }

class Core::Impl {
 public:
  Impl(const Options& options, Recovered recovered, LaggingTime now);

  void step(Input input, LaggingTime now);
  void drain(Effects& effects);
  LaggingTime next_deadline() const;
  std::span<const Entry> committed(Index first, size_t bytes_max);
  void applied(Index applied);

  Status status() const;
  const Leadership& leadership() const { return leadership_; }
  Index commit() const { return commit_; }
  Index base() const { return log_.base().index; }
  Index durable() const { return disk_.durable(); }
  std::optional<Term> term_at(Index index) const { return log_.term_at(index); }
  Index match(ReplicaId peer) const;
  std::optional<Lease> lease() const;
  std::optional<LaggingTime> fresh_at() const;
  const Configuration& configuration() const {
    return mutant(Mutant::MembersFromCommit) ? log_.configuration_at(commit_).configuration : log_.configuration();
  }
  Position configuration_position() const { return log_.configuration_position(); }
  Index leader_commit() const { return std::max(leader_commit_, commit_); }
  bool holds_back() const;
  bool removed() const { return quiet_; }
  bool attested() const { return attested_; }
  Position floor() const { return floor_; }
  const HardState& hard_state() const { return disk_.hard_state(); }

 private:
  friend class CoreTwin;

  // ---- core.cc
  void on(const Tick&) {}
  void on(Received& received);
  void on(const Written& written);
  void on(const PeerUp& up);
  void on(Propose& proposals);
  void on(const Confirm& question);
  void on(const Transfer& transfer);
  void on(const ChangeMembership& change);
  void on(LogRead& read);
  void on(const Checkpointed& checkpoint);
  void on(const Pin& pin);
  void on(const Installed& installed);
  void on(const Attested&) { attested_ = true; }

  struct Transition {
    Role role;
    Term term;
    ReplicaId leader;
  };
  void request(const Transition& transition);
  void settle();
  void perform(const Transition& transition);

  bool is_self(ReplicaId id) const { return id == options_.self; }
  bool leads() const { return leadership_.role == Role::Leader; }
  Term term() const { return disk_.hard_state().term; }
  void send(ReplicaId to, WriteNumber after, Message message);
  void append(Entry entry);
  void weigh(const Entry& entry);
  void raise_commit(Index to);

  // ---- admission.cc
  bool admissible(ReplicaId from, const Message& message) const;
  bool within_reach(Term claimed) const;
  void note_leap(ReplicaId from, const Message& message);
  bool sound(ReplicaId from, const VoteRequest& request) const;
  bool sound(ReplicaId from, const VoteReply& reply) const;
  bool sound(ReplicaId from, const AppendRequest& request) const;
  bool sound(ReplicaId from, const AppendReply& reply) const;
  bool sound(ReplicaId from, const Heartbeat& heartbeat) const;
  bool sound(ReplicaId from, const HeartbeatReply& reply) const;
  bool sound(ReplicaId from, const TimeoutNow& order) const;
  bool sound(ReplicaId from, const Removed& news) const;
  bool lawful_leader(ReplicaId from, Term claimed) const;
  bool current_stream(ReplicaId from, Term echoed, uint64_t stream) const;

  // ---- election.cc
  bool begins_new_term(ReplicaId from, const Message& message) const;
  void watch_time_before_input();
  void watch_time_after_input();
  void arm_election_timer();
  bool hears_leader() const;
  bool refuses_company(const VoteRequest& request) const;
  bool may_campaign() const;
  bool up_to_date(Position last) const;
  bool lacks_promised() const { return newer(floor_, log_.last()) && !mutant(Mutant::FloorIgnored); }
  void drop_reached_floor();
  void count_votes();
  void ask_for_votes(VoteKind kind, Term campaign_term, WriteNumber after);
  void become_follower(const Transition& transition);
  void become_pre_candidate();
  void become_candidate();
  void become_leader();
  void receive(ReplicaId from, const VoteRequest& request);
  void receive(ReplicaId from, const VoteReply& reply);
  bool grant(ReplicaId from, const VoteRequest& request);
  void receive(ReplicaId from, const Removed& news);

  // ---- following.cc
  void follow(ReplicaId leader);
  void receive(ReplicaId from, AppendRequest& request);
  void receive(ReplicaId from, const Heartbeat& heartbeat);
  bool agrees(Position previous) const;
  void adopt(std::vector<Entry>& entries);
  void truncate_after(Index index);
  void learn(Index leader_commit, Index everyone_has);

  // ---- leading.cc
  void receive(ReplicaId from, const AppendReply& reply);
  void receive(ReplicaId from, const HeartbeatReply& reply);
  Progress* progress_of(ReplicaId peer);
  const Progress* progress_of(ReplicaId peer) const;
  void heard(Progress& peer, uint64_t round);
  void note_round();
  void match_peers_to_configuration();
  LaggingTime quorum_time(LaggingTime Progress::*of_peer) const;
  LaggingTime quorum_contact() const { return quorum_time(&Progress::contact); }
  ProposalFate::Kind admit(const Proposal& proposal) const;
  void advance_commit();
  void lead();  // the leader's messages of one turn
  void begin_round();
  void send_heartbeat(Progress& peer);
  Position durable_position() const;
  void replicate(Progress& peer);
  void probe(Progress& peer);
  void send_append(Progress& peer, std::span<const Entry> entries);

  // ---- transfer.cc
  ReplicaId best_successor(absl::FunctionRef<bool(ReplicaId)> suits) const;
  bool fit(const Progress& peer) const;
  void hand_over();
  Duration disk_lag_max() const;
  void watch_own_disk();
  void notice_disk_lag();
  void yield_to_prompt();
  void judge_transfer();
  void end_transfer(TransferFate::Kind kind);
  void receive(ReplicaId from, const TimeoutNow& order);

  // ---- changing.cc
  std::optional<ChangeFate::Kind> refuses_changes(Index expected) const;
  std::optional<ChangeFate::Kind> endangered_by(const Configuration& next) const;
  void append_configuration(const Configuration& next);
  void leave_joint();
  void retire();
  void judge_change();
  bool may_vote(const VoteRequest& request) const;
  bool electable() const;
  bool own_store() const;
  bool removed_unawares(ReplicaId from, const VoteRequest& request) const;
  bool heard_as_stranger(ReplicaId from, const Message& message) const;

  // ---- confirmation.cc
  bool alone() const;
  bool round_wanted() const;
  void ask_in_round(uint64_t round);
  void answer_questions();
  void refuse_questions();

  // ---- reading.cc
  void request_read(Index first, Index last, size_t bytes_max);
  bool intact(Index asked, const std::vector<Entry>& entries) const;
  Index spared() const;
  std::optional<Position> compact();

  // ---- installing.cc
  bool answers(const Progress& peer) const { return now_ - peer.contact < catch_up_grace(); }
  Duration catch_up_grace() const;
  Index needed_by(const Progress& peer) const;
  Index needed() const;
  void leave_behind(Progress& peer);
  void greet(const Progress& peer);
  std::vector<ReplicaId> behind() const;
  void start_log_after(const Installed& installed);

  const Options options_;
  LaggingTime now_;
  Random random_;

  LogCache log_;
  WriteQueue disk_;
  Index commit_;        // INV_R03: never falls
  Index applied_;       // the cache may drop entries up to here
  Index everyone_has_;  // every member has these durably: stays true until another configuration has other members
  Position checkpoint_;
  LogWeight retained_;  // of the log, against log_retained_bytes
  LogWeight pinnable_;  // against log_pinned_bytes
  LogWeight lag_;       // against follower_lag_bytes_max
  Index unreadable_;    // entries up to here are rotten on the own disk; zero: none
  Index pinned_;        // entries after it will be asked for by those who are sent a state; zero: nobody is
  Index told_needed_;   // as the leader of the time told all, itself included, with its last heartbeats; zero: nothing

  Leadership leadership_;
  std::optional<Transition> requested_;
  LaggingTime election_deadline_;  // not leader
  LaggingTime leader_contact_;     // when a lawful leader was last heard; with leases also when we started
  VoteSet votes_;                  // (pre-)candidate
  Cause cause_ = Cause::Silence;   // of the present campaign
  bool attested_;                  // else neither votes, campaigns nor acknowledges
  Position floor_;                 // held once, and beyond the end of the log; zero: nothing is lacking
  bool quiet_ = false;             // told to be removed: no campaign until a leader speaks or a configuration comes
  uint64_t vote_round_ = 0;        // names one campaign; answers to an older one are stale
  Freshness freshness_;
  Index leader_commit_;             // the highest that any leader has told
  bool told_to_hold_back_ = false;  // by the leader that is followed
  Index verified_;                  // follower: our log is equal to this term's leader's up to here

  // Leader only.
  std::vector<Progress> peers_;  // by id
  uint64_t last_stream_ = 0;
  Index leader_start_;            // our first entry of this term
  bool matches_changed_ = false;  // the commit rule has something to look at
  bool heartbeat_due_ = false;
  LaggingTime heartbeat_deadline_;
  uint64_t round_ = 0;            // last confirmation round begun in this term
  uint64_t confirmed_round_ = 0;  // a quorum answered it
  struct Round {
    uint64_t number = 0;
    LaggingTime begun;
  };
  std::deque<Round> rounds_;  // of the last election timeout, two in a heartbeat interval at most; oldest first

  // Outlives the reign, so that the outcome can be told.
  struct Handover {
    Ticket ticket;  // zero: our own idea
    ReplicaId target;
    LaggingTime deadline;
    Term term;                // in which it was begun
    uint64_t told_round = 0;  // TimeoutNow was last sent in this confirmation round
  };
  std::optional<Handover> handover_;
  std::optional<TermLeap> leap_;
  Term lease_void_;
  LaggingTime led_since_;  // leader
  struct DiskLag {
    Index upto;  // in the log at `since`, not yet durable here
    LaggingTime since;
    Index asked;  // in the log at `asked_at`: whoever has it half an election timeout later is prompt
    LaggingTime asked_at;
    std::vector<ReplicaId> prompt;  // who kept up all the time
    bool refused = false;           // a handover has failed
  };
  std::optional<DiskLag> disk_lag_;  // leader

  struct PendingChange {
    Ticket ticket;
    Position at;
  };
  std::optional<PendingChange> change_;  // taken by us in some term; its fate is told from the log

  struct Question {
    Ticket ticket;
    uint64_t round;  // the first one begun after the question; zero: not begun yet
    Index commit;    // when it was asked
  };
  std::deque<Question> questions_;  // in the order asked; those without a round are last

  struct Read {
    Index first;
    std::optional<LaggingTime> failed;  // tried again a heartbeat interval after this
  };
  std::vector<Read> reads_;          // under way or failed lately
  std::vector<Entry> apply_window_;  // read back for apply
  std::optional<Index> apply_wants_;

  // Collected for the next drain.
  std::vector<Send> sends_;
  std::vector<ProposalFate> fates_;
  std::vector<Confirmation> confirmations_;
  std::vector<TransferFate> transfers_;
  std::vector<ChangeFate> changes_;
  std::vector<ReadRequest> read_requests_;
  Leadership told_leadership_;
  Index told_commit_;
};

}  // namespace coordkit::raft
