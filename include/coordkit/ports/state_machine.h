// Port: a replicated state machine. coordkit's own (sessions, locks, keys) is one; yours can live
// beside it in one log.
//
// Determinism: the same commands in the same order must give the same state, results and timers on
// every replica, however they are split over calls of apply(). No clock, no randomness, no local
// configuration, no hash-ordered iteration, no floating point, and no knowledge of which callers
// wait for an answer.
// Time: apply(), fire(), query() and checkpoint() run inside a turn, and while they run nothing is
// received, renewed or elected. Keep each call well below a tenth of the election timeout. Nothing
// cuts off a call that takes longer.
// Conformance: run coordkit/testing/state_machine_suite.h over your machine.
//
// Threads: called from the turn of one engine only, never two calls at once.
// Lifetime: the owner makes it. Then comes either restore() over a checkpoint that has rows of it,
// or bootstrap() right before its first command, once in the life of the cluster. So a machine that
// is added to a running cluster starts blank at its first command. coordkit's own machine is
// founded with the cluster. query() may come before bootstrap().
// Errors: must not throw. An exception halts the replica and names the entries, because skipping
// one would let replicas diverge. The process lives, and a restart comes to the same entry again
// (tests named FLT_A07).
// Example: examples/02_ledger.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/bytes.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/state_store.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

namespace machine {
class Reads;  // src/machine/reads.h
}

// One committed request. The bytes belong to the caller and live as long as the call.
struct Command {
  Index index;               // of its entry
  RequestId request;         // under which its result is answered
  std::string_view payload;  // in the machine's own encoding
  // The name of the remote that sent it: of a process without a replica, as its gateway has checked
  // it. Empty: a remote without a name. Absent: a member, which is not restricted.
  std::optional<std::string_view> remote = {};
};

// All sessions bound to one process and TTL class share one group, so that one renewal covers them
// in O(1). The machine fills it; the engine only compares it. All zero: the timer has no group.
struct TimerGroup {
  ReplicaId node;            // the replica that renews them
  BootCounter boot;          // of that replica's process
  uint64_t incarnation = 0;  // of its data directory: the store id as a number
  Duration ttl{};            // the duration of all its timers
  friend constexpr auto operator<=>(const TimerGroup&, const TimerGroup&) = default;
  // Whether no renewal covers the timer.
  constexpr bool alone() const { return *this == TimerGroup{}; }
};

// A timer is replicated. Only the leader's engine runs it, by its lagging clock, and proposes its
// firing as an entry that names the generation. Arming again with a new generation silences every
// earlier firing. Under the same generation, a firing in progress still counts. A timer that has
// fired stays armed until it is disarmed or armed again.
struct TimerOp {
  // The effect of the operation on the timer.
  enum class Kind : uint8_t { Arm, Disarm };
  // Disarm reads only `id`.
  Kind kind = Kind::Arm;
  TimerId id;             // unique among the timers of its machine
  Generation generation;  // chosen by the machine; every replica chooses the same
  Duration duration{};    // from its arming or its renewal to its firing
  TimerGroup group = {};  // all zero: no group
  friend bool operator==(const TimerOp&, const TimerOp&) = default;
};

// A timer whose time is over, as its entry names it.
struct FiredTimer {
  TimerId id;             // of a timer of this machine
  Generation generation;  // as the timer was armed with it, in the leader's view
  friend bool operator==(const FiredTimer&, const FiredTimer&) = default;
};

// The answers and announcements of one apply. The engine hands them to callers that wait here and
// drops the rest.
struct ApplyOutput {
  // Whether the request is done.
  enum class Stage : uint8_t {
    Final,   // the answer to the request
    Queued,  // the request waits in the state; a later apply gives its final answer, under the same
             // id
  };
  struct Result {                // the answer to one request
    Index index;                 // of the entry that decided
    RequestId request;           // as in Command
    Stage stage = Stage::Final;  // Queued: a Final one follows
    SharedBytes bytes;           // in the machine's own encoding, at most kResultBytesMax
  };
  struct Event {        // news for observers, whatever caused it
    Index index;        // of the entry that caused it
    std::string bytes;  // the machine's own encoding; every replica sees every event that it wants
                        // to (observe())
  };
  struct Act {           // a command of a remote with a name, for the audit
    Index index;         // of its entry
    std::string remote;  // its name
    std::string what;    // what it asked for, and the result, without values
  };
  std::vector<Result> results;     // one Final for each request, in this apply or a later one
  std::vector<Event> events;       // in the order in which they happened
  std::vector<TimerOp> timer_ops;  // in order
  // Only of coordkit's own machine. The router notes commands of other machines.
  std::vector<Act> acts;

  // Answers a request by the entry at `index`.
  void answer(Index index, const RequestId& request, std::string_view bytes, Stage stage = Stage::Final) {
    results.push_back({index, request, stage, slab_.keep(bytes)});
  }
  // Answers a command by its own entry.
  void answer(const Command& command, std::string_view bytes, Stage stage = Stage::Final) {
    answer(command.index, command.request, bytes, stage);
  }

 private:
  ByteSlab slab_;  // of results
};

inline constexpr size_t kResultBytesMax = 1 << 20;  // of one result: answers are replicated and
                                                    // kept until acknowledged

// A condition of a request: the request runs only if holds() of `machine` is true at that point of
// the log.
struct Guard {
  MachineId machine = kCoordination;  // the one whose holds() is asked; not hosted here:
                                      // Unsupported
  std::string bytes;                  // in that machine's own encoding, at most kGuardBytesMax
  friend bool operator==(const Guard&, const Guard&) = default;
};
// The longest Guard::bytes.
inline constexpr size_t kGuardBytesMax = 4096;

class StateMachine {
 public:
  virtual ~StateMachine() = default;

  // Called once in the life of a cluster, right before the first command, with the values that
  // genesis agreed on.
  virtual void bootstrap(ClusterId cluster, uint64_t token_base) = 0;
  // Executes committed commands in order. Every command gets exactly one answer with stage Final,
  // now or later; a command that must wait gets Queued now. A result above kResultBytesMax is
  // dropped: its caller gets ResultTooLarge, outcome DONE.
  virtual void apply(std::span<const Command> commands, ApplyOutput& output) = 0;
  // Executes one entry of fired timers. All are marked first, then freed, then wake-ups happen (a
  // death never loses to a grant of the same entry). A timer that is gone or has another generation
  // is skipped.
  virtual void fire(Index index, std::span<const FiredTimer> timers, ApplyOutput& output) = 0;
  // Reads without a log entry. kInvalidArgument: malformed request.
  virtual absl::StatusOr<std::string> query(std::string_view request) const = 0;
  // Whether the present state meets a guard of this machine's own kind. Called in apply, right
  // before the guarded command of any machine would run. As deterministic as apply, and part of it:
  // a guard that is met may be remembered. Bytes that make no sense are not met.
  virtual bool holds(std::string_view guard) {
    static_cast<void>(guard);
    return false;
  }
  // Whether a remote may have its command run under this guard, or, without one, may use the
  // machines of the host. Asked of coordkit's own machine, which has the permissions of remotes;
  // part of apply.
  virtual bool permits(std::string_view remote, std::optional<std::string_view> guard) const {
    static_cast<void>(remote);
    static_cast<void>(guard);
    return true;
  }
  // Whether `subject`, in the machine's own words, is observed on this replica. An event that is
  // not observed need not be made. This is local to the replica, so nothing except events may
  // depend on it. The same subject is wanted at most once at a time. A machine that replaces
  // another one, because a state came from a peer, gets these calls before anything is applied to
  // it.
  virtual void observe(std::string_view subject, bool wanted) {
    static_cast<void>(subject);
    static_cast<void>(wanted);
  }
  // Adds the rows that changed since the previous call, deleted ones as erased. Every key starts
  // with row_prefix(id) (engine.h), as row_table.h makes it; otherwise the replica halts. A row
  // above 24 MiB reaches no member that needs the state, so put growing data into many rows. The
  // state is the one right after the entries applied so far. The previous call counts even if its
  // batch was never stored, because then the replica has halted or asks for everything.
  virtual void checkpoint(CheckpointBatch& batch) = 0;
  // Makes the next checkpoint() add every row there is, and no erased one: the stored rows are
  // damaged, and this state is the truth. False: this machine cannot, and the replica halts
  // instead. Rotten disks of the simulator bring that about. A RowTable can.
  virtual bool forget_stored() { return false; }
  // Replaces the whole state by the rows of a view that start with this machine's prefix; no rows:
  // the blank state. kDataLoss: the rows make no sense.
  virtual absl::Status restore(const CheckpointView& view) = 0;
  // The state's answers to commands that were answered Queued. Called when a peer's state replaced
  // ours and the deciding entries may have been skipped. `answer` gets Final with the answer, or
  // Queued if the command still waits, at most once for each and in any order. The outcome of the
  // others is unknown. `requests` are ascending and from one origin. There may be thousands, so one
  // pass over the whole state is better than a search for each.
  virtual void queued_results(std::span<const RequestId> requests,
                              absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const {
    static_cast<void>(requests);
    static_cast<void>(answer);
  }
  // Every armed timer, as Arm operations in ascending id order. Called after a restore.
  virtual void timers(std::vector<TimerOp>& out) const = 0;
  // A hash of the whole logical state, kept incrementally; equal on all replicas at equal applied
  // index.
  virtual uint64_t digest() const = 0;
  // For coordkit's client, which reads coordkit's own machine this way. Null: any other machine;
  // query() reads it.
  virtual const machine::Reads* reads() const { return nullptr; }
};

}  // namespace coordkit
