// The conditions of a model across its keys, besides those on each key. Most models have none.
#pragma once

#include <optional>
#include <string>

#include "check/operation.h"

namespace coordkit::check {

// Two operations that cannot both be true.
template <typename Call>
struct Clash {
  OperationRef<Call> earlier, later;
  std::string why;
};

template <typename Call>
class NoOrder {
 public:
  std::optional<Clash<Call>> called(const OperationRef<Call>&) { return std::nullopt; }
  size_t live() const { return 0; }
};

}  // namespace coordkit::check
