// Fence gates: the check at the protected resource that refuses a holder whose time is over
// (docs/semantics.md S-55).
//
// A lock alone cannot stop a holder that was paused after its last check. The resource can: it
// keeps the newest token it has seen and refuses older ones. Put the gate where the effect happens,
// and do admit() and the effect as one step (under one mutex, in one transaction, on one thread).
// Tokens come from Grant::token(). A gate is not meaningful for semaphores.
//
//   FenceGate       in memory: for a resource whose state does not outlive the process either
//   FileFenceGate   in a file: the new state is durable before admit() answers, so that a restart
//                   forgets nothing
//
// Threads: every method may be called from any thread.
// Example: examples/01_first_lock.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/file_system.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// The mode of the lock whose token is shown.
enum class FenceMode : uint8_t { Exclusive = 1, Shared = 2 };

// The memory of a gate, and the whole rule. INV_L14: highest and last_exclusive never fall.
struct FenceState {
  Token highest;         // last_exclusive <= highest
  Token last_exclusive;  // the newest exclusive token admitted

  // Whether a gate in this state admits such a token.
  constexpr bool admits(Token token, FenceMode mode) const {
    return mode == FenceMode::Exclusive ? token >= highest : token > last_exclusive;
  }
  // The state after such a token is admitted.
  constexpr FenceState after(Token token, FenceMode mode) const {
    if (mode == FenceMode::Exclusive) return {token, token};
    return {token > highest ? token : highest, last_exclusive};
  }
  friend constexpr bool operator==(const FenceState&, const FenceState&) = default;
};

// The newest token that a gate had seen when it refused with Fenced. Absent for any other status.
std::optional<Token> fenced_by(const absl::Status& refusal);

// A gate in memory. A new one has seen no token.
class FenceGate {
 public:
  // OK: the holder of this token may act. kFailedPrecondition (Fenced, outcome NONE): a newer token
  // was here; fenced_by() says which. kInvalidArgument: token zero.
  absl::Status admit(Token token, FenceMode mode = FenceMode::Exclusive);
  FenceState state() const;  // the largest tokens so far

 private:
  mutable std::mutex mutex_;
  FenceState state_;
};

// A gate whose state is in a file.
class FileFenceGate {
 public:
  // Opens the file, or makes it if there is none (as `path`.coordkit-part until it is whole). May
  // block. Its directory must exist, and must not be a data directory (kInvalidArgument). There is
  // one gate per file at a time, over all processes: a second one gets kFailedPrecondition.
  // kDataLoss: the file (an empty one included) is no gate or no longer readable.
  static absl::StatusOr<std::unique_ptr<FileFenceGate>> open(const std::string& path);
  // The same over any file, for tests; without the lock. An empty file becomes a new gate.
  static absl::StatusOr<std::unique_ptr<FileFenceGate>> over(std::unique_ptr<File> file);
  ~FileFenceGate();

  // As FenceGate::admit. Blocks for one write and sync when the state changes, and not when the
  // same holder comes again. The first failed write or sync is final: every later call answers its
  // status. The next open() shows whether that token was stored.
  absl::Status admit(Token token, FenceMode mode = FenceMode::Exclusive);
  FenceState state() const;  // the newest that is durable

 private:
  struct Rep;
  explicit FileFenceGate(std::unique_ptr<Rep> rep);
  static absl::StatusOr<std::unique_ptr<FileFenceGate>> recovered(std::unique_ptr<File> file);
  std::unique_ptr<Rep> rep_;
};

}  // namespace coordkit
