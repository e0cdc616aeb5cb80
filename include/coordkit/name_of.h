// The names of enumerators: name_of(ReplicaState::Ready) is "Ready". Works for every enum of coordkit
// that has no words of its own. The compiler spells the names, so none can be forgotten. They end with
// a zero byte, and live as long as the program.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {
namespace enum_detail {

// "coordkit::FenceMode::Shared", or "(coordkit::FenceMode)7" for a number without an enumerator.
template <auto kValue>
constexpr std::string_view spelled() {
  constexpr std::string_view kAll = __PRETTY_FUNCTION__;
  constexpr size_t kFrom = kAll.find("kValue = ") + 9;
  return kAll.substr(kFrom, kAll.find_first_of(";]", kFrom) - kFrom);
}

// Its last part, in memory of its own.
template <auto kValue>
COORDKIT_HIDDEN inline constexpr auto kText = [] {
  constexpr std::string_view kSpelled = spelled<kValue>();
  constexpr std::string_view kName = kSpelled[0] == '(' ? "?" : kSpelled.substr(kSpelled.rfind(':') + 1);
  std::array<char, kName.size() + 1> text{};
  std::copy(kName.begin(), kName.end(), text.begin());
  return text;
}();

// By number. The last one must be unused, as a sign that there are no more.
template <typename Enum>
COORDKIT_HIDDEN inline constexpr auto kNames = []<size_t... kNumbers>(std::index_sequence<kNumbers...>) {
  return std::array<std::string_view, sizeof...(kNumbers)>{kText<static_cast<Enum>(kNumbers)>.data()...};
}
(std::make_index_sequence<64>());
// An enum of coordkit, and not of its host.
template <typename Enum>
concept Ours = std::is_enum_v<Enum> &&(spelled<Enum{}>().find("coordkit::") <= 1);

}  // namespace enum_detail

// The enumerator's name as in the source; "?" for a number that has none.
template <enum_detail::Ours Enum>
constexpr std::string_view name_of(Enum value) {
  constexpr auto& kNames = enum_detail::kNames<Enum>;
  static_assert(kNames.back() == "?", "an enum may have more numbers than are looked at");
  const auto number = static_cast<size_t>(value);
  return number < kNames.size() ? kNames[number] : "?";
}

// Enums are declared in these as well.
namespace raft {
using coordkit::name_of;
}
namespace sim {
using coordkit::name_of;
}

}  // namespace coordkit
