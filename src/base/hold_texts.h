// The list of the texts that a hold shows (HoldTexts, coordkit/records.h). Commands, rows, digests, limits, answers and the
// columns of coordctl go by this list. So a text is named here, and otherwise only in the options of its caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/short_text.h"
#include "coordkit/records.h"

namespace coordkit {

// The limit is a part of the replicated behaviour: changing it needs a feature level.
struct HoldText {
  const char* name = "";  // in sentences and columns
  size_t bytes_max = 0;
  // The number of its field in each message that has the texts, from 40 on. Zero: each message has another number for it.
  uint32_t number = 0;
};
inline constexpr HoldText kHoldValue{"value", 4096};

// Visits all texts, each with its counterparts: visit(HoldText, one.value, another.value).
template <typename Visit, typename... Texts>
constexpr void each_hold_text(Visit visit, Texts&... texts) {
  visit(kHoldValue, texts.value...);
}

using HoldTextViews = HoldTextsOf<std::string_view>;

static_assert(
    [] {
      const HoldTextViews texts;
      size_t listed = 0;
      each_hold_text([&listed](const HoldText&, std::string_view) { ++listed; }, texts);
      return listed * sizeof(std::string_view) == sizeof texts;
    }(),
    "a text is not in the list");

constexpr std::string_view view_of_text(std::string_view text) { return text; }
template <size_t kInside, typename Size>
std::string_view view_of_text(const ShortText<kInside, Size>& text) {
  return text.view();
}

// The same texts as views of them, or as copies.
template <typename To, typename From>
HoldTextsOf<To> hold_texts(const HoldTextsOf<From>& from) {
  HoldTextsOf<To> to;
  each_hold_text([](const HoldText&, To& text, const From& of) { text = To(view_of_text(of)); }, to, from);
  return to;
}

template <typename Text>
size_t bytes_of(const HoldTextsOf<Text>& texts) {
  size_t bytes = 0;
  each_hold_text([&bytes](const HoldText&, const Text& text) { bytes += view_of_text(text).size(); }, texts);
  return bytes;
}

}  // namespace coordkit
