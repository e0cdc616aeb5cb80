// Cancellations that arrived before their acquire (docs/semantics.md S-48). If the acquire arrives later, it is answered
// Cancelled.
//
// The marks are replicated, and a simple rule bounds them. Per replica only the marks of its current origin are kept. A newer
// boot or store drops the older ones, whose requests the router refuses anyway. Of these, only the marks within kSequenceSpan
// of the newest sequence seen from that origin are kept. An origin never has requests in flight further apart than that: its
// window of unanswered requests, 1,024 by default, is far smaller. So a mark outside the span is never needed. A mark is
// removed when its acquire arrives. A cancel that came after its acquire had ended leaves a mark that ages out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordkit/types.h"

namespace coordkit::machine {

class CancelMarks {
 public:
  static constexpr uint64_t kSequenceSpan = uint64_t{16} * 1024;

  // Notes that this request arrived, forgets marks that it makes unnecessary, and says whether it had been cancelled.
  bool arrived(const RequestId& request);
  // `cancel` asks for it: a later request of the same origin. False: it is no such request, and nothing is kept.
  bool mark(const RequestId& acquire, const RequestId& cancel);
  size_t size() const;

  struct Marks {
    Origin origin;
    absl::btree_set<Sequence> sequences;  // never empty
  };
  // Checkpoint: one row per replica with marks; ascending.
  void collect(absl::FunctionRef<void(ReplicaId, const Marks&)> put, absl::FunctionRef<void(ReplicaId)> erase);
  void forget_stored();  // the next collect() puts every row
  absl::Status restore(ReplicaId replica, Marks marks);

  uint64_t digest() const { return digest_; }  // sum over the marks
  uint64_t recomputed_digest() const;

 private:
  void forget(const Origin& origin, absl::btree_set<Sequence>& sequences, Sequence before);

  absl::btree_map<ReplicaId, Marks> replicas_;
  absl::btree_set<ReplicaId> dirty_;   // changed since the last collect()
  absl::btree_set<ReplicaId> stored_;  // replicas with a row in the checkpoint
  uint64_t digest_ = 0;
};

}  // namespace coordkit::machine
