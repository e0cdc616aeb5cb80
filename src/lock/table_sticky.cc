// Delegations (docs/semantics.md S-58): locks that a session may grant to its own owners by itself until another session asks.
// To all others a delegation is an exclusive hold like any other; the differences are that its tokens are a block, that its
// session is notified when another one wants it, and that it changes neither mode nor count.
#include <utility>

#include "base/check.h"
#include "lock/table.h"

namespace coordkit::lock {

// The block begins with `first`, which the counter has just issued. INV_L04: every later grant is above its last token.
void Table::reserve(Block& block, Token first, TokenCounter& tokens) {
  block.first = first;
  block.last = Token(first.value() + block.size - 1);
  block.newest = Token();
  tokens.reserve(block.size - 1);
}

// The sticky hold of this lock, if there is one.
Claim* Table::delegation(std::string_view name) const {
  const Lock* lock = find(name);
  if (lock == nullptr || lock->holds.empty()) return nullptr;
  Claim* claim = lock->holds.first->claim;
  return claim->block ? claim : nullptr;
}

// The hold, by the token of the local hold that is the current one.
Claim* Table::find_delegation(const HoldKey& key) const {
  Claim* claim = delegation(key.name);
  const bool its = claim && claim->owner->session == key.session && may_be_current(*claim->block, key.token);
  return its ? claim : nullptr;
}

void Table::ask(Lock& lock) {
  if (lock.holds.empty()) return;
  Claim& claim = *lock.holds.first->claim;
  if (!claim.block || claim.block->asked) return;
  rewrite(claim, [](Claim& hold) { hold.block->asked = true; });
  asked_.push_back({claim.owner->session, std::string(lock.name.view()), claim.token});
}

void Table::ask(const Attempt& attempt) {
  for (const Wanted& wanted : attempt.names) {
    if (Lock* lock = find(wanted.name)) ask(*lock);
  }
}

bool Table::would_ask(const Attempt& attempt) const {
  for (const Wanted& wanted : attempt.names) {
    const Claim* claim = delegation(wanted.name);
    if (claim && !claim->block->asked) return true;
  }
  return false;
}

std::optional<Token> Table::refill(const HoldKey& key, TokenCounter& tokens) {
  Claim* claim = find_hold(key);
  if (!claim || !claim->block) return std::nullopt;
  rewrite(*claim, [&tokens](Claim& hold) { reserve(*hold.block, Token(tokens.next()), tokens); });
  return claim->block->first;
}

std::optional<Mode> Table::put_forward(std::string_view name, Token token) {
  const std::optional<Mode> mode = held(name, token);
  Claim* claim = mode ? delegation(name) : nullptr;
  const bool newer = claim && token > claim->block->newest;
  if (newer) rewrite(*claim, [token](Claim& hold) { hold.block->newest = token; });
  return mode;
}

// For a row: what only a valid block can be.
absl::Status Table::check_block(const ClaimView& row) {
  const Block& block = row.block;
  if (!row.sticky()) return block == Block() ? absl::OkStatus() : absl::DataLossError("a block of tokens without a size");
  if (block.size > kBlockMax) return absl::DataLossError("a block of too many tokens");
  const bool plain = row.mode == Mode::Exclusive && row.others.empty() && !row.reentrant;
  if (!plain) return absl::DataLossError("a sticky claim of an impossible kind");
  if (!row.held()) return block == Block{.size = block.size} ? absl::OkStatus() : absl::DataLossError("a waiter with tokens");
  const bool valid = block.first >= row.token && block.last.value() == block.first.value() + block.size - 1 &&
                     (!block.newest || may_be_current(block, block.newest));
  return valid ? absl::OkStatus() : absl::DataLossError("a block of tokens that is none");
}

}  // namespace coordkit::lock
