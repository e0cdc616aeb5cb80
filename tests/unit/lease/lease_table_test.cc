#include "lease/lease_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/check.h"
#include "base/random.h"

namespace coordkit::lease {
namespace {

using namespace std::chrono_literals;

Session some(uint64_t node, Duration ttl = 5s) {
  return {{ReplicaId(node), BootCounter(1), 7, ttl},
          Generation(0),
          std::string(node % 3, 'm'),
          hash_of_secret(std::to_string(node))};
}

// Covers: S-29
TEST(LeaseTableTest, TheFloorRaisesAndNothingElseChangesATtl) {
  EXPECT_EQ(granted_ttl(1ns), 50ms);
  EXPECT_EQ(granted_ttl(50ms - 1ns), 50ms);
  EXPECT_EQ(granted_ttl(50ms), 50ms);
  EXPECT_EQ(granted_ttl(Duration::max()), Duration::max());
}

// Covers: S-45
TEST(LeaseTableTest, AnIdAtOrBelowALiveOneIsRefused) {
  Table table;
  table.open(SessionId(5), some(1));
  EXPECT_THROW(table.open(SessionId(5), some(1)), CheckFailure);
  EXPECT_THROW(table.open(SessionId(4), some(1)), CheckFailure);
}

// Covers: S-45 S-57
TEST(LeaseTableTest, ARequestIsToldWhatTheSessionIsToItsProcess) {
  Table table;
  const SessionId id(5);
  const RequestId own{{ReplicaId(1), StoreId(7), BootCounter(1)}, Sequence(3)};
  const auto from = [&](auto change) {
    RequestId request = own;
    change(request);
    return table.standing(id, request);
  };
  EXPECT_EQ(table.standing(id, own), Standing::Unknown);
  table.open(id, some(1));
  EXPECT_EQ(table.standing(id, own), Standing::Alive);
  EXPECT_EQ(from([](RequestId& request) { request.origin.replica = ReplicaId(2); }), Standing::OfAnother);
  EXPECT_EQ(from([](RequestId& request) { request.origin.store = StoreId(8); }), Standing::OfAnother);
  EXPECT_EQ(from([](RequestId& request) { request.origin.boot = BootCounter(2); }), Standing::OfAnother);
  table.resume(id, {ReplicaId(1), BootCounter(1), 7, 5s}, Sequence(3), PreviousProcess::IsGone);
  EXPECT_EQ(table.standing(id, own), Standing::OfAnother) << "sent before it came back";
  EXPECT_EQ(from([](RequestId& request) { request.sequence = Sequence(4); }), Standing::Alive);
  table.mark_ending(id);
  EXPECT_EQ(from([](RequestId& request) { request.sequence = Sequence(4); }), Standing::Ending);
  EXPECT_TRUE(table.close(id));
  EXPECT_EQ(table.standing(id, own), Standing::Unknown);
}

// Covers: REG_F76
TEST(LeaseTableTest, SessionsThatComeAndGoLeaveNothingEvenWithoutCheckpoints) {
  Table table;
  for (uint64_t id = 1; id <= 100'000; ++id) {
    table.open(SessionId(id), some(id));
    ASSERT_TRUE(table.close(SessionId(id)));
  }
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.digest(), 0u);
  table.collect([](SessionId, const Session&) { FAIL(); }, [](SessionId) { FAIL(); });
}

// Covers: S-45
TEST(LeaseTableTest, ASecretIsKeptAsAHashThatOnlyItGives) {
  EXPECT_FALSE(SecretHash{});
  EXPECT_TRUE(hash_of_secret(""));
  EXPECT_EQ(hash_of_secret("a"), hash_of_secret("a"));
  EXPECT_NE(hash_of_secret("a"), hash_of_secret("b"));
  EXPECT_NE(hash_of_secret("a"), hash_of_secret(std::string("a\0", 2)));
}

TEST(LeaseTableTest, RandomChangesMatchANaiveMapAndSurviveRestores) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Table table;
    std::map<SessionId, Session> naive, rows;
    SessionId next(1);
    for (int step = 0; step < 400; ++step) {
      const auto some_id = [&] { return std::next(naive.begin(), static_cast<long>(random.below(naive.size()))); };
      if (const uint64_t kind = random.below(4); kind < 2 && !naive.empty()) {
        const auto changed = some_id();
        if (kind == 0) {
          const PreviousProcess previous = random.below(2) == 0 ? PreviousProcess::IsGone : PreviousProcess::MayLive;
          changed->second.group = some(random.below(5)).group;
          changed->second.generation = changed->second.generation.next();
          changed->second.contested = previous == PreviousProcess::MayLive;
          changed->second.resumed_by = Sequence(random.below(3));
          table.resume(changed->first, changed->second.group, changed->second.resumed_by, previous);
        } else {
          changed->second.ending = true;
          table.mark_ending(changed->first);
        }
        ASSERT_EQ(table.find(changed->first), changed->second);
      } else if (random.below(2) == 0 || naive.empty()) {
        const Session session = some(random.below(5));
        naive[next] = session;
        table.open(next, session);
        next = next + random.between(1, 3);
      } else {
        const auto victim = some_id();
        EXPECT_TRUE(table.close(victim->first));
        EXPECT_FALSE(table.close(victim->first));
        naive.erase(victim);
      }
      ASSERT_EQ(table.digest(), table.recomputed_digest());
      std::set<TimerGroup> groups;
      for (const auto& [id, session] : naive) groups.insert(session.group);
      ASSERT_EQ(table.groups(), groups.size()) << "a group lives as long as its sessions";
      if (random.below(7) != 0) continue;
      table.collect([&](SessionId id, const Session& session) { rows[id] = session; },
                    [&](SessionId id) { EXPECT_EQ(rows.erase(id), 1u); });
      ASSERT_EQ(rows, naive);
      Table copy;
      for (const auto& [id, session] : rows) ASSERT_TRUE(copy.restore(id, session).ok());
      ASSERT_EQ(copy.digest(), table.digest());
      if (random.below(2) == 0) table = std::move(copy);
    }
  }
}

TEST(LeaseTableTest, ImpossibleRowsAreRefused) {
  Table table;
  EXPECT_EQ(table.restore(SessionId(0), some(1)).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(table.restore(SessionId(3), some(1, 49ms)).code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(table.restore(SessionId(3), some(1)).ok());
  EXPECT_EQ(table.restore(SessionId(3), some(1)).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace coordkit::lease
