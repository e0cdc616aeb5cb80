// Formats coordkit's types with fmt: ids and tokens in decimal, with the format specifications of
// integers, and enums by name. This is the only public header that names fmt: include it where you
// print.
//
//   fmt::print("{} holds {:>8}: {}\n", session.id(), grant.token(), replica->health().state);
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {
namespace fmt_detail {

template <typename Enum>
concept Named = std::is_enum_v<Enum> && requires(Enum value) {
  { name_of(value) } -> std::same_as<std::string_view>;
};

}  // namespace fmt_detail
}  // namespace coordkit

template <typename Tag>
struct fmt::formatter<coordkit::Id<Tag>> : fmt::formatter<uint64_t> {
  template <typename Context>
  auto format(coordkit::Id<Tag> id, Context& context) const {
    return fmt::formatter<uint64_t>::format(id.value(), context);
  }
};

template <coordkit::fmt_detail::Named Enum>
struct fmt::formatter<Enum> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(Enum value, Context& context) const {
    return fmt::formatter<std::string_view>::format(name_of(value), context);
  }
};
