#include "tools/demo/picture.h"

#include <fmt/format.h>

#include <algorithm>

namespace coordkit::demo {
namespace {

using sim::Timeline;

constexpr int kWidth = 1040;
constexpr int kLeft = 64;
constexpr int kRight = 16;
constexpr int kTop = 34;
constexpr int kRow = 58;
constexpr int kStateHeight = 12;
constexpr int kHoldHeight = 22;
constexpr int kLine = 17;
constexpr double kSignWidth = 60;  // a narrower hold is drawn without its token

constexpr const char* kFollowing = "#d7dde5";
constexpr const char* kLeading = "#2f6fd0";
constexpr const char* kDead = "#3a3f47";
constexpr const char* kHolding = "#3f9d5a";
constexpr const char* kNotExpired = "#b9dfc4";
constexpr const char* kRefused = "#c8322b";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      default: safe += c;
    }
  }
  return safe;
}

class Drawing {
 public:
  explicit Drawing(const Timeline& timeline) : timeline_(timeline) {}

  std::string svg() {
    states();
    holds();
    refusals();
    axis();
    legend();
    story();
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" "
               "font-size=\"12\">\n"
               "<defs><pattern id=\"frozen\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
               "patternTransform=\"rotate(45)\">"
               "<rect width=\"3\" height=\"6\" fill=\"#ffffff\" fill-opacity=\"0.75\"/></pattern></defs>\n"
               "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
               kWidth, bottom_) +
           body_ + "</svg>\n";
  }

 private:
  double x(Duration at) const {
    const double share = static_cast<double>(at.count()) / static_cast<double>(std::max<int64_t>(timeline_.end.count(), 1));
    return kLeft + (kWidth - kLeft - kRight) * std::clamp(share, 0.0, 1.0);
  }
  static int y(uint32_t lane) { return kTop + static_cast<int>(lane) * kRow; }
  int rows_end() const { return y(static_cast<uint32_t>(timeline_.lanes.size())); }

  void bar(Duration from, Duration until, int top, int height, std::string_view fill) {
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", x(from), top,
                         std::max(x(until) - x(from), 0.8), height, fill);
  }
  void text(double left, int base, std::string_view words, std::string_view more = "") {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\"{}>{}</text>\n", left, base, more, escaped(words));
  }

  void states() {
    for (uint32_t lane = 0; lane < timeline_.lanes.size(); ++lane) {
      text(8, y(lane) + 22, timeline_.lanes[lane]);
      const Timeline::Stands* since = nullptr;
      for (const Timeline::Stands& next : timeline_.states) {
        if (next.lane != lane) continue;
        if (since != nullptr) state(*since, next.at);
        since = &next;
      }
      if (since != nullptr) state(*since, timeline_.end);
    }
    for (const Timeline::Frozen& frozen : timeline_.frozen) {
      bar(frozen.from, frozen.until.value_or(timeline_.end), y(frozen.lane), kStateHeight, "url(#frozen)");
    }
  }
  void state(const Timeline::Stands& stands, Duration until) {
    const char* fill = stands.state == Timeline::State::Leader ? kLeading
                       : stands.state == Timeline::State::Down ? kDead
                                                               : kFollowing;
    bar(stands.at, until, y(stands.lane), kStateHeight, fill);
  }

  // Dark for as long as the holder trusted its hold, pale until another could have the lock.
  void holds() {
    for (const Timeline::Grant& grant : timeline_.grants) {
      const Duration trusted = grant.trusted_until.value_or(timeline_.end);
      const Duration ended = std::max(trusted, grant.ended.value_or(trusted));
      const int top = y(grant.lane) + kStateHeight + 4;
      bar(grant.granted, ended, top, kHoldHeight, kNotExpired);
      bar(grant.granted, trusted, top, kHoldHeight, kHolding);
      if (x(ended) - x(grant.granted) < kSignWidth) continue;
      text((x(grant.granted) + x(ended)) / 2, top + 15, "token ..." + std::to_string(grant.token.value() % 1000),
           " text-anchor=\"middle\"");
    }
  }

  void refusals() {
    for (const Timeline::Note& note : timeline_.notes) {
      if (note.weight != Timeline::Weight::Refused || !note.lane) continue;
      cross(x(note.at), y(*note.lane) + kStateHeight + 4 + kHoldHeight / 2);
    }
  }

  void axis() {
    const int base = rows_end();
    for (Duration at{}; at <= timeline_.end; at += std::chrono::seconds(1)) {
      body_ += fmt::format("<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#9aa3ad\" stroke-opacity=\"0.5\"/>\n", x(at), kTop - 4, base);
      text(x(at), base + 14, fmt::format("{} s", std::chrono::duration_cast<std::chrono::seconds>(at).count()),
           " fill=\"#5c6670\" text-anchor=\"middle\"");
    }
    bottom_ = base + 22;
  }

  void legend() {
    sample(64, kLeading, "leads");
    sample(140, kFollowing, "follows");
    sample(225, kDead, "killed");
    sample(300, kLeading, "");
    sample(300, "url(#frozen)", "frozen");
    sample(385, kHolding, "holds the lock");
    sample(505, kNotExpired, "its session has not expired yet");
    cross(735, 15);
    text(750, 19, "a late write, refused by the resource");
  }
  void sample(double left, std::string_view fill, std::string_view words) {
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"9\" width=\"14\" height=\"12\" fill=\"{}\"/>\n", left, fill);
    text(left + 19, 19, words);
  }
  void cross(double middle, int y) {
    body_ += fmt::format("<path d=\"M{:.1f} {}l10 10m0 -10l-10 10\" stroke=\"{}\" stroke-width=\"3\"/>\n", middle - 5, y - 5,
                         kRefused);
  }

  void story() {
    for (const Timeline::Note& note : timeline_.notes) {
      if (note.weight != Timeline::Weight::Story) continue;
      bottom_ += kLine;
      text(kLeft, bottom_, fmt::format("{:5.2f} s", static_cast<double>(note.at.count()) / 1e9),
           " fill=\"#5c6670\" text-anchor=\"end\"");
      text(kLeft + 10, bottom_, note.text);
    }
    bottom_ += kLine / 2;
  }

  const Timeline& timeline_;
  std::string body_;
  int bottom_ = 0;
};

}  // namespace

std::string picture(const Timeline& timeline) { return Drawing(timeline).svg(); }

}  // namespace coordkit::demo
