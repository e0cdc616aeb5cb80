// Immutable bytes with shared ownership: one payload sits in the log cache, in messages to several peers, in a disk write
// and in apply at the same time, and is never copied for it. Thread-safe to copy and read.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class SharedBytes {
 public:
  SharedBytes() = default;
  // Copies them, into the one allocation that there is.
  explicit SharedBytes(std::string_view bytes) : size_(bytes.size()) {
    if (bytes.empty()) return;
    auto made = std::make_shared_for_overwrite<char[]>(bytes.size());
    bytes.copy(made.get(), bytes.size());
    bytes_ = std::move(made);
  }
  SharedBytes(const SharedBytes&) = default;
  SharedBytes& operator=(const SharedBytes&) = default;
  SharedBytes(SharedBytes&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  SharedBytes& operator=(SharedBytes&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::string_view view() const { return {bytes_.get(), size_}; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  friend bool operator==(const SharedBytes& a, const SharedBytes& b) { return a.view() == b.view(); }

 private:
  std::shared_ptr<const char[]> bytes_;
  size_t size_ = 0;
};

}  // namespace coordkit
