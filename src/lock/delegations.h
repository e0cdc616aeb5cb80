// Delegations (docs/semantics.md S-58): locks that a session itself grants to its owners until another session asks. To all
// others a delegation is an exclusive hold like any other. There are three differences: its tokens are a block, its session
// is notified when another one wants it, and it changes neither mode nor count.
#pragma once

#include <optional>
#include <string_view>

#include "lock/claims.h"

namespace coordkit::lock {

class Delegations {
 public:
  explicit Delegations(Claims& claims) : claims_(claims) {}

  Claim* find(const HoldKey& key) const;  // by the token of the local hold that is current
  // Asks for the delegation of this lock, or of these names, if there is one and no other session has asked yet.
  void ask(const Lock& lock);
  void ask(const Attempt& attempt);
  // Issues another block for a delegation, which stays. `key` has the token of its hold. Returns the first token of the
  // block; nullopt: NotOwner.
  std::optional<Token> refill(const HoldKey& key, TokenCounter& tokens);
  // S-54: like TableView::held(), but as a guard: a token of a delegation, once shown, retires those before it.
  std::optional<Mode> put_forward(std::string_view name, Token token);

 private:
  Claims& claims_;
};

}  // namespace coordkit::lock
