// Several keys changed as if no one else were there: a function reads and writes through a Stm, and what it wrote takes effect
// all at once, or, if another caller changed what it rests on meanwhile, not at all, and the function runs again.
//
//   auto moved = run_stm(kv, [&](Stm& stm) -> absl::Status {
//     const auto from = stm.get("account/1"), to = stm.get("account/2");
//     if (!from.ok()) return from.status();
//     ...
//     stm.put("account/1", left), stm.put("account/2", more);
//     return absl::OkStatus();
//   });
//
// The first read of an attempt fixes a revision; all reads show the store as it was there, and the attempt's own writes. So the
// function never sees half of another change, however long it takes. It must have no effect but through the Stm: it may run
// many times. Only single keys are read; who needs a range uses Kv::range() and a condition on it.
//
// A run costs one round of the leader (the first read), a look at this replica's own state for each further key, and one log
// entry; one that writes nothing costs no entry. Each further attempt begins with what the refused commit answered: one entry.
//
// Threads: run_stm() may be called from any number of threads; a Stm belongs to the thread that runs the function. Failure:
// nothing was written if outcome_of() says NONE; of CallTimeout and Stopped, of a commit that was sent, it says UNKNOWN.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "coordkit/export.h"
#include "coordkit/kv.h"

namespace COORDKIT_EXPORT coordkit {

struct StmOptions {
  enum class Isolation : uint8_t {
    SerializableSnapshot = 1,  // conflicts: whatever was read or written has changed since the snapshot
    Serializable = 2,          // whatever was read has; a key that is only written is overwritten
  };
  friend constexpr std::string_view name_of(Isolation one) {
    switch (one) {
      case Isolation::SerializableSnapshot: return "SerializableSnapshot";
      case Isolation::Serializable: return "Serializable";
    }
    return "?";
  }
  Isolation isolation = Isolation::SerializableSnapshot;
  uint32_t attempts_max = 64;                   // Legal: 1 and up
  Duration timeout = std::chrono::seconds(10);  // of all attempts together. Legal: above zero
  std::optional<Fence> fence = {};              // of what is written: Fenced unless the lock is held then
  absl::Status validate() const;                // kInvalidArgument
};

struct StmResult {
  Revision revision;  // after what was written; of a run that wrote nothing: of its snapshot, zero if it read nothing either
  uint32_t attempts = 0;
};

// One attempt.
class Stm {
 public:
  // What is there, in the snapshot or by this attempt's own writes; nothing: no such key. kInvalidArgument (EmptyKey),
  // kUnavailable (NoLeader), kDeadlineExceeded (CallTimeout), kOutOfRange (Compacted: the snapshot has gone). After an error
  // the attempt is not committed, whatever the function returns; of Compacted there is another one.
  absl::StatusOr<std::optional<std::string>> get(const std::string& key);
  // The same with revisions, version and lease; of an own write the revisions and the version are zero.
  absl::StatusOr<std::optional<KeyValue>> entry(const std::string& key);

  // Remembered until the function returns; the later one of two on one key counts.
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
  Entries known_;      // as of the snapshot
  Entries read_;       // what the function has seen of it
  Entries written_;    // nothing: erased
  absl::Status broken_;
};

// Runs `function` until what it wrote is committed, or it returns an error: then nothing is written, and that is the answer.
// kAborted (Conflict): not within attempts_max. kDeadlineExceeded (CallTimeout): the outcome is UNKNOWN if a commit was under
// way; it is then repeated under its request id until the deadline, and the function is never run again. kInvalidArgument
// (TooManyOps): more than 128 keys are read, or written; with SerializableSnapshot together. Else as Kv::commit(). What it
// throws passes through; nothing is written.
absl::StatusOr<StmResult> run_stm(const Kv& kv, absl::FunctionRef<absl::Status(Stm&)> function, const StmOptions& options = {});

}  // namespace coordkit
