#include "client/delegations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"

namespace coordkit::client {
namespace {

// Against a list into whose back a lock goes when its use ends.
TEST(DelegationsTest, S58_ThoseTooManyAreWhoWereNotUsedForLongest) {
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

}  // namespace
}  // namespace coordkit::client
