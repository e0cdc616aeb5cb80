#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "client/locks/lent_delegations.h"
#include "client/locks/lent_locks.h"

namespace coordkit::client {
namespace {

// Against a list into whose back a lock goes when its use ends.
// Covers: S-58
TEST(DelegationsTest, BeyondTheLimitTheLeastRecentlyUsedDelegationsAreGivenBack) {
  for (const size_t kept : {0, 1, 3, 12}) {
    Random random(1 + kept);
    Delegations lent(kept);
    const SessionRef session = make_ref<SessionState>(SessionId(1), std::chrono::seconds(1));
    std::map<std::string, DelegationRef> all;
    std::map<std::string, HoldRef> held;
    std::list<std::string> idle;
    size_t seen = 0;
    for (int step = 0; step < 4000; ++step) {
      const std::string name(1, static_cast<char>('a' + random.below(20)));
      if (!all.contains(name)) {
        const Token first(1000 * static_cast<uint64_t>(1 + step));
        all[name] = lent.add({.name = name, .first = first, .last = Token(first.value() + 500)});
        idle.push_back(name);
      } else if (held.contains(name)) {
        lent.release(*held[name]);
        held.erase(name);
        idle.push_back(name);
      } else if (random.chance(0.1)) {
        lent.remove(all[name]);
        all.erase(name);
        idle.remove(name);
      } else if (!lent.look(*all[name]).used_up) {
        held[name] = lent.grant(session, all[name], "", LeadingTime::max());
        idle.remove(name);
      }
      if (random.chance(0.6)) continue;  // several uses between two looks
      const size_t many = idle.size() - std::min(idle.size(), kept);
      ASSERT_EQ(lent.surplus(), std::vector<std::string>(idle.begin(), std::next(idle.begin(), static_cast<long>(many))));
      seen += many;
    }
    EXPECT_GT(seen, 100);
    lent.clear();
    EXPECT_TRUE(lent.surplus().empty());
  }
}

// Covers: S-58
TEST(LentLocksTest, ATokenIsOverOnceAnotherHoldOfItsBlockIsInUse) {
  LentLocks here;
  const SessionRef session = make_ref<SessionState>(SessionId(1), std::chrono::seconds(1));
  Delegations lent(10);
  const DelegationRef lock = lent.add({.name = "a", .first = Token(100), .last = Token(199)});
  here.add("a", lock);
  const HoldRef first = lent.grant(session, lock, "", LeadingTime::max());
  EXPECT_FALSE(here.over("a", Token(100)));
  lent.release(*first);
  EXPECT_TRUE(here.over("a", Token(100)));
  const HoldRef second = lent.grant(session, lock, "", LeadingTime::max());
  EXPECT_TRUE(here.over("a", Token(100)));
  EXPECT_FALSE(here.over("a", Token(101)));
  EXPECT_FALSE(here.over("a", Token(99))) << "of another block: the log knows";
  EXPECT_FALSE(here.over("b", Token(100)));
  lent.clear();
  EXPECT_TRUE(here.over("a", Token(100)));
  EXPECT_FALSE(here.over("a", Token(101))) << "in use at the loss";
}

// Covers: S-58
TEST(LentLocksTest, RemovedDelegationsTakeNoRoom) {
  LentLocks here;
  Delegations lent(1);
  for (uint64_t i = 0; i < 10'000; ++i) {
    const std::string name = std::to_string(i);
    const DelegationRef lock = lent.add({.name = name, .first = Token(1 + i), .last = Token(1 + i)});
    here.add(name, lock);
    if (i % 100 != 0) lent.remove(lock);
  }
  EXPECT_LT(here.size(), 300) << "of 100 that are there";
  EXPECT_GE(here.size(), 100);
}

}  // namespace
}  // namespace coordkit::client
