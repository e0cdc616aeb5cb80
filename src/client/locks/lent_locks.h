// The locks that are lent to sessions of this client (docs/semantics.md S-58), by name. So a token alone says whether its
// local hold is over. To the log any token of a block is current until it saw a newer one.
//
// A lock is here from its grant until the log has released it, or until its session is gone; both keep the delegation. There
// may be several of one name: the lock of a lost session, the lock of a session whose release is under way, and the next one.
// Threads: the client's owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "client/locks/lent_delegations.h"
#include "coordkit/keys/key_operations.h"

namespace coordkit::client {

class LentLocks {
 public:
  void add(std::string_view lock, const DelegationRef& lent) {
    if (by_name_.size() >= sweep_at_) sweep();
    by_name_.emplace(lock, lent);
  }
  // Whether the token belongs to a local hold that is over.
  bool over(std::string_view lock, Token token) const {
    const auto [first, last] = by_name_.equal_range(lock);
    for (auto one = first; one != last; ++one) {
      const DelegationRef lent = one->second.lock();
      if (lent != nullptr && lent->lends(token)) return lent->over(token);
    }
    return false;
  }
  // Replaces such a token in conditions that a lock is held by a token that no hold ever has.
  void deny_former(Transaction& transaction) const {
    for (Compare& compare : transaction.compares) {
      const bool held = compare.target == Compare::Target::LockHeld || compare.target == Compare::Target::LockHeldExclusively;
      if (held && over(compare.key, Token(compare.number))) compare.number = ~uint64_t{0};
    }
    for (auto* const branch : {&transaction.then, &transaction.otherwise}) {
      for (Operation& operation : *branch) {
        auto* const nested = std::get_if<std::vector<Transaction>>(&operation.body);
        if (nested != nullptr) std::ranges::for_each(*nested, [this](Transaction& inner) { deny_former(inner); });
      }
    }
  }
  size_t size() const { return by_name_.size(); }

 private:
  static constexpr size_t kSweepMin = 64;
  // Runs when the number of locks has doubled, so that each lock costs little.
  void sweep() {
    absl::erase_if(by_name_, [](const auto& one) { return one.second.expired(); });
    sweep_at_ = std::max(kSweepMin, 2 * by_name_.size());
  }

  absl::btree_multimap<std::string, std::weak_ptr<Delegation>, std::less<>> by_name_;
  size_t sweep_at_ = kSweepMin;
};

}  // namespace coordkit::client
