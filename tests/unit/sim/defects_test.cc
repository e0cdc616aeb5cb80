// Every check can fail: a defect planted in the glue code must be reported, by its invariant or an earlier one, within some
// seeds. A check that has never fired is not known to work.
#include <gtest/gtest.h>

#include <set>

#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {
namespace {

struct Planted {
  const char* name;
  bool Defects::*defect;
  std::set<std::string> reported_by;
  const char* profile = "swarm";
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }

class DefectTest : public ::testing::TestWithParam<Planted> {};

TEST_P(DefectTest, EachDefectIsReportedByAnInvariantThatItBreaks) {
  constexpr uint64_t kSeedsMost = 60;
  for (uint64_t seed = 1; seed <= kSeedsMost; ++seed) {
    SimOptions options;
    options.seed = seed;
    options.profile = GetParam().profile;
    options.defects.*GetParam().defect = true;
    const Report report = simulate(options);
    if (report.violation.empty()) continue;
    EXPECT_TRUE(GetParam().reported_by.contains(report.violation)) << report.violation << ": " << report.what;
    std::cout << GetParam().name << ": seed " << seed << " " << report.violation << ": " << report.what << "\n";
    EXPECT_FALSE(report.last_events.empty());
    return;
  }
  FAIL() << "not found in " << kSeedsMost << " seeds";
}

// If callers can see it, the black box finds it alone: no log, no indexes.
class BlackBoxDefectTest : public ::testing::TestWithParam<Planted> {};

TEST_P(BlackBoxDefectTest, IsReportedWithoutTheWitness) {
  constexpr uint64_t kSeedsMost = 60;
  for (uint64_t seed = 1; seed <= kSeedsMost; ++seed) {
    SimOptions options;
    options.seed = seed;
    options.profile = GetParam().profile;
    options.witness = false;
    options.black_box = BlackBox::Every;
    options.defects.*GetParam().defect = true;
    const Report report = simulate(options);
    if (report.violation.empty()) continue;
    EXPECT_TRUE(GetParam().reported_by.contains(report.violation)) << report.violation << ": " << report.what;
    EXPECT_NE(report.what.find("could have answered like this"), std::string::npos) << report.what;
    std::cout << GetParam().name << ": seed " << seed << " " << report.violation << ": " << report.what << "\n";
    return;
  }
  FAIL() << "not found in " << kSeedsMost << " seeds";
}

INSTANTIATE_TEST_SUITE_P(All, BlackBoxDefectTest,
                         ::testing::Values(Planted{"stale_read", &Defects::stale_read, {"INV_K01", "INV_L01"}},
                                           Planted{"answer_changed", &Defects::answer_changed, {"INV_K01"}},
                                           Planted{"submits_twice", &Defects::submits_twice, {"INV_K01"}}),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    All, DefectTest,
    ::testing::Values(
        Planted{"written_before_durable", &Defects::written_before_durable, {"INV_R08", "INV_R17", "INV_R02"}},
        Planted{"forgets_vote", &Defects::forgets_vote, {"INV_R02", "INV_R03", "INV_S01"}},
        Planted{"forgets_tail", &Defects::forgets_tail, {"INV_R06", "INV_R08", "INV_R18", "INV_R10", "INV_R20"}},
        Planted{"corrupts_entry", &Defects::corrupts_entry, {"INV_R04", "INV_R07"}},
        Planted{"heartbeats_echoed", &Defects::heartbeats_echoed, {"INV_L10", "INV_R15", "INV_R16", "INV_L02", "INV_R20"}},
        Planted{"clocks_beyond_bound", &Defects::clocks_beyond_bound, {"INV_L10", "INV_L02", "INV_R16"}},
        Planted{"late_send_reading", &Defects::late_send_reading, {"INV_L16", "INV_L10", "INV_L02"}},
        Planted{"restores_another", &Defects::restores_another, {"INV_R13"}},
        Planted{"one_machine_diverges", &Defects::one_machine_diverges, {"INV_R14"}},
        Planted{"one_state_rots", &Defects::one_state_rots, {"DIVERGED"}},
        Planted{"forgets_release", &Defects::forgets_release, {"INV_L01", "INV_L04", "INV_L05", "INV_K1", "INV_K01"}},
        Planted{"token_lowered", &Defects::token_lowered, {"INV_L04"}},
        Planted{"answer_changed", &Defects::answer_changed, {"INV_K1"}},
        Planted{"sleep_uncounted", &Defects::sleep_uncounted, {"INV_R16"}, "leases"},
        Planted{"stale_read", &Defects::stale_read, {"INV_R15", "INV_R16"}},
        Planted{"submits_twice", &Defects::submits_twice, {"INV_L09"}}, Planted{"gate_open", &Defects::gate_open, {"INV_L14"}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace coordkit::sim
