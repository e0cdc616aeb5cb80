// The cost of a million keys: counted as the heap sees it, its own overhead included.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>

#include "mvcc/store.h"

namespace coordkit::mvcc {
namespace {

constexpr uint64_t kKeys = 1'000'000;

size_t in_use() {
  malloc_trim(0);
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::string key_of(uint64_t i) {
  char key[13];
  std::snprintf(key, sizeof key, "k%011llu", static_cast<unsigned long long>(i * 7919 % kKeys));  // in no order
  return key;
}

void collect_all(Store& store) {
  store.collect([](const Version&) {}, [](ChangeId) {});
}

TEST(MemoryTest, AMillionKeysOf12BytesWithValuesOf16TakeLessThan200BytesEach) {
  Store store;
  collect_all(store);
  const size_t before = in_use();
  for (uint64_t i = 0; i < kKeys; ++i) {
    Store::Change change;
    store.put(change, key_of(i), "sixteen-bytes-16");
  }
  collect_all(store);
  const double each = static_cast<double>(in_use() - before) / kKeys;
  for (uint64_t i = 0; i < kKeys; ++i) {
    Store::Change change;
    store.put(change, key_of(i), "sixteen-bytes-16");
  }
  collect_all(store);
  const double change = static_cast<double>(in_use() - before) / kKeys - each;
  std::printf("bytes for each of %llu keys: %.1f; for each further change in the window: %.1f\n",
              static_cast<unsigned long long>(kKeys), each, change);
  EXPECT_LT(each, 200);
  EXPECT_LT(change, 110);
  ASSERT_EQ(store.compact(store.revision()), Refusal::None);
  while (store.to_sweep() != 0) store.sweep(1000);
  collect_all(store);
  const double compacted = static_cast<double>(in_use() - before) / kKeys;
  std::printf("after a compaction: %.1f\n", compacted);
  EXPECT_LT(compacted, each) << "the window is empty";
  store = Store();
  EXPECT_LT(in_use(), before + (size_t{1} << 20)) << "all of it is given back";
}

}  // namespace
}  // namespace coordkit::mvcc
