// How engines are initialized, join, restart and refuse to start.
#include <gtest/gtest.h>

#include "tests/unit/engine/engine_cluster.h"

namespace coordkit::engine {
namespace {

TEST(EngineInitializationTest, ASingleMemberIsReadyByItself) {
  Cluster cluster(1);
  cluster.start(1);
  EXPECT_EQ(cluster.leader(), 1u);
  EXPECT_EQ(cluster.engine(1).status().cluster, ClusterId(1001));
  EXPECT_EQ(cluster.run(1, "add 2"), "2");
  EXPECT_EQ(cluster.read(1), "2");
}

TEST(EngineInitializationTest, BlankMembersWaitForEachOtherAndFoundOneCluster) {
  Cluster cluster(3);
  cluster.start(1);
  cluster.start(3);
  cluster.pass(5s);
  for (const uint64_t id : {1, 3}) {
    EXPECT_EQ(cluster.engine(id).status().state, ReplicaState::WaitingForMembers);
    EXPECT_NE(cluster.engine(id).status().reason.find("not seen yet: 2"), std::string::npos);
    EXPECT_EQ(cluster.engine(id).core(), nullptr);
    EXPECT_TRUE(cluster.node(id).sent.empty());
  }
  cluster.start(2);
  ASSERT_NE(cluster.leader(), 0u);
  for (uint64_t id = 1; id <= 3; ++id) {
    EXPECT_TRUE(cluster.until([&] { return cluster.engine(id).status().state == ReplicaState::Ready; }));
    EXPECT_EQ(cluster.engine(id).status().cluster, ClusterId(1001));
    EXPECT_EQ(cluster.node(id).counter->cluster(), ClusterId(1001));
  }
}

TEST(EngineInitializationTest, NobodyVotesBeforeItsGenesisIsDurable) {
  Cluster cluster(3);
  cluster.start_all();
  cluster.node(2).syncs = false;
  cluster.pass(3s);
  EXPECT_TRUE(cluster.node(2).sent.empty());
  EXPECT_EQ(cluster.engine(2).core(), nullptr);
  cluster.node(2).syncs = true;
  cluster.sync(2);
  EXPECT_TRUE(cluster.until([&] { return cluster.engine(2).status().state == ReplicaState::Ready; }));
}

TEST(EngineInitializationTest, AnOfferThatGetsLostIsRepeated) {
  Cluster cluster(3);
  cluster.filter = [&](ReplicaId, ReplicaId to, const Message& message) {
    return to != ReplicaId(3) || !std::holds_alternative<GenesisOffer>(message);
  };
  cluster.start_all();
  ASSERT_NE(cluster.leader(), 0u);
  cluster.pass(3s);
  EXPECT_EQ(cluster.engine(3).status().state, ReplicaState::Uninvited);
  cluster.filter = nullptr;
  EXPECT_TRUE(cluster.until([&] { return cluster.engine(3).status().state == ReplicaState::Ready; }));
  const auto offers = [&] {
    size_t count = 0;
    for (uint64_t id = 1; id <= 3; ++id) {
      for (const Outbound& sent : cluster.node(id).sent) count += std::holds_alternative<GenesisOffer>(sent.message);
    }
    return count;
  };
  const size_t before = offers();
  cluster.pass(5s);
  EXPECT_EQ(offers(), before);  // all have spoken as members
}

TEST(EngineInitializationTest, TheFounderMayCrashBeforeItsSync) {
  Cluster cluster(3);
  cluster.node(1).syncs = false;
  cluster.start_all();
  cluster.run_until_idle();
  ASSERT_FALSE(cluster.node(1).pending.empty());
  EXPECT_TRUE(cluster.node(1).sent.empty());
  cluster.crash(1);
  cluster.pass(2s);
  cluster.node(1).syncs = true;
  cluster.start(1);
  EXPECT_NE(cluster.leader(), 0u);
}

TEST(EngineInitializationTest, TheFounderMayCrashAfterItsSyncBeforeItsOffers) {
  Cluster cluster(
      3, [](EngineOptions& options) { options.new_cluster = ClusterId(options.new_cluster.value() + options.raft.seed); });
  cluster.node(1).syncs = false;
  cluster.start_all();
  cluster.run_until_idle();
  cluster.sync(1);
  cluster.crash(1);  // before the turn that would have offered it
  cluster.pass(2s);
  EXPECT_EQ(cluster.engine(2).status().state, ReplicaState::WaitingForMembers);
  cluster.node(1).syncs = true;
  cluster.start(1);
  EXPECT_NE(cluster.leader(), 0u);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(cluster.engine(id).status().cluster, ClusterId(1002));
}

TEST(EngineInitializationTest, AFollowerMayCrashBeforeTheSyncOfTheGenesisItAdopted) {
  Cluster cluster(3);
  cluster.node(3).syncs = false;
  cluster.start_all();
  cluster.pass(1s);
  cluster.crash(3);
  cluster.node(3).syncs = true;
  cluster.start(3);
  EXPECT_TRUE(cluster.until([&] { return cluster.engine(3).status().state == ReplicaState::Ready; }));
}

// ---- initialization under every pair of crashes

// Turns and syncs one after the other, so that a crash can happen before and after each of them.
struct Initialization {
  static constexpr size_t kActions = 36;
  struct Crash {
    size_t before = 0;  // which action
    uint64_t node = 0;
    bool stored = false;  // what waited for the sync is on the disk, unreported
    size_t down = 0;      // for this many actions
  };
  Cluster cluster{3};
  std::map<size_t, std::vector<uint64_t>> back;

  void strike(const Crash& crash) {
    if (cluster.node(crash.node).engine == nullptr) return;
    if (crash.stored) cluster.sync(crash.node);
    cluster.crash(crash.node);
    back[crash.before + crash.down].push_back(crash.node);
  }
  void act(size_t action) {
    const uint64_t id = action % 3 + 1;
    if (cluster.node(id).engine == nullptr) return;
    (action / 3) % 2 == 0 ? cluster.one_turn(id) : cluster.sync(id);
  }
  // Whatever was begun ends in one cluster with one genesis, and it works.
  void run(const std::vector<Crash>& crashes) {
    for (uint64_t id = 1; id <= 3; ++id) cluster.node(id).syncs = false;
    cluster.start_all();
    for (size_t action = 0; action < kActions; ++action) {
      for (const Crash& crash : crashes) {
        if (crash.before == action) strike(crash);
      }
      for (const uint64_t id : std::exchange(back[action], {})) {
        if (cluster.node(id).engine == nullptr) cluster.start(id);
      }
      act(action);
    }
    for (uint64_t id = 1; id <= 3; ++id) {
      cluster.node(id).syncs = true;
      if (cluster.node(id).engine == nullptr) cluster.start(id);
      cluster.sync(id);
    }
    ASSERT_NE(cluster.leader(), 0u);
    ASSERT_EQ(cluster.run(1, "add 1"), "1");
    ASSERT_TRUE(cluster.until([&] { return cluster.node(2).disk.entries.size() + cluster.node(3).disk.entries.size() >= 4; }));
    for (uint64_t id = 1; id <= 3; ++id) {
      const Disk& disk = cluster.node(id).disk;
      ASSERT_FALSE(disk.entries.empty());
      EXPECT_EQ(disk.entries.front(), cluster.node(1).disk.entries.front()) << "replica " << id << " has another genesis";
    }
  }
};

std::vector<Initialization::Crash> every_crash(size_t step) {
  std::vector<Initialization::Crash> crashes;
  for (size_t before = 0; before < Initialization::kActions; before += step) {
    for (uint64_t node = 1; node <= 3; ++node) {
      for (const bool stored : {false, true}) {
        for (const size_t down : {size_t{0}, size_t{7}}) crashes.push_back({before, node, stored, down});
      }
    }
  }
  return crashes;
}

// Covers: INV_R04
TEST(EngineInitializationTest, OneCrashAnywhereLeavesOneGenesis) {
  for (const Initialization::Crash& crash : every_crash(1)) {
    SCOPED_TRACE(testing::Message() << "n" << crash.node << " before action " << crash.before << " stored " << crash.stored);
    Initialization().run({crash});
    if (HasFatalFailure()) return;
  }
}

// Covers: INV_R04
TEST(EngineInitializationTest, TwoCrashesAnywhereLeaveOneGenesis) {
  const std::vector<Initialization::Crash> crashes = every_crash(2);
  for (const Initialization::Crash& one : crashes) {
    for (const Initialization::Crash& other : crashes) {
      if (other.before < one.before || (one.down != 0 && other.down == 0)) continue;
      SCOPED_TRACE(testing::Message() << "n" << one.node << " before " << one.before << " stored " << one.stored << ", n"
                                      << other.node << " before " << other.before << " stored " << other.stored);
      Initialization().run({one, other});
      if (HasFatalFailure()) return;
    }
  }
}

// Covers: REG_R03
TEST(EngineInitializationTest, MessagesOfAnotherStoreUnderAMembersIdAreIgnored) {
  Cluster cluster(3);
  cluster.start_all();
  const uint64_t leader = cluster.leader();
  ASSERT_NE(leader, 0u);
  const uint64_t other = leader % 3 + 1;
  cluster.crash(other);
  cluster.run_until_idle();
  cluster.post(leader, PeerConnected{{.from = ReplicaId(other),
                                      .store = StoreId(999),
                                      .boot = BootCounter(1),
                                      .cluster = ClusterId(1001),
                                      .feature_level = kFeatureLevel}});
  cluster.post(leader, MessageReceived{ReplicaId(other), raft::HeartbeatReply{.term = Term(99)}});
  cluster.run_until_idle();
  EXPECT_EQ(cluster.engine(leader).leadership().role, raft::Role::Leader);
}

TEST(EngineInitializationTest, RestartContinuesFromTheCheckpointAndTheTail) {
  Cluster cluster(3, [](EngineOptions& options) { options.checkpoint_entries = 10; });
  cluster.start_all();
  ASSERT_NE(cluster.leader(), 0u);
  for (int i = 0; i < 25; ++i) ASSERT_EQ(cluster.run(1 + i % 3, "add 1"), std::to_string(i + 1));
  for (uint64_t id = 1; id <= 3; ++id) {
    SCOPED_TRACE(id);
    EXPECT_GT(cluster.node(id).disk.table.applied().index, Index(10));
    cluster.crash(id);
    cluster.start(id);
    EXPECT_GE(cluster.engine(id).applied(), cluster.node(id).disk.table.applied().index);
    ASSERT_TRUE(cluster.until([&] { return cluster.engine(id).status().state == ReplicaState::Ready; }));
    EXPECT_EQ(cluster.read(id), "25");
    EXPECT_EQ(cluster.read(id, "executed"), "25");
  }
  cluster.pass(1s);
  EXPECT_EQ(cluster.engine(1).status().digest, cluster.engine(2).status().digest);
  EXPECT_EQ(cluster.engine(1).status().digest, cluster.engine(3).status().digest);
}

// Covers: REG_F60 FLT_P02
TEST(EngineInitializationTest, EverybodyMayCrashAtOnceWithoutLosingAnAnswer) {
  Cluster cluster(3, [](EngineOptions& options) { options.checkpoint_entries = 4; });
  cluster.start_all();
  ASSERT_NE(cluster.leader(), 0u);
  for (int round = 1; round <= 5; ++round) {
    ASSERT_EQ(cluster.run(1 + round % 3, "add 1"), std::to_string(round));
    for (uint64_t id = 1; id <= 3; ++id) cluster.crash(id);
    cluster.start_all();
    ASSERT_NE(cluster.leader(), 0u);
    ASSERT_EQ(cluster.read(1), std::to_string(round));
  }
}

TEST(EngineInitializationTest, ASingleMemberRestartsFromItsLogAlone) {
  Cluster cluster(1);
  cluster.start(1);
  ASSERT_EQ(cluster.run(1, "add 3"), "3");
  cluster.crash(1);
  cluster.start(1);
  EXPECT_EQ(cluster.read(1), "3");
  EXPECT_EQ(cluster.run(1, "add 1"), "4");  // sequences start over: it is another origin
}

// ---- refusals of recover()

struct Recovery {
  EngineOptions options{.members = {{ReplicaId(1), "a"}}, .new_cluster = ClusterId(1)};
  std::vector<HostedMachine> machines;
  RecoveredLog log{.store = StoreId(101), .boot = BootCounter(1)};
  Table table;

  Recovery() {
    options.raft.self = ReplicaId(1);
    machines.push_back({kCoordination, std::make_unique<Counter>()});
  }
  absl::StatusOr<std::unique_ptr<Engine>> run() {
    return Engine::recover(std::move(options), std::move(machines), std::move(log), table, {});
  }
  // A log and a checkpoint at its end, as a member leaves them.
  void fill() {
    Cluster cluster(1, [](EngineOptions& made) { made.checkpoint_entries = 1; });
    cluster.start(1);
    cluster.run(1, "add 1");
    cluster.pass(1s);
    const Disk& disk = cluster.node(1).disk;
    log = {.store = disk.store,
           .boot = disk.boot.next(),
           .hard_state = disk.hard_state,
           .base = disk.base,
           .entries = disk.entries};
    table = disk.table;
  }
};

TEST(EngineRecoverTest, IntactStoresAreTakenOver) {
  Recovery recovery;
  recovery.fill();
  const Index applied = recovery.table.applied().index;
  const auto engine = recovery.run();
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ((*engine)->applied(), applied);
  EXPECT_EQ((*engine)->boot(), BootCounter(2));
}

// An install that was interrupted between the state and the log (docs/decisions/0006).
// Covers: REG_R31
TEST(EngineRecoverTest, ALogThatLacksTheCheckpointStartsAgainAfterIt) {
  for (const bool shorter : {true, false}) {
    Recovery recovery;
    recovery.fill();
    const raft::HardState promised = recovery.log.hard_state;
    Position at = recovery.table.applied();
    recovery.table.staged = recovery.table.rows;
    ASSERT_TRUE(recovery.table.install(at, recovery.table.digest()));
    if (shorter) {
      recovery.log.base = {at.index.previous(), at.term};
      recovery.log.entries.clear();
    } else {
      at.term = at.term.next();  // the log has another entry there, which was never committed
      recovery.table.staged = recovery.table.rows;
      ASSERT_TRUE(recovery.table.install(at, recovery.table.digest()));
    }
    const auto engine = recovery.run();
    ASSERT_TRUE(engine.ok()) << engine.status();
    EXPECT_EQ((*engine)->applied(), at.index);
    EngineEffects effects;
    (*engine)->turn({}, effects);
    ASSERT_EQ(effects.writes.size(), 1u);
    EXPECT_EQ(effects.writes[0].reset_to, at);
    const raft::Status status = (*engine)->core()->status();
    EXPECT_EQ(status.last, at);
    EXPECT_GE(status.hard_state.term, promised.term) << "INV_R03";
  }
}

TEST(EngineRecoverTest, ALogThatBeginsAfterTheCheckpointIsDataLoss) {
  Recovery recovery;
  recovery.fill();
  recovery.log.base = {recovery.table.applied().index.next(), Term(9)};
  recovery.log.entries.clear();
  const absl::Status status = recovery.run().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("the log starts after entry"), std::string::npos) << status;
}

// A log store that takes every entry for a command, or gives others back.
TEST(EngineRecoverTest, ALogWhoseFirstEntryDoesNotNameTheClusterIsDataLoss) {
  for (const auto kind : {raft::EntryKind::Command, raft::EntryKind::LeaderStart, static_cast<raft::EntryKind>(77)}) {
    Recovery recovery;
    recovery.log.entries = {{Index(1), Term(1), kind, 0, SharedBytes("what was it")}};
    const absl::Status status = recovery.run().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_NE(status.message().find("does not name the cluster"), std::string::npos) << status;
  }
}

// Covers: FLT_D21
TEST(EngineRecoverTest, ALogThatDoesNotReachItsCheckpointIsRefused) {
  using Damage = std::function<void(RecoveredLog&)>;
  const std::vector<std::pair<std::string, Damage>> damages = {
      {"the log is empty", [](RecoveredLog& log) { log = {.store = log.store, .boot = log.boot}; }},
      {"does not hold that entry", [](RecoveredLog& log) { log.base = {}, log.entries.clear(); }},
      {"does not hold that entry",
       [](RecoveredLog& log) {
         log.entries.empty() ? void(log.base.index = log.base.index.previous()) : log.entries.pop_back();
       }},
      {"does not hold that entry",
       [](RecoveredLog& log) { log.entries.empty() ? log.base.term = Term(9) : log.entries.back().term = Term(9); }},
  };
  for (const auto& [sentence, damage] : damages) {
    Recovery recovery;
    recovery.fill();
    damage(recovery.log);
    const absl::Status status = recovery.run().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << sentence;
    EXPECT_NE(status.message().find(sentence), std::string::npos) << status;
    EXPECT_NE(status.message().find("replace this member"), std::string::npos) << status;
  }
}

// Even an interrupted install leaves a log that knows a term.
// Covers: FLT_D21
TEST(EngineRecoverTest, AnEmptyLogBesideAnInstalledStateIsRefused) {
  Recovery recovery;
  recovery.fill();
  recovery.table.staged = recovery.table.rows;
  ASSERT_TRUE(recovery.table.install(recovery.table.applied(), recovery.table.digest()));
  recovery.log = {.store = recovery.log.store, .boot = recovery.log.boot};
  EXPECT_EQ(recovery.run().status().code(), absl::StatusCode::kDataLoss);
}

// Log and checkpoint are both gone: it would be initialized again, and alone if it is the only member it was given.
// Covers: FLT_D21
TEST(EngineRecoverTest, AStoreThatHadALogAndHasNothingIsRefused) {
  Recovery recovery;
  recovery.log.had_log = true;
  const absl::Status status = recovery.run().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("replace this member"), std::string::npos) << status;
}

TEST(EngineRecoverTest, AMalformedFirstEntryIsDataLossAndNoException) {
  Recovery recovery;
  recovery.fill();
  recovery.table = Table();
  recovery.log.base = {};
  recovery.log.entries = {{Index(1), Term(1), raft::EntryKind::Genesis, 0, SharedBytes("nonsense")}};
  EXPECT_EQ(recovery.run().status().code(), absl::StatusCode::kDataLoss);
}

TEST(EngineRecoverTest, ALogThatHasLostItsGenesisIsQuarantined) {
  Recovery recovery;
  recovery.fill();
  recovery.table = Table();
  recovery.log.base = {};
  recovery.log.entries.clear();
  recovery.log.damaged = {{Index(1)}};
  const auto engine = recovery.run();
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ((*engine)->status().state, ReplicaState::Quarantine);
  EngineEffects effects;
  (*engine)->post(Submit{.ticket = Ticket(1), .deadline = LaggingTime(1h)});
  (*engine)->turn({}, effects);
  ASSERT_EQ(effects.completions.size(), 1u);
  EXPECT_EQ(reason_of(effects.completions[0].status), Reason::NotReady);
  EXPECT_TRUE(effects.sends.empty());
  EXPECT_TRUE(effects.writes.empty());
}

TEST(EngineRecoverTest, MachinesNeedIdsOfTheirOwn) {
  Recovery twice;
  twice.machines.push_back({kCoordination, std::make_unique<Counter>()});
  EXPECT_EQ(twice.run().status().code(), absl::StatusCode::kInvalidArgument);
  Recovery zero;
  zero.machines[0].id = MachineId();
  EXPECT_EQ(zero.run().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(EngineRecoverTest, OptionsNameEveryProblemAtOnce) {
  Recovery recovery;
  recovery.options.members = {{ReplicaId(2), "a"}, {ReplicaId(2), "b"}, {ReplicaId(3), "a"}};
  recovery.options.new_cluster = ClusterId();
  recovery.options.token_base = (uint64_t{1} << 63) - 1;
  recovery.options.window = 1025;
  recovery.options.timers_per_entry = 0;
  recovery.options.request_bytes_max = 0;
  const absl::Status status = recovery.run().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const std::string_view part : {"listed twice", "address a", "not among the members", "new_cluster", "token_base",
                                      "window", "timers_per_entry", "request_bytes_max"}) {
    EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << part << " in " << status;
  }
}

TEST(EngineRecoverTest, ATokenBaseThatLeavesOneTokenIsTaken) {
  Recovery recovery;
  recovery.options.token_base = (uint64_t{1} << 63) - 2;
  EXPECT_TRUE(recovery.run().ok());
}

TEST(EngineRecoverTest, AFirstTurnIsWantedAtOnce) {
  Recovery recovery;
  const auto engine = recovery.run();
  ASSERT_TRUE(engine.ok());
  EXPECT_EQ((*engine)->next_deadline(), LaggingTime::min());
  EngineEffects effects;
  (*engine)->turn({}, effects);
  EXPECT_EQ(effects.writes.size(), 1u);  // the genesis
}

}  // namespace
}  // namespace coordkit::engine
