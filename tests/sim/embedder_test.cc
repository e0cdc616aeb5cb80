// What the author of a test brings to the simulator: machines, programs, scripts, a last word.
#include <gtest/gtest.h>

#include "coordkit/row_table.h"
#include "coordkit/sim/options.h"

namespace coordkit::sim {
namespace {

using namespace std::chrono_literals;

constexpr MachineId kTally{20};

// Counts what it is given; `skew` plants a machine that is not deterministic.
class Tally final : public StateMachine {
 public:
  explicit Tally(uint64_t skew) : skew_(skew) {}
  void found(ClusterId, uint64_t) override {}
  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    for (const Command& command : commands) {
      const std::string* row = rows_.find("n");
      const uint64_t next = (row ? std::stoull(*row) : 0) + 1 + skew_;
      rows_.put("n", std::to_string(next));
      output.results.push_back({.index = command.index, .request = command.request, .bytes = std::to_string(next)});
    }
  }
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
  absl::StatusOr<std::string> query(std::string_view) const override {
    const std::string* row = rows_.find("n");
    return row ? *row : "0";
  }
  void checkpoint(CheckpointBatch& batch) override { rows_.checkpoint(batch); }
  absl::Status restore(const CheckpointView& view) override { return rows_.restore(view); }
  void timers(std::vector<TimerOp>&) const override {}
  uint64_t digest() const override { return rows_.digest(); }

 private:
  const uint64_t skew_;
  RowTable rows_{kTally};
};

// Proposes one after the other; tells how many were answered.
class Counting final : public Program {
 public:
  Counting(Process& process, uint64_t& answered) : process_(process), answered_(answered) { go_on(); }
  void calm() override { calm_ = true; }
  bool done() const override { return !open_; }

 private:
  void go_on() {
    if (calm_) return;
    open_ = true;
    process_.client().propose(kTally, "+", [this](absl::StatusOr<ProposeResult> answer) {
      open_ = false;
      if (answer.ok()) ++answered_;
      process_.after(Duration(process_.random(10'000'000)), [this] { go_on(); });
    });
  }
  Process& process_;
  uint64_t& answered_;
  bool open_ = false;
  bool calm_ = false;
};

struct EmbedderTest : testing::Test {
  SimOptions options(uint64_t seed, std::string profile = "swarm") {
    SimOptions made{.seed = seed, .profile = std::move(profile), .hostile_time = 5s};
    made.built_in_work = false;
    made.machines = [this](ReplicaId id) {
      std::vector<HostedMachine> machines;
      machines.push_back({kTally, std::make_unique<Tally>(id == skewed ? 1 : 0)});
      return machines;
    };
    made.program = [this](Process& process) { return std::make_unique<Counting>(process, answered); };
    made.check = [this](ReplicaId, const Engine& replica) -> std::string {
      ++checked;
      const uint64_t count = std::stoull(*replica.machine(kTally)->query(""));
      return count >= answered ? "" : "counted " + std::to_string(count) + ", answered " + std::to_string(answered);
    };
    return made;
  }
  uint64_t answered = 0;
  uint64_t checked = 0;
  ReplicaId skewed;
};

TEST_F(EmbedderTest, AMachineOfOnesOwnLivesThroughEveryFault) {
  uint64_t crashes = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    answered = 0;
    const Report report = simulate(options(seed));
    ASSERT_EQ(report.violation, "") << "seed " << seed << ": " << report.what;
    EXPECT_GT(answered, 0u);
    crashes += report.crashes;
  }
  EXPECT_GT(crashes, 10u);
  EXPECT_GE(checked, 20u);
}

TEST_F(EmbedderTest, TheSameSeedIsTheSameRun) {
  const Report first = simulate(options(3));
  const uint64_t answered_first = std::exchange(answered, 0);
  const Report second = simulate(options(3));
  EXPECT_EQ(first.trace_hash, second.trace_hash);
  EXPECT_EQ(answered, answered_first);
}

TEST_F(EmbedderTest, INV_R14_AMachineThatIsNotDeterministicIsFound) {
  skewed = ReplicaId(2);
  SimOptions three = options(1, "calm");
  three.nodes = 3;
  EXPECT_EQ(simulate(three).violation, "INV_R14");
}

TEST_F(EmbedderTest, TheLastWordIsTheAuthors) {
  SimOptions made = options(1, "calm");
  made.check = [](ReplicaId id, const Engine&) { return id == ReplicaId(1) ? std::string("not as it should be") : ""; };
  const Report report = simulate(made);
  EXPECT_EQ(report.violation, "CHECK");
  EXPECT_EQ(report.what, "n1: not as it should be");
}

TEST_F(EmbedderTest, AProgramThatFailsOrNeverEndsIsAViolation) {
  struct Failing final : Program {
    explicit Failing(Process& process) {
      process.after(1s, [&process] { process.fail("seen at node " + std::to_string(process.node().value())); });
    }
  };
  SimOptions made = options(1, "calm");
  made.program = [](Process& process) { return std::make_unique<Failing>(process); };
  EXPECT_EQ(simulate(made).violation, "PROGRAM");
  struct Endless final : Program {
    bool done() const override { return false; }
  };
  made.program = [](Process&) { return std::make_unique<Endless>(); };
  EXPECT_NE(simulate(made).violation, "");
}

TEST_F(EmbedderTest, AScriptCrashesCutsAndHeals) {
  SimOptions made = options(1, "calm");
  made.nodes = 3;
  ReplicaId first, second;
  std::vector<std::string> story;
  made.script = [&](Conductor& run) {
    run.at(1s, [&] { first = run.leader(), run.crash(first); });
    run.at(2s, [&] { second = run.leader(), run.cut_off(second); });
    run.at(3s, [&] {
      if (run.leader() == second || !run.leader()) story.push_back("nobody else can lead: one is down, one is cut off");
      run.start(first);
    });
    run.at(4s, [&] { run.rejoin(second), run.freeze(run.leader()), run.clock_rate(ReplicaId(1), -10'000); });
  };
  const Report report = simulate(made);
  EXPECT_EQ(report.violation, "") << report.what;
  EXPECT_TRUE(first && second && first != second);
  EXPECT_EQ(report.crashes, 1u);
  EXPECT_GE(report.elections, 3u);
  EXPECT_EQ(story.size(), 1u);
}

TEST_F(EmbedderTest, BadOptionsAreSaidSo) {
  SimOptions made = options(1);
  made.nodes = 10;
  EXPECT_EQ(simulate(made).violation, "OPTIONS");
  made = options(1, "calm");
  made.script = [](Conductor& run) { run.clock_rate(ReplicaId(1), 50'000); };
  EXPECT_EQ(simulate(made).violation, "OPTIONS");
  made.script = [](Conductor& run) { run.crash(ReplicaId(99)), run.cut(ReplicaId(1), ReplicaId(1)), run.start(ReplicaId()); };
  EXPECT_EQ(simulate(made).violation, "");
}

// A process that was killed has no callbacks left to run, and a frozen one runs them when it goes on.
TEST_F(EmbedderTest, FLT_P03_TimersWaitForAFrozenProcessAndDieWithADeadOne) {
  struct Clock final : Program {
    Clock(Process& process, std::vector<Duration>& ticks) : process_(process), ticks_(ticks) { tick(); }
    void tick() {
      if (process_.node() == ReplicaId(1)) ticks_.push_back(process_.now());
      process_.after(100ms, [this] { tick(); });
    }
    Process& process_;
    std::vector<Duration>& ticks_;
  };
  std::vector<Duration> ticks;
  SimOptions made = options(1, "calm");
  made.nodes = 3;
  made.hostile_time = 10s;
  made.program = [&](Process& process) { return std::make_unique<Clock>(process, ticks); };
  made.script = [](Conductor& run) {
    run.at(1050ms, [&] { run.freeze(ReplicaId(1)); });
    run.at(2050ms, [&] { run.resume(ReplicaId(1)); });
    run.at(3s, [&] { run.crash(ReplicaId(1)); });
    run.at(4s, [&] { run.start(ReplicaId(1)); });
  };
  ASSERT_EQ(simulate(made).violation, "");
  const auto between = [&](Duration from, Duration to) {
    return std::count_if(ticks.begin(), ticks.end(), [&](Duration at) { return at > from && at < to; });
  };
  EXPECT_EQ(between(1050ms, 2050ms), 0);
  EXPECT_GT(between(2040ms, 3s), 5);
  EXPECT_EQ(between(3s, 4s), 0);
  EXPECT_GT(between(3999ms, 5s), 5);
}

}  // namespace
}  // namespace coordkit::sim
