// The judge of `./dev bench table` must be able to say no.
#include "bench/report/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace coordkit::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Subject kLock{"coordkit", "lock", "embedded", 64};
const Subject kBare{"skeleton", "lock", "embedded", 64};

Target half_of_the_skeleton() {
  return {.group = "cycles",
          .name = "cycles",
          .ours = {kLock, "cycles_per_s"},
          .against = Quantity{kBare, "cycles_per_s"},
          .floor = 0.5,
          .aim = 0.7,
          .unit = "/s"};
}

Target at_most(double floor, double aim) {
  return {.group = "memory",
          .name = "bytes",
          .ours = {kLock, "bytes_each"},
          .better = Better::Less,
          .floor = floor,
          .aim = aim,
          .unit = "B"};
}

Figures with(const Subject& of, const std::string& name, double value, bool suspect = false) {
  Figures figures;
  figures.add({.of = of, .name = name, .value = value, .suspect = suspect});
  return figures;
}

Row ratio(double ours, double other) {
  Figures figures = with(kLock, "cycles_per_s", ours);
  figures.add(with(kBare, "cycles_per_s", other));
  return judge(half_of_the_skeleton(), figures);
}

TEST(VerdictTest, ARatioIsHeldAgainstFloorAndAim) {
  EXPECT_EQ(ratio(49, 100).verdict, Verdict::Below);
  EXPECT_EQ(ratio(50, 100).verdict, Verdict::Floor);
  EXPECT_EQ(ratio(69, 100).verdict, Verdict::Floor);
  EXPECT_EQ(ratio(70, 100).verdict, Verdict::Aim);
  EXPECT_EQ(ratio(70, 100).judged, 0.7);
}

TEST(VerdictTest, WhereLessIsBetterTheAimLiesBelowTheFloor) {
  EXPECT_EQ(judge(at_most(160, 96), with(kLock, "bytes_each", 161)).verdict, Verdict::Below);
  EXPECT_EQ(judge(at_most(160, 96), with(kLock, "bytes_each", 160)).verdict, Verdict::Floor);
  EXPECT_EQ(judge(at_most(160, 96), with(kLock, "bytes_each", 96)).verdict, Verdict::Aim);
}

TEST(VerdictTest, WithoutTheOtherSideThereIsAFigureAndAReasonButNoVerdict) {
  Figures figures = with(kLock, "cycles_per_s", 1000);
  figures.not_measured(kBare, "no disk");
  const Row row = judge(half_of_the_skeleton(), figures);
  EXPECT_EQ(row.verdict, Verdict::NotMeasured);
  EXPECT_EQ(row.figure, 1000);
  EXPECT_FALSE(row.judged.has_value());
  EXPECT_EQ(row.reason, "skeleton: no disk");
  EXPECT_THAT(text_of({row}), HasSubstr("not measured: skeleton: no disk"));
}

TEST(VerdictTest, AnEmptyRunHasNoVerdictAtAll) {
  for (const Target& target : targets()) {
    const Row row = judge(target, {});
    EXPECT_EQ(row.verdict, Verdict::NotMeasured) << target.name;
    EXPECT_THAT(row.reason, Not(IsEmpty())) << target.name;
  }
}

TEST(VerdictTest, ADiskThatWasSlowBesideEitherSideIsToldInTheRow) {
  Figures figures = with(kLock, "cycles_per_s", 100);
  figures.add(with(kBare, "cycles_per_s", 100, true));
  const Row row = judge(half_of_the_skeleton(), figures);
  EXPECT_TRUE(row.suspect);
  EXPECT_THAT(text_of({row}), HasSubstr("aim (disk suspect)"));
}

TEST(VerdictTest, AQuantileOfTheRoundsIsJudgedWhereTheRowAsksForIt) {
  Figures figures;
  for (const double gap : {100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100}) {
    figures.add({.of = kLock, .name = "gap", .value = gap});
  }
  Target target = at_most(500, 350);
  target.ours = {kLock, "gap", 0.9};
  EXPECT_EQ(judge(target, figures).figure, 1000);
}

TEST(TargetsTest, RowsHaveNamesOfTheirOwnAndAnAimBeyondTheFloor) {
  std::set<std::string> names;
  for (const Target& target : targets()) {
    EXPECT_TRUE(names.insert(target.name).second) << target.name;
    const bool beyond = target.better == Better::More ? target.aim > target.floor : target.aim < target.floor;
    EXPECT_TRUE(beyond) << target.name;
    EXPECT_THAT(target.group, Not(IsEmpty())) << target.name;
  }
}

TEST(TargetsTest, FewerThanAMillionSessionsAreSaidToBeExtrapolated) {
  EXPECT_THAT(text_of({judge(targets({.process_sessions = 1000}).back(), {})}), HasSubstr("extrapolated"));
  EXPECT_THAT(text_of({judge(targets().back(), {})}), Not(HasSubstr("extrapolated")));
}

}  // namespace
}  // namespace coordkit::bench
