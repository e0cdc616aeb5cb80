// Two short byte strings in one allocation, none if both are empty. A lock's name, an owner's tag and value: most are
// empty or tiny, and there are millions, so a pointer beats two std::string.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/check.h"

namespace coordkit::lock {

class PackedText {
 public:
  PackedText() = default;
  explicit PackedText(std::string_view first, std::string_view second = {}) {
    if (first.empty() && second.empty()) return;
    COORDKIT_CHECK(first.size() <= 0xffff && second.size() <= 0xffff);
    bytes_ = std::make_unique_for_overwrite<char[]>(kHeader + first.size() + second.size());
    const uint16_t sizes[2] = {static_cast<uint16_t>(first.size()), static_cast<uint16_t>(second.size())};
    std::memcpy(bytes_.get(), sizes, kHeader);
    first.copy(bytes_.get() + kHeader, first.size());
    second.copy(bytes_.get() + kHeader + first.size(), second.size());
  }

  std::string_view first() const { return bytes_ ? std::string_view(bytes_.get() + kHeader, size(0)) : std::string_view(); }
  std::string_view second() const {
    return bytes_ ? std::string_view(bytes_.get() + kHeader + size(0), size(1)) : std::string_view();
  }

 private:
  static constexpr size_t kHeader = 2 * sizeof(uint16_t);
  uint16_t size(int which) const {
    uint16_t sizes[2];
    std::memcpy(sizes, bytes_.get(), kHeader);
    return sizes[which];
  }
  std::unique_ptr<char[]> bytes_;
};

}  // namespace coordkit::lock
