// The lock table as rows and as seen by queries: the parts that decide nothing.
#include <algorithm>

#include "base/check.h"
#include "lock/claim_view.h"
#include "lock/table.h"

namespace coordkit::lock {

Mode mode_on(const ClaimView& claim, std::string_view name) {
  for (const Wanted& other : claim.others) {
    if (other.name == name) return other.mode;
  }
  return claim.mode;
}

uint32_t Table::waiting(std::string_view name) const {
  const Lock* lock = find(name);
  return lock ? lock->waiting : 0;
}

bool Table::delayed(std::string_view name) const {
  const Lock* lock = find(name);
  return lock && lock->delay != 0;
}

bool Table::free(std::string_view name) const {
  if (resting_.find(name) != 0) return false;
  const Lock* lock = find(name);
  return !lock || lock->holds.empty();
}

void Table::holders(std::string_view name, Visitor visit) const {
  if (const Resting::Handle handle = resting_.find(name)) return visit(resting_.view(handle));
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

std::optional<ClaimView> Table::claim(std::string_view name, SessionId session, std::string_view tag, ClaimKind kind) const {
  if (const Resting::Handle handle = resting_.find(name)) {
    const ClaimView hold = resting_.view(handle);
    const bool it = hold.session == session && hold.tag == tag && kind == ClaimKind::Plain;
    return it ? std::optional(hold) : std::nullopt;
  }
  const Lock* lock = find(name);
  const Claim* claim = lock ? find(*lock, session, tag, kind) : nullptr;
  if (!claim) return std::nullopt;
  return view_of(*claim);
}

std::optional<Mode> Table::held(std::string_view name, Token token) const {
  if (const Resting::Handle handle = resting_.find(name)) {
    const ClaimView hold = resting_.view(handle);
    return hold.token == token ? std::optional(hold.mode) : std::nullopt;
  }
  if (const Claim* sticky = delegation(name)) {
    return may_be_current(*sticky->block, token) ? std::optional(Mode::Exclusive) : std::nullopt;
  }
  const auto found = holds_.find(token);
  if (found == holds_.end()) return std::nullopt;
  for (const Place& place : found->second->places()) {
    if (place.lock->name.view() == name) return place.mode;
  }
  return std::nullopt;
}

Table::Counts Table::counts(SessionId session) const {
  const auto found = sessions_.find(session);
  Counts counts = found == sessions_.end() ? Counts{} : found->second.counts;
  counts.holds += resting_.count(session);
  return counts;
}

std::vector<ClaimView> Table::holds_of(SessionId session) const {
  std::vector<ClaimView> holds;
  for (const Resting::Handle handle : resting_.of_session(session)) holds.push_back(resting_.view(handle));
  for (const Claim* claim : claims_of(session, Which::All)) {
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

void Table::delays(DelayVisitor visit) const {
  for (const auto& [id, delay] : delays_) visit({id, delay.lock->name.view(), delay.duration});
}

void Table::every_session(absl::FunctionRef<void(SessionId)> visit) const {
  for (const auto& [session, claims] : sessions_) visit(session);
  resting_.each([&](Resting::Handle handle) { visit(resting_.view(handle).session); });
}

// A short-lived claim that came and went between two calls is in neither list. Delays are few, and never change. Holds are in
// two places, so their rows are merged; the lists release their memory.
void Table::collect(Visitor put, DelayVisitor put_delay, absl::FunctionRef<void(RowId)> erase) {
  std::ranges::sort(erased_);
  for (const RowId& row : std::exchange(erased_, {})) erase(row);
  for (auto& [id, delay] : delays_) {
    if (std::exchange(delay.stored, true)) continue;
    put_delay({id, delay.lock->name.view(), delay.duration});
  }
  const std::vector<Resting::Handle> resting = resting_.take_dirty();
  auto next = resting.begin();
  const auto put_resting_before = [&](RowId row) {
    for (; next != resting.end(); ++next) {
      const ClaimView hold = resting_.view(*next);
      if (RowId{RowId::Kind::Hold, hold.token.value()} > row) return;
      put(hold);
    }
  };
  std::ranges::sort(dirty_, {}, [](const Claim* claim) { return row_of(*claim); });
  for (Claim* claim : std::exchange(dirty_, {})) {
    put_resting_before(row_of(*claim));
    put(view_of(*claim));
    claim->stored = true;
    claim->dirty_slot = 0;
  }
  put_resting_before({RowId::Kind::Wait, 0});
}

void Table::forget_stored() {
  erased_.clear();
  for (auto& [id, delay] : delays_) delay.stored = false;
  for (const std::unique_ptr<Claim>& claim : claims_) {
    claim->stored = false;
    changed(*claim);
  }
  resting_.forget_stored();
}

// What must hold for a claim, whatever else there is.
absl::Status Table::check(const ClaimView& row) const {
  if (row.delay < Duration::zero() || row.delay > kDelayMax) return absl::DataLossError("a lock-delay out of range");
  if (row.timeout < Duration::zero()) return absl::DataLossError("a wait of less than no time");
  if (row.others.size() >= kNamesMax) return absl::DataLossError("a claim on too many locks");
  if (row.reentrant && !row.others.empty()) return absl::DataLossError("a re-entrant claim on several locks");
  if (row.count == 0 || row.count > kCountMax) return absl::DataLossError("a hold counted out of range");
  const bool counted = row.count > 1 || row.releases > 0;
  if (counted && (!row.held() || !row.reentrant)) return absl::DataLossError("a count on a claim that has none");
  if (absl::Status block = check_block(row); !block.ok()) return block;
  if (row.held()) {
    if (row.timeout != Duration::zero()) return absl::DataLossError("a hold with a timeout");
    return row.token > last_restored_ ? absl::OkStatus() : absl::DataLossError("holds out of order");
  }
  return waiters_.contains(row.since) ? absl::DataLossError("two waiters of one entry") : absl::OkStatus();
}

absl::Status Table::check_place(const ClaimView& row, const Wanted& place) {
  wake(place.name);
  const Lock& lock = lock_of(place.name);
  if (find(lock, row.session, row.tag, row.sticky() ? ClaimKind::Sticky : ClaimKind::Plain))
    return absl::DataLossError("two claims of one owner on one lock");
  if (row.held()) {
    if (!lock.queue.empty()) return absl::DataLossError("a hold restored after a waiter");
    if (!lock.holds.empty() && !compatible(lock.holds.first->mode, place.mode)) {
      return absl::DataLossError("two holds of one lock that exclude each other");
    }
  } else if (!lock.queue.empty() && lock.queue.last->claim->since >= row.since) {
    return absl::DataLossError("a queue out of order");
  }
  return absl::OkStatus();
}

absl::Status Table::restore(const ClaimView& row) {
  if (absl::Status status = check(row); !status.ok()) return status;
  const bool alone = !find(row.name) && resting_.find(row.name) == 0;
  if (alone && resting_.add(row, /*stored=*/true, /*dirty=*/false)) {
    digest_ += claim_hash(row);
    last_restored_ = row.token;
    return absl::OkStatus();
  }
  if (absl::Status status = check_place(row, {row.name, row.mode}); !status.ok()) return status;
  std::vector<std::string_view> names{row.name};
  for (const Wanted& other : row.others) {
    if (absl::Status status = check_place(row, other); !status.ok()) return status;
    names.push_back(other.name);
  }
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end()) return absl::DataLossError("a claim twice on one lock");
  Claim& claim = add(row);
  digest_ += claim_hash(row);
  claim.stored = true;
  if (row.held()) last_restored_ = row.token;
  return absl::OkStatus();
}

absl::Status Table::restore(const DelayView& row) {
  if (row.duration <= Duration::zero() || row.duration > kDelayMax) return absl::DataLossError("a lock-delay out of range");
  Lock& lock = lock_of(row.name);
  if (lock.delay != 0 || delays_.contains(row.id)) return absl::DataLossError("two delays of one lock");
  lock.delay = row.id;
  delays_.emplace(row.id, Delay{&lock, row.duration, true});
  digest_ += delay_hash(row);
  return absl::OkStatus();
}

absl::Status Table::restored() const {
  for (const auto& [queued, claim] : waiters_) {
    if (grantable(*claim)) return absl::DataLossError("a waiter that nothing keeps waiting");
  }
  return absl::OkStatus();
}

uint64_t Table::recomputed_digest() const {
  uint64_t sum = 0;
  // A sum: the order of the hash tables does not matter.
  resting_.each([&](Resting::Handle handle) { sum += claim_hash(resting_.view(handle)); });
  for (const auto& claim : claims_) sum += claim_hash(view_of(*claim));
  delays([&sum](const DelayView& delay) { sum += delay_hash(delay); });
  return sum;
}

}  // namespace coordkit::lock
