// S-58: the extra state of a sticky claim. Its hold is a delegation: the session itself grants the lock to its owners, with
// tokens of the block. So the log knows the range of tokens but not the one in use.
#pragma once

#include <cstdint>

#include "coordkit/types.h"
#include "lock/token_counter.h"

namespace coordkit::lock {

struct Block {
  uint64_t size = 0;   // of the block that it wants or has; zero: the claim is not sticky
  Token first;         // zero: it waits
  Token last;          // first + size - 1
  Token newest;        // the greatest token of the block that a guard or a command has shown; zero: none yet
  bool asked = false;  // another session wants the lock: this session is to give it back
  friend bool operator==(const Block&, const Block&) = default;
};

// Whether this may be the current token of a local hold. A newer token that was shown retires those before it.
constexpr bool may_be_current(const Block& block, Token token) {
  return token >= block.first && token <= block.last && token >= block.newest;
}

// The block begins with `first`, which the counter has just issued. INV_L04: every later grant is above its last token.
inline void reserve(Block& block, Token first, TokenCounter& tokens) {
  block.first = first;
  block.last = Token(first.value() + block.size - 1);
  block.newest = Token();
  tokens.reserve(block.size - 1);
}

}  // namespace coordkit::lock
