// Bytes of users in JSON: text as text, anything else in hex, long ones cut with their length beside them.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace coordkit::coordctl {

using Json = nlohmann::ordered_json;

inline constexpr size_t kShownBytes = 256;  // of one value, unless more are requested

// Well-formed UTF-8 without control characters is a string. Anything else, and anything longer than `most`, is an object:
// "hex" or "text" of the beginning, and "bytes", the total number.
Json safe_bytes(std::string_view bytes, size_t most = kShownBytes);

}  // namespace coordkit::coordctl
