// Enumerators as words of command lines and reports: words_of(Situation::GenesisGaveWay) is "genesis_gave_way".
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "coordkit/name_of.h"

namespace coordkit {
namespace enum_detail {

// kText in small letters, with kBetween before every capital but the first.
template <auto kValue, char kBetween>
inline constexpr auto kWords = [] {
  constexpr auto kIsCapital = [](char c) { return c >= 'A' && c <= 'Z'; };
  constexpr std::string_view kName = kText<kValue>.data();
  std::array<char, kName.size() + std::count_if(kName.begin() + 1, kName.end(), kIsCapital) + 1> words{};
  char* out = words.data();
  for (const char c : kName) {
    if (kIsCapital(c) && out != words.data()) *out++ = kBetween;
    *out++ = static_cast<char>(kIsCapital(c) ? c - 'A' + 'a' : c);
  }
  return words;
}();

template <typename Enum, char kBetween>
inline constexpr auto kAllWords = []<size_t... kNumbers>(std::index_sequence<kNumbers...>) {
  return std::array<std::string_view, sizeof...(kNumbers)>{kWords<static_cast<Enum>(kNumbers), kBetween>.data()...};
}
(std::make_index_sequence<128>());

}  // namespace enum_detail

// "?" for a number that has no enumerator.
template <char kBetween = '_', enum_detail::Ours Enum>
constexpr std::string_view words_of(Enum value) {
  constexpr auto& kAll = enum_detail::kAllWords<Enum, kBetween>;
  static_assert(kAll.back() == "?", "an enum may have more numbers than are looked at");
  const auto number = static_cast<size_t>(value);
  return number < kAll.size() ? kAll[number] : "?";
}

}  // namespace coordkit
