// What this replica remembers of its peers' disks (coordkit/peer_mark.h). Marks only rise; a newer start or term replaces an
// older one. Who is no member any more is forgotten, but not at once: a replica that was removed and set back must not elect a
// leader of former days.
#pragma once

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "coordkit/peer_mark.h"

namespace coordkit::engine {

class PeerMarks {
 public:
  explicit PeerMarks(std::vector<PeerMark> recovered) : marks_(std::move(recovered)) {}

  std::optional<PeerMark> of(StoreId store) const;
  // The store was opened again. Starts that are not newer than the one known change nothing.
  void started(StoreId store, BootCounter boot, uint64_t start);
  // It has voted in this term, or acknowledged the log of the term's leader up to `match`.
  void acted(StoreId store, Term term, Index match);
  size_t size() const { return marks_.size(); }
  void keep(absl::FunctionRef<bool(StoreId)> wanted);

  // All of them, if any has changed since they were last taken: for the next write.
  std::optional<std::vector<PeerMark>> take_changed();

 private:
  PeerMark* mark(StoreId store);  // null: no room for another one

  std::vector<PeerMark> marks_;  // by store
  bool changed_ = false;
};

}  // namespace coordkit::engine
