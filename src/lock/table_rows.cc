// The lock table as rows and as seen by queries: what does not decide anything.
#include <algorithm>

#include "base/check.h"
#include "lock/claim_hash.h"
#include "lock/table.h"

namespace coordkit::lock {
namespace {

ClaimView view_of(const Claim& claim) {
  return {claim.place.lock->name.first(),
          claim.tag(),
          claim.value(),
          claim.session,
          claim.request,
          claim.since,
          claim.token,
          claim.timeout};
}

ClaimRowId row_of(const Claim& claim) {
  return claim.held() ? ClaimRowId{true, claim.token.value()} : ClaimRowId{false, claim.since.value()};
}

}  // namespace

uint32_t Table::waiting(std::string_view name) const {
  const Lock* lock = find(name);
  return lock ? lock->waiting : 0;
}

void Table::holders(std::string_view name, Visitor visit) const {
  const Lock* lock = find(name);
  if (!lock) return;
  for (const Place* place = lock->holds.first; place; place = place->after) visit(view_of(*place->claim));
}

void Table::queue(std::string_view name, WhileVisitor visit) const {
  const Lock* lock = find(name);
  if (!lock) return;
  for (const Place* place = lock->queue.first; place; place = place->after) {
    if (!visit(view_of(*place->claim))) return;
  }
}

std::optional<ClaimView> Table::claim(std::string_view name, SessionId session, std::string_view tag) const {
  const Lock* lock = find(name);
  const Claim* claim = lock ? find(*lock, session, tag) : nullptr;
  if (!claim) return std::nullopt;
  return view_of(*claim);
}

bool Table::still_held(std::string_view name, Token token) const {
  bool held = false;
  holders(name, [&](const ClaimView& hold) { held |= hold.token == token; });
  return held;
}

Table::Counts Table::counts(SessionId session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? Counts{} : found->second.counts;
}

std::vector<ClaimView> Table::holds_of(SessionId session) const {
  std::vector<ClaimView> holds;
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return holds;
  for (const Claim* claim = found->second.first; claim; claim = claim->session_after) {
    if (claim->held()) holds.push_back(view_of(*claim));
  }
  std::ranges::sort(holds, {}, &ClaimView::token);
  return holds;
}

void Table::timed_waits(Visitor visit) const {
  for (const auto& [queued, claim] : waiters_) {
    if (claim->timeout > Duration::zero()) visit(view_of(*claim));
  }
}

void Table::every_session(absl::FunctionRef<void(SessionId)> visit) const {
  for (const auto& [session, claims] : sessions_) visit(session);
}

void Table::changed(Claim& claim) {
  if (claim.dirty_slot != 0) return;
  dirty_.push_back(&claim);
  claim.dirty_slot = static_cast<uint32_t>(dirty_.size());
}

// The last one of the list takes its slot, so that claims which come and go leave nothing behind (REG_F76).
void Table::unchanged(Claim& claim) {
  if (claim.dirty_slot == 0) return;
  dirty_.back()->dirty_slot = claim.dirty_slot;
  dirty_[claim.dirty_slot - 1] = dirty_.back();
  dirty_.pop_back();
  claim.dirty_slot = 0;
}

// Its row, if a checkpoint has it, is to go: the claim ends or becomes another row.
void Table::forget_row(Claim& claim) {
  if (claim.stored) erased_.push_back(row_of(claim));
  claim.stored = false;
}

// A claim that came and went between two calls is in neither list.
void Table::collect(Visitor put, absl::FunctionRef<void(ClaimRowId)> erase) {
  std::ranges::sort(erased_);
  for (const ClaimRowId& row : erased_) erase(row);
  erased_.clear();
  std::ranges::sort(dirty_, {}, [](const Claim* claim) { return row_of(*claim); });
  for (Claim* claim : dirty_) {
    put(view_of(*claim));
    claim->stored = true;
    claim->dirty_slot = 0;
  }
  dirty_.clear();
}

absl::Status Table::restore(const ClaimView& row) {
  Lock& lock = lock_of(row.name);
  if (find(lock, row.session, row.tag)) return absl::DataLossError("two claims of one owner on one lock");
  if (waiters_.contains(row.since)) return absl::DataLossError("two waiters of one entry");
  if (row.held() && !lock.holds.empty()) return absl::DataLossError("two exclusive holds of one lock");
  if (row.held() && !lock.queue.empty()) return absl::DataLossError("a hold restored after a waiter");
  if (!lock.queue.empty() && lock.queue.last->claim->since >= row.since) return absl::DataLossError("a queue out of order");
  Claim& claim = add(lock, row);
  if (row.held()) hold(claim, row.token, row.since);
  unchanged(claim);
  claim.stored = true;
  return absl::OkStatus();
}

absl::Status Table::restored() const {
  for (const auto& [queued, claim] : waiters_) {
    if (claim->place.lock->holds.empty()) return absl::DataLossError("a waiter for a free lock");
  }
  return absl::OkStatus();
}

uint64_t Table::recomputed_digest() const {
  uint64_t sum = 0;
  for (const auto& claim : owners_) sum += claim_hash(*claim);  // a sum: the order of the hash table is of no account
  return sum;
}

}  // namespace coordkit::lock
