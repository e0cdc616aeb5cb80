// The cost of a turn to a session that has sticky locks at its node (docs/semantics.md S-58).
#include <cstdio>
#include <string>

#include "tests/proof/cost/allocations.h"
#include "tests/unit/client/bench.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

class StickyCostTest : public test::ClientBench {
 protected:
  static AcquireOptions sticky(std::string owner = "") {
    return {.wait = LockWait::endless(), .owner_tag = std::move(owner), .sticky = true};
  }
  void lend(const SessionRef& session, const std::string& name, uint64_t token) {
    test::Answer<HoldRef> lent;
    client.acquire(session, name, sticky(), lent.callback());
    client.before_turn(now);
    engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                    {.code = machine::ResultCode::Granted, .token = Token(token), .since = Index(1)});
    engine.turn(now, effects);
    client.after_turn(now, effects);
    ASSERT_TRUE(lent.ok());
    client.release_later(*lent);
    turn();
  }
  // The cost of one more turn of a session that is not valid, in which an owner waits for one lock and the others are idle.
  uint64_t while_one_waits(size_t locks) {
    const SessionRef session = open(locks);
    for (size_t i = 0; i < locks; ++i) lend(session, std::to_string(i), (i + 1) << 20);
    run(v);
    EXPECT_EQ(session->phase(), SessionPhase::Jeopardy);
    test::Answer<HoldRef> waits;
    client.acquire(session, "0", sticky("another"), waits.callback());
    for (int i = 0; i < 10; ++i) turn();
    uint64_t allocations = 0;
    {
      const CountAllocations counting(allocations);
      turn();
    }
    EXPECT_EQ(waits.times(), 0);
    std::printf("of a session with %zu sticky locks: %lu allocations\n", locks, allocations);
    return allocations;
  }
};

// Covers: S-58
TEST_F(StickyCostTest, LocksThatNobodyWaitsForCostNothingWhileTheSessionIsNotValid) {
  if (!counts_allocations()) GTEST_SKIP() << "nothing is counted here";
  const uint64_t few = while_one_waits(10);
  EXPECT_LE(while_one_waits(1000), 2 * few) << "in each of two sessions one waits then";
}

}  // namespace
}  // namespace coordkit::testkit
