#include "lock/delegations.h"

#include <string>

#include "lock/block.h"
#include "lock/table_view.h"

namespace coordkit::lock {

Claim* Delegations::find(const HoldKey& key) const {
  Claim* claim = claims_.records().find_delegation(key.name);
  const bool its = claim && claim->owner->session == key.session && may_be_current(*claim->block(), key.token);
  return its ? claim : nullptr;
}

void Delegations::ask(const Lock& lock) {
  if (lock.holds.empty()) return;
  Claim& claim = lock.holds.first->claim();
  if (!claim.block() || claim.block()->asked) return;
  claims_.rewrite(claim, [](Claim& hold) { hold.block()->asked = true; });
  claims_.notices().asked({claim.owner->session, std::string(lock.name.view()), claim.token});
}

void Delegations::ask(const Attempt& attempt) {
  for (const Wanted& wanted : attempt.names) {
    if (const Lock* lock = claims_.records().find(wanted.name)) ask(*lock);
  }
}

std::optional<Token> Delegations::refill(const HoldKey& key, TokenCounter& tokens) {
  Claim* claim = claims_.records().find_hold(key);
  if (!claim || !claim->block()) return std::nullopt;
  claims_.rewrite(*claim, [&tokens](Claim& hold) { reserve(*hold.block(), Token(tokens.next()), tokens); });
  return claim->block()->first;
}

std::optional<Mode> Delegations::put_forward(std::string_view name, Token token) {
  const std::optional<Mode> mode = TableView(claims_).held(name, token);
  Claim* claim = mode ? claims_.records().find_delegation(name) : nullptr;
  const bool newer = claim && token > claim->block()->newest;
  if (newer) claims_.rewrite(*claim, [token](Claim& hold) { hold.block()->newest = token; });
  return mode;
}

}  // namespace coordkit::lock
