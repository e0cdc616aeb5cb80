#include "engine/loop/event_log.h"

#include <gmock/gmock.h>

#include "coordkit/error.h"
#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = ReplicaEventKind;

// An engine whose observable state is set by the test.
class SetEngine final : public Engine {
 public:
  void post(EngineInput) override {}
  void turn(Now, EngineEffects&) override {}
  LaggingTime next_deadline() const override { return LaggingTime::max(); }
  EngineStatus status() const override { return set; }
  const raft::Leadership& leadership() const override { return leads; }
  Index applied() const override { return set.applied; }
  ReplicaId self() const override { return ReplicaId(1); }
  StoreId store() const override { return StoreId(1); }
  BootCounter boot() const override { return BootCounter(4); }
  const StateMachine* machine(MachineId) const override { return nullptr; }
  void observe(MachineId, std::string_view, bool) override {}
  const raft::Core* core() const override { return nullptr; }

  EngineStatus set;
  raft::Leadership leads;
};

class EventLogTest : public ::testing::Test {
 protected:
  EventLogTest() {
    engine_.set.state = ReplicaState::Ready;
    engine_.set.applied = Index(40);
  }
  void SetUp() override {
    log_.opened(engine_, at(0s));
    turn(1s);
    on_event_.clear();
  }
  static LaggingTime at(Duration time) { return LaggingTime(time); }
  void arrives(const EngineInput& input, Duration time = 2s) { log_.arrived(input, at(time)); }
  void turn(Duration time, const EngineEffects& effects = {}) { log_.turned(engine_, effects, at(time)); }
  std::vector<Kind> kinds() const {
    std::vector<Kind> out;
    for (const ReplicaEvent& event : on_event_) out.push_back(event.kind);
    return out;
  }

  SetEngine engine_;
  std::vector<ReplicaEvent> on_event_;
  EventLog log_{300ms, Agreement{.rate_error_ppm = 10'000, .digest_entries = 128},
                [this](const ReplicaEvent& event) { on_event_.push_back(event); }};
};

TEST_F(EventLogTest, AnOpeningSaysWhatIsThere) {
  log_.opened(engine_, at(7s));
  ASSERT_THAT(kinds(), ElementsAre(Kind::Opened));
  EXPECT_EQ(on_event_[0].replica, ReplicaId(1));
  EXPECT_EQ(on_event_[0].at, at(7s));
  EXPECT_THAT(on_event_[0].sentence, AllOf(HasSubstr("start 4"), HasSubstr("entry 40")));
}

TEST_F(EventLogTest, AQuietTurnAndOrdinaryInputsAreNoNews) {
  arrives(LogWritten{WriteNumber(1)});
  arrives(Forget{Ticket(7)});
  arrives(StateWaits{absl::OkStatus()});
  arrives(LogSpaceChanged{LogSpace::Ample});
  turn(9s);
  EXPECT_THAT(on_event_, IsEmpty());
}

// Covers: FLT_A14
TEST_F(EventLogTest, OtherSettingsAreToldOnceForEachLifeOfAPeerAndAsWhatTheyAre) {
  PeerConnected input{Hello{.from = ReplicaId(2)}};
  input.hello.agreement = Agreement{.rate_error_ppm = 10'000, .digest_entries = 0};
  arrives(input);
  arrives(input);
  EXPECT_THAT(kinds(), ElementsAre(Kind::PeerConnected, Kind::SettingsDiffer));
  EXPECT_THAT(on_event_.back().sentence, HasSubstr("digest_entries is 0 there and 128 here"));
  input.hello.agreement->rate_error_ppm = 1;
  on_event_.clear();
  arrives(input);
  arrives(input);
  ASSERT_THAT(kinds(), ElementsAre(Kind::PeerRefused)) << "it is connected for no one";
  EXPECT_THAT(on_event_.back().sentence, HasSubstr("rate_error_ppm is 1 there and 10000 here"));
}

// Covers: FLT_V01
TEST_F(EventLogTest, AnOlderBuildIsToldAsRefusedAndNotAsConnected) {
  engine_.set.feature_level = 2;
  turn(5s);
  EXPECT_THAT(kinds(), ElementsAre(Kind::LevelRaised));
  on_event_.clear();
  arrives(PeerConnected{Hello{.from = ReplicaId(2), .feature_level = 1}}, 6s);
  ASSERT_THAT(kinds(), ElementsAre(Kind::PeerRefused));
  EXPECT_THAT(on_event_.back().sentence, HasSubstr("speaks feature level 1, and the cluster is at 2"));
  arrives(PeerConnected{Hello{.from = ReplicaId(2), .feature_level = 2}}, 7s);
  EXPECT_EQ(kinds().back(), Kind::PeerConnected);
}

// Two members dial each other, so a transport reports each of them twice.
TEST_F(EventLogTest, ThePeerIsConnectedOnceHoweverManyConnectionsThereAre) {
  PeerConnected input{Hello{.from = ReplicaId(2), .store = StoreId(7), .boot = BootCounter(1)}};
  arrives(input);
  arrives(input);
  EXPECT_THAT(kinds(), ElementsAre(Kind::PeerConnected));
  input.hello.boot = BootCounter(2);
  arrives(input);
  EXPECT_THAT(kinds(), ElementsAre(Kind::PeerConnected, Kind::PeerConnected)) << "it has restarted";
  arrives(PeerLost{ReplicaId(2)});
  arrives(input);
  EXPECT_THAT(kinds(), ElementsAre(Kind::PeerConnected, Kind::PeerConnected, Kind::PeerLost, Kind::PeerConnected));
}

TEST_F(EventLogTest, AnElectionIsNoWarningAndOnlyALongTimeWithoutALeaderIs) {
  EngineEffects effects;
  effects.leadership = engine_.leads = {.role = raft::Role::Follower, .term = Term(5), .leader = ReplicaId(2)};
  turn(2s, effects);
  on_event_.clear();
  effects.leadership = engine_.leads = {.role = raft::Role::Candidate, .term = Term(6), .leader = {}};
  engine_.set.state = ReplicaState::Starting;
  engine_.set.reason = "2 of 3 voters are missing";
  turn(3s, effects);
  turn(4s + 499ms);
  ASSERT_THAT(kinds(), ElementsAre(Kind::LeaderChanged, Kind::StateChanged));
  EXPECT_THAT(on_event_, testing::Each(Field(&ReplicaEvent::severity, Severity::Info)));
  turn(4s + 600ms);
  turn(9s);
  ASSERT_THAT(kinds(), ElementsAre(Kind::LeaderChanged, Kind::StateChanged, Kind::LeaderChanged)) << "once";
  EXPECT_EQ(on_event_[2].severity, Severity::Warning);
  EXPECT_EQ(on_event_[2].sentence, "this replica has known no leader for 1600 ms: 2 of 3 voters are missing");
  on_event_.clear();
  effects.leadership = engine_.leads = {.role = raft::Role::Leader, .term = Term(7), .leader = ReplicaId(1)};
  engine_.set.state = ReplicaState::Ready;
  turn(10s, effects);
  effects.leadership = engine_.leads = {.role = raft::Role::Follower, .term = Term(8), .leader = {}};
  engine_.set.state = ReplicaState::Starting;
  turn(11s, effects);
  turn(13s);
  EXPECT_EQ(on_event_.back().sentence, "this replica has known no leader for 2000 ms: 2 of 3 voters are missing");
}

TEST_F(EventLogTest, AReplicaThatWaitsForItsFirstMembersHasAStateForThatAndNoWarning) {
  engine_.set.state = ReplicaState::WaitingForMembers;
  for (const Duration time : {2s, 5s, 60s}) turn(time);
  EXPECT_THAT(on_event_, testing::Each(Field(&ReplicaEvent::severity, Severity::Info)));
}

TEST_F(EventLogTest, ALeaderIsToldAndThatThereIsNone) {
  EngineEffects effects;
  effects.leadership = engine_.leads = {.role = raft::Role::Follower, .term = Term(5), .leader = ReplicaId(2)};
  turn(2s, effects);
  effects.leadership = engine_.leads = {.role = raft::Role::Candidate, .term = Term(6), .leader = {}};
  turn(3s, effects);
  effects.leadership = engine_.leads = {.role = raft::Role::Leader, .term = Term(7), .leader = ReplicaId(1)};
  turn(4s, effects);
  ASSERT_THAT(kinds(), ElementsAre(Kind::LeaderChanged, Kind::LeaderChanged, Kind::LeaderChanged));
  EXPECT_EQ(on_event_[0].peer, ReplicaId(2));
  EXPECT_EQ(on_event_[0].sentence, "replica 2 leads in term 5");
  EXPECT_EQ(on_event_[1].sentence, "no leader is known in term 6");
  EXPECT_EQ(on_event_[1].peer, ReplicaId());
  EXPECT_EQ(on_event_[2].sentence, "this replica leads in term 7");
  EXPECT_EQ(on_event_[2].term, Term(7));
}

TEST_F(EventLogTest, ATransportThatTriesAgainAndAgainIsToldOnce) {
  for (int i = 0; i < 50; ++i) arrives(PeerUnreachable{ReplicaId(2), "nobody listens there"});
  for (int i = 0; i < 50; ++i) arrives(PeerRefused{ReplicaId(2), "replica 2 is of another cluster"});
  arrives(PeerRefused{ReplicaId(3), "replica 3 has another secret"});
  EXPECT_THAT(kinds(), ElementsAre(Kind::PeerUnreachable, Kind::PeerRefused, Kind::PeerRefused));
  on_event_.clear();
  Hello hello;
  hello.from = ReplicaId(2);
  arrives(PeerConnected{hello});
  arrives(PeerLost{ReplicaId(2)});
  arrives(PeerUnreachable{ReplicaId(2), "nobody listens there"});
  EXPECT_THAT(kinds(), ElementsAre(Kind::PeerConnected, Kind::PeerLost, Kind::PeerUnreachable));
}

TEST_F(EventLogTest, ReportsOfMorePeersThanAClusterHasAreNotRemembered) {
  for (uint64_t id = 1; id <= 1000; ++id) arrives(PeerRefused{ReplicaId(id), "another cluster"});
  EXPECT_THAT(on_event_, SizeIs(1000));
  on_event_.clear();
  arrives(PeerRefused{ReplicaId(1000), "another cluster"});
  EXPECT_THAT(on_event_, IsEmpty());
  arrives(PeerRefused{ReplicaId(1), "another cluster"});
  EXPECT_THAT(on_event_, SizeIs(1));
}

TEST_F(EventLogTest, AStateIsToldWithItsReasonAndAsSevereAsItIs) {
  engine_.set.state = ReplicaState::CatchingUp;
  turn(2s);
  turn(4s);
  engine_.set.state = ReplicaState::Quarantine;
  engine_.set.reason = "this disk was set back";
  turn(6s);
  ASSERT_THAT(kinds(), ElementsAre(Kind::StateChanged, Kind::StateChanged));
  EXPECT_EQ(on_event_[0].severity, Severity::Info);
  EXPECT_EQ(on_event_[0].sentence, "CatchingUp");
  EXPECT_EQ(on_event_[1].severity, Severity::Error);
  EXPECT_EQ(on_event_[1].sentence, "Quarantine: this disk was set back");
}

TEST_F(EventLogTest, AMemberIsSilentAfterSeveralTimeoutsAndOnce) {
  engine_.set.missing = {{.id = ReplicaId(3), .address = "c:1", .silence = 1s, .received = true}};
  turn(3s);
  EXPECT_THAT(on_event_, IsEmpty()) << "it may be on its way";
  for (const Duration silence : {2s, 3s, 4s}) {
    engine_.set.missing[0].silence = silence;
    turn(3s + silence);
  }
  engine_.set.missing.clear();
  turn(9s);
  ASSERT_THAT(kinds(), ElementsAre(Kind::MemberSilent, Kind::MemberResponding));
  EXPECT_EQ(on_event_[0].peer, ReplicaId(3));
  EXPECT_THAT(on_event_[0].sentence, HasSubstr("c:1"));
}

TEST_F(EventLogTest, AFullDiskIsToldOnceForEachOfTheTwoThatWait) {
  arrives(LogSpaceChanged{LogSpace::Low});
  arrives(LogSpaceChanged{LogSpace::Full});
  for (int i = 0; i < 5; ++i) arrives(StateWaits{absl::ResourceExhaustedError("no space left for the checkpoint")});
  arrives(StateWaits{absl::OkStatus()});
  arrives(LogSpaceChanged{LogSpace::Ample});
  arrives(LogSpaceChanged{LogSpace::Ample});
  ASSERT_THAT(kinds(), ElementsAre(Kind::DiskFull, Kind::DiskFull, Kind::DiskFull, Kind::DiskHasRoom, Kind::DiskHasRoom));
  EXPECT_THAT(on_event_[0].sentence, HasSubstr("nearly full"));
  EXPECT_EQ(on_event_[2].sentence, "no space left for the checkpoint");
}

// Covers: FLT_P14
TEST_F(EventLogTest, WhatWritesWaitForIsTold) {
  arrives(LogWaits{make_error(Reason::LimitExceeded, "too many open files")});
  arrives(LogWaits{absl::OkStatus()});
  ASSERT_THAT(kinds(), ElementsAre(Kind::DiskSlow));
  EXPECT_EQ(on_event_[0].sentence, "writes to the log wait: too many open files");
}

TEST_F(EventLogTest, ASlowDiskIsToldOnceAMinute) {
  const auto write = [this](uint64_t number, Duration handed, Duration took) {
    EngineEffects effects;
    effects.writes.push_back({.number = WriteNumber(number)});
    turn(handed, effects);
    arrives(LogWritten{WriteNumber(number)}, handed + took);
  };
  write(1, 10s, 149ms);
  EXPECT_THAT(on_event_, IsEmpty());
  write(2, 11s, 150ms);
  write(3, 12s, 2s);
  ASSERT_THAT(kinds(), ElementsAre(Kind::DiskSlow));
  EXPECT_THAT(on_event_[0].sentence, HasSubstr("150 ms"));
  write(4, 72s, 1s);
  EXPECT_THAT(kinds(), ElementsAre(Kind::DiskSlow, Kind::DiskSlow));
}

TEST_F(EventLogTest, DamageIsMendedByACheckpointThatWasTakenAfterIt) {
  arrives(StateRotten{absl::DataLossError("a row does not verify")});
  arrives(StateRotten{absl::DataLossError("a row does not verify")});
  arrives(StateCheckpointed{{Index(30), Term(1)}});  // was in progress
  EngineEffects effects;
  effects.checkpoint = CheckpointBatch{.applied = {Index(40), Term(1)}, .whole = true};
  turn(3s, effects);
  ASSERT_THAT(kinds(), ElementsAre(Kind::DiskDamaged, Kind::Checkpointed));
  EXPECT_EQ(on_event_[0].severity, Severity::Warning);
  arrives(StateCheckpointed{{Index(40), Term(1)}});
  arrives(StateCheckpointed{{Index(50), Term(1)}});
  EXPECT_THAT(kinds(),
              ElementsAre(Kind::DiskDamaged, Kind::Checkpointed, Kind::Checkpointed, Kind::DiskMended, Kind::Checkpointed));
}

// It was told as a full disk.
// Covers: FLT_D22
TEST_F(EventLogTest, AnErrorOfTheCheckpointIsToldOnceAndSoIsItsEnd) {
  const absl::Status error = make_error(Reason::StorageFailed, "cannot sync: input/output error");
  const auto takes = [this](uint64_t applied) {
    EngineEffects effects;
    effects.checkpoint = CheckpointBatch{.applied = {Index(applied), Term(1)}, .whole = true};
    turn(3s, effects);
  };
  arrives(StateDamaged{error});
  takes(40);
  arrives(StateWaits{error});
  arrives(StateDamaged{error});
  takes(41);
  ASSERT_THAT(kinds(), ElementsAre(Kind::DiskFails));
  EXPECT_EQ(on_event_[0].severity, Severity::Warning);
  EXPECT_THAT(on_event_[0].sentence, AllOf(HasSubstr("input/output error"), HasSubstr("check this disk")));
  arrives(StateCheckpointed{{Index(41), Term(1)}});
  arrives(StateWaits{absl::OkStatus()});
  arrives(StateCheckpointed{{Index(50), Term(1)}});
  EXPECT_THAT(kinds(), ElementsAre(Kind::DiskFails, Kind::Checkpointed, Kind::DiskWorks, Kind::Checkpointed));
}

// Covers: FLT_D22
TEST_F(EventLogTest, AnErrorOfTheFileThatTheLogKeepsReadyIsToldOnceAndSoIsItsEnd) {
  arrives(LogSpareFails{make_error(Reason::StorageFailed, "cannot write 7.spare: input/output error")});
  arrives(LogSpareFails{make_error(Reason::StorageFailed, "cannot create 8.spare: input/output error")});
  ASSERT_THAT(kinds(), ElementsAre(Kind::DiskFails));
  EXPECT_THAT(on_event_[0].sentence, AllOf(HasSubstr("7.spare"), HasSubstr("check this disk")));
  arrives(LogSpareFails{absl::OkStatus()});
  arrives(LogSpareFails{absl::OkStatus()});
  EXPECT_THAT(kinds(), ElementsAre(Kind::DiskFails, Kind::DiskWorks));
}

// It was fetched again and again, and nobody was told to check that disk.
// Covers: FLT_D08
TEST_F(EventLogTest, AStateThatIsRefusedOnceItIsStagedIsTold) {
  arrives(InstallRefused{{Index(90), Term(3)}, absl::DataLossError("the staged rows are rotten")});
  ASSERT_THAT(kinds(), ElementsAre(Kind::DiskDamaged));
  EXPECT_EQ(on_event_[0].severity, Severity::Warning);
  EXPECT_THAT(on_event_[0].sentence, AllOf(HasSubstr("entry 90"), HasSubstr("the staged rows are rotten")));
}

TEST_F(EventLogTest, TheEndIsToldWithItsReason) {
  EngineEffects effects;
  effects.halted = make_error(Reason::StorageFailed, "the disk does not answer");
  engine_.set.state = ReplicaState::Halted;
  turn(2s, effects);
  ASSERT_THAT(kinds(), ElementsAre(Kind::Halted));
  EXPECT_EQ(on_event_[0].severity, Severity::Error);
  EXPECT_EQ(to_string(on_event_[0]), "Error Halted replica 1 term 0: the disk does not answer");
}

TEST_F(EventLogTest, WholeStatesMembersAndDivergenceAreTold) {
  EngineEffects effects;
  effects.views = {ViewOpen{ViewId(1)}, ViewRead{ViewId(1), Ticket(2)}, ViewClose{ViewId(1)}};
  effects.restored = Position{Index(90), Term(3)};
  effects.peers = std::vector<Peer>{{ReplicaId(2), "b:1"}, {ReplicaId(3), "c:1"}};
  effects.divergence = Divergence{.index = Index(9), .other = ReplicaId(3), .sentence = "replica 3 differs"};
  turn(2s, effects);
  ASSERT_THAT(kinds(), ElementsAre(Kind::MembersChanged, Kind::StateSent, Kind::StateReceived, Kind::Diverged));
  EXPECT_EQ(on_event_[0].sentence, "this replica now connects with: 2 at b:1, 3 at c:1");
  EXPECT_EQ(on_event_[3].peer, ReplicaId(3));
}

// Covers: S-77
TEST_F(EventLogTest, WhatARemoteDidIsReportedUnderItsEntry) {
  EngineEffects effects;
  effects.acts = {{Index(38), "billing", "put \"orders/1\": Ok"}, {Index(40), "stock", "acquire \"l\": Queued"}};
  turn(2s, effects);
  ASSERT_THAT(on_event_, SizeIs(2));
  EXPECT_EQ(on_event_[0].kind, Kind::RemoteActed);
  EXPECT_EQ(on_event_[0].applied, Index(38));
  EXPECT_EQ(on_event_[0].remote, "billing");
  EXPECT_EQ(on_event_[0].sentence, "billing at entry 38: put \"orders/1\": Ok");
  EXPECT_EQ(on_event_[1].remote, "stock");
  arrives(PeerLost{ReplicaId(2)});
  EXPECT_EQ(on_event_.back().remote, "");
  EXPECT_EQ(on_event_.back().applied, Index(40));
}

}  // namespace
}  // namespace coordkit::engine
