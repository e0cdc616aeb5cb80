// Changes several keys as if there were no other callers. A function reads and writes through a
// Stm. Its writes take effect all at once. If another caller changed something they rest on
// meanwhile, they do not take effect at all, and the function runs again.
//
//   auto moved = run_stm(kv, [&](Stm& stm) -> absl::Status {
//     const auto from = stm.get("account/1"), to = stm.get("account/2");
//     if (!from.ok()) return from.status();
//     ...
//     stm.put("account/1", left), stm.put("account/2", more);
//     return absl::OkStatus();
//   });
//
// The first read of an attempt fixes a revision. All reads show the store at that revision, and the
// attempt's own writes. So the function never sees half of another change, however long it takes.
// It must have no effect except through the Stm: it may run many times. Only single keys are read;
// for a range use Kv::range() and a condition on it.
//
// A run costs one round of the leader (the first read), a look at this replica's own state for each
// further key, and one log entry; a run that writes nothing costs no entry. Each further attempt
// begins with the answer of the refused commit: one entry.
//
// Threads: run_stm() may be called from any number of threads. A Stm belongs to the thread that
// runs the function.
// Errors: nothing was written if outcome_of() says NONE. With CallTimeout and Stopped, after a
// commit was sent, it says UNKNOWN.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "coordkit/export.h"
#include "coordkit/keys/kv.h"
#include "coordkit/name_of.h"

namespace COORDKIT_EXPORT coordkit {

// Options of run_stm().
struct StmOptions {
  // The changes of other callers that make an attempt fail.
  enum class Isolation : uint8_t {
    SerializableSnapshot = 1,  // conflicts: any key that was read or written has changed since the
                               // snapshot
    Serializable = 2,          // only keys that were read; a key that is only written is
                               // overwritten
  };
  Isolation isolation = Isolation::SerializableSnapshot;  // which changes of others are conflicts
  uint32_t attempts_max = 64;                             // Legal: 1 and up
  Duration timeout = std::chrono::seconds(10);            // of all attempts together. Legal: above
                                                          // zero
  std::optional<Fence> fence = {};                        // of the writes: Fenced unless the lock
                                                          // is held then
  absl::Status validate() const;                          // kInvalidArgument
};

// The answer of run_stm().
struct StmResult {
  Revision revision;      // after the writes; if it wrote nothing, the snapshot's, zero if it read
                          // nothing either
  uint32_t attempts = 0;  // how often the function ran
};

// One attempt.
class Stm {
 public:
  // The key's value, in the snapshot or by this attempt's own writes; absent: no such key.
  // kInvalidArgument (EmptyKey), kUnavailable (NoLeader), kDeadlineExceeded (CallTimeout),
  // kOutOfRange (Compacted: the snapshot has gone). After an error the attempt is not committed,
  // whatever the function returns; after Compacted there is another attempt.
  absl::StatusOr<std::optional<std::string>> get(const std::string& key);
  // The same with revisions, version and lease. For an own write the revisions and the version are
  // zero.
  absl::StatusOr<std::optional<KeyValue>> entry(const std::string& key);

  // These are remembered until the function returns. The later one of two on one key counts.
  void put(std::string key, std::string value, LeaseId lease = {});
  void erase(std::string key);

 private:
  friend class StmRun;
  using Entries = std::map<std::string, std::optional<KeyValue>>;
  Stm(const Kv& kv, LaggingTime deadline) : kv_(&kv), deadline_(deadline) {}
  absl::StatusOr<std::optional<KeyValue>> read(const std::string& key);
  Duration left() const;  // until the deadline

  const Kv* kv_;
  LaggingTime deadline_;
  Revision snapshot_;  // zero: nothing was read
  Index as_of_;        // a state that has the snapshot
  Entries known_;      // in the snapshot
  Entries read_;       // the part that the function has seen
  Entries written_;    // nullopt: erased
  absl::Status broken_;
};

// Runs `function` until its writes are committed, or until it returns an error: then nothing is
// written, and that error is the answer. An exception of `function` passes through; nothing is
// written.
// Errors: as Kv::commit(), and these: kAborted (Conflict): not within attempts_max.
// kDeadlineExceeded (CallTimeout): the outcome is UNKNOWN if a commit was in progress. That commit
// is then repeated under its request id until the deadline, and the function is never run again.
// kInvalidArgument (TooManyOps): more than 128 keys are read, or written; with SerializableSnapshot
// both together.
absl::StatusOr<StmResult> run_stm(const Kv& kv, absl::FunctionRef<absl::Status(Stm&)> function, const StmOptions& options = {});

}  // namespace coordkit
