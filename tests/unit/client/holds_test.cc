#include "coordkit/client/holds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/random.h"
#include "client/locks/lent_delegations.h"

namespace coordkit::client {
namespace {

HoldRef hold_of(uint64_t token, std::shared_ptr<Delegation> kept_by_it = nullptr) {
  return make_ref<HoldState>(make_ref<SessionState>(SessionId(1), std::chrono::seconds(1)), "name", "", Token(token),
                             Index(token), LeadingTime::max(), HoldTerms{}, std::move(kept_by_it));
}

std::vector<HoldRef> all(const Holds& holds) {
  std::vector<HoldRef> all;
  holds.each([&](const HoldRef& hold) { all.push_back(hold); });
  return all;
}

// Against a list that is searched from end to end, with tokens that mostly rise, now and then several of one.
TEST(HoldsTest, DoesWhatASortedListDoes) {
  for (const uint64_t most : {1, 40, 3000}) {
    Random random(most);
    Holds holds;
    std::vector<HoldRef> twin;
    uint64_t token = 1000;
    for (int step = 0; step < 6000; ++step) {
      if (twin.empty() || (twin.size() < most && random.chance(0.55))) {
        token += random.below(3);
        const HoldRef hold = hold_of(random.chance(0.1) ? 1 + random.below(token) : token);
        const auto behind =
            std::ranges::upper_bound(twin, hold->token(), {}, [](const HoldRef& each) { return each->token(); });
        twin.insert(behind, hold);
        holds.add(hold);
      } else {
        const HoldRef hold = twin[random.chance(0.5) ? 0 : random.below(twin.size())];
        std::erase(twin, hold);
        ASSERT_TRUE(holds.contains(hold));
        ASSERT_TRUE(holds.remove(hold));
        ASSERT_FALSE(holds.remove(hold));
        ASSERT_FALSE(holds.contains(hold));
      }
      const Token asked(1 + random.below(token));
      const auto first = std::ranges::find(twin, asked, [](const HoldRef& each) { return each->token(); });
      const HoldRef* const found = holds.find(asked);
      ASSERT_EQ(found == nullptr, first == twin.end());
      if (found != nullptr) {
        ASSERT_EQ(*found, *first);
      }
      ASSERT_EQ(holds.size(), twin.size());
      if (step % 50 == 0) {
        ASSERT_EQ(all(holds), twin);
      }
    }
    holds.clear();
    EXPECT_EQ(holds.size(), 0u);
    EXPECT_TRUE(all(holds).empty());
  }
}

TEST(HoldsTest, NothingOfWhatIsOverIsKept) {
  Holds holds;
  std::vector<std::weak_ptr<Delegation>> over;
  for (uint64_t token = 1; token <= 100; ++token) {
    auto kept = std::make_shared<Delegation>(Delegation::Grant{});
    over.push_back(kept);
    const HoldRef hold = hold_of(token, std::move(kept));
    holds.add(hold);
    if (token % 3 != 0) holds.remove(hold);
  }
  for (uint64_t token = 1; token <= 100; ++token) EXPECT_EQ(over[token - 1].expired(), token % 3 != 0) << token;
}

}  // namespace
}  // namespace coordkit::client
