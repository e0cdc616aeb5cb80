// Where LMDB has mapped the file of an environment, and how far that map may grow.
//
// LMDB enlarges a map by putting a larger one in its place, so nothing may read through the old one meanwhile. The thread that
// makes changes grows it while it has no transaction. Read transactions of views only pin pages, which are read from the file:
// LMDB looks at the map for them when one begins, and then reading() is held (docs/decisions/0042).
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <mutex>
#include <string_view>

#include "absl/status/status.h"

namespace coordkit::storage {

class LmdbMap {
 public:
  explicit LmdbMap(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // How much to begin with. All bytes of the file are mapped, whatever the limit.
  uint64_t first_bytes(uint64_t file_bytes) const;
  // Held by other threads while they begin a read transaction.
  std::unique_lock<std::mutex> reading() { return std::unique_lock(mutex_); }

  // From here on the map of `environment`, whose table `table` has this key.
  void find(MDB_env* environment, MDB_dbi table, std::string_view key);
  // The page cache has all that was read through the map. If it stayed mapped as well, the whole file would eventually count as
  // memory of this process.
  void release() const;
  // Doubles the map, or adds what there is address space for. kUnavailable: there is none, which may pass.
  // kResourceExhausted: the limit is reached. kDataLoss: LMDB has no map any more, and the environment can only be closed.
  absl::Status grow(MDB_env* environment);

 private:
  const uint64_t bytes_max_;
  std::mutex mutex_;
  MDB_env* environment_ = nullptr;
  MDB_dbi table_ = 0;
  std::string_view key_;
  char* at_ = nullptr;  // null: not known
  size_t page_bytes_ = 0;
};

}  // namespace coordkit::storage
