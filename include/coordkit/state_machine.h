// Port: a replicated state machine. coordkit's own (sessions, locks, keys) is one; yours can live beside it in one log.
//
// Determinism: the same commands in the same order must give the same state, results and timers on every replica, however
// they are split over calls of apply(). No clock, no randomness, no local configuration, no hash-ordered iteration, no
// floating point, and no knowledge of who waits for an answer.
// Threads: called from the turn of one engine only, never two calls at once.
// Time: apply(), fire(), query() and checkpoint() run inside a turn, and while they run nothing is received, renewed or
// elected. Keep each call well below a tenth of the election timeout; nothing cuts off one that takes longer. Failure: noexcept
// in spirit. An exception halts the replica and names the entries, because skipping one would let replicas diverge; the process
// lives, and a restart comes to the same entry again (tests named FLT_A7). Life: made by its owner, then either restore() over
// a checkpoint that has rows of it, or bootstrap() right before its first command, once in the life of the cluster. A machine
// that is added to a running cluster so starts blank at its first command. coordkit's own is founded with the cluster. query()
// may come before bootstrap(). Conformance: run coordkit/testing/state_machine_suite.h over your machine. Example:
// examples/02_ledger.
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
#include "coordkit/state_store.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

namespace machine {
class Reads;  // src/machine/reads.h
}

// One committed request. The bytes are the caller's and live as long as the call.
struct Command {
  Index index;
  RequestId request;
  std::string_view payload;
};

// All sessions bound to one process and TTL class share one group, so that one renewal covers them in O(1).
// The machine fills it; the engine only compares it. All zero: the timer stands alone.
struct TimerGroup {
  ReplicaId node;
  BootCounter boot;
  uint64_t incarnation = 0;
  Duration ttl{};
  friend constexpr auto operator<=>(const TimerGroup&, const TimerGroup&) = default;
  constexpr bool alone() const { return *this == TimerGroup{}; }
};

// A timer is replicated; only the leader's engine runs it, by its lagging clock, and proposes its firing as an entry
// that names the generation. Arming again with a new generation silences every earlier firing; under the same one, a firing
// that is under way still counts. A timer that has fired is armed until it is disarmed or armed again.
struct TimerOp {
  enum class Kind : uint8_t { Arm, Disarm };
  friend constexpr std::string_view name_of(Kind one) {
    switch (one) {
      case Kind::Arm: return "Arm";
      case Kind::Disarm: return "Disarm";
    }
    return "?";
  }
  Kind kind = Kind::Arm;
  TimerId id;
  Generation generation;
  Duration duration{};
  TimerGroup group = {};
  friend bool operator==(const TimerOp&, const TimerOp&) = default;
};

struct FiredTimer {
  TimerId id;
  Generation generation;
  friend bool operator==(const FiredTimer&, const FiredTimer&) = default;
};

// What one apply answers and announces. The engine hands it to callers that wait here and drops the rest.
struct ApplyOutput {
  enum class Stage : uint8_t {
    Final,   // the answer to the request
    Queued,  // the request waits in the state; its final answer comes out of a later apply, under the same id
  };
  friend constexpr std::string_view name_of(Stage one) {
    switch (one) {
      case Stage::Final: return "Final";
      case Stage::Queued: return "Queued";
    }
    return "?";
  }
  struct Result {
    Index index;  // of the entry that decided
    RequestId request;
    Stage stage = Stage::Final;
    SharedBytes bytes;
  };
  struct Event {
    Index index;
    std::string bytes;  // the machine's own encoding; every replica sees every event that it wants to (observe())
  };
  std::vector<Result> results;
  std::vector<Event> events;
  std::vector<TimerOp> timer_ops;  // in order

  // Answers a request by the entry at `index`.
  void answer(Index index, const RequestId& request, std::string_view bytes, Stage stage = Stage::Final) {
    results.push_back({index, request, stage, slab_.keep(bytes)});
  }
  void answer(const Command& command, std::string_view bytes, Stage stage = Stage::Final) {
    answer(command.index, command.request, bytes, stage);
  }

 private:
  ByteSlab slab_;  // of results
};

inline constexpr size_t kResultBytesMax = 1 << 20;  // of one result: answers are replicated and kept until acknowledged

// A condition of a request: it runs only if `machine` says that it holds() at that point of the log.
struct Guard {
  MachineId machine = kCoordination;
  std::string bytes;  // in that machine's own encoding, at most kGuardBytesMax
  friend bool operator==(const Guard&, const Guard&) = default;
};
inline constexpr size_t kGuardBytesMax = 4096;

class StateMachine {
 public:
  virtual ~StateMachine() = default;

  // Called once in the life of a cluster, right before the first command, with what genesis agreed on.
  virtual void bootstrap(ClusterId cluster, uint64_t token_base) = 0;
  // Executes committed commands in order. Every command gets exactly one answer with stage Final, now or later; one that
  // must wait gets Queued now. A result above kResultBytesMax is dropped: its caller gets ResultTooLarge, outcome DONE.
  virtual void apply(std::span<const Command> commands, ApplyOutput& output) = 0;
  // Executes one entry of fired timers. All are marked first, then freed, then wake-ups happen (a death never loses to a
  // grant of the same entry). A timer that is gone or has another generation is skipped.
  virtual void fire(Index index, std::span<const FiredTimer> timers, ApplyOutput& output) = 0;
  // Reads without a log entry. kInvalidArgument: malformed request.
  virtual absl::StatusOr<std::string> query(std::string_view request) const = 0;
  // Whether a guard of this machine's own kind is met by the state as it is now; asked in apply, right before the guarded
  // command of any machine would run. As deterministic as apply, and part of it: a guard that is met may be remembered. Bytes
  // that make no sense are not met.
  virtual bool holds(std::string_view guard) {
    static_cast<void>(guard);
    return false;
  }
  // Whether `subject`, in the machine's own words, is observed on this replica: an event that is not observed need not be
  // made. Of this replica alone, so nothing but events may depend on it. The same subject is wanted at most once at a time.
  // A machine that takes the place of another because a state came from a peer is told so before anything is applied to it.
  virtual void observe(std::string_view subject, bool wanted) {
    static_cast<void>(subject);
    static_cast<void>(wanted);
  }
  // Adds the rows that changed since the call before, gone ones as erased. Every key starts with row_prefix(id) (engine.h), as
  // row_table.h makes it, or the replica halts; a row above 24 MiB reaches no member that needs the state, so what grows
  // belongs in many rows. The state is the one after exactly the entries applied so far; the call before counts even if its
  // batch was never stored, because then the replica has halted or asks for everything.
  virtual void checkpoint(CheckpointBatch& batch) = 0;
  // Makes the next checkpoint() add every row there is, and no erased one: what was stored is damaged, and this state is the
  // truth. False: this machine cannot, and the replica halts instead, which rotten disks of the simulator bring about. A
  // RowTable can.
  virtual bool forget_stored() { return false; }
  // Replaces the whole state by the rows of a view that start with this machine's prefix; no rows: the blank state.
  // kDataLoss: the rows make no sense.
  virtual absl::Status restore(const CheckpointView& view) = 0;
  // What the state says of commands that were answered Queued, asked when a peer's state took the place of ours and the entries
  // that decided may have been skipped: `answer` gets Final with the answer, or Queued if it still waits, at most once for each
  // and in any order. The outcome of those it does not get is unknown. `requests` are ascending and of one origin; there may be
  // thousands, so one look at the whole state is better than a search for each.
  virtual void queued_results(std::span<const RequestId> requests,
                              absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const {
    static_cast<void>(requests);
    static_cast<void>(answer);
  }
  // Every armed timer, as Arm operations in ascending id order; asked after a restore.
  virtual void timers(std::vector<TimerOp>& out) const = 0;
  // A hash of the whole logical state, kept incrementally; equal on all replicas at equal applied index.
  virtual uint64_t digest() const = 0;
  // How coordkit's client reads coordkit's own machine. Null: any other machine, which is asked by query().
  virtual const machine::Reads* reads() const { return nullptr; }
};

}  // namespace coordkit
