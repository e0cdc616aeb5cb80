// Fixed little-endian integers at a place in memory; big-endian ones where bytes must sort like numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

namespace coordkit {

static_assert(std::endian::native == std::endian::little, "coordkit's formats assume a little-endian host");

inline void store_u64(char* at, uint64_t value) { std::memcpy(at, &value, sizeof value); }
inline void store_u32(char* at, uint32_t value) { std::memcpy(at, &value, sizeof value); }
inline uint64_t load_u64(const char* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
inline uint32_t load_u32(const char* at) {
  uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline void append_u32(std::string& out, uint32_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }
inline void append_u64(std::string& out, uint64_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

// Eight bytes whose byte order is the order of the numbers: for store keys.
inline void append_sortable(std::string& out, uint64_t value) {
  value = __builtin_bswap64(value);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline uint64_t load_sortable(const char* at) { return __builtin_bswap64(load_u64(at)); }

}  // namespace coordkit
