// Locks at rest by themselves, and a lock's moves between rest and its records.
#include "lock/compact_holds.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "lock/claim_hash.h"
#include "lock/lock_table.h"

namespace coordkit::lock {
namespace {

using namespace std::chrono_literals;

ClaimView hold(std::string_view name, uint64_t session, uint64_t token, uint64_t boot = 1) {
  ClaimView view;
  view.name = name;
  view.session = SessionId(session);
  view.request = {{ReplicaId(1), StoreId(2), BootCounter(boot)}, Sequence(token + 5)};
  view.since = Index(token);
  view.token = Token(token);
  return view;
}

TEST(CompactHoldsTest, KeepsAPlainHoldAsItWas) {
  CompactHolds resting;
  const std::string longer(300, 'n');
  const std::string longest_tag(255, 't');
  uint64_t token = 1;
  for (const std::string_view tag : {std::string_view(), std::string_view("t"), std::string_view(longest_tag)}) {
    for (const std::string& name : {"n" + std::string(tag), longer + std::string(tag)}) {
      ClaimView plain = hold(name, 3, ++token);
      plain.mode = Mode::Shared;
      plain.tag = tag;
      ASSERT_TRUE(resting.add(plain, false, true));
      const CompactHolds::Handle handle = resting.find(name);
      ASSERT_NE(handle, 0u);
      EXPECT_EQ(resting.view(handle).name, name);
      EXPECT_EQ(resting.view(handle).tag, tag);
      EXPECT_EQ(claim_hash(resting.view(handle)), claim_hash(plain));
    }
  }
  EXPECT_EQ(resting.find("m"), 0u);
  EXPECT_EQ(resting.size(), 6u);
}

TEST(CompactHoldsTest, AClaimWithAnUnusualFieldIsNotKeptCompactly) {
  const auto taken = [](auto spoil) {
    CompactHolds resting;
    ClaimView view = hold("n", 1, 2);
    spoil(view);
    return resting.add(view, false, false);
  };
  EXPECT_TRUE(taken([](ClaimView&) {}));
  const std::string long_tag(256, 't');
  EXPECT_FALSE(taken([&](ClaimView& view) { view.tag = long_tag; }));
  EXPECT_FALSE(taken([](ClaimView& view) { view.texts.value = "v"; }));
  EXPECT_FALSE(taken([](ClaimView& view) { view.delay = 1s; }));
  EXPECT_FALSE(taken([](ClaimView& view) { view.reentrant = true; }));
  EXPECT_FALSE(taken([](ClaimView& view) { view.others = {{"m"}}; }));
  EXPECT_FALSE(taken([](ClaimView& view) { view.token = Token(); }));
  EXPECT_FALSE(taken([](ClaimView& view) { view.request.sequence = Sequence(uint64_t{1} << 32); }));
}

TEST(CompactHoldsTest, ANameIsTakenOnce) {
  CompactHolds resting;
  ASSERT_TRUE(resting.add(hold("n", 1, 2), false, false));
  EXPECT_FALSE(resting.add(hold("n", 1, 3, 7), false, false));
  EXPECT_EQ(resting.view(resting.find("n")).token, Token(2));
  resting.remove(resting.find("n"));
  EXPECT_EQ(resting.find("n"), 0u);
  EXPECT_TRUE(resting.add(hold("n", 1, 3, 7), false, false));
}

TEST(CompactHoldsTest, OriginsThatAreOverMakeRoomForOthersAndAFullHouseRefuses) {
  CompactHolds resting;
  std::vector<std::string> names;
  for (uint64_t i = 0; i < 2048; ++i) names.push_back(std::to_string(i));
  for (uint64_t i = 0; i < 2048; ++i) ASSERT_TRUE(resting.add(hold(names[i], 1, i + 1, i + 1), false, false));
  EXPECT_FALSE(resting.add(hold("one more", 1, 9000, 9000), false, false));
  EXPECT_TRUE(resting.add(hold("one more", 1, 9000, 3), false, false)) << "of an origin that is there";
  resting.remove(resting.find(names[1000]));
  ASSERT_TRUE(resting.add(hold("another", 1, 9001, 9001), false, false));
  EXPECT_EQ(resting.view(resting.find("another")).request.origin.boot, BootCounter(9001));
  EXPECT_EQ(resting.view(resting.find(names[999])).request.origin.boot, BootCounter(1000));
}

// Asked often or hardly ever, for either, among few locks or more than are left fresh: it is always what follows from all that
// is here.
TEST(CompactHoldsTest, TheDigestAndTheLocksOfASessionAreTheSameWheneverTheyAreAsked) {
  for (const uint64_t one_in : {1, 7, 3000}) {
    for (const uint64_t locks : {5, 200, 9000}) {
      Random random(one_in + locks);
      CompactHolds resting;
      std::map<SessionId, std::map<Token, CompactHolds::Handle>> held;
      uint64_t sum = 0, token = 0;
      const auto count = [&](CompactHolds::Handle hold) {
        held[resting[hold].session][resting[hold].token] = hold;
        sum += claim_hash(resting.view(hold));
      };
      const auto discount = [&](CompactHolds::Handle hold) {
        held[resting[hold].session].erase(resting[hold].token);
        sum -= claim_hash(resting.view(hold));
      };
      for (uint64_t step = 0; step < 3 * locks + 500; ++step) {
        const std::string name = "lock-" + std::to_string(random.below(locks));
        const CompactHolds::Found found = resting.find(name);
        if (found == 0) {
          ASSERT_TRUE(resting.add(hold(name, 1 + random.below(3), ++token), false, random.chance(0.5)));
          count(resting.find(name));
        } else if (random.chance(0.3)) {
          discount(found);
          ++token;
          resting.regrant(found, Token(token), Index(token));
          count(found);
        } else {
          discount(found);
          resting.remove(found);
        }
        if (random.below(one_in) != 0) continue;
        if (random.chance(0.5)) {
          const SessionId session(1 + random.below(3));
          std::vector<CompactHolds::Handle> expected;
          for (const auto& [of, each] : held[session]) expected.push_back(each);
          ASSERT_EQ(resting.of_session(session), expected) << "step " << step;
          continue;
        }
        ASSERT_EQ(resting.digest(), sum) << "step " << step;
      }
      uint64_t sum_of_each = 0;
      resting.each([&](CompactHolds::Handle each) { sum_of_each += claim_hash(resting.view(each)); });
      EXPECT_EQ(sum_of_each, sum);
      std::vector<CompactHolds::Handle> left;
      resting.each([&](CompactHolds::Handle each) { left.push_back(each); });
      for (const CompactHolds::Handle each : left) resting.remove(resting.find(each));
      EXPECT_EQ(resting.digest(), 0u);
    }
  }
}

TEST(CompactHoldsTest, LocksOfASessionComeInGrantOrder) {
  CompactHolds resting;
  for (const uint64_t token : {30, 10, 20}) ASSERT_TRUE(resting.add(hold(std::to_string(token), 7, token), false, false));
  ASSERT_TRUE(resting.add(hold("x", 6, 15), false, false));
  ASSERT_TRUE(resting.add(hold("y", 8, 16), false, false));
  std::vector<uint64_t> tokens;
  for (const CompactHolds::Handle handle : resting.of_session(SessionId(7)))
    tokens.push_back(resting.view(handle).token.value());
  EXPECT_EQ(tokens, (std::vector<uint64_t>{10, 20, 30}));
  EXPECT_EQ(resting.count(SessionId(9)), 0u);
}

// Covers: REG_F76
TEST(CompactHoldsTest, LocksThatComeAndGoAreNotListedForEver) {
  CompactHolds resting;
  ASSERT_TRUE(resting.add(hold("stays", 1, 1), false, true));
  for (uint64_t i = 2; i < 10'000; ++i) {
    ASSERT_TRUE(resting.add(hold("goes", 1, i), false, true));
    resting.remove(resting.find("goes"));
  }
  ASSERT_TRUE(resting.add(hold("late", 1, 10'001), false, true));
  const auto dirty = resting.take_dirty();
  ASSERT_EQ(dirty.size(), 2u);
  EXPECT_EQ(resting.view(dirty[0]).name, "stays");
  EXPECT_TRUE(resting[dirty[1]].stored);
  EXPECT_TRUE(resting.take_dirty().empty());
}

// One table takes a checkpoint after every step, the other never does: neither that nor the representation of a lock shows.
TEST(CompactHoldsTest, WakingAndRestingShowNeitherInDigestNorInRows) {
  Table table;
  TokenCounter counter;
  Decisions decisions;
  std::map<RowId, uint64_t> rows;  // to the hash of the claim
  const auto checkpoint = [&] {
    size_t changes = 0;
    table.collect(
        [&](const ClaimView& claim) {
          rows[{claim.held() ? RowId::Kind::Hold : RowId::Kind::Wait,
                claim.held() ? claim.token.value() : claim.since.value()}] = claim_hash(claim);
          ++changes;
        },
        [](const DelayView&) {},
        [&](RowId row) {
          EXPECT_EQ(rows.erase(row), 1u);
          ++changes;
        });
    uint64_t sum = 0;
    for (const auto& [id, hash] : rows) sum += hash;
    EXPECT_EQ(sum, table.digest());
    EXPECT_EQ(table.digest(), table.recomputed_digest());
    return changes;
  };
  const Wanted wanted{"n"};
  const auto acquire = [&](uint64_t index, uint64_t session) {
    const AcquireVerdict verdict = table.acquire({.index = Index(index),
                                                  .request = {{}, Sequence(index)},
                                                  .session = SessionId(session),
                                                  .tag = "",
                                                  .names = {&wanted, 1},
                                                  .texts = {},
                                                  .waits = true},
                                                 counter);
    table.decide_waits(Index(index), counter, decisions);
    return verdict;
  };
  const Token token = acquire(1, 1).token;
  EXPECT_EQ(checkpoint(), 1u);
  EXPECT_EQ(acquire(2, 1).kind, AcquireVerdict::Kind::AlreadyHeld);
  EXPECT_EQ(checkpoint(), 0u) << "it woke and went to rest again";
  EXPECT_EQ(acquire(3, 2).kind, AcquireVerdict::Kind::Queued);
  EXPECT_EQ(checkpoint(), 1u) << "the waiter alone";
  EXPECT_TRUE(table.time_out(Index(3), decisions) == false);
  EXPECT_EQ(table.cancel(SessionId(2), "", "n", {{}, Sequence(3)}, decisions).kind, CancelVerdict::Kind::Cancelled);
  table.decide_waits(Index(4), counter, decisions);
  EXPECT_EQ(checkpoint(), 1u) << "the waiter alone";
  EXPECT_EQ(table.view().held("n", token), Mode::Exclusive);
  EXPECT_EQ(table.view().counts(SessionId(1)).holds, 1u);
  EXPECT_TRUE(table.release({SessionId(1), std::nullopt, "n", token}));
  table.decide_waits(Index(5), counter, decisions);
  EXPECT_EQ(checkpoint(), 1u);
  EXPECT_TRUE(rows.empty());
}

}  // namespace
}  // namespace coordkit::lock
