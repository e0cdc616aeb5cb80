// Immutable bytes with shared ownership: one payload sits in the log cache, in messages to several peers, in a disk write
// and in apply at the same time, and is never copied for it. Thread-safe to copy and read.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class SharedBytes {
 public:
  SharedBytes() = default;
  explicit SharedBytes(std::string bytes)
      : bytes_(bytes.empty() ? nullptr : std::make_shared<const std::string>(std::move(bytes))) {}

  std::string_view view() const { return bytes_ ? std::string_view(*bytes_) : std::string_view(); }
  size_t size() const { return bytes_ ? bytes_->size() : 0; }
  bool empty() const { return !bytes_; }
  friend bool operator==(const SharedBytes& a, const SharedBytes& b) { return a.view() == b.view(); }

 private:
  std::shared_ptr<const std::string> bytes_;
};

}  // namespace coordkit
