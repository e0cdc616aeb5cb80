// Own state machines at door 1: beside coordkit's in one log, on real sockets and files.
#include <array>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "coordkit/coordkit.h"
#include "examples/02_ledger/ledger.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using example::kLedger;
using example::Ledger;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The words that other threads report, and a test waits for.
class Received {
 public:
  void add(std::string word) {
    const std::lock_guard lock(mutex_);
    words_.push_back(std::move(word));
    wake_.notify_all();
  }
  std::vector<std::string> first(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(wake_.wait_for(lock, kPatience, [&] { return words_.size() >= count; }));
    return {words_.begin(), words_.begin() + static_cast<ptrdiff_t>(std::min(count, words_.size()))};
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::string> words_;
};

class OwnMachineTest : public ::testing::Test {
 protected:
  ReplicaOptions with_ledger(uint64_t id) {
    ReplicaOptions options = cluster_.options(id);
    options.machines.push_back({.id = kLedger,
                                .make = [] { return std::make_unique<Ledger>(); },
                                .on_event = [this, id](const OwnEvent& event) { received_[id].add(event.bytes); }});
    return options;
  }
  void open_all() {
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_NO_FATAL_FAILURE(cluster_.open(with_ledger(id)));
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  }
  std::string propose(uint64_t id, const std::string& command, ProposeOptions options = {.timeout = kPatience}) {
    const absl::StatusOr<ProposeResult> result = cluster_[id].propose(kLedger, command, std::move(options));
    EXPECT_THAT(result.status(), IsOk());
    return result.ok() ? result->bytes : "";
  }
  std::string balance(uint64_t id, const std::string& name) {
    const absl::StatusOr<QueryResult> result = cluster_[id].query(kLedger, name, {.timeout = kPatience});
    EXPECT_THAT(result.status(), IsOk());
    return result.ok() ? result->bytes : "";
  }

  std::array<Received, 4> received_;  // by replica id
  Cluster cluster_;
};

// Covers: S-60
TEST_F(OwnMachineTest, CommandsOfEveryReplicaReachItAndEveryReplicaAnswersQuestions) {
  open_all();
  EXPECT_EQ(propose(1, "deposit anna 10"), "10");
  EXPECT_EQ(propose(2, "deposit anna 10"), "20");
  EXPECT_EQ(propose(3, "move anna ben 5"), "15");
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(balance(id, "anna"), "15") << id;
}

// Covers: S-60
TEST_F(OwnMachineTest, EveryReplicaHearsEveryEventInTheOrderOfTheLog) {
  open_all();
  propose(1, "deposit anna 10");
  for (const char* amount : {"1", "2", "3"}) propose(2, std::string("move anna ben ") + amount);
  for (uint64_t id = 1; id <= 3; ++id) {
    EXPECT_THAT(received_[id].first(3), ElementsAre("anna paid 1 to ben", "anna paid 2 to ben", "anna paid 3 to ben")) << id;
  }
}

// Covers: S-60
TEST_F(OwnMachineTest, AnAsyncCommandIsAnsweredAndMayAskForMore) {
  open_all();
  Received answers;
  cluster_[1].propose_async(kLedger, "deposit anna 10", {.timeout = kPatience}, [&](absl::StatusOr<ProposeResult> result) {
    answers.add(result.ok() ? result->bytes : result.status().ToString());
    cluster_[1].query_async(kLedger, "anna", {.timeout = kPatience}, [&](absl::StatusOr<QueryResult> seen) {
      answers.add(seen.ok() ? "saw " + seen->bytes : seen.status().ToString());
    });
  });
  EXPECT_THAT(answers.first(2), ElementsAre("10", "saw 10"));
}

// Covers: S-60
TEST_F(OwnMachineTest, AFencedWriteOfAFormerHolderChangesNothing) {
  open_all();
  propose(1, "deposit anna 10");
  Session me = cluster_.session(1), other = cluster_.session(2);
  absl::StatusOr<Grant> grant = me.acquire("cashier");
  ASSERT_THAT(grant.status(), IsOk());
  const Fence fence = fenced_by(*grant);
  EXPECT_EQ(propose(3, "move anna ben 1", {.timeout = kPatience, .fence = fence}), "9");  // from anywhere
  EXPECT_THAT(cluster_[1].put("till", "open", {.timeout = kPatience, .fence = fence}).status(), IsOk());
  ASSERT_THAT(grant->release(), IsOk());
  absl::StatusOr<Grant> next = other.acquire("cashier");
  ASSERT_THAT(next.status(), IsOk());

  for (const absl::Status& refused :
       {cluster_[1].propose(kLedger, "move anna ben 1", {.timeout = kPatience, .fence = fence}).status(),
        cluster_[1].put("till", "mine", {.timeout = kPatience, .fence = fence}).status(),
        cluster_[1].erase("till", {.timeout = kPatience, .fence = fence}).status()}) {
    EXPECT_THAT(refused, Is(Reason::Fenced));
    EXPECT_EQ(outcome_of(refused), Outcome::NoEffect);
  }
  EXPECT_EQ(balance(2, "anna"), "9");
  const absl::StatusOr<GetResult> till = cluster_[2].get("till");
  ASSERT_THAT(till.status(), IsOk());
  EXPECT_EQ(till->entry->value, "open");
  EXPECT_EQ(propose(2, "move anna ben 1", {.timeout = kPatience, .fence = fenced_by(*next)}), "8");
}

// Covers: S-60
TEST_F(OwnMachineTest, AFenceOfAnEmptyGrantAndAnUnknownMachineAreRefusedAtTheDoor) {
  open_all();
  EXPECT_THAT(cluster_[1].propose(kLedger, "x", {.fence = fenced_by(Grant())}).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(cluster_[1].propose(MachineId(17), "x").status(), Is(Reason::Unsupported));
  EXPECT_THAT(cluster_[1].query(MachineId(17), "x").status(), Is(Reason::Unsupported));
  EXPECT_THAT(cluster_[1].propose(kCoordination, "x").status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(cluster_[1].propose(kLedger, std::string(2 << 20, 'x')).status(), Is(Reason::RequestTooLarge));
}

// Covers: S-60
TEST_F(OwnMachineTest, StateSurvivesARestartWithAndWithoutACheckpoint) {
  for (const uint64_t entries : {uint64_t{1}, uint64_t{1} << 40}) {
    SCOPED_TRACE(entries);
    Cluster single(1);
    const auto options = [&] {
      ReplicaOptions made = single.options(1);
      made.machines.push_back({.id = kLedger, .make = [] { return std::make_unique<Ledger>(); }});
      made.checkpoint_entries = entries;
      return made;
    };
    ASSERT_NO_FATAL_FAILURE(single.open(options()));
    ASSERT_THAT(single[1].wait_ready(kPatience), IsOk());
    ASSERT_THAT(single[1].propose(kLedger, "deposit anna 10").status(), IsOk());
    ASSERT_THAT(single[1].put("k", "v").status(), IsOk());  // so that a checkpoint behind the deposit is requested
    single.close(1);

    // Without the machine it does not start, and nothing is lost by trying.
    EXPECT_THAT(Replica::open(single.options(1)).status(), HasCode(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(Replica::open(single.options(1)).status().message()), HasSubstr("machine 16"));

    ASSERT_NO_FATAL_FAILURE(single.open(options()));
    ASSERT_THAT(single[1].wait_ready(kPatience), IsOk());
    const absl::StatusOr<QueryResult> anna = single[1].query(kLedger, "anna");
    ASSERT_THAT(anna.status(), IsOk());
    EXPECT_EQ(anna->bytes, "10");
  }
}

// Covers: S-60
TEST_F(OwnMachineTest, AMachineThatIsAddedLaterStartsBlankOnEveryReplica) {
  cluster_.open_all();
  ASSERT_THAT(cluster_[1].put("k", "v").status(), IsOk());
  for (uint64_t id = 1; id <= 3; ++id) {  // one after the other, while the others continue
    cluster_.close(id);
    ASSERT_NO_FATAL_FAILURE(cluster_.open(with_ledger(id)));
    ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  }
  EXPECT_EQ(propose(2, "deposit anna 10"), "10");
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(balance(id, "anna"), "10") << id;
}

class Thrower final : public StateMachine {
 public:
  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command>, ApplyOutput&) override { throw std::runtime_error("out of order"); }
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
  absl::StatusOr<std::string> query(std::string_view) const override { return std::string(); }
  void checkpoint(CheckpointBatch&) override {}
  absl::Status restore(const CheckpointView&) override { return absl::OkStatus(); }
  void timers(std::vector<TimerOp>&) const override {}
  uint64_t digest() const override { return 0; }
};

// Covers: FLT_A07
TEST_F(OwnMachineTest, AMachineThatThrowsHaltsItsReplicaAndNamesTheEntryAndTheProcessLives) {
  Cluster single(1);
  ReplicaOptions options = single.options(1);
  Received halts;
  options.machines.push_back({.id = kLedger, .make = [] { return std::make_unique<Thrower>(); }});
  options.on_halt = [&](const absl::Status& why) { halts.add(std::string(why.message())); };
  ASSERT_NO_FATAL_FAILURE(single.open(std::move(options)));
  ASSERT_THAT(single[1].wait_ready(kPatience), IsOk());
  const absl::Status status = single[1].propose(kLedger, "x", {.timeout = kPatience}).status();
  EXPECT_THAT(status, Is(Reason::ReplicaFailed));
  EXPECT_EQ(outcome_of(status), Outcome::Unknown);
  const Health health = single[1].health();
  EXPECT_EQ(health.state, ReplicaState::Halted);
  EXPECT_THAT(halts.first(1).at(0), HasSubstr("machine 16 threw at entries " + std::to_string(health.applied.value() + 1)));
  EXPECT_THAT(single[1].put("k", "v").status(), Is(Reason::ReplicaFailed));
}

TEST_F(OwnMachineTest, WhoWaitsUntilAReplicaIsReadyIsToldHowItIsNow) {
  Cluster single(1);
  ReplicaOptions options = single.options(1);
  options.machines.push_back({.id = kLedger, .make = [] { return std::make_unique<Thrower>(); }});
  ASSERT_NO_FATAL_FAILURE(single.open(std::move(options)));
  ASSERT_THAT(single[1].wait_ready(kPatience), IsOk());
  ASSERT_THAT(single[1].propose(kLedger, "x", {.timeout = kPatience}).status(), Is(Reason::ReplicaFailed));
  EXPECT_THAT(single[1].wait_ready(0s), Is(Reason::NotReady)) << "nobody has looked since it was ready";
}

class StandsInApply final : public StateMachine {
 public:
  struct Moments {
    std::promise<void> stands, goes_on;
  };
  explicit StandsInApply(Moments& moments) : moments_(moments) {}
  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    moments_.stands.set_value();
    moments_.goes_on.get_future().wait();
    for (const Command& command : commands) output.answer(command.index, command.request, "done");
  }
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
  absl::StatusOr<std::string> query(std::string_view) const override { return std::string(); }
  void checkpoint(CheckpointBatch&) override {}
  absl::Status restore(const CheckpointView&) override { return absl::OkStatus(); }
  void timers(std::vector<TimerOp>&) const override {}
  uint64_t digest() const override { return 0; }

 private:
  Moments& moments_;
};

TEST_F(OwnMachineTest, WhoWaitsUntilAReplicaIsReadyDoesNotWaitForAnApplyThatStands) {
  StandsInApply::Moments moments;
  Cluster single(1);
  ReplicaOptions options = single.options(1);
  options.machines.push_back({.id = kLedger, .make = [&] { return std::make_unique<StandsInApply>(moments); }});
  ASSERT_NO_FATAL_FAILURE(single.open(std::move(options)));
  ASSERT_THAT(single[1].wait_ready(kPatience), IsOk());
  std::thread proposing([&] { EXPECT_THAT(single[1].propose(kLedger, "x", {.timeout = kPatience}).status(), IsOk()); });
  moments.stands.get_future().wait();
  auto waits = std::async(std::launch::async, [&] { return single[1].wait_ready(0s); });
  EXPECT_EQ(waits.wait_for(kPatience), std::future_status::ready);
  moments.goes_on.set_value();
  EXPECT_THAT(waits.get(), Is(Reason::CallTimeout));
  proposing.join();
  EXPECT_THAT(single[1].wait_ready(kPatience), IsOk()) << "the turn that answered may not have ended yet";
}

// Covers: S-28 FLT_A07
TEST_F(OwnMachineTest, WatchesAndMirrorsOfAHaltedReplicaEnd) {
  Cluster single(1);
  ReplicaOptions options = single.options(1);
  options.machines.push_back({.id = kLedger, .make = [] { return std::make_unique<Thrower>(); }});
  ASSERT_NO_FATAL_FAILURE(single.open(std::move(options)));
  ASSERT_THAT(single[1].wait_ready(kPatience), IsOk());
  Watch watch(single[1], WatchOptions::prefix(""));
  EXPECT_THAT(watch.next(kPatience).status(), IsOk());
  Config<size_t> config(single[1], MirrorOptions::prefix(""), [](const MirrorEntries& all) { return all.size(); });
  ASSERT_THAT(config.wait_ready(kPatience), IsOk());
  EXPECT_THAT(single[1].propose(kLedger, "x", {.timeout = kPatience}).status(), Is(Reason::ReplicaFailed));
  EXPECT_THAT(watch.next(kPatience).status(), Is(Reason::ReplicaFailed));
  EXPECT_TRUE(eventually([&] { return reason_of(config.problem()) == Reason::ReplicaFailed; }));
  EXPECT_THAT(Watch(single[1], WatchOptions::prefix("")).next(kPatience).status(), Is(Reason::ReplicaFailed));
  EXPECT_THAT(Mirror(single[1], MirrorOptions::prefix("")).wait_ready(kPatience), Is(Reason::ReplicaFailed));
}

// On one replica it counts every command twice.
class Miscounter final : public StateMachine {
 public:
  explicit Miscounter(uint64_t step) : step_(step) {}
  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    for (const Command& command : commands) {
      count_ += step_;
      output.answer(command, "");
    }
  }
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
  absl::StatusOr<std::string> query(std::string_view) const override { return std::to_string(count_); }
  void checkpoint(CheckpointBatch&) override {}
  absl::Status restore(const CheckpointView&) override { return absl::OkStatus(); }
  void timers(std::vector<TimerOp>&) const override {}
  uint64_t digest() const override { return count_; }

 private:
  uint64_t step_;
  uint64_t count_ = 0;
};

// Covers: FLT_A08
TEST_F(OwnMachineTest, AReplicaWhoseMachineIsNotDeterministicIsReportedByAllAndStepsAside) {
  for (uint64_t id = 1; id <= 3; ++id) {
    ReplicaOptions options = cluster_.options(id);
    options.digest_entries = 128;
    options.machines.push_back({.id = kLedger, .make = [id] { return std::make_unique<Miscounter>(id == 2 ? 2 : 1); }});
    options.on_divergence = [this, id](const Divergence& found) {
      if (found.verdict != Divergence::Verdict::Unclear) received_[id].add(found.sentence);
    };
    ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(options)));
  }
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster_[id].wait_ready(kPatience), IsOk());
  for (int i = 0; i < 128; ++i) {
    cluster_[1].propose_async(kLedger, "x", {.timeout = kPatience}, [](absl::StatusOr<ProposeResult>) {});
  }
  EXPECT_THAT(received_[2].first(1).at(0), HasSubstr("this state is not the one that the cluster agrees on"));
  for (const uint64_t id : {1, 3}) {
    EXPECT_THAT(received_[id].first(1).at(0), HasSubstr("that of replica 2"));
    EXPECT_THAT(cluster_[id].health().warnings, Contains(HasSubstr("that of replica 2")));
    EXPECT_THAT(cluster_[id].put("k", "v", {.timeout = kPatience}).status(), IsOk());
  }
  const Health health = cluster_[2].health();
  EXPECT_EQ(health.state, ReplicaState::Quarantine);
  for (const uint64_t id : {1, 3}) {
    Health seen = cluster_[id].health();
    while (seen.missing.empty()) seen = cluster_[id].health();  // until it has reported it
    EXPECT_THAT(seen.warnings, Contains(HasSubstr("replica 2 is in quarantine and does not vote"))) << id;
  }
  EXPECT_THAT(health.reason, HasSubstr("digest"));
  EXPECT_THAT(cluster_[2].put("k", "v", {.timeout = kPatience}).status(), Is(Reason::NotReady));
}

// ---- options

class BadMachineTest : public ::testing::Test {
 protected:
  void expect_refused(std::vector<OwnMachine> machines, const std::string& words) {
    ReplicaOptions options = cluster_.options(1);
    options.machines = std::move(machines);
    const absl::Status status = Replica::open(std::move(options)).status();
    EXPECT_THAT(status, Is(Reason::InvalidArgument));
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }
  static std::unique_ptr<StateMachine> ledger() { return std::make_unique<Ledger>(); }
  Cluster cluster_{1};
};

// Covers: S-60
TEST_F(BadMachineTest, AnIdBelowSixteenIsRefused) {
  for (const uint64_t id : {0, 1, 15}) expect_refused({{.id = MachineId(id), .make = ledger}}, "from 16 up");
}

// Covers: S-60
TEST_F(BadMachineTest, OneIdForTwoMachinesIsRefused) {
  expect_refused({{.id = kLedger, .make = ledger}, {.id = kLedger, .make = ledger}}, "machine 16 is listed twice");
}

// Covers: S-60
TEST_F(BadMachineTest, AFactoryThatIsMissingThrowsOrMakesNothing) {
  expect_refused({{.id = kLedger}}, "no factory");
  expect_refused({{.id = kLedger, .make = [] { return std::unique_ptr<StateMachine>(); }}}, "it returned null");
  expect_refused({{.id = kLedger, .make = []() -> std::unique_ptr<StateMachine> { throw std::runtime_error("no ledger"); }}},
                 "no ledger");
}

}  // namespace
}  // namespace coordkit::testkit
