// Payloads of Genesis and Configuration entries, in the protobuf wire format (proto/coordkit/v1/log.proto).
// Decoders take hostile bytes: unknown fields are skipped, every count is capped, errors are kDataLoss.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "coordkit/raft/entry.h"

namespace coordkit {

inline constexpr size_t kMembersMax = 64;         // of one list
inline constexpr size_t kAddressBytesMax = 1024;  // of one member

std::string encode(const raft::Configuration& configuration);
std::string encode(const raft::Genesis& genesis);
absl::StatusOr<raft::Configuration> decode_configuration(std::string_view bytes);
absl::StatusOr<raft::Genesis> decode_genesis(std::string_view bytes);

// The configuration that takes effect with this entry, for the kinds that carry one.
absl::StatusOr<raft::Configuration> configuration_of(const raft::Entry& entry);

}  // namespace coordkit
