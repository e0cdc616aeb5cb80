// Whole runs: the same seed gives the same run, and seeds of every profile hold all invariants.
#include <gtest/gtest.h>

#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {
namespace {

Report run(uint64_t seed, std::string profile = "swarm", Duration hostile_time = std::chrono::seconds(20),
           BlackBox black_box = BlackBox::Sampled) {
  SimOptions options;
  options.black_box = black_box;
  options.seed = seed;
  options.profile = std::move(profile);
  options.hostile_time = hostile_time;
  return simulate(options);
}

std::string story(const Report& report) {
  std::string text = report.violation + " in seed " + std::to_string(report.seed) + ": " + report.what;
  for (const std::string& line : report.last_events) text += "\n  " + line;
  return text;
}

TEST(SimulateTest, SameSeedGivesTheSameRun) {
  for (uint64_t seed : {1, 2, 3, 4, 5}) {
    const Report first = run(seed);
    const Report second = run(seed);
    EXPECT_EQ(first.trace_hash, second.trace_hash);
    EXPECT_EQ(first.events, second.events);
    EXPECT_EQ(first.virtual_time, second.virtual_time);
  }
  EXPECT_NE(run(1).trace_hash, run(2).trace_hash);
}

// Each kind of fault occurs, so that holding means something.
// Covers: FLT_N01 FLT_N02 FLT_N03 FLT_P02 FLT_P03 FLT_P06 REG_R83 REG_F59
TEST(SimulateTest, SwarmHoldsEveryInvariant) {
  Report sum;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Report report = run(seed);
    ASSERT_EQ(report.violation, "") << story(report);
    sum.grants += report.grants;
    sum.expiries += report.expiries;
    sum.elections += report.elections;
    sum.crashes += report.crashes;
    for (size_t kind = 0; kind < kFaultKinds; ++kind) sum.faults[kind] += report.faults[kind];
  }
  for (size_t kind = 0; kind < kFaultKinds; ++kind) {
    if (FaultKind(kind) == FaultKind::Overtaken) continue;  // needs members that change
    EXPECT_GT(sum.faults[kind], 0u) << name_of(FaultKind(kind));
  }
  EXPECT_GT(sum.grants, 2000u);
  EXPECT_GT(sum.expiries, 100u);
  EXPECT_GT(sum.elections, 80u);
  EXPECT_GT(sum.crashes, 40u);
}

// Past the gate of the transport, without an id and under the ids of absent members.
// Covers: FLT_S07 INV_R22
TEST(SimulateTest, StrangersAreHeardInNothing) {
  SituationCounts situations{};
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    SimOptions options{.seed = seed, .profile = "strangers"};
    options.hostile_time = std::chrono::seconds(10);
    const Report report = simulate(options);
    ASSERT_EQ(report.violation, "") << story(report);
    for (size_t situation = 0; situation < kSituations; ++situation) situations[situation] += report.situations[situation];
  }
  EXPECT_GT(situations[static_cast<size_t>(Situation::StrangerSpoke)], 50u);
  EXPECT_GT(situations[static_cast<size_t>(Situation::StrangerAsMember)], 5u);
}

// Members come, go, lose their disks and transfer leadership, and the interesting situations occur.
// Covers: FLT_M01 FLT_M02 FLT_M05 FLT_M08 FLT_M10 FLT_P15 FLT_P18 INV_R23
TEST(SimulateTest, MembersChangeUnderEveryOtherFault) {
  SituationCounts situations{};
  uint64_t overtaken = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Report report = run(seed, "membership");
    ASSERT_EQ(report.violation, "") << story(report);
    overtaken += report.faults[static_cast<size_t>(FaultKind::Overtaken)];
    for (size_t situation = 0; situation < kSituations; ++situation) situations[situation] += report.situations[situation];
  }
  for (const Situation situation :
       {Situation::JointConfiguration, Situation::ReadWhileJoint, Situation::LearnerPromoted, Situation::MemberReplaced,
        Situation::MajorityExchanged, Situation::RemovedMemberReturned, Situation::TransferDuringPartition,
        Situation::TransferCampaignWon, Situation::LeaderLostAfterPromotion, Situation::StateInstalled, Situation::DiskSetBack,
        Situation::SetBackNoticed, Situation::SetBackUnnoticed, Situation::DiskMixedUp, Situation::MixUpNoticed}) {
    EXPECT_GT(situations[static_cast<size_t>(situation)], 0u) << name_of(situation);
  }
  EXPECT_GT(overtaken, 20u);
}

// Disks fail, fill up, rot and lie; replicas halt, wait, step aside or get another disk, and nothing answered is
// lost.
// Covers: FLT_D01 FLT_D02 FLT_D03 FLT_D04 FLT_D05 FLT_D06 FLT_D08 FLT_D09 FLT_D10 FLT_D17 FLT_D20 FLT_D21 FLT_D22 INV_S01
// INV_S04 INV_S10
TEST(SimulateTest, DisksThatFailInEveryWayBreakNoInvariant) {
  Report sum;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Report report = run(seed, "disks");
    ASSERT_EQ(report.violation, "") << story(report);
    for (size_t kind = 0; kind < kFaultKinds; ++kind) sum.faults[kind] += report.faults[kind];
    for (size_t situation = 0; situation < kSituations; ++situation) sum.situations[situation] += report.situations[situation];
  }
  for (const FaultKind kind :
       {FaultKind::DiskError, FaultKind::DiskFull, FaultKind::Rot, FaultKind::Misdirected, FaultKind::LostSync,
        FaultKind::StateRot, FaultKind::LostFiles, FaultKind::SpareError, FaultKind::CheckpointError}) {
    EXPECT_GT(sum.faults[static_cast<size_t>(kind)], 0u) << name_of(kind);
  }
  for (const Situation situation :
       {Situation::UnsyncedWriteFound, Situation::HolesFound, Situation::ShortLogFound, Situation::OpenFailed,
        Situation::PowerLostInOpen, Situation::HaltedByDisk, Situation::WaitedForSpace, Situation::MemberReplaced,
        Situation::RottenStateFound, Situation::LogLost, Situation::SegmentLost, Situation::CheckpointLost,
        Situation::StoresRefused, Situation::SegmentAwaited, Situation::SpareDropped, Situation::SpareMadeAgain,
        Situation::CheckpointInDoubt, Situation::FreshCheckpointFailed, Situation::CheckpointSoundAgain}) {
    EXPECT_GT(sum.situations[static_cast<size_t>(situation)], 0u) << name_of(situation);
  }
}

// Replicas start as older and newer builds, in any order and with downgrades. Nothing is written that one of them cannot read,
// unless it was downgraded. In the end the cluster is at the newest level.
// Covers: FLT_V01 FLT_V02 INV_S08
TEST(SimulateTest, UpgradesInAnyOrderAndDowngradesBreakNoInvariant) {
  SituationCounts situations{};
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Report report = run(seed, "upgrade");
    ASSERT_EQ(report.violation, "") << story(report);
    for (size_t situation = 0; situation < kSituations; ++situation) situations[situation] += report.situations[situation];
  }
  EXPECT_GT(situations[static_cast<size_t>(Situation::OlderBuildRefused)], 5u);
  EXPECT_GT(situations[static_cast<size_t>(Situation::LargeAnswerStored)], 0u);
}

// Data of running replicas rots on all of them at once, and scrubs find it: each rewrites its state, or leaves the log
// behind.
// Covers: FLT_D06 FLT_D08 FLT_D18 INV_S06
TEST(SimulateTest, WhatRotsInDifferentPlacesEverywhereHeals) {
  SituationCounts situations{};
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Report report = run(seed, "disks");
    ASSERT_EQ(report.violation, "") << story(report);
    for (size_t situation = 0; situation < kSituations; ++situation) situations[situation] += report.situations[situation];
  }
  for (const Situation situation :
       {Situation::StateRewritten, Situation::LogScrubbed, Situation::RotHealed, Situation::LogMended}) {
    EXPECT_GT(situations[static_cast<size_t>(situation)], 5u) << name_of(situation);
  }
}

// Sessions change hands and are ended by others; semaphores, barriers and the like are awaited, met and released.
// Covers: S-45 S-57 S-50 S-37
TEST(SimulateTest, EveryPrimitiveIsUsedUnderTheProfileLocks) {
  SituationCounts situations{};
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Report report = run(seed, "locks");
    ASSERT_EQ(report.violation, "") << story(report);
    for (size_t situation = 0; situation < kSituations; ++situation) situations[situation] += report.situations[situation];
  }
  for (auto situation = static_cast<size_t>(Situation::SessionResumed);
       situation <= static_cast<size_t>(Situation::StreamResynced); ++situation) {
    EXPECT_GT(situations[situation], 0u) << name_of(Situation(situation));
  }
}

// Present and past ranges, transactions within transactions, keys that go with sessions and leases, and all who watch
// them.
// Covers: S-06 S-14 S-18 S-29 S-30 S-31 S-32 S-39 INV_K03 INV_K04 INV_K05 INV_W06
TEST(SimulateTest, KeysAreUsedInEveryWayUnderTheProfileKeys) {
  SituationCounts situations{};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Report report = run(seed, "keys");
    ASSERT_EQ(report.violation, "") << story(report);
    for (size_t situation = 0; situation < kSituations; ++situation) situations[situation] += report.situations[situation];
  }
  for (auto situation = static_cast<size_t>(Situation::WatchCaughtUp); situation <= static_cast<size_t>(Situation::WriteFenced);
       ++situation) {
    EXPECT_GT(situations[situation], 0u) << name_of(Situation(situation));
  }
}

TEST(SimulateTest, CalmClusterKeepsItsLeader) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Report report = run(seed, "calm", std::chrono::seconds(5));
    ASSERT_EQ(report.violation, "") << story(report);
    EXPECT_EQ(report.elections, 1u) << "seed " << seed;
    EXPECT_EQ(report.expiries, 0u) << "seed " << seed;
  }
}

// A tenth of the seeds is searched, and searching changes nothing in the run.
TEST(SimulateTest, TheBlackBoxLooksAtATenthAndDisturbsNothing) {
  uint64_t sampled = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Report with = run(seed, "swarm", std::chrono::seconds(5), BlackBox::Every);
    ASSERT_EQ(with.violation, "") << story(with);
    EXPECT_EQ(with.histories, 1u);
    EXPECT_EQ(with.histories_undecided, 0u) << "seed " << seed;
    EXPECT_GT(with.history_operations, 0u);
    const Report by_seed = run(seed, "swarm", std::chrono::seconds(5));
    EXPECT_EQ(by_seed.trace_hash, with.trace_hash);
    sampled += by_seed.histories;
  }
  EXPECT_GE(sampled, 1u);
  EXPECT_LE(sampled, 10u);
}

TEST(SimulateTest, UnknownProfileIsRefused) { EXPECT_EQ(run(1, "no such").violation, "OPTIONS"); }

}  // namespace
}  // namespace coordkit::sim
