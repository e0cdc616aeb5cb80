// Delegations (docs/semantics.md S-58): locks that a session may grant to its own owners by itself until another session asks.
// To all others a delegation is an exclusive hold like any other; the differences are that its tokens are a block, that its
// session is notified when another one wants it, and that it changes neither mode nor count.
#pragma once

#include <optional>
#include <string_view>

#include "lock/claims.h"

namespace coordkit::lock {

class Delegations {
 public:
  explicit Delegations(Claims& claims) : claims_(claims) {}

  Claim* find(const HoldKey& key) const;  // by the token of the local hold that is the current one
  // Asks for the delegation of this lock, or of these names, if there is one and no other has asked yet.
  void ask(const Lock& lock);
  void ask(const Attempt& attempt);
  // Another block for a delegation, which stays; `key` has the token of its hold. Its first token; nothing: NotOwner.
  std::optional<Token> refill(const HoldKey& key, TokenCounter& tokens);
  // S-54: like TableView::held(), but as a guard: showing a token of a delegation retires those before it.
  std::optional<Mode> put_forward(std::string_view name, Token token);

 private:
  Claims& claims_;
};

}  // namespace coordkit::lock
