// The records of a run, and their bounds.
#include "coordkit/sim/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "coordkit/sim/sim_options.h"
#include "sim/world/bounded_list.h"

namespace coordkit::sim {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

Report record(Timeline& timeline, uint64_t seed, const std::string& profile = "swarm", const char* defect = nullptr) {
  SimOptions options;
  options.seed = seed;
  options.profile = profile;
  options.timeline = &timeline;
  if (defect) {
    EXPECT_TRUE(plant(options.defects, defect));
  }
  return simulate(options);
}

TEST(KeptTest, TheOldestGoAndNumbersStay) {
  BoundedList<int> kept(3);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(kept.add(10 * i), static_cast<uint64_t>(i));
  EXPECT_EQ(kept.dropped(), 2u);
  EXPECT_EQ(kept.find(1), nullptr);
  EXPECT_EQ(*kept.find(2), 20);
  EXPECT_EQ(*kept.find(4), 40);
  EXPECT_EQ(kept.find(5), nullptr);
  EXPECT_EQ(kept.take(), (std::vector<int>{20, 30, 40}));
}

TEST(KeptTest, NothingFitsIntoNothing) {
  BoundedList<int> kept(0);
  EXPECT_EQ(kept.next_to_go(), nullptr);
  kept.add(1);
  EXPECT_EQ(kept.dropped(), 1u);
  EXPECT_EQ(kept.find(0), nullptr);
}

TEST(TimelineTest, ARecordedRunIsTheSameRun) {
  for (const char* profile : {"swarm", "harsh", "holders", "membership"}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      SimOptions options;
      options.seed = seed;
      options.profile = profile;
      const Report plain = simulate(options);
      Timeline timeline;
      const Report recorded = record(timeline, seed, profile);
      EXPECT_EQ(plain.trace_hash, recorded.trace_hash) << profile << " " << seed;
      EXPECT_EQ(plain.events, recorded.events);
      EXPECT_EQ(plain.violation, recorded.violation);
    }
  }
}

TEST(TimelineTest, EverythingThatIsCountedIsThere) {
  Timeline timeline;
  const Report report = record(timeline, 4);
  ASSERT_EQ(report.violation, "");
  EXPECT_TRUE(timeline.dropped.empty());
  EXPECT_EQ(timeline.lanes.size(), report.nodes);
  EXPECT_EQ(timeline.operations.size(), report.operations);
  EXPECT_EQ(timeline.grants.size(), report.grants);
  EXPECT_GE(timeline.messages.size(), report.messages);  // copies are arrows of their own
  uint64_t faults = 0;
  for (uint64_t one : report.faults) faults += one;
  EXPECT_EQ(timeline.faults.size(), faults);
  std::set<Index> indexes;
  for (const Timeline::Entry& entry : timeline.entries) indexes.insert(entry.index);
  EXPECT_GE(indexes.size(), report.entries);
  EXPECT_TRUE(timeline.calm_from.has_value());
  EXPECT_EQ(timeline.end, report.virtual_time);
}

TEST(TimelineTest, ACallLeadsToTheEntryThatCarriedIt) {
  Timeline timeline;
  ASSERT_EQ(record(timeline, 4).violation, "");
  std::map<Index, std::vector<uint64_t>> carried;
  for (const Timeline::Entry& entry : timeline.entries) {
    std::vector<uint64_t>& there = carried[entry.index];
    there.insert(there.end(), entry.operations.begin(), entry.operations.end());
  }
  const std::set<std::string> in_the_log = {"open", "acquire", "release", "put", "erase"};
  std::map<std::string, size_t> followed;
  for (const Timeline::Operation& call : timeline.operations) {
    if (call.outcome != "ok" || !in_the_log.contains(call.kind)) continue;
    if (call.kind == "release" && !call.carried) continue;  // went along with another request of its session
    EXPECT_THAT(carried[call.carried], ::testing::Contains(call.id)) << call.kind << " " << call.label;
    EXPECT_GE(call.decided, call.carried);
    ++followed[call.kind];
  }
  for (const std::string& kind : in_the_log) EXPECT_GT(followed[kind], 0u) << kind;
}

TEST(TimelineTest, AHolderTrustsItsHoldOnlyWhileTheLogGivesItOne) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Timeline timeline;
    ASSERT_EQ(record(timeline, seed, "holders").violation, "");
    std::map<std::string, Duration> trusted_until;
    for (const Timeline::Grant& grant : timeline.grants) {
      if (!grant.trusted_from) continue;
      EXPECT_GE(*grant.trusted_from, grant.granted);
      ASSERT_TRUE(grant.trusted_until.has_value());
      EXPECT_GE(grant.granted, trusted_until[grant.lock]) << "token " << grant.token.value();
      trusted_until[grant.lock] = *grant.trusted_until;
    }
  }
}

TEST(TimelineTest, LimitsHoldAndWhatIsDroppedIsSaid) {
  Timeline timeline;
  timeline.limits = {.messages = 50,
                     .routine_messages = 20,
                     .states = 5,
                     .progress = 30,
                     .operations = 10,
                     .entries = 10,
                     .grants = 4,
                     .faults = 3,
                     .notes = 6};
  ASSERT_EQ(record(timeline, 4).violation, "");
  EXPECT_EQ(timeline.messages.size(), 70u);
  EXPECT_EQ(timeline.states.size(), 5u);
  EXPECT_EQ(timeline.progress.size(), 30u);
  EXPECT_EQ(timeline.operations.size(), 10u);
  EXPECT_EQ(timeline.entries.size(), 10u);
  EXPECT_EQ(timeline.grants.size(), 4u);
  EXPECT_EQ(timeline.notes.size(), 6u);
  std::map<std::string, uint64_t> dropped(timeline.dropped.begin(), timeline.dropped.end());
  Timeline whole;
  ASSERT_EQ(record(whole, 4).violation, "");
  EXPECT_EQ(dropped["operations"], whole.operations.size() - 10);
  EXPECT_EQ(dropped["grants"], whole.grants.size() - 4);
  EXPECT_EQ(timeline.operations.back().id, whole.operations.back().id);  // the newest are kept
}

TEST(TimelineTest, AViolationNamesItsCall) {
  Timeline timeline;
  const Report report = record(timeline, 1, "swarm", "submits_twice");
  ASSERT_EQ(report.violation, "INV_L09");
  ASSERT_TRUE(timeline.violation.has_value());
  EXPECT_EQ(timeline.violation->id, "INV_L09");
  EXPECT_EQ(timeline.violation->at, report.virtual_time);
  ASSERT_TRUE(timeline.violation->operation.has_value());
  const auto& calls = timeline.operations;
  const auto named =
      std::find_if(calls.begin(), calls.end(), [&](const auto& o) { return o.id == *timeline.violation->operation; });
  ASSERT_NE(named, calls.end());
  EXPECT_THAT(report.what, HasSubstr(named->label));
  EXPECT_THAT(timeline.command, HasSubstr("--replay 1 --defect submits_twice"));
}

TEST(TimelineTest, WhoeverDiesComesBack) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Timeline timeline;
    ASSERT_EQ(record(timeline, seed, "harsh").violation, "");
    std::map<uint32_t, Duration> down_since;
    for (const Timeline::Stands& stands : timeline.states) {
      if (stands.state == Timeline::State::Down) {
        down_since[stands.lane] = stands.at;
      } else if (const auto down = down_since.extract(stands.lane)) {
        EXPECT_LT(stands.at - down.mapped(), seconds(9)) << "seed " << seed;  // above the longest that a fault draws
      }
    }
    EXPECT_TRUE(down_since.empty());
  }
}

}  // namespace
}  // namespace coordkit::sim
