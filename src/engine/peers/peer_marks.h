// This replica's memory of its peers' disks (coordkit/ports/peer_mark.h). Marks only rise; a newer start or term replaces
// an older one: a disk that acts in a later term still has, or had rightly truncated, all it said before. A replica that is no
// longer a member is forgotten, but not at once: one that was removed and rolled back must not elect an obsolete leader.
#pragma once

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "coordkit/ports/peer_mark.h"

namespace coordkit::engine {

class PeerMarks {
 public:
  explicit PeerMarks(std::vector<PeerMark> recovered) : marks_(std::move(recovered)) {}

  std::optional<PeerMark> of(StoreId store) const;
  // The store was opened again. Starts not newer than the known one change nothing.
  void started(StoreId store, BootCounter boot, uint64_t start);
  void voted(StoreId store, Term term, ReplicaId candidate);
  // Our own disk, when entries were lost: in its term it had held a log up to `end`, whatever it lacks now. Until
  // it is retracted.
  void lacks(StoreId own, Term term, Position end);
  void whole(StoreId own);
  // It holds the log of the term's leader up to `match`.
  void held(StoreId store, Term term, Position match);
  size_t size() const { return marks_.size(); }
  void keep(absl::FunctionRef<bool(StoreId)> wanted);

  // All of them, if any has changed since they were last taken: for the next write.
  std::optional<std::vector<PeerMark>> take_changed();

 private:
  PeerMark* mark(StoreId store);                // null: no room for another mark
  PeerMark* mark_of(StoreId store, Term term);  // raised to this term; null: that term is over

  std::vector<PeerMark> marks_;  // by store
  bool changed_ = false;
};

}  // namespace coordkit::engine
