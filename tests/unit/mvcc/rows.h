// The checkpoint rows of a Store, kept as a state store would.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "absl/status/statusor.h"
#include "mvcc/store.h"

namespace coordkit::mvcc {

struct Rows {
  std::map<ChangeId, Store::Row> rows;
  Store::Counters counters;
  size_t erased = 0;

  void collect(Store& store) {
    store.collect(
        [&](const Version& version) {
          const Store::Row row{std::string(version.key()), std::string(version.value()), version.id(), version.stamp};
          EXPECT_TRUE(rows.emplace(version.id(), row).second) << "a row that is there";
        },
        [&](ChangeId id) {
          EXPECT_EQ(rows.erase(id), 1u) << "a row that was never written";
          ++erased;
        });
    counters = store.counters();
  }
  absl::StatusOr<Store> restored() const {
    Store store;
    absl::Status status = store.restore_counters(counters);
    for (const auto& [id, row] : rows) status.Update(store.restore(row));
    status.Update(store.restored());
    if (!status.ok()) return status;
    return store;
  }
};

}  // namespace coordkit::mvcc
