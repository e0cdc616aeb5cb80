// The lock-delays that run (docs/semantics.md S-40). After the session of a hold expired, no claim is granted on its name for
// a while. A delay's row is put once and never changes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "lock/claims.h"

namespace coordkit::lock {

class Delays {
 public:
  using Visitor = absl::FunctionRef<void(const DelayView&)>;

  // Another delay of the same name may have run for any part of its time. The longer of the two starts over.
  void begin(Lock& lock, Duration duration, TokenCounter& tokens, Claims& claims, Decisions& decisions);
  bool end(uint64_t id, Claims& claims, Decisions& decisions);  // false: there is none
  void each(Visitor visit) const;                               // ascending ids

  // ---- checkpoint: everything that changed since the previous call, in ascending order
  void take_erased(absl::FunctionRef<void(RowId)> erase);
  void take_changed(Visitor put);
  void forget_stored();  // all delays count as changed
  absl::Status restore(const DelayView& row, Claims& claims);

  uint64_t digest() const { return digest_; }
  uint64_t recomputed_digest() const;

 private:
  struct Delay {
    Lock* lock = nullptr;
    Duration duration{};
    bool stored = false;  // its row is in the checkpoint
  };

  absl::btree_map<uint64_t, Delay> delays_;
  std::vector<uint64_t> erased_;  // stored delays that are over
  uint64_t digest_ = 0;           // sum of the hashes
};

}  // namespace coordkit::lock
