// Two byte strings that are nearly always short and never change, one behind the other. Both are
// stored inside if they fit, otherwise both in one allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

// `kInside`: how many bytes of both together are stored without an allocation.
template <size_t kInside>
class TextPair {
  static_assert(kInside >= sizeof(char*));

 public:
  // Copies both.
  TextPair(std::string_view first, std::string_view second)
      : first_size_(static_cast<uint32_t>(first.size())), second_size_(static_cast<uint32_t>(second.size())) {
    if (outside()) {
      const char* const copy = new char[first.size() + second.size()];
      std::memcpy(bytes_, static_cast<const void*>(&copy), sizeof copy);
    }
    char* const begin = const_cast<char*>(data());
    second.copy(begin + first.copy(begin, first.size()), second.size());
  }
  ~TextPair() {
    if (outside()) delete[] data();
  }
  TextPair(const TextPair&) = delete;
  TextPair& operator=(const TextPair&) = delete;

  std::string_view first() const { return {data(), first_size_}; }  // valid as long as the pair
  // Valid as long as the pair.
  std::string_view second() const { return {data() + first_size_, second_size_}; }

 private:
  bool outside() const { return size_t{first_size_} + second_size_ > kInside; }
  const char* data() const {
    if (!outside()) return bytes_;
    const char* text;
    std::memcpy(static_cast<void*>(&text), bytes_, sizeof text);
    return text;
  }

  const uint32_t first_size_;
  const uint32_t second_size_;
  char bytes_[kInside] = {};  // the texts, or the address of their allocation
};

}  // namespace coordkit
