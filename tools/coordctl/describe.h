// Entries of a log and rows of a checkpoint as JSON objects, decoded where coordkit knows their form. Secrets are left out.
#pragma once

#include <string_view>

#include "coordkit/raft/entry.h"
#include "tools/coordctl/safe_bytes.h"

namespace coordkit::coordctl {

Json describe_entry(const raft::Entry& entry, size_t bytes_max);
Json describe_row(std::string_view key, std::string_view value, size_t bytes_max);

}  // namespace coordkit::coordctl
