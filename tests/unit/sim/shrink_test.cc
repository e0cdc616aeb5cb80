// Reduced runs and the search for them, on planted defects, because nothing else fails.
#include "coordkit/sim/shrink.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace coordkit::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

SimOptions options_of(uint64_t seed, const char* defect = nullptr, const std::string& profile = "swarm") {
  SimOptions options;
  options.seed = seed;
  options.profile = profile;
  if (defect) {
    EXPECT_TRUE(plant(options.defects, defect));
  }
  return options;
}

uint64_t struck(const Report& report) { return std::accumulate(report.faults.begin(), report.faults.end(), uint64_t{0}); }

TEST(ReductionTest, FaultsOfAKindThatIsLeftOutDoNotStrike) {
  SimOptions options = options_of(4, nullptr, "harsh");
  const Report whole = simulate(options);
  ASSERT_GT(whole.faults[static_cast<size_t>(FaultKind::Crash)], 0u);
  options.reduction.without = {FaultKind::Crash, FaultKind::Storm};
  const Report less = simulate(options);
  EXPECT_EQ(less.violation, "");
  EXPECT_EQ(less.faults[static_cast<size_t>(FaultKind::Crash)], 0u);
  EXPECT_EQ(less.faults[static_cast<size_t>(FaultKind::Storm)], 0u);
  EXPECT_GT(struck(less), 0u);
}

TEST(ReductionTest, OnlyTheNamedFaultsStrike) {
  SimOptions options = options_of(4, nullptr, "harsh");
  const Report whole = simulate(options);
  ASSERT_GT(whole.struck.size(), 3u);
  EXPECT_EQ(struck(whole), whole.struck.size());
  EXPECT_LE(whole.struck.size(), whole.strikes);
  const uint64_t first = whole.struck[0];
  const uint64_t third = whole.struck[2];
  options.reduction.faults = {first, third};
  const Report two = simulate(options);
  EXPECT_EQ(struck(two), 2u);
  EXPECT_THAT(two.struck, ::testing::ElementsAre(first, third));
  options.reduction.faults->clear();
  const Report none = simulate(options);
  EXPECT_EQ(struck(none), 0u);
  EXPECT_GT(none.strikes, 3u);
}

// When each fault comes up and for how long, according to the trace.
std::vector<std::string> schedule_of(SimOptions options) {
  std::vector<std::string> lines;
  options.on_event = [&](const std::string& line) {
    if (line.find("  --  fault ") != line.npos) lines.push_back(line);
  };
  EXPECT_EQ(simulate(options).violation, "");
  return lines;
}

TEST(ReductionTest, WhateverIsLeftOutTheOtherFaultsComeUpWhenTheyDid) {
  SimOptions options = options_of(1, nullptr, "locks");  // no disk faults, which look at the disk first
  const std::vector<std::string> whole = schedule_of(options);
  ASSERT_GT(whole.size(), 10u);
  options.reduction.faults.emplace();
  for (uint64_t ordinal = 1; ordinal <= whole.size(); ordinal += 3) options.reduction.faults->insert(ordinal);
  std::vector<std::string> expected;
  for (size_t i = 0; i < whole.size(); i += 3) expected.push_back(whole[i]);
  EXPECT_EQ(schedule_of(options), expected);

  options.reduction = {.without = {FaultKind::Pause, FaultKind::Clog}};
  const auto stays = [](const std::string& line) {
    return line.find(fmt::format(" fault {} ", static_cast<int>(FaultKind::Pause))) == line.npos &&
           line.find(fmt::format(" fault {} ", static_cast<int>(FaultKind::Clog))) == line.npos;
  };
  expected.clear();
  std::copy_if(whole.begin(), whole.end(), std::back_inserter(expected), stays);
  EXPECT_LT(expected.size(), whole.size());
  EXPECT_EQ(schedule_of(options), expected);
}

TEST(ReductionTest, SizesAreTakenOrRefused) {
  SimOptions options = options_of(1);
  options.reduction = {.hostile = milliseconds(1500), .nodes = 2, .workers = 1};
  const Report less = simulate(options);
  EXPECT_EQ(less.violation, "");
  EXPECT_EQ(less.nodes, 2u);
  EXPECT_EQ(less.workers, 1u);
  EXPECT_EQ(less.hostile, milliseconds(1500));
  options.reduction.nodes = 9;
  EXPECT_THAT(simulate(options).what, HasSubstr("--nodes takes 1 to 3"));
  options.reduction = {.workers = 0};
  EXPECT_EQ(simulate(options).violation, "OPTIONS");
  options.reduction = {.hostile = milliseconds(-1)};
  EXPECT_EQ(simulate(options).violation, "OPTIONS");
}

TEST(ReductionTest, TheArgumentsSayEverything) {
  SimOptions options = options_of(7);
  EXPECT_EQ(replay_arguments(options), "--replay 7");
  options.profile = "leases";
  options.hostile_time = milliseconds(2500);
  options.defects.gate_open = true;
  options.reduction = {.without = {FaultKind::Storm, FaultKind::Crash},
                       .faults = std::set<uint64_t>{1, 2, 3, 7, 9, 10},
                       .hostile = milliseconds(1030),
                       .nodes = 2,
                       .workers = 1};
  EXPECT_EQ(
      replay_arguments(options),
      "--replay 7 --profile leases --seconds 2.5 --defect gate_open --hostile 1.03 --without storm,crash --faults 1-3,7,9-10 "
      "--nodes 2 --workers 1");
  options.reduction = {.faults = std::set<uint64_t>{}};
  EXPECT_THAT(replay_arguments(options), HasSubstr("--faults none"));
}

TEST(ReductionTest, EveryFaultAndDefectIsFoundByItsName) {
  for (size_t kind = 0; kind < kFaultKinds; ++kind) EXPECT_EQ(fault_named(name_of(FaultKind(kind))), FaultKind(kind));
  EXPECT_EQ(fault_named("no such"), std::nullopt);
  for (std::string_view name : defect_names()) {
    Defects defects;
    ASSERT_TRUE(plant(defects, name));
    EXPECT_THAT(planted(defects), ::testing::ElementsAre(name));
  }
  Defects defects;
  EXPECT_FALSE(plant(defects, "no such"));
}

struct Failing {
  const char* defect;
  uint64_t seeds;
  std::string profile = "swarm";
};

// The first seed with which the defect fails.
SimOptions first_failing(const Failing& failing) {
  for (uint64_t seed = 1; seed <= failing.seeds; ++seed) {
    const SimOptions options = options_of(seed, failing.defect, failing.profile);
    if (!simulate(options).violation.empty()) return options;
  }
  ADD_FAILURE() << failing.defect << " is not found";
  return options_of(1);
}

TEST(ShrinkTest, WhatIsLeftBreaksTheSameAndIsSmaller) {
  for (const Failing& failing : {Failing{"gate_open", 20}, Failing{"forgets_tail", 60, "harsh"}, Failing{"stale_read", 60}}) {
    const Shrunk shrunk = shrink(first_failing(failing), 200);
    const Report again = simulate(shrunk.options);
    EXPECT_EQ(again.violation, shrunk.before.violation) << failing.defect;
    EXPECT_EQ(again.trace_hash, shrunk.after.trace_hash);
    const RunSize before = size_of(shrunk.before);
    const RunSize after = size_of(shrunk.after);
    EXPECT_LE(after.kinds, before.kinds);
    EXPECT_LE(after.faults, before.faults);
    EXPECT_LE(after.nodes, before.nodes);
    EXPECT_LE(after.workers, before.workers);
    EXPECT_LT(after.hostile, before.hostile) << failing.defect;
    EXPECT_LE(shrunk.runs, 200u);
  }
}

TEST(ShrinkTest, AFaultThatIsNeededStays) {
  const Shrunk shrunk = shrink(first_failing({"forgets_vote", 60, "harsh"}), 200);
  const RunSize size = size_of(shrunk.after);
  EXPECT_GE(size.faults, 1u);  // nothing is forgotten without a crash
  EXPECT_LT(size.faults, size_of(shrunk.before).faults);
}

TEST(ShrinkTest, TheSameRunShrinksToTheSame) {
  const SimOptions failing = first_failing({"gate_open", 20});
  const Shrunk first = shrink(failing, 60);
  const Shrunk second = shrink(failing, 60);
  EXPECT_EQ(first.options.reduction, second.options.reduction);
  EXPECT_EQ(first.runs, second.runs);
}

TEST(ShrinkTest, APassingRunStaysAsItIs) {
  const Shrunk shrunk = shrink(options_of(4));
  EXPECT_EQ(shrunk.after.violation, "");
  EXPECT_EQ(shrunk.runs, 1u);
  EXPECT_TRUE(shrunk.options.reduction.empty());
}

}  // namespace
}  // namespace coordkit::sim
