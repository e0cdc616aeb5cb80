// A byte string that is nearly always short: a lock's name, an owner's tag, the value of a hold, the name of a key. Up to
// kInside bytes are kept inside, longer ones in an allocation. Besides them it has only the size, because there are millions
// of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace coordkit {

template <size_t kInside, typename Size>
class ShortText {
  static_assert(kInside >= sizeof(char*));

 public:
  static constexpr size_t kMax = std::numeric_limits<Size>::max();

  ShortText() = default;
  explicit ShortText(std::string_view text) : ShortText({text}) {}
  // Joins the pieces, one behind the other.
  ShortText(std::initializer_list<std::string_view> pieces) {
    size_t size = 0;
    for (const std::string_view piece : pieces) size += piece.size();
    COORDKIT_CHECK(size <= kMax);
    size_ = static_cast<Size>(size);
    if (outside()) {
      char* copy = new char[size];
      std::memcpy(bytes_, static_cast<const void*>(&copy), sizeof copy);
    }
    char* end = data();
    for (const std::string_view piece : pieces) end += piece.copy(end, piece.size());
  }
  ~ShortText() {
    if (outside()) delete[] data();
  }
  ShortText(ShortText&& other) noexcept : size_(std::exchange(other.size_, Size{0})) {
    std::memcpy(bytes_, other.bytes_, kInside);
  }
  ShortText& operator=(ShortText&& other) noexcept {
    char former[kInside];  // std::swap() would swap byte by byte
    std::memcpy(former, bytes_, kInside);
    std::memmove(bytes_, other.bytes_, kInside);
    std::memcpy(other.bytes_, former, kInside);
    std::swap(size_, other.size_);
    return *this;
  }

  size_t bytes_outside() const { return outside() ? size_ : 0; }
  std::string_view view() const { return {const_cast<ShortText*>(this)->data(), size_}; }

 private:
  bool outside() const { return size_ > kInside; }
  char* data() {
    if (!outside()) return bytes_;
    char* text;
    std::memcpy(static_cast<void*>(&text), bytes_, sizeof text);
    return text;
  }

  char bytes_[kInside] = {};  // the text, or the address of its allocation
  Size size_ = 0;
};

}  // namespace coordkit
