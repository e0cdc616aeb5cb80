// Door 2: one replica as a deterministic object. No thread, clock, socket or file: values in, out.
//
//   engine.post(input);                    every event, in the order it happened
//   engine.turn(clock.now(), effects);     one step of all; read the clock AFTER the last post
//   ... carry out the effects, in any order; their completions are posted again
//   engine.next_deadline()                 when a turn is needed even if nothing happens
//
// The time rules rest on reading the clock after the last post and before any effect. The moment of
// a turn is then never earlier than a receipt it handles, and never later than a message it sends.
//
// Threads: one owner.
// Errors: a storage failure or a broken invariant halts the engine. Every pending call then ends
// with ReplicaFailed, EngineEffects::halted gives the host the reason, and nothing is sent any
// more. Used by: Replica, the simulator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/engine/agreement.h"
#include "coordkit/engine/engine_message.h"
#include "coordkit/engine/engine_status.h"
#include "coordkit/engine/relay.h"
#include "coordkit/engine/state_transfer.h"
#include "coordkit/error.h"
#include "coordkit/export.h"
#include "coordkit/feature_level.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/clock.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/ports/transport.h"
#include "coordkit/raft/core.h"

namespace COORDKIT_EXPORT coordkit {

struct EngineOptions {  // of one replica; Engine::recover() checks them
  raft::Options raft;   // the recovered log replaces its `store`
  // Members listed by the operator. They matter until genesis; afterwards the log names them.
  std::vector<Peer> members;
  // Drawn by the host at random. Used if this replica founds the cluster.
  ClusterId new_cluster = {};
  uint64_t token_base = 0;  // that cluster's tokens and session ids exceed it. Legal: 0 to 2^63 - 2
  // Drawn by the host at random at every start. A disk that was set back to an older state can
  // start twice with the same boot counter; this number tells the two starts apart. Zero: unknown.
  uint64_t start = 0;
  // The newest level that this build can read. Less than kFeatureLevel: it acts as an older build.
  // Legal: up to kFeatureLevel, except in tests.
  uint64_t feature_level = kFeatureLevel;
  // Compared with the hellos of peers. Absent: nothing is compared.
  std::optional<Agreement> agreement = {};

  size_t requests_max = 65536;         // calls in progress; beyond: TooManyRequests. Legal: above 0
  size_t request_bytes_max = 3 << 19;  // of a command; beyond: RequestTooLarge. Legal: 1 to 15 MiB
  // Bytes of commands and reads in progress together. Beyond it calls get TooManyRequests, reserved
  // ones beyond a quarter more. A command that waits in the state (Queued) does not count: only its
  // call is kept here, and that counts in requests_max. Legal: request_bytes_max and up.
  size_t request_bytes_in_flight_max = 64 << 20;
  size_t window = 1024;                   // unanswered sequences of this origin. Legal: 1 to 1024
  size_t apply_bytes_per_turn = 1 << 20;  // the control lane is served in between. Legal: 1 and up
  uint64_t checkpoint_entries = 4096;     // applied between two checkpoints. Legal: 1 and up
  uint64_t checkpoint_bytes = 16 << 20;   // or this many payload bytes
  size_t timers_per_entry = 1024;         // sessions that can end in one entry. Legal: 1 and up
  // Replicas compare the digests of their states after this many entries. Equal on all replicas;
  // otherwise only common multiples are compared. Legal: 0 (never), or 128 and up, because each
  // comparison is itself an entry of every voter.
  uint64_t digest_entries = 65'536;

  // Transfer of a state to peers whose log ends before ours begins. A chunk holds at least one row.
  size_t state_chunk_bytes = 512 << 10;                 // legal: 1 to 8 MiB
  uint64_t state_bytes_per_second = 256 << 20;          // to all of them together. Legal: 1 and up
  Duration state_view_idle = std::chrono::seconds(10);  // an unread view is closed. Legal: above 0
  // A view that is being read gives way to a newer one after this time. Legal: above zero. A state
  // that cannot be read once in this time never arrives.
  Duration state_view_max = std::chrono::minutes(10);

  absl::Status validate() const;  // kInvalidArgument listing every problem
};

// One state machine in the log. The engine owns it. `id` is stable for the life of the cluster:
// commands and rows carry it. Every replica must host every machine that has ever had a command.
// recover() refuses to start without one. A replica halts before a command of a missing machine.
struct HostedMachine {
  MachineId id;                           // from 1; the host's own begin at kFirstHostMachine
  std::unique_ptr<StateMachine> machine;  // blank; never null
};

// The first eight bytes of the keys of a machine's checkpoint rows, made from its id.
std::string row_prefix(MachineId machine);

// ---- inputs

struct PeerConnected {  // from TransportSink::peer_up()
  Hello hello;          // verified by the transport
};
struct PeerLost {  // from TransportSink::peer_down()
  ReplicaId peer;  // no connection to it is left
};
struct MessageReceived {  // from TransportSink::received()
  ReplicaId from;         // proven by the connection
  Message message;        // dropped if its sender may not send it
};
struct LogWritten {    // from LogSink::written()
  WriteNumber number;  // it and all earlier ones are durable
};
struct LogWasRead {                                  // from LogSink::log_read()
  Index first;                                       // as in the raft::ReadRequest
  absl::StatusOr<std::vector<raft::Entry>> entries;  // at least one; kDataLoss: rotten
};
struct StateCheckpointed {  // from StateSink::checkpointed()
  Position applied;         // of the batch that is durable
};
// The host wants a checkpoint of a state at or beyond this entry. It is due as soon as that much is
// applied and durable here. EngineStatus::checkpointed says when it is durable.
struct CheckpointWanted {
  Index at_least;  // the highest of all counts
};
// The room of the log's disk. Below Ample new commands get NoSpace. Reserved commands, renewals,
// reads and expiries continue. So does everything that frees room: checkpoints and compaction.
struct LogSpaceChanged {
  LogSpace space = LogSpace::Ample;  // from LogSink::log_space()
};
// Writes to the log wait for something other than room. OK: they continue.
struct LogWaits {
  absl::Status why;  // from LogSink::log_waits(); an operator reads it
};
// The file that the log keeps ready has an error, and is made again. OK: one is ready.
struct LogSpareFails {
  absl::Status why;  // from LogSink::log_spare_fails(); an operator reads it
};
struct StoreFailed {  // from LogSink::log_failed(), StateSink::checkpoint_failed(): a halt
  absl::Status why;   // becomes EngineEffects::halted; an empty one: StorageFailed
};
// The content of the state store does not verify, or is gone, and the store has dropped its pending
// work. The state in memory is the truth. It is written again as a whole (EngineEffects::checkpoint
// with CheckpointBatch::whole), and the replica continues.
struct StateDamaged {
  absl::Status why;  // an operator reads it; OK: nothing is written again
};
// Rows read for another reason do not verify. As StateDamaged, but the store has dropped nothing.
struct StateRotten {
  absl::Status why;  // an operator reads it; OK: no effect
};
// A checkpoint (or staged rows) waits for room, or (kDataLoss) for errors to end. OK: it continues.
struct StateWaits {
  absl::Status why;  // from StateSink::checkpoint_waits(); an operator reads it
};
// Entries of the log between these two no longer verify on its disk, but this replica continues. It
// can do without the entries that it has applied: it takes a checkpoint at once and compacts the
// log up to it. Zero: the store repairs the damage itself.
struct LogDamaged {
  Index first;       // the first entry that does not verify
  Index last;        // the last one; zero: see above
  absl::Status why;  // an operator reads it
};

// Reserved: release, cancel, close. They give room back, so some room is kept for them, and they
// are taken when others are not.
enum class Urgency : uint8_t { Normal, Reserved };

// Runs a command through the log, exactly once.
struct Submit {
  Ticket ticket;                      // of the host's choice; the completions carry it
  MachineId machine = kCoordination;  // not hosted here: Unsupported
  SharedBytes command;                // in the machine's encoding; request_bytes_max limits it
  LaggingTime deadline = {};          // then the call ends: NoLeader or CallTimeout; max(): never
  Urgency urgency = Urgency::Normal;  // with Reserved, a full disk of the log does not refuse it
  // The most bytes that its answer has, as far as the host knows. All replicas keep the answers of
  // pending calls for a while, so this bound limits how many calls there are at once.
  uint32_t answer_bytes_max = kResultBytesMax;
  std::optional<Guard> guard = {};  // not met at its turn in the log: Fenced, never executed
  // An earlier Submit of this engine that must execute before this one. No effect if it has
  // completed. Its urgency is no lower. Needs feature level 2.
  Ticket after = {};
};

// How recent the state is that a read sees.
enum class Consistency : uint8_t {
  Linearizable,  // sees all acknowledged anywhere before the call; a quorum round, no log entry
  // The same while clock rates are within the bound: a leader with a lease (raft::Options::lease)
  // answers at once; elsewhere, and without a lease, it is a Linearizable read.
  Lease,
  Local,  // this replica's applied state, possibly old: an exact state, at Completion::index
};

// Asks for the moment in which a machine's state may be read. Completes in a turn whose applied
// state serves. Until the next turn the asker may read the machine itself (Engine::machine).
struct Ask {
  Ticket ticket;                             // of the host's choice; the completion carries it
  MachineId machine = kCoordination;         // not hosted here: Unsupported
  std::optional<std::string> question = {};  // present: passed to the machine's query() in that
                                             // turn; Completion::bytes answers it
  // How recent that state is.
  Consistency consistency = Consistency::Linearizable;
  Index at_least = {};        // Local: a state at or beyond this entry, awaited until the deadline
  LaggingTime deadline = {};  // then the read ends without effect: NoLeader or CallTimeout
  // How long a Local question about history may wait at another process for something new. An
  // engine with a state answers at once.
  Duration waits = {};
};

// Renews timer groups with the current leader. One attempt: it is answered once or never. The
// sender retries with a fresh attempt number.
struct Renew {
  RenewRequest request;  // its `attempt` is fresh; EngineEffects::renewals has the answer
};

// Changes the members, on whichever replica it is called. The changes take effect together, in
// their order. A newcomer that is to vote (added and promoted, or put in a voter's place) learns
// first. It is promoted with all the rest once it has nearly caught up. A member may be added
// without a store id: the id is taken from its hello, for which this replica connects to its
// address. Completes OK when the final configuration is applied here (its index is in
// Completion::index), or with the reason why not. `expected`: only if that configuration is in
// force, by the index of its entry; else Conflict. Without it, the change builds upon a change by
// another caller. One at a time per replica. If the call ends early, added members stay learners.
struct ChangeMembers {
  Ticket ticket;                            // of the host's choice; the completion carries it
  std::vector<raft::MemberChange> changes;  // 1 to kChangesMax
  std::optional<Index> expected = {};       // absent: any
  LaggingTime deadline = {};                // then it ends early; max(): never
};

// Hands leadership to `target` (zero: the voter that is best prepared), on whichever replica it is
// called. Completes OK when the new leader's first entry is applied here. Otherwise the old leader
// still leads.
struct TransferLeadership {
  Ticket ticket;              // of the host's choice; the completion carries it
  ReplicaId target;           // not a voter: NotEnoughVoters; not a member: MemberNotFound
  LaggingTime deadline = {};  // then it ends without effect; max(): never
};

// The peer stays without a connection until an operator acts. Cleared by its next PeerConnected;
// for a peer that is not in EngineEffects::peers, by PeerLost.
struct PeerRefused {
  ReplicaId peer;   // from TransportSink::peer_refused()
  std::string why;  // a sentence
};

// The transport gets no answer at the peer's address: the name does not resolve, nothing listens,
// or the listener is silent. The peer may be connected by itself. Cleared by its next
// PeerConnected.
struct PeerUnreachable {
  ReplicaId peer;   // from TransportSink::peer_unreachable()
  std::string why;  // a sentence
};

// The caller stopped listening: no completion will come for this ticket. The command itself
// continues. For a change of members or a transfer, the part that the leader has begun continues.
// Tickets of Submit and Ask are the host's, all different.
struct Forget {
  Ticket ticket;  // no call in progress has it: no effect
};

// All that post() takes.
using EngineInput =
    std::variant<PeerConnected, PeerLost, MessageReceived, LogWritten, LogWasRead, StateCheckpointed, StoreFailed,
                 LogSpaceChanged, Submit, Ask, Renew, Forget, ViewOpened, ViewWasRead, RangeStaged, StateInstalled,
                 InstallRefused, StateRestored, ChangeMembers, TransferLeadership, PeerRefused, PeerUnreachable, StateDamaged,
                 StateRotten, Relay, StateWaits, LogDamaged, CheckpointWanted, LogWaits, LogSpareFails>;

// ---- effects

struct Outbound {   // one message to one peer
  ReplicaId to;     // never this replica itself
  Message message;  // encode() makes its bytes
};

// The answer to a Submit, Ask, ChangeMembers or TransferLeadership.
struct Completion {
  Ticket ticket;  // of the call
  // Queued: the command was accepted and waits in the state; the same ticket completes once more.
  ApplyOutput::Stage stage = ApplyOutput::Stage::Final;
  absl::Status status;          // of the engine; the machine's own results are in `bytes`
  SharedBytes bytes;            // of the machine; empty for an Ask without a question
  Index index;                  // of the deciding entry, or of the state that was read
  std::optional<Duration> age;  // of a Local read's state, as far as is known; absent: unknown
  RequestId request;            // under which a Submit ran; zero origin if it never got that far
};

struct MachineEvent {  // an ApplyOutput::Event of an applied entry
  MachineId machine;   // the one that announced it
  Index index;         // of the entry
  std::string bytes;   // in the machine's own encoding
};

// Replicas that have applied equally far have different states: a state machine that is not
// deterministic, bad memory, a bug. Every replica that has compared reports it at most once for
// each verdict about one index (docs/decisions/0008).
struct Divergence {
  // The opinion of most voters, as far as they have compared.
  enum class Verdict : uint8_t {
    Self,     // most voters agree on another digest than this replica's: it goes into quarantine
    Other,    // most voters agree with this replica; the other one is in quarantine
    Unclear,  // no majority yet, or none at all
  };
  Index index;                         // the states after this entry
  Verdict verdict = Verdict::Unclear;  // of this comparison
  ReplicaId other;                     // one that differs
  uint64_t own = 0;                    // digests
  uint64_t others = 0;                 // of `other`
  std::string sentence;                // for an operator
};

struct EngineEffects {                  // orders and news of one turn
  std::vector<LogWrite> writes;         // for LogStore::submit(), in this order
  std::vector<Outbound> sends;          // to be sent now: their writes are durable
  std::vector<Completion> completions;  // the ends of calls
  bool more_expired = false;            // calls whose deadlines passed end in the next turn
  std::vector<MachineEvent> events;     // in the order of the log
  // Commands of remotes with names, in the order of the log. A replica that skips entries, because
  // it got a state from a peer, does not report those. After a restart some come again.
  std::vector<ApplyOutput::Act> acts;
  std::vector<RemoteAnswer> remote_answers;   // for a gateway, which knows the remotes that are linked to it
  std::vector<RenewReply> renewals;           // answers to this replica's own Renew
  std::vector<raft::ReadRequest> log_reads;   // for LogStore::read(); answered by LogWasRead
  std::optional<CheckpointBatch> checkpoint;  // for StateStore::commit(); one at a time
  std::optional<Position> compact;            // for LogStore::compact()
  // States for peers and from peers (state_transfer.h). `restore`: build a RestoredState from a
  // view opened now.
  std::vector<ViewOrder> views;
  std::vector<StagingOrder> staging;  // for perform(), in this order
  std::optional<Position> restore;    // the position of the state that was installed
  // A peer's state is in force from here on. No event reports the changes in between: a follower of
  // events has to read the state itself.
  std::optional<Position> restored;
  std::unique_ptr<RestoredState> discarded;    // with `restored`: the previous state, to be
                                               // destroyed outside the turn
  std::optional<raft::Leadership> leadership;  // present when it changed
  std::optional<ClusterId> cluster;            // genesis became durable: the transport's hello
                                               // should carry it
  std::optional<Divergence> divergence;        // the states of replicas differ
  std::optional<std::vector<Peer>> peers;      // the peers to be connected with, when that changed
                                               // (Transport::set_peers)
  std::optional<absl::Status> halted;          // present once
  std::vector<absl::Status> threw;             // HostThrew: a machine's query() threw; only that
                                               // question suffered

  void clear();  // empties it and keeps memory; destroys `discarded`
};

class Engine {
 public:
  // Takes over the recovered content of the stores. `checkpoint` is the state store's view, read
  // here once. kDataLoss: log and checkpoint do not belong together. kInvalidArgument: options.
  static absl::StatusOr<std::unique_ptr<Engine>> recover(EngineOptions options, std::vector<HostedMachine> machines,
                                                         RecoveredLog log, const CheckpointView& checkpoint, Now now);
  virtual ~Engine() = default;

  virtual void post(EngineInput input) = 0;  // queues it for the next turn
  // Clears `effects` first. Never waits. Throws nothing except std::bad_alloc, and only if memory
  // ran out twice: in a step and in the halt after it. Then fail() and another turn retry the halt.
  virtual void turn(Now now, EngineEffects& effects) = 0;
  // For a host that could not carry out all effects of a turn, or post an input. The next turn
  // halts with this error, does nothing else, and reads nothing half-changed. Allocates nothing.
  virtual void fail(absl::Status /*why*/) noexcept {}
  virtual LaggingTime next_deadline() const = 0;  // LaggingTime::max(): none
  // Between turns: appends the messages that wait only for this write of the log or an earlier one,
  // as an acknowledgement and a vote do. The write is durable, and its LogWritten is posted before
  // any later input. A host that does not call this finds the same messages in the effects of the
  // next turn.
  virtual void take_sends(WriteNumber /*durable*/, std::vector<Outbound>& /*sends*/) {}

  virtual EngineStatus status() const = 0;                 // a copy; call it between turns
  virtual const raft::Leadership& leadership() const = 0;  // as last reported to the host
  virtual Index applied() const = 0;                       // the state after it is in force here
  // The cluster's level, as far as it is applied here.
  virtual uint64_t feature_level() const { return status().feature_level; }
  virtual ReplicaId self() const = 0;                           // raft::Options::self
  virtual StoreId store() const = 0;                            // RecoveredLog::store
  virtual BootCounter boot() const = 0;                         // RecoveredLog::boot
  virtual const StateMachine* machine(MachineId id) const = 0;  // for its owner's reads; null: none
  virtual bool state_is_here() const { return true; }           // else only an Ask is answered
  // The name under which this state has the origin of a remote; absent: it is not registered.
  virtual std::optional<std::string_view> name_of_remote(const Origin& /*remote*/) const { return std::nullopt; }
  // Calls StateMachine::observe() of that machine. Only between turns.
  virtual void observe(MachineId id, std::string_view subject, bool wanted) = 0;
  // Committed and applied entries in the view of this replica; for the simulator's observer.
  virtual const raft::Core* core() const = 0;
};

}  // namespace coordkit
