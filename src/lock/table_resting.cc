// Moves locks between the two representations: small while nothing happens to them, with records otherwise.
#include <string>
#include <utility>

#include "lock/table.h"

namespace coordkit::lock {

// The usual acquire: one free lock, nothing unusual. False: it needs records.
bool Table::grant_at_rest(const Attempt& attempt, Token token) {
  const Wanted& wanted = attempt.names.front();
  const ClaimView hold{.name = wanted.name,
                       .mode = wanted.mode,
                       .tag = attempt.tag,
                       .value = attempt.value,
                       .session = attempt.session,
                       .request = attempt.request,
                       .since = attempt.index,
                       .token = token,
                       .delay = attempt.delay,
                       .reentrant = attempt.reentrant,
                       .others = {},
                       .block = {.size = attempt.block}};
  if (!resting_.add(hold, /*stored=*/false, /*dirty=*/true)) return false;
  digest_ += claim_hash(hold);
  if (hold.mode == Mode::Exclusive) note_leader(hold.name);
  return true;
}

void Table::end_at_rest(Resting::Handle handle) {
  const ClaimView hold = resting_.view(handle);
  digest_ -= claim_hash(hold);
  if (hold.mode == Mode::Exclusive) note_leader(hold.name);
  if (resting_.stored(handle)) erased_.push_back({RowId::Kind::Hold, hold.token.value()});
  resting_.remove(handle);
}

// Turns the hold into another one in place: its row and its token.
void Table::regrant_at_rest(Resting::Handle handle, Token token, Index index) {
  const ClaimView previous = resting_.view(handle);
  digest_ -= claim_hash(previous);
  if (resting_.stored(handle)) erased_.push_back({RowId::Kind::Hold, previous.token.value()});
  resting_.regrant(handle, token, index);
  const ClaimView hold = resting_.view(handle);
  digest_ += claim_hash(hold);
  if (hold.mode == Mode::Exclusive) note_leader(hold.name);
}

// Gives a lock its records, if it is at rest; null: it is not. Neither its digest nor its row changes.
Lock* Table::wake(std::string_view name) {
  const Resting::Handle handle = resting_.find(name);
  if (handle == 0) return nullptr;
  const bool stored = resting_.stored(handle), dirty = resting_.dirty(handle);
  ClaimView hold = resting_.view(handle);
  const std::string name_kept(hold.name), tag_kept(hold.tag);
  hold.name = name_kept;
  hold.tag = tag_kept;
  resting_.remove(handle);
  Claim& claim = add(hold);
  claim.stored = stored;
  if (dirty) changed(claim);
  return &claim.lock();
}

// The reverse. False: it is not plain enough.
bool Table::put_to_rest(Lock& lock) {
  if (!lock.queue.empty() || lock.delay != 0 || lock.holds.empty() || lock.holds.first != lock.holds.last) return false;
  Claim& claim = *lock.holds.first->claim;
  if (!resting_.add(view_of(claim), claim.stored, claim.dirty_slot != 0)) return false;
  unchanged(claim);
  drop(claim);
  return true;
}

// What blocks an acquire at a lock at rest, if it cannot be granted now.
std::optional<AcquireVerdict> Table::refusal_at_rest(const Wanted& wanted, const Attempt& attempt) const {
  using Kind = AcquireVerdict::Kind;
  const Resting::Handle handle = resting_.find(wanted.name);
  if (handle == 0) return std::nullopt;
  const ClaimView hold = resting_.view(handle);
  if (hold.session == attempt.session && hold.tag == attempt.tag)
    return AcquireVerdict{Kind::AlreadyHeld, hold.token, hold.since};
  if (compatible(hold.mode, wanted.mode)) return std::nullopt;
  return AcquireVerdict{Kind::Held};
}

}  // namespace coordkit::lock
