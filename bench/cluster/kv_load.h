// Loads of the revisioned store: 10,000 keys of 12 bytes with values of 16 bytes, one drawn for each operation.
//
//   put     puts it: one durable commit
//   txn     puts it if it exists: a compare and one of two branches, one durable commit
//   read    reads it linearizably
//   local   reads it from this replica's own state
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/random.h"
#include "bench/cluster/load.h"

namespace coordkit::bench {

inline constexpr uint64_t kKeys = 10'000;
inline constexpr std::string_view kSixteenBytes = "0123456789abcdef";
std::string key_of(uint64_t number);  // 12 bytes
// One of kKeys, ready made: to format it would be a fifteenth of what the process of a put executes.
const std::string& draw_key(Random& random);

nlohmann::ordered_json run_kv_load(Service& service, const LoadOptions& options);

}  // namespace coordkit::bench
