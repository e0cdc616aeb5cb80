// The picture of a comparison: two rows of bars for each recipe, per hour of true time, as a bare SVG.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "coordkit/sim/compare.h"

namespace coordkit::sim {
namespace {

constexpr int kWidth = 760;
constexpr int kLeft = 150;
constexpr int kBarSpan = 480;
constexpr int kBarHeight = 16;
constexpr int kRowHeight = 30;
constexpr int kPanelTop = 64;
constexpr int kPanelGap = 56;

struct Bar {
  double value = 0;
  bool absent = false;
  std::string_view colour;
  std::string note;
};

std::string text(int x, int y, std::string_view style, std::string_view words) {
  return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, style, words);
}

std::string bar(int y, int height, const Bar& bar, double largest) {
  const std::string label = bar.absent ? "offers no fence" : fmt::format("{:.4g}{}", bar.value, bar.note);
  const int length = bar.absent || largest <= 0 ? 0 : static_cast<int>(bar.value / largest * kBarSpan);
  // Anything above zero is visible, however small.
  const int shown = !bar.absent && bar.value > 0 ? std::max(length, 2) : length;
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", kLeft, y, shown, height,
                     bar.colour) +
         text(kLeft + shown + 6, y + height - 3, "value", label);
}

}  // namespace

std::string comparison_picture(const Comparison& sums, uint64_t runs, Duration length) {
  const double hours = std::chrono::duration<double>(length).count() * static_cast<double>(runs) / 3600;
  const auto hourly = [hours](uint64_t count) { return hours > 0 ? static_cast<double>(count) / hours : 0; };
  double most_overlaps = 0, most_lost = 0;
  for (const RecipeFigures& figures : sums.of) {
    most_overlaps = std::max(most_overlaps, hourly(figures.overlaps));
    most_lost = std::max({most_lost, hourly(figures.lost), hourly(figures.fenced_lost)});
  }
  const int second_top = kPanelTop + static_cast<int>(kRecipes) * kRowHeight + kPanelGap;
  const int height = second_top + static_cast<int>(kRecipes) * (kRowHeight + 10) + 40;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
      "<style>text{{font-family:sans-serif;font-size:13px;fill:#222}}.head{{font-size:15px;font-weight:bold}}"
      ".small,.value{{font-size:11px;fill:#555}}</style>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      kWidth, height);
  out += text(16, 26, "head", "Four ways to lock under the same pauses, partitions, clock drift and clock steps");
  out += text(16, 50, "", "Overlaps per hour: two running processes both hold the lock by their own rules");
  out += text(16, second_top - 14, "",
              "Lost updates per hour: red without a fence, blue with the number the recipe offers for one");
  for (size_t i = 0; i < kRecipes; ++i) {
    const RecipeFigures& figures = sums.of[i];
    const int upper = kPanelTop + static_cast<int>(i) * kRowHeight;
    const int lower = second_top + static_cast<int>(i) * (kRowHeight + 10);
    const auto total = std::chrono::duration<double>(figures.overlapped).count();
    out += text(16, upper + 13, "", name_of(kAllRecipes[i]));
    const std::string in_all = figures.overlaps != 0 ? fmt::format(", {:.3g} s in all", total / hours) : "";
    out += bar(upper, kBarHeight, {hourly(figures.overlaps), false, "#d97706", in_all}, most_overlaps);
    out += text(16, lower + 18, "", name_of(kAllRecipes[i]));
    out += bar(lower, kBarHeight - 2, {hourly(figures.lost), false, "#b91c1c", ""}, most_lost);
    out += bar(lower + kBarHeight, kBarHeight - 2, {hourly(figures.fenced_lost), !figures.fence, "#1d4ed8", ""}, most_lost);
  }
  out += text(16, height - 14, "small",
              fmt::format("{} runs of {:.0f} s, five machines, one lock; made by coordkit-sim --profile compare", runs,
                          std::chrono::duration<double>(length).count()));
  return out + "</svg>\n";
}

}  // namespace coordkit::sim
