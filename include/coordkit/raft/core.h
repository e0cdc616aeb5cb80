// Door 3: the consensus protocol alone. Values in, values out; no thread, clock, file or socket.
//
//   core.step(input, now);           any number of times
//   core.drain(effects);             once per turn: at most one write, messages, and new facts
//
// The host makes the write durable and answers Written; it sends a message once `after <= durable`.
// That one rule orders all I/O. Equal inputs and seed give equal effects.
//
// Threads: one owner.
// Errors: an invariant that does not hold calls the check handler, and the core falls silent.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/clock.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/raft/entry.h"
#include "coordkit/raft/membership.h"
#include "coordkit/raft/raft_message.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {
namespace raft {

// In units of Entry::bytes: the 65,536 smallest entries, the most that one message may have.
inline constexpr size_t kAppendBytesMax = 3 << 20;

struct Options {   // of one core, which does not check them: call validate() first
  ReplicaId self;  // legal: 1 and up
  // Ours. A replica whose member entry names another store never campaigns, and votes only for
  // longer logs, which may name it. The host admits only named stores' messages. Zero: not checked.
  StoreId store;
  GroupId group = kOnlyGroup;  // part of every content sum; equal on all members
  // A follower waits a random time in [election_timeout, 2 * election_timeout) of silence before it
  // campaigns. Legal: 10 ms to 1 h, above 2 * heartbeat_interval. Good: ten times the round trip.
  Duration election_timeout = std::chrono::milliseconds(300);
  Duration heartbeat_interval = std::chrono::milliseconds(60);  // legal: 1 ms and up
  // If a leader's own disk takes longer than this for entries that a follower stores promptly, the
  // leader hands over to that follower. It does not do so in its first ten election timeouts. Zero:
  // one election timeout; max(): never. A disk that is slow everywhere changes nothing.
  Duration disk_lag_max = Duration::zero();
  uint64_t seed = 1;  // of the election jitter
  // For this long after it began a round that a quorum answered, a leader may answer reads without
  // asking again (thesis 6.4.1). Zero: no leases. Equal on all members. Legal: at most
  // election_timeout * (1 - rho) / (1 + rho), rho being the bound on the error of clock rates;
  // lease_of() computes it. With leases a replica grants no vote for an election timeout after its
  // start, because it does not know which leader it heard before.
  Duration lease = Duration::zero();
  // How long a leader keeps the news of a commit for the next append, before it sends them alone.
  // SendCommit is not kept waiting. Legal: up to 1 h; zero: always at once.
  Duration commit_news_delay = Duration::zero();
  // How long a leader under load may keep entries from members outside its quorum, learners too.
  // Those then sync several batches at once. Nothing is kept from those that SendCommit names, nor
  // once kept entries are uncommitted for that time. Legal: up to 1 h; zero: never.
  Duration append_delay = Duration::zero();
  // These are windows of one append stream. Legal: 1 to 65,536 messages, and 1 byte and up.
  size_t append_messages_in_flight = 64;
  size_t append_bytes_in_flight = 8 << 20;
  size_t append_bytes_max = 1 << 20;     // of one message, >= 1 entry. Legal: 1 to kAppendBytesMax
  size_t unsynced_bytes_max = 64 << 20;  // a leader whose disk lags this much refuses proposals
  size_t cache_bytes_max = 64 << 20;     // applied entries beyond this are read back from the log

  // Log kept behind the checkpoint for absent peers. Beyond it they get the state. Legal: any.
  uint64_t log_retained_bytes = 64 << 20;
  // Up to this weight, entries are kept that an answering peer still lacks, or that follow a state
  // being sent to one (Pin), whatever log_retained_bytes says. Legal: log_retained_bytes and up.
  uint64_t log_pinned_bytes = uint64_t{4} << 30;
  // Whether new commands should be held back (Core::holds_back) while a voter that answers is more
  // than this behind. That counts log that it lacks, or that follows the state it is sent. The core
  // itself accepts proposals all the same. Zero: never.
  uint64_t follower_lag_bytes_max = 0;

  // A learner at most this many entries behind may be promoted: the quorum waits. Legal: 1 to 2^32.
  uint64_t promotion_lag_max = 1000;

  // OK or kInvalidArgument with a sentence that says what to change.
  absl::Status validate() const;
};

// ---- inputs

struct Tick {};  // time passed; the requested deadline has come

struct Received {   // a message from a peer; stale, malformed and strangers' ones have no effect
  ReplicaId from;   // proven by the connection
  Message message;  // as decoded; the core verifies its entries' content sums
};

struct Written {       // the answer to Effects::write
  WriteNumber number;  // it and all earlier ones are durable
};

// A connection to an incarnation of a peer was (re-)established: append streams start again.
struct PeerUp {
  ReplicaId peer;    // no member: no effect
  BootCounter boot;  // of its data directory; the core does not use it
};

// The connection to this peer is gone. Zero: this process was paused, and its knowledge of any peer
// may be old. Until a message that leaves after this is answered, a change of members or a transfer
// does not rely on the peer. Heartbeats continue.
struct PeerDown {
  ReplicaId peer;  // zero: all of them
};

struct Proposal {                       // one entry that a leader is asked to append
  Ticket ticket;                        // chosen by the host; its ProposalOutcome carries it
  EntryKind kind = EntryKind::Command;  // only Command is accepted; others get NoRoom
  SharedBytes payload;                  // opaque to the core
};

struct Propose {                    // each proposal gets one ProposalOutcome
  std::vector<Proposal> proposals;  // appended in this order
};

// A call of this peer waits for commits: the leader tells it of them at once (commit_news_delay),
// and keeps no entries from it for a heartbeat interval (append_delay).
struct SendCommit {
  ReplicaId peer;  // no effect unless it is a peer and this replica leads
};

// Asks for a quorum round from now on. Answers Confirmed or, if leadership is lost, refused.
struct Confirm {
  Ticket ticket;  // its Confirmation carries it
};

// Hands leadership to a voter (thesis 3.10). Until it is done or given up no proposal is accepted,
// for two election timeouts at most. The next transfer begins after a rest of four times as long;
// requested sooner, it ends at once, Expired.
struct Transfer {
  Ticket ticket;              // its TransferOutcome carries it; not zero
  ReplicaId target;           // zero: the most advanced voter that answers
  LaggingTime deadline = {};  // given up then; no later than after two election timeouts
};

// Answered by a ChangeOutcome. `expected` is the caller's index of the configuration in force.
struct ChangeMembership {
  Ticket ticket;                      // its ChangeOutcome carries it
  std::vector<MemberChange> changes;  // applied in their order, in force together
  Index expected = {};                // any other index: Conflict
};

struct LogRead {                               // the answer to a ReadRequest
  Index first;                                 // ReadRequest::first
  absl::StatusOr<std::vector<Entry>> entries;  // an error, or other entries: asked again later
};

// The host has a durable checkpoint at this position; the core decides how much log is dropped.
// Entries up to `unreadable` (zero: none) are rotten on this replica's disk. They are dropped even
// if peers lack them; those peers are sent the state instead.
struct Checkpointed {
  Position applied;       // the state after it is durable; zero: no new one
  Index unreadable = {};  // zero: none
};

// A peer that is sent a state will need the entries after this position: they are kept. Zero: none.
struct Pin {
  Index after;  // replaces the position of the previous Pin
};

// The state of a peer at this committed position was installed and is durable, configuration
// included. A log that holds the position is kept; any other log starts again after it.
struct Installed {
  Term term;                    // of a leader that knew it to be committed
  Position at;                  // at or before the log's start: no effect
  Configuration configuration;  // in force there
  Index configuration_index;    // of its entry
};

// This disk holds all that a quorum remembers of it (Recovered::rollback_checked).
struct RollbackCheckPassed {};

// All that step() takes. SettledMembers: a peer's knowledge of them. If newer than this log's
// members, they are in force until the log has members as new. A log that ends before them gets no
// vote and does not campaign. A term in which they may be uncommitted gets no vote. A leader's log
// has them.
using Input = std::variant<Tick, Received, Written, PeerUp, PeerDown, Propose, SendCommit, Confirm, Transfer, ChangeMembership,
                           LogRead, Checkpointed, Pin, Installed, RollbackCheckPassed, SettledMembers>;

// ---- effects

struct Send {         // one message to one peer
  ReplicaId to;       // never this replica itself
  WriteNumber after;  // sent only once this write is durable; zero: at once
  Message message;    // the peer's host passes it to its core as Received
  friend bool operator==(const Send&, const Send&) = default;
};

// See thesis fig. 3.3. A PreCandidate (9.6) has not entered a new term.
enum class Role : uint8_t { Follower, PreCandidate, Candidate, Leader };

struct Leadership {            // a replica's role, and the leader that it knows
  Role role = Role::Follower;  // of this replica
  Term term;                   // its own current one, durable or not
  ReplicaId leader;            // zero: none known
  friend bool operator==(const Leadership&, const Leadership&) = default;
};

// A proposal was appended at this position, or (zero index) refused without effect, for `kind`.
struct ProposalOutcome {
  // Appended, or the reason why the proposal was refused.
  enum class Kind : uint8_t { Appended, NotLeader, NoRoom, Transferring };
  Ticket ticket;               // of the Proposal
  Kind kind = Kind::Appended;  // NoRoom: beyond unsynced_bytes_max, or no Command
  Position at;                 // of the entry
  friend bool operator==(const ProposalOutcome&, const ProposalOutcome&) = default;
};

// Leadership held at a moment after the question. A state from `read_index` on is linearizable.
struct Confirmation {
  Ticket ticket;             // of the Confirm
  Answer held = Answer::No;  // No: this replica does not lead, or its leadership ended first
  Index read_index;          // zero with No
  friend bool operator==(const Confirmation&, const Confirmation&) = default;
};

struct ReadRequest {     // entries that left memory; the host reads them and answers LogRead
  Index first;           // its LogRead carries it
  Index last;            // inclusive; fewer entries will do
  size_t bytes_max = 0;  // as LogStore::read() takes it; at least one entry is returned
};

// This log and that leader's belong to two histories, so a disk was set back or copied. A leader
// has each committed entry (thesis 3.6.3), and one term has one leader (3.4), so one entry a place.
struct Contradiction {
  ReplicaId leader;  // by its own message
  Term term;         // in which it leads
  Position theirs;   // of its entry; with term zero the end of its log, which is before ours
  Position ours;     // committed at that index or later, or our log's start: earlier entries have no
                     // greater term. Equal to theirs: that entry has other contents
  friend bool operator==(const Contradiction&, const Contradiction&) = default;
};

struct Effects {                               // everything due since the last drain
  std::optional<LogWrite> write;               // absent: nothing has to be stored
  std::vector<Send> sends;                     // in the order in which the steps made them
  std::vector<ProposalOutcome> outcomes;       // in the order of the proposals
  std::vector<Confirmation> confirmations;     // in the order of the questions
  std::vector<TransferOutcome> transfers;      // each Transfer with a ticket gets one
  std::vector<ChangeOutcome> changes;          // each ChangeMembership gets one
  std::vector<ReadRequest> reads;              // for peers and for committed()
  std::optional<Leadership> leadership;        // present when it changed
  std::optional<Position> compact;             // the log store may drop entries up to here
  std::optional<Contradiction> contradiction;  // then drop the core and these effects: none is safe
  std::vector<ReplicaId> behind;               // leader, always: all that answer and need a state
  Index commit;                                // never falls

  void clear();  // empties all of it and keeps the memory
};

// The recovered content of the log store. The core keeps the entries.
struct Recovered {
  HardState hard_state;         // as last made durable
  Position base;                // the log starts after it
  Configuration configuration;  // in force at base
  Index configuration_index;    // of its entry; zero: the same as base
  Position applied;             // of the durable checkpoint: committed, at or after base
  std::vector<Entry> entries;   // contiguous after base
  // The store's log does not belong to base: an install was interrupted. The first write resets it.
  bool log_replaced = false;
  // False: the disk may have been set back to an older state. Until RollbackCheckPassed the core
  // neither votes, campaigns nor acknowledges. It reacts only to the message that it was removed.
  bool rollback_checked = true;
  // Zero, or the end of the log that this disk had held before entries of it were lost. `entries`
  // ends before the first lost entry. The first write that appends removes everything that the
  // store has after it. Until the log reaches this position again, only a log that reaches it gets
  // a vote, and the core does not campaign (docs/decisions/0024).
  Position floor = {};
};

// For introspection, tests and the simulator's observer. Valid until the next step.
struct PeerStatus {
  ReplicaId peer;             // any member except the leader
  Index match;                // durable there and equal to our log; zero: not known
  Index next;                 // the next entry to be sent to it; above match
  LaggingTime last_received;  // when the newest message was sent that it answered
  bool behind = false;        // waits for a state
};

// The most that claims of peers raise a term within an election timeout. Elections never take a
// replica this far ahead of another: at one every 10 ms that would take a year and four months.
inline constexpr uint64_t kTermLeapMax = uint64_t{1} << 32;

// A peer claimed a term out of reach: more than kTermLeapMax beyond ours of an election timeout
// ago. Its message was dropped. A replica without a leader moved towards that term as far as it
// may, so that it meets a peer that was led astray.
struct TermLeap {
  ReplicaId from;      // of the newest claim
  Term claimed;        // the term of the newest claim
  uint64_t count = 0;  // since the start
  friend bool operator==(const TermLeap&, const TermLeap&) = default;
};

struct Status {                   // a copy of the core's view
  Leadership leadership;          // after the latest step
  HardState hard_state;           // submitted, not always durable yet
  Position base;                  // the log starts after it
  Position last;                  // the log's end, durable or not
  Index commit;                   // known here to be committed
  Index durable;                  // own log, synced
  size_t cached_bytes = 0;        // of the entries in memory
  LaggingTime quorum_contact;     // leader: when a quorum was last known to follow
  LaggingTime leader_contact;     // follower: when it last heard its leader
  Configuration configuration;    // in force
  Index configuration_index;      // of its entry: the index that a change expects
  std::vector<PeerStatus> peers;  // leader only
  ReplicaId successor;            // leader: the target of a transfer in progress; zero: none
  std::optional<TermLeap> leap;   // absent: none so far
  Term lease_void;                // no lease holds in this term: TimeoutNow was sent (thesis 6.4.1)
};

// A leader that may answer reads alone at `read_index`, as long as at most Options::lease of REAL
// time has passed since `since` (sleep included, which this clock does not count).
struct Lease {
  LaggingTime since;  // the start of the newest round that a quorum answered
  Index read_index;   // the commit index
};

// The longest lease that is safe with clock rates off by up to this many parts per million.
Duration lease_of(Duration election_timeout, uint32_t rate_error_ppm);

class Core {
 public:
  // Takes over a recovered log. `now` starts the first election timer.
  Core(const Options& options, Recovered recovered, LaggingTime now);
  ~Core();
  Core(Core&&) noexcept;
  Core& operator=(Core&&) noexcept;

  void step(Input input, LaggingTime now);  // takes one event; time does not run backwards
  // Moves out everything due since the last drain. Clears `effects` first and reuses its memory.
  void drain(Effects& effects);
  // When step(Tick) is needed at the latest.
  LaggingTime next_deadline() const;

  // Committed entries [first, ...) for apply, at most `bytes_max` but at least one. Empty when none
  // is committed or they are not in memory. In the second case the next drain asks for a read
  // (Effects::reads); call again after its LogRead.
  std::span<const Entry> committed(Index first, size_t bytes_max);
  void applied(Index applied);  // everything up to there was applied: the cache may drop it

  Status status() const;                 // after the latest step
  const Leadership& leadership() const;  // the reference stays valid, the value changes with steps
  std::optional<Lease> lease() const;    // absent: no leader; no or void lease; no commit this term
  // The applied state holds everything that was committed at this time, as far as this replica
  // knows: the travel of the leader's message is not counted. Absent: not known since it started.
  std::optional<LaggingTime> fresh_at() const;
  Index commit() const;                        // highest known to be committed; never falls
  const Configuration& configuration() const;  // in force
  Position configuration_position() const;     // of its entry
  SettledMembers settled_members() const;      // the newest ones known to be committed
  bool removed() const;                        // a Removed message came, and no leader spoke since
  Index base() const;                          // the log starts after it
  Index proven() const;                        // equal to this term's leader's log; zero: nothing
  Index leader_commit() const;                 // highest known here or from a leader; never falls
  bool holds_back() const;                     // follower_lag_bytes_max, here or at our leader
  Index match(ReplicaId peer) const;           // leader: known to be durable there; zero: nothing
  // Absent: before the base or beyond the end.
  std::optional<Term> term_at(Index index) const;
  const HardState& hard_state() const;  // submitted, not always durable yet
  bool rollback_checked() const;        // false: inactive until RollbackCheckPassed
  Position floor() const;               // Recovered::floor, until durably reached
  Index durable() const;                // synced log; falls only by truncating uncommitted entries

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raft
}  // namespace coordkit
