// Whether a variant holds one of several alternatives.
#pragma once

#include <variant>

namespace coordkit::sim {

template <typename... Alternatives, typename Variant>
bool is_any(const Variant& variant) {
  return (std::holds_alternative<Alternatives>(variant) || ...);
}

}  // namespace coordkit::sim
