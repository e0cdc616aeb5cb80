#include "engine/peers/peer_marks.h"

#include <algorithm>

#include "base/check.h"
#include "coordkit/ports/log_store.h"

namespace coordkit::engine {
namespace {

bool before(const PeerMark& mark, StoreId store) { return mark.store < store; }

}  // namespace

std::optional<PeerMark> PeerMarks::of(StoreId store) const {
  const auto at = std::lower_bound(marks_.begin(), marks_.end(), store, before);
  return at != marks_.end() && at->store == store ? std::optional(*at) : std::nullopt;
}

PeerMark* PeerMarks::mark(StoreId store) {
  const auto at = std::lower_bound(marks_.begin(), marks_.end(), store, before);
  if (at != marks_.end() && at->store == store) return &*at;
  if (marks_.size() >= kPeerMarksMax) return nullptr;
  changed_ = true;
  return &*marks_.insert(at, {.store = store});
}

void PeerMarks::started(StoreId store, BootCounter boot, uint64_t start) {
  PeerMark* known = mark(store);
  if (!known || boot <= known->boot) return;
  known->boot = boot;
  known->start = start;
  changed_ = true;
}

PeerMark* PeerMarks::mark_of(StoreId store, Term term) {
  PeerMark* known = mark(store);
  if (!known || term < known->term) return nullptr;
  if (term > known->term) {
    known->term = term;
    known->vote = ReplicaId();
    known->match = {};
    changed_ = true;
  }
  return known;
}

void PeerMarks::voted(StoreId store, Term term, ReplicaId candidate) {
  PeerMark* known = mark_of(store, term);
  if (!known || known->vote) return;
  known->vote = candidate;
  changed_ = true;
}

void PeerMarks::held(StoreId store, Term term, Position match) {
  PeerMark* known = mark_of(store, term);
  if (!known || match.index <= known->match.index) return;
  known->match = match;
  changed_ = true;
}

void PeerMarks::lacks(StoreId own, Term term, Position end) {
  PeerMark* known = mark(own);
  COORDKIT_CHECK_MSG(known != nullptr, "no room for the mark of the own disk");
  known->term = term;
  known->match = end;
  changed_ = true;
}

void PeerMarks::whole(StoreId own) {
  keep([own](StoreId store) { return store != own; });
}

void PeerMarks::keep(absl::FunctionRef<bool(StoreId)> wanted) {
  const size_t forgotten = std::erase_if(marks_, [&](const PeerMark& mark) { return !wanted(mark.store); });
  changed_ = changed_ || forgotten > 0;
}

std::optional<std::vector<PeerMark>> PeerMarks::take_changed() {
  if (!std::exchange(changed_, false)) return std::nullopt;
  return marks_;
}

}  // namespace coordkit::engine
