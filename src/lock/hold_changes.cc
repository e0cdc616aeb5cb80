#include "lock/hold_changes.h"

#include <algorithm>
#include <vector>

#include "lock/deadlock.h"
#include "lock/delegations.h"

namespace coordkit::lock {

// Fills the verdict if the hold does not exist, or cannot change from this mode to the other.
Claim* HoldChanges::find_convertible(const HoldKey& key, Mode from, ModeVerdict& verdict) {
  claims_.wake(key.name);
  Claim* claim = claims_.records().find_hold(key);
  if (!claim) return nullptr;  // NotOwner
  const bool simple = claim->extent() == 1 && claim->count() == 1 && claim->mode == from && !claim->block();
  if (!simple) verdict.kind = ModeVerdict::Kind::Impossible;
  return simple ? claim : nullptr;
}

ModeVerdict HoldChanges::downgrade(const HoldKey& key, Index index, TokenCounter& tokens) {
  ModeVerdict verdict;
  Claim* claim = find_convertible(key, Mode::Exclusive, verdict);
  return claim ? convert(*claim, Mode::Shared, index, tokens) : verdict;
}

// An upgrade passes all waiters, or is refused. Waiters on several names that could share with this hold no longer can. So an
// upgrade may close a cycle as an acquire may (S-49), and is checked as if it were done.
ModeVerdict HoldChanges::upgrade(const HoldKey& key, Index index, TokenCounter& tokens) {
  ModeVerdict verdict;
  Claim* claim = find_convertible(key, Mode::Shared, verdict);
  if (!claim) return verdict;
  const Lock& lock = *claim->lock;
  if (lock.holds.first != lock.holds.last) return {ModeVerdict::Kind::Conflict};
  if (lock.delay != 0) return {ModeVerdict::Kind::Delayed};  // S-40: an expired reader may still read
  claim->mode = Mode::Exclusive;
  const bool deadlock = waits_for_itself(*claim->owner);
  claim->mode = Mode::Shared;
  if (deadlock) return {ModeVerdict::Kind::Deadlock};
  return convert(*claim, Mode::Exclusive, index, tokens);
}

// The claim becomes the newest hold of its lock.
ModeVerdict HoldChanges::convert(Claim& claim, Mode mode, Index index, TokenCounter& tokens) {
  claims_.notice_leaders(claim);  // an exclusive hold leads no longer, or under another token
  claims_.rewrite(claim, [mode](Claim& hold) { hold.mode = mode; });
  claims_.regrant(claim, Token(tokens.next()), index, tokens);
  return {ModeVerdict::Kind::Done, claim.token, claim.since};
}

void HoldChanges::regrant_all(SessionId session, Index index, TokenCounter& tokens) {
  struct Held {
    Token token;
    Claim* claim = nullptr;  // null: the hold is at rest
    CompactHolds::Handle resting = 0;
  };
  std::vector<Held> holds;
  const CompactHolds& resting = claims_.compact();
  for (const CompactHolds::Handle handle : resting.of_session(session))
    holds.push_back({resting.view(handle).token, {}, handle});
  for (Claim* claim : claims_.records().holds_of(session)) holds.push_back({claim->token, claim});
  std::ranges::sort(holds, {}, &Held::token);
  for (const Held& hold : holds) {
    const Token token(tokens.next());
    hold.claim ? claims_.regrant(*hold.claim, token, index, tokens) : claims_.regrant(hold.resting, token, index);
  }
}

bool HoldChanges::update_value(const HoldKey& key, std::string_view value) {
  claims_.wake(key.name);
  Delegations delegations(claims_);
  Claim* claim = claims_.records().find_hold(key);
  if (!claim || claim->block()) claim = delegations.find(key);
  if (!claim) return false;
  if (claim->block()) delegations.put_forward(key.name, key.token);
  claims_.rewrite(*claim, [value](Claim& hold) { hold.make_extension().texts.value = ShortText(value); });
  claims_.notice_leaders(*claim);
  claims_.touch(*claim->lock);
  return true;
}

}  // namespace coordkit::lock
