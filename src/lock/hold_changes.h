// Changes of a hold that stays (docs/semantics.md S-46): another mode, another value, another token.
#pragma once

#include <string_view>

#include "lock/claims.h"

namespace coordkit::lock {

class HoldChanges {
 public:
  explicit HoldChanges(Claims& claims) : claims_(claims) {}

  // S-46. Done: the hold has a new token; the previous one is dead.
  ModeVerdict downgrade(const HoldKey& key, Index index, TokenCounter& tokens);
  ModeVerdict upgrade(const HoldKey& key, Index index, TokenCounter& tokens);
  bool update_value(const HoldKey& key, std::string_view value);  // false: NotOwner
  // S-45: replaces all holds of a session by new ones, in the same order. The session moves to another process, and the
  // tokens of the previous process are dead. Delegations get new blocks, because the log does not know which tokens were
  // used.
  void regrant_all(SessionId session, Index index, TokenCounter& tokens);

 private:
  Claim* find_convertible(const HoldKey& key, Mode from, ModeVerdict& verdict);
  ModeVerdict convert(Claim& claim, Mode mode, Index index, TokenCounter& tokens);

  Claims& claims_;
};

}  // namespace coordkit::lock
