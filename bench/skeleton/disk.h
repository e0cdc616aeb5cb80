// A log without format: records one after the other in a file whose space was written before, as in a segment of a real log,
// and from the beginning again when it is full.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "bench/skeleton/records.h"
#include "tools/support/child.h"

namespace coordkit::bench::skeleton {

class Disk {
 public:
  explicit Disk(const std::string& path);  // throws std::system_error, as append() does

  // Returns when they are durable.
  void append(std::span<const Record> records);

 private:
  const support::Descriptor file_;
  size_t end_ = 0;
};

}  // namespace coordkit::bench::skeleton
