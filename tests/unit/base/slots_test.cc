#include "base/slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordkit/types.h"

namespace coordkit {
namespace {

struct RecordTag;
using RecordId = Id<RecordTag>;

TEST(SlotsTest, DoesWhatAMapDoesAndIdsRise) {
  Random random(3);
  Slots<RecordId, std::string> slots;
  std::map<RecordId, std::string> twin;
  RecordId newest;
  std::vector<RecordId> gone;
  for (int step = 0; step < 20'000; ++step) {
    if (random.chance(0.52) || twin.empty()) {
      const RecordId id = slots.add([&](RecordId given) { return "the record number " + std::to_string(given.value()); });
      EXPECT_LT(newest, id);
      twin[newest = id] = "the record number " + std::to_string(id.value());
    } else {
      const auto any = std::next(twin.begin(), static_cast<std::ptrdiff_t>(random.below(twin.size())));
      slots.remove(any->first);
      gone.push_back(any->first);
      twin.erase(any);
    }
    ASSERT_EQ(slots.size(), twin.size());
  }
  for (const auto& [id, value] : twin) {
    ASSERT_NE(slots.find(id), nullptr);
    EXPECT_EQ(*slots.find(id), value);
  }
  for (const RecordId id : gone) EXPECT_EQ(slots.find(id), nullptr) << "its slot has another record by now, or none";
  std::vector<RecordId> ids = slots.ids();
  std::ranges::sort(ids);
  EXPECT_TRUE(std::ranges::equal(ids, twin, {}, {}, [](const auto& entry) { return entry.first; }));
  slots.clear();
  EXPECT_EQ(slots.size(), 0u);
  EXPECT_EQ(slots.find(newest), nullptr);
}

TEST(SlotsTest, ASlotIsUsedAgainAndARecordStaysWhereItIs) {
  Slots<RecordId, int> slots;
  const RecordId first = slots.add([](RecordId) { return 1; });
  const int* const at = slots.find(first);
  std::vector<RecordId> others;
  for (int i = 0; i < 1000; ++i) others.push_back(slots.add([i](RecordId) { return i; }));
  EXPECT_EQ(slots.find(first), at);
  slots.remove(first);
  const RecordId next = slots.add([](RecordId) { return 2; });
  EXPECT_EQ(slots.find(next), at);
  EXPECT_EQ(*at, 2);
  EXPECT_EQ(slots.find(first), nullptr);
}

TEST(SlotsTest, WhatIsRemovedIsLetGo) {
  const auto kept = std::make_shared<int>(0);
  Slots<RecordId, std::shared_ptr<int>> slots;
  const RecordId id = slots.add([&](RecordId) { return kept; });
  EXPECT_EQ(kept.use_count(), 2);
  slots.remove(id);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(SlotsTest, AnIdOfNoneIsFoundNowhereAndABaseIsInAll) {
  constexpr uint64_t kBase = uint64_t{1} << 63;
  Slots<RecordId, int> slots(kBase);
  const RecordId none = slots.id_of_none();
  EXPECT_EQ(slots.find(none), nullptr);
  EXPECT_EQ(slots.find(RecordId(5)), nullptr);
  const RecordId one = slots.add([](RecordId) { return 1; });
  EXPECT_LT(none, one);
  EXPECT_GE(none.value(), kBase);
  EXPECT_EQ(slots.find(RecordId(one.value() - kBase)), nullptr);
}

}  // namespace
}  // namespace coordkit
