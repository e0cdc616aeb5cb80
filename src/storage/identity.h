// The identity file: which replica a data directory belongs to (docs/format-log.md). Replaced atomically, guarded by a sum.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "coordkit/ports/file_system.h"
#include "coordkit/types.h"

namespace coordkit::storage {

inline constexpr size_t kClusterBytesMax = 255;

struct Identity {
  StoreId store;
  BootCounter boot;
  ReplicaId replica;  // zero: any
  std::string cluster;
};

std::string encode(const Identity& identity);
// kFailedPrecondition: another or a newer format. kDataLoss: damaged.
absl::StatusOr<Identity> decode_identity(std::string_view bytes);

// kNotFound: there is none yet.
absl::StatusOr<Identity> load_identity(FileSystem& files);
// Old or new after a crash, never a mix; durable when it returns.
absl::Status store_identity(FileSystem& files, const Identity& identity);

}  // namespace coordkit::storage
