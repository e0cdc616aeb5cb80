#include "coordkit/storage/memory_stores.h"

#include <gtest/gtest.h>

#include "coordkit/testing/entries.h"
#include "coordkit/testing/sink_probes.h"

namespace coordkit::testkit {
namespace {

TEST(MemoryLogStoreTest, OnDemandNothingIsDurableBeforeItIsCompleted) {
  MemoryLogStore store(StoreId(1), StoreCompletion::OnDemand);
  LogSinkProbe probe;
  ASSERT_TRUE(store.open(probe).ok());
  for (uint64_t i = 1; i <= 3; ++i) store.submit({.number = WriteNumber(i), .entries = entries(i, 1, 1)});
  EXPECT_EQ(probe.written(), WriteNumber());
  EXPECT_TRUE(store.complete_one());
  EXPECT_EQ(probe.written(), WriteNumber(1));
  EXPECT_EQ(store.pending(), 2u);
  store.read(Index(3), Index(3), 100);
  EXPECT_TRUE(probe.wait_read(Index(3)).ok()) << "a read sees every write submitted before it";
  store.close();
  const auto again = store.open(probe);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->entries, entries(1, 1, 1)) << "a power cut takes what was not completed";
  EXPECT_EQ(again->boot, BootCounter(2));
}

// Covers: FLT_D03
TEST(MemoryLogStoreTest, FailureIsToldOnceAndFinal) {
  MemoryLogStore store(StoreId(1));
  LogSinkProbe probe;
  ASSERT_TRUE(store.open(probe).ok());
  store.fail(absl::DataLossError("EIO"));
  store.fail(absl::DataLossError("EIO"));
  store.submit({.number = WriteNumber(1)});
  EXPECT_EQ(probe.failures().size(), 1u);
  EXPECT_EQ(probe.written(), WriteNumber());
}

TEST(MemoryStateStoreTest, OnDemandNothingIsDurableBeforeItIsCompleted) {
  MemoryStateStore store(StoreCompletion::OnDemand);
  StateSinkProbe probe;
  ASSERT_TRUE(store.open(probe).ok());
  store.commit({.applied = {Index(1), Term(1)}, .rows = {{"a", "1"}}});
  EXPECT_EQ((*store.view())->applied(), Position{});
  store.complete_all();
  EXPECT_TRUE(probe.wait_applied({Index(1), Term(1)}));
}

}  // namespace
}  // namespace coordkit::testkit
