// What can be done with a hold while it stays (docs/semantics.md S-46): another mode, another value.
#include <utility>

#include "base/mutant.h"
#include "lock/deadlock.h"
#include "lock/table.h"

namespace coordkit::lock {

// Fills the verdict if the hold is not there, or is none that can change from this mode to the other.
Claim* Table::find_convertible(const HoldKey& key, Mode from, ModeVerdict& verdict) {
  if (Lock* woken = wake(key.name)) touch(*woken);
  Claim* claim = find_hold(key);
  if (!claim) return nullptr;  // NotOwner
  const bool simple = claim->extent == 1 && claim->count == 1 && claim->one.mode == from && !claim->block;
  if (!simple) verdict.kind = ModeVerdict::Kind::Impossible;
  return simple ? claim : nullptr;
}

ModeVerdict Table::downgrade(const HoldKey& key, Index index, TokenCounter& tokens) {
  ModeVerdict verdict;
  Claim* claim = find_convertible(key, Mode::Exclusive, verdict);
  return claim ? regrant(*claim, Mode::Shared, index, tokens) : verdict;
}

// Ahead of all waiters, or not at all. Waiters on several names that could share with this hold cannot any more: an upgrade
// may close a cycle as an acquire may (S-49), and is judged as if it were done.
ModeVerdict Table::upgrade(const HoldKey& key, Index index, TokenCounter& tokens) {
  ModeVerdict verdict;
  Claim* claim = find_convertible(key, Mode::Shared, verdict);
  if (!claim) return verdict;
  const Lock& lock = claim->lock();
  const bool alone = lock.holds.first == lock.holds.last || mutant(Mutant::UpgradesBesideReaders);
  if (!alone) return {ModeVerdict::Kind::Conflict};
  if (lock.delay != 0) return {ModeVerdict::Kind::Delayed};  // S-40: an expired reader may still read
  claim->one.mode = Mode::Exclusive;
  const bool deadlock = waits_for_itself(*claim->owner);
  claim->one.mode = Mode::Shared;
  if (deadlock) return {ModeVerdict::Kind::Deadlock};
  return regrant(*claim, Mode::Exclusive, index, tokens);
}

// The hold becomes another one in place: its row, its token and its mode.
ModeVerdict Table::regrant(Claim& claim, Mode mode, Index index, TokenCounter& tokens) {
  forget_row(claim);
  holds_.erase(claim.token);
  rewrite(claim, [&](Claim& hold) {
    hold.one.mode = mode;
    if (!mutant(Mutant::DowngradeKeepsToken)) hold.token = Token(tokens.next());
    hold.since = index;
    hold.releases = 0;  // they are numbered by token
    if (hold.block) reserve(*hold.block, hold.token, tokens);
  });
  holds_.emplace(claim.token, &claim);
  touch(claim.lock());
  note_leader(claim.lock().name.view());
  return {ModeVerdict::Kind::Done, claim.token, claim.since};
}

bool Table::update_value(const HoldKey& key, std::string_view value) {
  if (Lock* woken = wake(key.name)) touch(*woken);
  Claim* claim = find_hold(key);
  if (!claim || claim->block) claim = find_delegation(key);
  if (!claim) return false;
  if (claim->block) put_forward(key.name, key.token);
  rewrite(*claim, [value](Claim& hold) { hold.value = ShortText(value); });
  for (const Place& place : claim->places()) {
    if (place.mode == Mode::Exclusive) note_leader(place.lock->name.view());
  }
  touch(claim->lock());
  return true;
}

}  // namespace coordkit::lock
