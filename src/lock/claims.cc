#include "lock/claims.h"

#include <string>

#include "base/check.h"
#include "lock/block.h"
#include "lock/claim_view.h"

namespace coordkit::lock {

// ---- at rest or with records

// Null: no lock of this name is at rest. Neither the digest nor the row changes.
Lock* Claims::give_records(std::string_view name) {
  const CompactHolds::Found found = compact_.find(name);
  if (found == 0) return nullptr;
  const bool stored = compact_[found].stored, dirty = compact_[found].dirty;
  ClaimView hold = compact_.view(found);
  const std::string name_kept(hold.name), tag_kept(hold.tag);
  hold.name = name_kept;
  hold.tag = tag_kept;
  compact_.remove(found);
  Claim& claim = records_.add(hold);
  rows_.add(hold);
  claim.stored = stored;
  if (dirty) rows_.mark(claim);
  return claim.lock;
}

// The reverse. False: the lock is not plain enough.
bool Claims::put_to_rest(Lock& lock) {
  if (!lock.queue.empty() || lock.delay != 0 || lock.holds.empty() || lock.holds.first != lock.holds.last) return false;
  Claim& claim = lock.holds.first->claim();
  if (!compact_.add(view_of(claim), claim.stored, claim.dirty_slot != 0)) return false;
  rows_.subtract(view_of(claim));
  rows_.unmark(claim);
  records_.remove(claim);
  return true;
}

void Claims::wake(std::string_view name) {
  if (Lock* woken = give_records(name)) touch(*woken);
}

// ---- with records

Claim& Claims::add(const ClaimView& wait) {
  Claim& claim = records_.add(wait);
  rows_.add(wait);
  rows_.mark(claim);
  return claim;
}

void Claims::grant(Claim& wait, Token token, Index index, TokenCounter& tokens) {
  rows_.erase(wait);
  records_.grant(wait, token);
  notice_leaders(wait);
  rows_.rewrite(wait, [&](Claim& now) {
    now.token = token;
    now.since = index;
    if (now.timeout() > Duration::zero()) now.extension->timeout = Duration::zero();
    if (Block* const block = now.block()) reserve(*block, token, tokens);
  });
}

void Claims::regrant(Claim& hold, Token token, Index index, TokenCounter& tokens) {
  rows_.erase(hold);
  records_.regrant(hold, token);
  rows_.rewrite(hold, [&](Claim& now) {
    now.token = token;
    now.since = index;
    if (now.releases() != 0) now.extension->releases = 0;  // releases are numbered by token
    if (Block* const block = now.block()) reserve(*block, token, tokens);
  });
  notice_leaders(hold);
  for (const Place& place : hold.places()) touch(*place.lock);
}

void Claims::remove(Claim& claim) {
  rows_.subtract(view_of(claim));
  rows_.erase(claim);
  rows_.unmark(claim);
  if (claim.held()) notice_leaders(claim);
  for (const Place& place : claim.places()) touch(*place.lock);
  records_.remove(claim);
}

void Claims::notice_leaders(const Claim& hold) {
  for (const Place& place : hold.places()) {
    if (place.mode == Mode::Exclusive) notices_.leader_changed(place.lock->name.view());
  }
}

// ---- at rest

bool Claims::add_at_rest(const ClaimView& hold) {
  if (!compact_.add(hold, /*stored=*/false, /*dirty=*/true)) return false;
  if (hold.mode == Mode::Exclusive) notices_.leader_changed(hold.name);
  return true;
}

void Claims::regrant(CompactHolds::Handle handle, Token token, Index index) {
  const CompactHolds::Record& hold = compact_[handle];
  if (hold.stored) rows_.erase({RowId::Kind::Hold, hold.token.value()});
  compact_.regrant(handle, token, index);
  if (hold.mode() == Mode::Exclusive) notices_.leader_changed(hold.name());
}

void Claims::remove(CompactHolds::Found found) {
  const CompactHolds::Record& hold = compact_[found];
  if (hold.mode() == Mode::Exclusive) notices_.leader_changed(hold.name());
  if (hold.stored) rows_.erase({RowId::Kind::Hold, hold.token.value()});
  compact_.remove(found);
}

// ---- a step

void Claims::touch(Lock& lock) {
  if (std::exchange(lock.touched, true)) return;
  touched_.push_back(&lock);
}

void Claims::end_step() {
  for (Lock* lock : touched_) {
    lock->touched = false;
    COORDKIT_CHECK_MSG(lock->queue.empty() || !grantable(lock->queue.first->claim()), "INV_L06");
    const bool empty = lock->holds.empty() && lock->queue.empty() && lock->delay == 0;
    if (put_to_rest(*lock) || empty) records_.forget(*lock);
  }
  touched_.clear();
}

// ---- checkpoint

void Claims::take_erased(absl::FunctionRef<void(RowId)> erase) {
  for (const RowId& row : rows_.take_erased()) erase(row);
}

// Holds are in two places, so their rows are merged.
void Claims::take_changed(Visitor put) {
  const std::vector<CompactHolds::Handle> resting = compact_.take_dirty();
  auto next = resting.begin();
  const auto put_resting_before = [&](RowId row) {
    for (; next != resting.end(); ++next) {
      const ClaimView hold = compact_.view(*next);
      if (RowId{RowId::Kind::Hold, hold.token.value()} > row) return;
      put(hold);
    }
  };
  for (const Claim* claim : rows_.take_changed()) {
    put_resting_before(row_of(*claim));
    put(view_of(*claim));
  }
  put_resting_before({RowId::Kind::Wait, 0});
}

void Claims::forget_stored() {
  rows_.forget_erased();
  records_.each_claim([this](Claim& claim) {
    claim.stored = false;
    rows_.mark(claim);
  });
  compact_.forget_stored();
}

bool Claims::restore_at_rest(const ClaimView& hold) {
  return !records_.find(hold.name) && compact_.add(hold, /*stored=*/true, /*dirty=*/false);
}

void Claims::restore(const ClaimView& row) {
  records_.add(row).stored = true;
  rows_.add(row);
}

Lock& Claims::restore_lock(std::string_view name) {
  Lock* woken = give_records(name);
  return woken ? *woken : records_.lock(name);
}

uint64_t Claims::recomputed_digest() const {
  uint64_t sum = 0;
  // A sum: the order of the hash tables does not matter.
  compact_.each([&](CompactHolds::Handle handle) { sum += claim_hash(compact_.view(handle)); });
  records_.each_claim([&](const Claim& claim) { sum += claim_hash(view_of(claim)); });
  return sum;
}

}  // namespace coordkit::lock
