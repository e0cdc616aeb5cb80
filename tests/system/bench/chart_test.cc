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

TEST(PlotsTest, WhatIsOfferedAtARateHasItsDistributionAndALineAgainstTheRate) {
  Figures figures;
  for (const double rate : {1000.0, 5000.0}) {
    const Subject of{"coordkit", "lock", "embedded", 1024, rate};
    for (const auto& [name, value] : {std::pair{"p50_us", 600.0}, {"p99_us", 900.0}}) {
      figures.add({.of = of, .name = name, .value = value + rate});
    }
  }
  const std::vector<Plot> plots = plots_of(figures);
  ASSERT_THAT(plots, ElementsAre(Field(&Plot::file, "lock-offered.svg"), Field(&Plot::file, "lock-percentiles.svg")));
  const std::vector<Series>& offered = plots[0].chart.series;
  ASSERT_THAT(offered,
              ElementsAre(Field(&Series::name, "coordkit, embedded, p50"), Field(&Series::name, "coordkit, embedded, p99")));
  EXPECT_EQ(offered[0].points[1].x, 5000);
  EXPECT_EQ(offered[0].points[1].y, 5600);
  const std::vector<Series>& percentiles = plots[1].chart.series;
  ASSERT_THAT(percentiles,
              ElementsAre(Field(&Series::name, "coordkit, embedded, 1k/s"), Field(&Series::name, "coordkit, embedded, 5k/s")));
  ASSERT_EQ(percentiles[0].points.size(), 2u);
  EXPECT_EQ(percentiles[0].points[1].x, 100);
  EXPECT_EQ(percentiles[0].points[1].y, 1900);
}

TEST(PlotsTest, AKillInSoManyIsDrawnOnlyWhereThereWereSoMany) {
  Figures figures;
  for (uint32_t kill = 1; kill <= 10; ++kill) {
    figures.add({.of = {"coordkit", "failover", "", 10}, .round = kill, .name = "longest_gap_ms", .value = 100.0 + kill});
  }
  const std::vector<Plot> plots = plots_of(figures);
  ASSERT_THAT(plots, ElementsAre(Field(&Plot::file, "failover.svg")));
  ASSERT_THAT(plots[0].chart.series, ElementsAre(Field(&Series::name, "without a grant")));
  const std::vector<Series::Point>& points = plots[0].chart.series[0].points;
  ASSERT_EQ(points.size(), 3u);  // one in 2, 4 and 10
  EXPECT_EQ(points[0].y, 105.5);
}

TEST(PlotsTest, NoFiguresGiveNoPlots) { EXPECT_THAT(plots_of({}), IsEmpty()); }

}  // namespace
}  // namespace coordkit::bench
