#include "check/revision_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/kv_model.h"

namespace coordkit::check {
namespace {

bool ends_later(const RevisionOrder::Ref& a, const RevisionOrder::Ref& b) {
  return a->end != b->end ? a->end > b->end : a->number > b->number;
}

}  // namespace

void RevisionOrder::end_before(Moment until) {
  while (!open_.empty() && open_.front()->end < until) {
    std::pop_heap(open_.begin(), open_.end(), ends_later);
    const Ref op = std::move(open_.back());
    open_.pop_back();
    if (!highest_ || *op->what.revision > *highest_->what.revision) highest_ = op;
  }
  // `highest_` catches a later change at or below this revision.
  if (highest_) changes_.erase(changes_.begin(), changes_.upper_bound(*highest_->what.revision));
}

std::optional<Clash<KvCall>> RevisionOrder::called(const Ref& op) {
  if (!op->certain() || !op->what.revision) return std::nullopt;
  end_before(op->call);
  const uint64_t revision = *op->what.revision;
  const uint64_t highest = highest_ ? *highest_->what.revision : 0;
  const bool changed = op->what.changed();
  if (highest_ && (revision < highest || (changed && revision == highest))) {
    return Clash<KvCall>{highest_, op,
                         fmt::format("operation {} got revision {} before the call of operation {}, which was {} {}",
                                     highest_->number, highest, op->number, changed ? "given" : "shown", revision)};
  }
  if (changed) {
    const auto [it, fresh] = changes_.try_emplace(revision, op);
    if (!fresh) return Clash<KvCall>{it->second, op, fmt::format("two changes were given revision {}", revision)};
  }
  open_.push_back(op);
  std::push_heap(open_.begin(), open_.end(), ends_later);
  return std::nullopt;
}

}  // namespace coordkit::check
