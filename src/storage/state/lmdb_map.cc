#include "storage/state/lmdb_map.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "coordkit/error.h"
#include "storage/posix_file_system.h"
#include "storage/state/checkpoint_record.h"
#include "storage/state/lmdb_files.h"
#include "storage/state/lmdb_transaction.h"

namespace coordkit::storage {
namespace {

constexpr uint64_t kMapUnit = 64 << 10;  // a multiple of every page size
constexpr uint64_t kFirstMap = 4 << 20;  // of a small file

bool has_addresses(uint64_t bytes) {
  void* const tried = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (tried == MAP_FAILED) return false;
  ::munmap(tried, bytes);
  return true;
}

}  // namespace

uint64_t LmdbMap::first_bytes(uint64_t file_bytes) const {
  return std::max((file_bytes + kMapUnit - 1) / kMapUnit * kMapUnit, std::min(bytes_max_, kFirstMap));
}

// LMDB does not tell where its map is, but a value lies in a page of the map, and a page begins with its number. A file whose
// pages are larger than this machine's, because it was made on another one, may be mapped at an address that is no multiple of
// its pages: then the map is not known.
void LmdbMap::find(MDB_env* environment, MDB_dbi table, std::string_view name) {
  environment_ = environment;
  table_ = table;
  key_ = name;
  at_ = nullptr;
  absl::StatusOr<Transaction> transaction = Transaction::begin(environment, Transaction::Access::Read);
  MDB_stat stat = {};
  MDB_val key = to_val(name);
  MDB_val value = {};
  if (!transaction.ok() || ::mdb_stat(transaction->get(), table, &stat) != 0) return;
  if (::mdb_get(transaction->get(), table, &key, &value) != 0) return;
  char* const inside = static_cast<char*>(value.mv_data);
  page_bytes_ = stat.ms_psize;
  if (page_bytes_ > static_cast<size_t>(::getpagesize())) return;
  char* const page = inside - reinterpret_cast<uintptr_t>(inside) % page_bytes_;
  uint64_t number = 0;
  std::memcpy(&number, page, sizeof number);
  at_ = page - number * page_bytes_;
}

void LmdbMap::release() const {
  MDB_envinfo info = {};
  if (at_ == nullptr || ::mdb_env_info(environment_, &info) != 0) return;
  ::madvise(at_, (info.me_last_pgno + 1) * page_bytes_, MADV_DONTNEED);
}

// LMDB would be left without a map if there were too little address space: that is tried before.
absl::Status LmdbMap::grow(MDB_env* environment) {
  MDB_envinfo now = {};
  if (const int error = ::mdb_env_info(environment, &now); error != 0) return lmdb_status(error, "look at its map");
  if (now.me_mapsize + kMapUnit > bytes_max_) {
    return make_error(
        Reason::LimitExceeded,
        "the checkpoint has reached its limit of " + std::to_string(bytes_max_) +
            " bytes: raise checkpoint_map_bytes_max (map_bytes_max of the store's options), or end views earlier");
  }
  for (uint64_t more = std::min<uint64_t>(now.me_mapsize, bytes_max_ - now.me_mapsize); more >= kMapUnit; more /= 2) {
    more = more / kMapUnit * kMapUnit;
    if (!has_addresses(more)) continue;
    const std::lock_guard lock(mutex_);
    if (const int error = ::mdb_env_set_mapsize(environment, now.me_mapsize + more); error != 0) {
      return rotten(std::string("LMDB lost its map: ") + ::mdb_strerror(error));
    }
    if (environment_ != nullptr) find(environment_, table_, key_);
    return absl::OkStatus();
  }
  return until_room(
      errno_status(ENOMEM, "the map of the checkpoint cannot grow beyond " + std::to_string(now.me_mapsize) + " bytes"));
}

}  // namespace coordkit::storage
