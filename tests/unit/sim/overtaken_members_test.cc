// A replica comes back with members in its log that others have replaced meanwhile, by ones at a lower index.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {
namespace {

using namespace std::chrono_literals;

// The script asks the processes of the nodes for this.
struct Operators {
  std::map<ReplicaId, Process*> at;

  void commands(ReplicaId node, int count) {
    for (int i = 0; i < count; ++i) {
      at.at(node)->client().open_session({.ttl = 60s}, [](const absl::StatusOr<SessionRef>&) {});
    }
  }
  void demote(ReplicaId node, ReplicaId who) {
    at.at(node)->change_members({{.kind = raft::MemberChange::Kind::Demote, .member = {.id = who}}}, 2s,
                                [](const absl::Status&) {});
  }
};

struct Operator final : Program {
  Operator(Process& process, Operators& all) : node_(process.node()), all_(all) { all_.at[node_] = &process; }
  ~Operator() override { all_.at.erase(node_); }
  const ReplicaId node_;
  Operators& all_;
};

// Before its log is cut to the leader's, it hears from those it asks which members are settled. They are newer than those of
// its log, by the term of their entry, though their index is lower.
// Covers: INV_R12 FLT_M12
TEST(OvertakenMembersTest, MembersThatAnOvertakenLeaderAppendedGiveWayToCommittedOnesAtALowerIndex) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Operators operators;
    SimOptions made{.seed = seed, .profile = "calm", .hostile_time = 20s, .nodes = 5};
    made.built_in_work = false;
    made.program = [&](Process& process) { return std::make_unique<Operator>(process, operators); };
    ReplicaId first, second;
    const auto other = [&](const Conductor& run) {
      ReplicaId id(1);
      while (id == first || id == run.leader()) id = ReplicaId(id.value() + 1);
      return id;
    };
    made.script = [&](Conductor& run) {
      run.at(2s, [&] {
        first = run.leader();
        run.cut_off(first);
        operators.commands(first, 8);
      });
      run.at(2010ms, [&] { operators.demote(first, other(run)); });
      run.at(6s, [&] {
        second = run.leader();
        if (second) operators.demote(second, other(run));
      });
      run.at(8s, [&] { run.crash(first); });
      run.at(9s, [&] { run.rejoin(first), run.start(first), run.end_run(); });
    };
    const Report report = simulate(made);
    EXPECT_EQ(report.violation, "") << "seed " << seed << ": " << report.what;
    EXPECT_TRUE(first && second && first != second) << seed;
    EXPECT_EQ(report.situations[static_cast<size_t>(Situation::MembersOvertaken)], 1u) << seed;
  }
}

}  // namespace
}  // namespace coordkit::sim
