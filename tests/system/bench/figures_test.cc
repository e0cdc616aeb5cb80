// The files in which runs are kept and of which medians are taken.
#include "bench/report/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

namespace coordkit::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Subject kOurs{"coordkit", "lock", "embedded", 64};
const Subject kPeer{"etcd", "lock", "client", 64};

Figures three_rounds() {
  Figures figures;
  for (const double value : {30.0, 10.0, 20.0}) {
    figures.add({.of = kOurs, .round = static_cast<uint32_t>(value / 10), .name = "cycles_per_s", .value = value});
  }
  return figures;
}

TEST(FiguresTest, TheMedianIsTheMiddleOrBetweenTheTwoInTheMiddle) {
  EXPECT_EQ(quantile_of({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile_of({4, 1, 2, 3}, 0.5), 2.5);
  EXPECT_EQ(quantile_of({7}, 0.9), 7);
  EXPECT_DOUBLE_EQ(quantile_of({10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110}, 0.9), 100);
}

TEST(FiguresTest, RoundsWithASlowDiskDoNotCountWhileThereAreOthers) {
  Figures figures = three_rounds();
  figures.add({.of = kOurs, .round = 4, .name = "cycles_per_s", .value = 1, .suspect = true});
  const auto median = figures.median(kOurs, "cycles_per_s");
  ASSERT_TRUE(median.has_value());
  EXPECT_EQ(median->value, 20);
  EXPECT_EQ(median->count, 3u);
  EXPECT_FALSE(median->suspect);
}

TEST(FiguresTest, WhereAllRoundsAreSuspectTheMedianSaysSo) {
  Figures figures;
  figures.add({.of = kOurs, .name = "p50_us", .value = 5, .suspect = true});
  const auto median = figures.median(kOurs, "p50_us");
  ASSERT_TRUE(median.has_value());
  EXPECT_TRUE(median->suspect);
}

TEST(FiguresTest, WhatWasNotMeasuredHasNoMedianButMayHaveAReason) {
  Figures figures = three_rounds();
  figures.not_measured(kPeer, "the package is not at hand");
  EXPECT_FALSE(figures.median(kPeer, "cycles_per_s").has_value());
  EXPECT_FALSE(figures.median(kOurs, "p50_us").has_value());
  EXPECT_EQ(figures.reason(kPeer), "the package is not at hand");
  EXPECT_EQ(figures.reason(kOurs), "");
}

TEST(FiguresTest, AFileGivesBackWhatWasWritten) {
  Figures figures = three_rounds();
  figures.add({.of = kOurs, .round = 2, .name = "p50_us", .value = 0.125, .suspect = true});
  figures.add({.of = {"coordkit", "lock", "embedded", 1024, 2500.5}, .name = "p50_us", .value = 700});
  figures.not_measured(kPeer, "a \"reason\", with a comma");
  const std::string csv = figures.csv();
  const Figures read = Figures::from_csv(csv);
  EXPECT_EQ(read.csv(), csv);
  EXPECT_EQ(read.reason(kPeer), "a \"reason\", with a comma");
  const Subject offered{"coordkit", "lock", "embedded", 1024, 2500.5};
  EXPECT_THAT(read.subjects(), ElementsAre(kOurs, offered));
  EXPECT_EQ(read.median(kOurs, "p50_us")->value, 0.125);
}

TEST(FiguresTest, AReasonOfSeveralLinesStaysOneRow) {
  Figures figures;
  figures.not_measured(kPeer, "first\nsecond");
  EXPECT_EQ(Figures::from_csv(figures.csv()).reason(kPeer), "first second");
}

TEST(FiguresTest, FilesOfSeveralRunsAreOne) {
  Figures figures = three_rounds();
  figures.add(three_rounds());
  EXPECT_EQ(figures.median(kOurs, "cycles_per_s")->count, 6u);
}

TEST(FiguresTest, ARatioIsTakenRoundByRound) {
  Figures figures;
  for (const auto& [round, ours, peer, suspect] :
       {std::tuple{1U, 10.0, 100.0, false}, {2U, 2.0, 10.0, false}, {3U, 60.0, 200.0, false}, {4U, 9.0, 1.0, true}}) {
    figures.add({.of = kOurs, .round = round, .name = "cycles_per_s", .value = ours, .suspect = suspect});
    figures.add({.of = kPeer, .round = round, .name = "cycles_per_s", .value = peer});
  }
  EXPECT_EQ(figures.median_ratio(kOurs, kPeer, "cycles_per_s"), 0.2);
  EXPECT_FALSE(figures.median_ratio(kOurs, kPeer, "p50_us").has_value());
}

TEST(FiguresTest, RoundsOfAnotherRunAreOtherRounds) {
  Figures first, second;
  first.add({.of = kOurs, .name = "cycles_per_s", .value = 10});
  first.add({.of = kPeer, .name = "cycles_per_s", .value = 100});
  second.add({.of = kOurs, .name = "cycles_per_s", .value = 5});
  first.add(second);
  EXPECT_EQ(first.median_ratio(kOurs, kPeer, "cycles_per_s"), 0.1);
}

std::string refusal_of(std::string_view text) {
  try {
    Figures::from_csv(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "taken";
}

TEST(FiguresTest, ALineThatIsNoRowIsNamed) {
  const std::string head = Figures().csv();
  EXPECT_THAT(refusal_of(head + "not,a,row\n"), HasSubstr("not,a,row"));
  EXPECT_THAT(refusal_of(head + "a,b,c,many,0,1,f,1,0,\n"), HasSubstr("many"));
}

TEST(FiguresTest, FiguresOfAnotherBuildAreRefusedWithWhatToDo) {
  for (const std::string_view text : {"", "who,kind\n", "not figures at all"}) {
    EXPECT_THAT(refusal_of(text), HasSubstr("measure again")) << text;
  }
  EXPECT_THAT(refusal_of("who,kind\n"), HasSubstr("\"who,kind\""));
}

}  // namespace
}  // namespace coordkit::bench
