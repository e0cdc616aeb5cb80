// The router's own row of a checkpoint: what the state says about the cluster itself. Code that reads a checkpoint without a
// router, or makes one for another cluster, uses it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/raft/entry.h"
#include "coordkit/types.h"

namespace coordkit::engine {

struct RouterMeta {
  Term leader_term;  // of the newest first entry of a leader
  std::optional<raft::Genesis> genesis;
  raft::Configuration configuration;
  Index configuration_at;        // of its entry
  std::vector<MachineId> begun;  // machines that have rows, ascending
  uint64_t feature_level = 0;
};

// Keys of the router's rows: this one, and the prefix of those of the origins.
std::string meta_key();
std::string origins_prefix();

std::string encode(const RouterMeta& meta);
absl::StatusOr<RouterMeta> decode_router_meta(std::string_view bytes);  // kDataLoss: inconsistent

}  // namespace coordkit::engine
