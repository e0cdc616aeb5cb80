// Immutable bytes with shared ownership. One payload is in the log cache, in messages to several
// peers, in a disk write and in apply at the same time, and is never copied for that.
//
// Threads: safe to copy and read on any thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

// Bytes that never change. Copies share them, and the last copy frees them. A default-constructed
// object has none.
class SharedBytes {
 public:
  SharedBytes() = default;
  // Copies the bytes into its only allocation.
  explicit SharedBytes(std::string_view bytes) : size_(bytes.size()) {
    if (bytes.empty()) return;
    auto made = std::make_shared_for_overwrite<char[]>(bytes.size());
    bytes.copy(made.get(), bytes.size());
    bytes_ = std::move(made);
  }
  // `bytes` are inside the memory that `owner` owns. They are not copied.
  SharedBytes(const std::shared_ptr<const char[]>& owner, std::string_view bytes)
      : bytes_(owner, bytes.data()), size_(bytes.size()) {}
  // Takes ownership of the string.
  static SharedBytes of(std::string bytes) {
    const auto owner = std::make_shared<const std::string>(std::move(bytes));
    SharedBytes made;
    made.bytes_ = std::shared_ptr<const char[]>(owner, owner->data());
    made.size_ = owner->size();
    return made;
  }
  // `bytes` are a part of these. The whole stays alive as long as the part does.
  SharedBytes part(std::string_view bytes) const { return SharedBytes(bytes_, bytes); }

  SharedBytes(const SharedBytes&) = default;
  SharedBytes& operator=(const SharedBytes&) = default;
  // Leaves `other` without bytes.
  SharedBytes(SharedBytes&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  SharedBytes& operator=(SharedBytes&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // Valid as long as this object or a copy of it.
  std::string_view view() const { return {bytes_.get(), size_}; }
  operator std::string_view() const { return view(); }  // NOLINT: meant to convert
  size_t size() const { return size_; }                 // in bytes
  bool empty() const { return size_ == 0; }             // size() is zero
  friend bool operator==(const SharedBytes& a, const SharedBytes& b) { return a.view() == b.view(); }
  friend bool operator==(const SharedBytes& a, std::string_view b) { return a.view() == b; }

 private:
  std::shared_ptr<const char[]> bytes_;
  size_t size_ = 0;
};

// Many small SharedBytes in few allocations: each is a part of a slab, which lives as long as any
// of its parts. Use it for bytes that are made one after the other and released in about the same
// order. Copy out any bytes that stay much longer than their neighbours.
//
// Threads: not thread-safe. The SharedBytes that it returns are.
class ByteSlab {
 public:
  // Copies the bytes: at most 2 KiB into the present slab, or a new one if they do not fit. More
  // than that gets an allocation of its own.
  SharedBytes keep(std::string_view bytes) {
    if (bytes.empty() || bytes.size() > kSlabBytes / 8) return SharedBytes(bytes);
    if (bytes.size() > left_) {
      slab_ = std::make_shared_for_overwrite<char[]>(kSlabBytes);
      left_ = kSlabBytes;
    }
    char* const at = slab_.get() + (kSlabBytes - left_);
    std::memcpy(at, bytes.data(), bytes.size());
    left_ -= bytes.size();
    return SharedBytes(slab_, {at, bytes.size()});
  }

 private:
  static constexpr size_t kSlabBytes = 16 << 10;
  std::shared_ptr<char[]> slab_;
  size_t left_ = 0;
};

}  // namespace coordkit
