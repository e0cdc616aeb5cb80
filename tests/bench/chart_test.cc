// The pictures of a file of figures.
#include "bench/report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/report/plots.h"

namespace coordkit::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(ChartTest, EveryPointHasAMarkAndEveryLineAName) {
  const std::string picture = svg({.title = "t",
                                   .x_label = "callers",
                                   .y_label = "us",
                                   .series = {{"ours", {{1, 400}, {16, 700}}}, {"theirs", {{1, 2000}, {16, 9000}}}}});
  EXPECT_THAT(picture, HasSubstr("<svg xmlns"));
  EXPECT_THAT(picture, HasSubstr("</svg>"));
  EXPECT_EQ(count_of(picture, "<circle"), 4u);
  EXPECT_THAT(picture, HasSubstr(">ours<"));
  EXPECT_THAT(picture, HasSubstr(">theirs<"));
}

TEST(ChartTest, MoreIsHigherAndFurtherRight) {
  const std::string picture = svg({.title = "", .x_label = "", .y_label = "", .series = {{"a", {{1, 10}, {100, 1000}}}}});
  EXPECT_THAT(picture, HasSubstr("M80.0 364.0L570.0 44.0"));
}

TEST(ChartTest, WhatIsNotAboveZeroIsLeftOut) {
  const std::string picture = svg({.title = "", .x_label = "", .y_label = "", .series = {{"a", {{1, -1}, {2, 0}, {4, 8}}}}});
  EXPECT_EQ(count_of(picture, "<circle"), 1u);
  EXPECT_THAT(picture, Not(HasSubstr("nan")));
  EXPECT_THAT(picture, Not(HasSubstr("inf")));
}

TEST(ChartTest, WithoutAnythingToDrawItIsAPictureStill) {
  EXPECT_THAT(svg({.title = "nothing", .x_label = "", .y_label = "", .series = {}}), HasSubstr("</svg>"));
}

TEST(ChartTest, NamesCannotBreakThePicture) {
  EXPECT_THAT(svg({.title = "a < b & \"c\"", .x_label = "", .y_label = "", .series = {}}),
              HasSubstr("a &lt; b &amp; &quot;c&quot;"));
}

TEST(PlotsTest, AKindWithSeveralNumbersOfCallersHasThroughputAndLatency) {
  Figures figures;
  for (const uint64_t callers : {1, 64}) {
    for (const char* who : {"coordkit", "skeleton"}) {
      for (const char* figure : {"cycles_per_s", "p50_us", "p99_us"}) {
        figures.add({.of = {who, "lock", "embedded", callers}, .name = figure, .value = 1});
      }
    }
  }
  figures.add({.of = {"coordkit", "put", "embedded", 64}, .name = "cycles_per_s", .value = 1});
  const std::vector<Plot> plots = plots_of(figures);
  EXPECT_THAT(plots, ElementsAre(Field(&Plot::file, "lock-throughput.svg"), Field(&Plot::file, "lock-latency.svg"),
                                 Field(&Plot::file, "lock-latency-p99.svg")));
  EXPECT_THAT(plots.front().chart.series,
              ElementsAre(Field(&Series::name, "coordkit, embedded"), Field(&Series::name, "skeleton, embedded")));
}

TEST(PlotsTest, NoFiguresGiveNoPlots) { EXPECT_THAT(plots_of({}), IsEmpty()); }

}  // namespace
}  // namespace coordkit::bench
