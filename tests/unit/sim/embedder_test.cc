// Everything that the author of a test brings to the simulator: machines, programs, scripts, sizes, a final check.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/error.h"
#include "coordkit/ports/row_table.h"
#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {
namespace {

using namespace std::chrono_literals;

constexpr MachineId kTally{20};

// Counts what it is given; `skew` plants a machine that is not deterministic.
class Tally final : public StateMachine {
 public:
  explicit Tally(uint64_t skew) : skew_(skew) {}
  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    for (const Command& command : commands) {
      const uint64_t next = std::stoull(std::string(rows_.find("n").value_or("0"))) + 1 + skew_;
      rows_.put("n", std::to_string(next));
      output.answer(command, std::to_string(next));
    }
  }
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
  absl::StatusOr<std::string> query(std::string_view) const override { return std::string(rows_.find("n").value_or("0")); }
  void checkpoint(CheckpointBatch& batch) override { rows_.checkpoint(batch); }
  bool forget_stored() override { return rows_.forget_stored(); }
  absl::Status restore(const CheckpointView& view) override { return rows_.restore(view); }
  void timers(std::vector<TimerOp>&) const override {}
  uint64_t digest() const override { return rows_.digest(); }

 private:
  const uint64_t skew_;
  RowTable rows_{kTally};
};

// Has a row for each of the last commands.
class Recent final : public StateMachine {
 public:
  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    for (const Command& command : commands) {
      rows_.put(std::to_string(command.index.value() % 200), std::string(command.payload));
      output.answer(command, "");
    }
  }
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
  absl::StatusOr<std::string> query(std::string_view) const override { return ""; }
  void checkpoint(CheckpointBatch& batch) override { rows_.checkpoint(batch); }
  bool forget_stored() override { return rows_.forget_stored(); }
  absl::Status restore(const CheckpointView& view) override { return rows_.restore(view); }
  void timers(std::vector<TimerOp>&) const override {}
  uint64_t digest() const override { return rows_.digest(); }

 private:
  RowTable rows_{kTally};
};

// Proposes one after the other; reports how many were answered.
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

struct EmbedderTest : ::testing::Test {
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

// Covers: INV_R14
TEST_F(EmbedderTest, AMachineThatIsNotDeterministicIsFound) {
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
      if (run.leader() == second || !run.leader()) story.emplace_back("nobody else can lead: one is down, one is cut off");
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
  made = options(1);
  made.nodes = 3;
  made.founders = 4;
  EXPECT_EQ(simulate(made).what, "4 founders of 3 replicas: some of the replicas found the cluster");
  for (const SimSizes sizes : {SimSizes{.checkpoint_entries = 0}, SimSizes{.state_chunk_bytes = 0}}) {
    made = options(1);
    made.sizes = sizes;
    EXPECT_EQ(simulate(made).violation, "OPTIONS");
  }
}

TEST_F(EmbedderTest, ARunEndsWhenEnoughWasSeen) {
  for (const bool by_script : {true, false}) {
    SimOptions made = options(1, "calm");
    made.hostile_time = 600s;
    const auto counting = made.program;
    made.program = [=](Process& process) {
      if (!by_script) process.after(1s, [&process] { process.end_run(); });
      return counting(process);
    };
    if (by_script) {
      made.script = [](Conductor& run) { run.at(1s, [&run] { run.end_run(); }); };
    }
    answered = checked = 0;
    const Report report = simulate(made);
    EXPECT_EQ(report.violation, "") << report.what;
    EXPECT_GE(report.virtual_time, 1s);
    EXPECT_LT(report.virtual_time, 60s);
    EXPECT_EQ(checked, report.nodes) << "what follows the faults is done as ever";
  }
}

TEST_F(EmbedderTest, InstallsNeedNoLuckySeed) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SimOptions made = options(seed, "calm");
    made.nodes = 3;
    made.sizes = {.checkpoint_entries = 8, .log_retained_bytes = 1, .state_chunk_bytes = 256};
    made.script = [](Conductor& run) {
      run.at(500ms, [&run] { run.crash(ReplicaId(3)); });
      run.at(2s, [&run] { run.start(ReplicaId(3)); });
    };
    answered = 0;
    const Report report = simulate(made);
    EXPECT_EQ(report.violation, "") << "seed " << seed << ": " << report.what;
    EXPECT_GT(report.installs, 0u) << "seed " << seed;
  }
}

// Covers: INV_R20
TEST_F(EmbedderTest, StatesInTheSmallestPiecesArriveBeforeTheEnd) {
  SimOptions made{.seed = 343, .profile = "swarm", .hostile_time = 15s, .black_box = BlackBox::Never};
  made.sizes = {.checkpoint_entries = 1, .log_retained_bytes = 0, .state_chunk_bytes = 1};
  const Report report = simulate(made);
  EXPECT_EQ(report.violation, "") << report.what;
  EXPECT_GT(report.installs, 0u);
}

// Writes more, all the time, than is kept of the log for a member that is sent the state: it gets there once the work ends.
// Covers: INV_R20
TEST_F(EmbedderTest, AProgramIsToldToEndItsWorkWhereThatKeepsAMemberFromCatchingUp) {
  struct Busy final : Program {
    explicit Busy(Process& process) : process_(process) { go_on(); }
    void calm() override { ++calms_; }
    bool done() const override { return calms_ == 1; }
    void go_on() {
      if (calms_ > 0) return;
      process_.client().propose(kTally, std::string(250, '+'), [](const absl::StatusOr<ProposeResult>&) {});
      process_.after(5ms, [this] { go_on(); });
    }
    Process& process_;
    int calms_ = 0;
  };
  SimOptions made = options(1, "calm");
  made.nodes = 2;
  made.founders = 1;
  made.hostile_time = 2s;
  made.sizes = {.checkpoint_entries = 1, .log_retained_bytes = 0, .state_chunk_bytes = 256};
  made.machines = hosting<Recent>(kTally);
  made.check = {};
  made.program = [](Process& process) { return std::make_unique<Busy>(process); };
  const Report report = simulate(made);
  EXPECT_EQ(report.violation, "") << report.what;
}

// An operator inside the cluster: adds a new member, transfers leadership to it, removes another member.
// Covers: S-61
TEST_F(EmbedderTest, AProgramChangesMembersAndHandsLeadershipOver) {
  using Kind = raft::MemberChange::Kind;
  SimOptions made = options(1, "calm");
  made.nodes = 4;
  made.founders = 3;
  made.hostile_time = 20s;
  std::vector<absl::Status> answers;
  std::vector<ReplicaId> leaders;
  struct Operator final : Program {
    Operator(Process& process, std::vector<absl::Status>& answers) : process_(process), answers_(answers) {
      if (process.node() == ReplicaId(1)) process.after(1s, [this] { go_on(); });
    }
    void go_on() {
      const auto done = [this](absl::Status status) {
        answers_.push_back(std::move(status));
        process_.after(500ms, [this] { go_on(); });
      };
      if (answers_.empty()) {
        const raft::Member new_member{.id = ReplicaId(4)};
        process_.change_members(
            {{.kind = Kind::AddLearner, .member = new_member}, {.kind = Kind::Promote, .member = new_member}}, 5s, done);
      } else if (answers_.size() == 1) {
        process_.transfer_leadership(ReplicaId(4), 2s, done);
      } else if (answers_.size() == 2) {
        process_.change_members({{.kind = Kind::Remove, .member = {.id = ReplicaId(2)}}}, 5s, done);
      } else if (answers_.size() == 3) {
        process_.change_members({{.kind = Kind::Promote, .member = {.id = ReplicaId(2)}}}, 5s, done);
      }
    }
    Process& process_;
    std::vector<absl::Status>& answers_;
  };
  made.program = [&answers](Process& process) { return std::make_unique<Operator>(process, answers); };
  made.script = [&leaders](Conductor& run) {
    run.at(900ms, [&] { leaders.push_back(run.leader()); });
    run.at(9s, [&] { leaders.push_back(run.leader()), run.end_run(); });
  };
  made.check = nullptr;
  const Report report = simulate(made);
  EXPECT_EQ(report.violation, "") << report.what;
  ASSERT_EQ(answers.size(), 4u);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(answers[i].ok()) << i << ": " << answers[i];
  EXPECT_EQ(reason_of(answers[3]), Reason::MemberNotFound) << answers[3];
  ASSERT_EQ(leaders.size(), 2u);
  EXPECT_NE(leaders[0], ReplicaId(4)) << "it was blank";
  EXPECT_EQ(leaders[1], ReplicaId(4));
}

// A service that saves its session, and takes it over after a restart, whatever the profile.
class Heir final : public Program {
 public:
  struct Paper {
    SessionId id;
    std::string secret;
    Token token;
  };
  struct Findings {
    std::optional<Paper> paper;
    std::vector<Token> tokens;  // of the lock, in order of arrival
    uint64_t resumed = 0;
  };
  Heir(Process& process, Findings& findings, Duration ttl) : process_(process), findings_(findings), ttl_(ttl) {
    if (process.node() == ReplicaId(1)) go_on();
  }

 private:
  void go_on() { findings_.paper ? resume() : open(); }
  void open() {
    process_.client().open_session({.ttl = ttl_}, [this](absl::StatusOr<SessionRef> session) {
      if (!session.ok()) return process_.after(100ms, [this] { go_on(); });
      session_ = *session;
      process_.client().acquire(session_, "post", {}, [this](absl::StatusOr<HoldRef> hold) {
        if (!hold.ok()) return;
        findings_.tokens.push_back((*hold)->token());
        findings_.paper = Paper{session_->id(), session_->secret(), (*hold)->token()};
      });
    });
  }
  void resume() {
    process_.client().resume_session(findings_.paper->id, findings_.paper->secret, {},
                                     [this](absl::StatusOr<ResumedSession> found) {
                                       if (reason_of(found.status()) == Reason::SessionNotFound)
                                         return findings_.paper.reset(), open();
                                       if (!found.ok()) return process_.after(100ms, [this] { go_on(); });
                                       ++findings_.resumed;
                                       session_ = found->session;
                                       for (const HoldRef& hold : found->holds) findings_.tokens.push_back(hold->token());
                                     });
  }
  Process& process_;
  Findings& findings_;
  const Duration ttl_;
  SessionRef session_;
};

// Covers: S-45
TEST_F(EmbedderTest, AProgramResumesItsSessionUnderEveryProfile) {
  for (const std::string_view profile : profiles()) {
    Heir::Findings findings;
    SimOptions made = options(1, std::string(profile));
    made.hostile_time = 8s;
    made.reduction.faults.emplace();  // none but the script's
    made.program = [&findings](Process& process) { return std::make_unique<Heir>(process, findings, 30s); };
    made.script = [](Conductor& run) {
      run.at(2s, [&run] { run.crash(ReplicaId(1)); });
      run.at(2500ms, [&run] { run.start(ReplicaId(1)); });
    };
    made.check = nullptr;
    const Report report = simulate(made);
    EXPECT_EQ(report.violation, "") << profile << ": " << report.what;
    EXPECT_GT(findings.resumed, 0u) << profile;
    EXPECT_TRUE(std::is_sorted(findings.tokens.begin(), findings.tokens.end(), std::less_equal<>())) << profile;
  }
}

// Its process dies for good shortly before the faults end: that the session outlives the TTLs of the seed's own work is no
// reason to complain.
// Covers: INV_L11
TEST_F(EmbedderTest, TheDeadAreWaitedForByTheirOwnTtl) {
  Heir::Findings findings;
  SimOptions made = options(1, "calm");
  made.nodes = 3;
  made.program = [&findings](Process& process) {
    return std::make_unique<Heir>(process, findings, process.now() < 1s ? Duration(40s) : Duration(1s));
  };
  made.script = [&findings](Conductor& run) {
    run.at(2s, [&] { run.crash(ReplicaId(1)), findings.paper.reset(), run.end_run(); });
  };
  made.check = nullptr;
  const Report report = simulate(made);
  EXPECT_EQ(report.violation, "") << report.what;
  EXPECT_GE(findings.tokens.size(), 1u);
  EXPECT_GE(report.expiries, 1u);
}

// The choices of a program's callbacks when they learn that their process died: call it, fail, or start over.
struct Dying final : Program {
  enum class Last : uint8_t { Asks, Fails, FailsInMembers };
  Dying(Process& process, Last last, uint64_t& answers) : process_(process), last_(last), answers_(answers) {
    process.after(1s, [this] {
      process_.client().acquire(nullptr, "x", {}, [](const absl::StatusOr<HoldRef>&) {});
      for (int i = 0; i < 3; ++i) {
        process_.client().open_session({.ttl = 5s},
                                       [this](const absl::StatusOr<SessionRef>& session) { end(session.status()); });
      }
      if (last_ != Last::FailsInMembers) return;
      process_.change_members({{.kind = raft::MemberChange::Kind::Promote, .member = {.id = ReplicaId(9)}}}, 60s,
                              [this](const absl::Status& status) { end(status); });
    });
  }
  ~Dying() override { answers_ += process_.client().status().calls; }
  void end(const absl::Status& status) {
    if (reason_of(status) != Reason::Stopped) return;
    ++answers_;
    if (last_ != Last::Asks) process_.fail("stopped in the middle");
    process_.machine(kTally);
    process_.after(1ms, [] {});
    process_.client().open_session(
        {.ttl = 5s}, [this](const absl::StatusOr<SessionRef>& session) { EXPECT_FALSE(session.ok()), ++answers_; });
    process_.transfer_leadership({}, 1s, [this](const absl::Status& late) { EXPECT_FALSE(late.ok()), ++answers_; });
  }
  Process& process_;
  const Last last_;
  uint64_t& answers_;
};

// Covers: FLT_P01
TEST_F(EmbedderTest, ADyingProcessMayBeAskedForAnything) {
  for (const Dying::Last last : {Dying::Last::Asks, Dying::Last::Fails, Dying::Last::FailsInMembers}) {
    uint64_t answers = 0;
    SimOptions made = options(1, "calm");
    made.nodes = 3;
    made.program = [&](Process& process) { return std::make_unique<Dying>(process, last, answers); };
    made.script = [](Conductor& run) {
      run.at(900ms, [&run] { run.cut_off(ReplicaId(2)); });
      run.at(1100ms, [&run] { run.crash(ReplicaId(2)), run.end_run(); });
    };
    made.check = nullptr;
    const Report report = simulate(made);
    EXPECT_GT(answers, 0u);
    EXPECT_EQ(report.violation, last == Dying::Last::Asks ? "" : "PROGRAM") << report.what;
    EXPECT_EQ(report.what, last == Dying::Last::Asks ? "" : "stopped in the middle");
  }
}

// The run ends with open calls in every process: their callbacks fail too, and that must not count as a death.
TEST_F(EmbedderTest, AViolationIsReportedThoughEveryProgramFailsAtTheEnd) {
  uint64_t answers = 0;
  SimOptions made = options(1, "calm");
  made.nodes = 3;
  made.program = [&](Process& process) {
    if (process.node() == ReplicaId(1)) process.after(1001ms, [&process] { process.fail("the first word"); });
    return std::make_unique<Dying>(process, Dying::Last::Fails, answers);
  };
  made.script = [](Conductor& run) { run.at(900ms, [&run] { run.cut_off(ReplicaId(2)), run.cut_off(ReplicaId(3)); }); };
  const Report report = simulate(made);
  EXPECT_EQ(report.violation, "PROGRAM");
  EXPECT_EQ(report.what, "the first word");
}

// A killed process has no callbacks left to run, and a frozen one runs them when it resumes.
// Covers: FLT_P03
TEST_F(EmbedderTest, TimersWaitForAFrozenProcessAndDieWithADeadOne) {
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
