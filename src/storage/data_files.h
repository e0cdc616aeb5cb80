// The files that a data directory holds beside its stores, and how a foreign one is recognised (docs/format-log.md).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "coordkit/ports/file_system.h"

namespace coordkit::storage {

inline constexpr std::string_view kHasLog = "has-log";
inline constexpr std::string_view kReserve = "reserve";

// kFailedPrecondition: it holds a name that is not ours. kDataLoss: it has data and no identity.
absl::Status refuse_foreign_data_files(FileSystem& files, const std::string& path);
// kInvalidArgument: what is to be made at `path` would be such a name, or one in a directory of a store.
absl::Status refuse_in_data_directory(const std::string& path);

}  // namespace coordkit::storage
