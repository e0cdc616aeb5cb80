// What can be done with a hold while it stays (docs/semantics.md S-46): another mode, another value.
#include <algorithm>
#include <utility>
#include <vector>

#include "lock/deadlock.h"
#include "lock/table.h"

namespace coordkit::lock {

// Fills the verdict if the hold does not exist, or cannot change from this mode to the other.
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
  return claim ? convert(*claim, Mode::Shared, index, tokens) : verdict;
}

// Ahead of all waiters, or not at all. Waiters on several names that could share with this hold cannot any more: an upgrade
// may close a cycle as an acquire may (S-49), and is checked as if it were done.
ModeVerdict Table::upgrade(const HoldKey& key, Index index, TokenCounter& tokens) {
  ModeVerdict verdict;
  Claim* claim = find_convertible(key, Mode::Shared, verdict);
  if (!claim) return verdict;
  const Lock& lock = claim->lock();
  if (lock.holds.first != lock.holds.last) return {ModeVerdict::Kind::Conflict};
  if (lock.delay != 0) return {ModeVerdict::Kind::Delayed};  // S-40: an expired reader may still read
  claim->one.mode = Mode::Exclusive;
  const bool deadlock = waits_for_itself(*claim->owner);
  claim->one.mode = Mode::Shared;
  if (deadlock) return {ModeVerdict::Kind::Deadlock};
  return convert(*claim, Mode::Exclusive, index, tokens);
}

ModeVerdict Table::convert(Claim& claim, Mode mode, Index index, TokenCounter& tokens) {
  if (claim.one.mode == Mode::Exclusive) note_leader(claim.lock().name.view());  // it leads no longer, or under another token
  rewrite(claim, [mode](Claim& hold) { hold.one.mode = mode; });
  regrant(claim, Token(tokens.next()), index, tokens);
  return {ModeVerdict::Kind::Done, claim.token, claim.since};
}

// Turns the hold into another one in place: its row and its token. It becomes the newest of its locks, in their order too, so
// that a table restored from rows is the same.
void Table::regrant(Claim& claim, Token token, Index index, TokenCounter& tokens) {
  forget_row(claim);
  holds_.erase(claim.token);
  rewrite(claim, [&](Claim& hold) {
    hold.token = token;
    hold.since = index;
    hold.releases = 0;  // they are numbered by token
    if (hold.block) reserve(*hold.block, token, tokens);
  });
  holds_.emplace(token, &claim);
  for (Place& place : claim.places()) {
    place.lock->holds.remove(place);
    place.lock->holds.append(place);
    if (place.mode == Mode::Exclusive) note_leader(place.lock->name.view());
    touch(*place.lock);
  }
}

void Table::regrant_all(SessionId session, Index index, TokenCounter& tokens) {
  struct Held {
    Token token;
    Claim* claim = nullptr;  // null: it is at rest
    Resting::Handle resting = 0;
  };
  std::vector<Held> holds;
  for (const Resting::Handle handle : resting_.of_session(session)) holds.push_back({resting_.view(handle).token, {}, handle});
  for (Claim* claim : claims_of(session, Which::All)) {
    if (claim->held()) holds.push_back({claim->token, claim});
  }
  std::ranges::sort(holds, {}, &Held::token);
  for (const Held& hold : holds) {
    const Token token(tokens.next());
    hold.claim ? regrant(*hold.claim, token, index, tokens) : regrant_at_rest(hold.resting, token, index);
  }
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
