// The conformance suite bites: machines with one planted defect each fail the test that is there for it. They exist
// only in a process that this program starts of itself, to see them fail.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "coordkit/row_table.h"
#include "coordkit/testing/state_machine_suite.h"

namespace coordkit::testing {
namespace {

enum class Defect : uint8_t {
  BatchShows,        // an answer depends on the batch it came in
  AnswersTwice,      //
  ForgetsATimer,     // timers() leaves one out
  LookingCounts,     // a query changes the state
  RowLost,           // a checkpoint leaves out some changes
  RestoreAdds,       // restore() keeps what was there
  WritesEverything,  // each checkpoint has all rows
  ForeignKey,        // a row without the machine's prefix
  DigestStands,      // the digest does not cover the values
};

struct Planted {
  const char* name;
  Defect defect;
  const char* caught_by;
};
constexpr std::array kPlanted = {
    Planted{"BatchShows", Defect::BatchShows, "TheSameLogGivesTheSameWhateverTheBatches"},
    Planted{"AnswersTwice", Defect::AnswersTwice, "TheSameLogGivesTheSameWhateverTheBatches"},
    Planted{"ForgetsATimer", Defect::ForgetsATimer, "TheSameLogGivesTheSameWhateverTheBatches"},
    Planted{"LookingCounts", Defect::LookingCounts, "REG_R23_LookingChangesNothing"},
    Planted{"RowLost", Defect::RowLost, "ACheckpointRestoresToTheSameMachineFromAnyPointOn"},
    Planted{"RestoreAdds", Defect::RestoreAdds, "RestoreReplacesWhateverWasThere"},
    Planted{"WritesEverything", Defect::WritesEverything, "ACheckpointHoldsOnlyWhatChangedSinceTheOneBefore"},
    Planted{"ForeignKey", Defect::ForeignKey, "ACheckpointHoldsOnlyWhatChangedSinceTheOneBefore"},
    Planted{"DigestStands", Defect::DigestStands, "DifferentStatesHaveDifferentDigests"},
};

constexpr MachineId kId{16};

// Keys that count how often they were named; each arms a timer of its own.
class Tally final : public StateMachine {
 public:
  explicit Tally(std::optional<Defect> defect) : defect_(defect) {}

  void found(ClusterId, uint64_t) override {}
  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    for (const Command& command : commands) {
      const std::string* row = rows_.find(command.payload);
      const std::string count = std::to_string((row ? std::stoi(*row) : 0) + 1);
      rows_.put(command.payload, count);
      const bool shows = is(Defect::BatchShows) && commands.size() > 3;
      output.results.push_back({.index = command.index, .request = command.request, .bytes = shows ? "many" : count});
      if (is(Defect::AnswersTwice)) output.results.push_back(output.results.back());
      output.timer_ops.push_back({.id = timer(command.payload), .duration = std::chrono::seconds(1)});
    }
  }
  void fire(Index, std::span<const FiredTimer> timers, ApplyOutput& output) override {
    for (const FiredTimer& timer : timers) output.timer_ops.push_back({.id = timer.id, .duration = std::chrono::seconds(1)});
  }
  absl::StatusOr<std::string> query(std::string_view) const override {
    if (is(Defect::LookingCounts)) rows_.put("looks", std::to_string(++looks_));
    return std::to_string(rows_.size());
  }
  void checkpoint(CheckpointBatch& batch) override {
    rows_.checkpoint(batch);
    if (is(Defect::RowLost) && batch.rows.size() > 1) batch.rows.pop_back();
    if (is(Defect::ForeignKey)) batch.put("mine", "row");
    if (!is(Defect::WritesEverything)) return;
    batch.rows.clear();
    rows_.each("", [&](std::string_view id, std::string_view value) {
      batch.put(row_prefix(kId) + std::string(id), std::string(value));
    });
  }
  absl::Status restore(const CheckpointView& view) override {
    if (!is(Defect::RestoreAdds)) return rows_.restore(view);
    return view.scan(row_prefix(kId), [this](std::string_view key, std::string_view value) {
      rows_.put(key.substr(row_prefix(kId).size()), std::string(value));
      return absl::OkStatus();
    });
  }
  void timers(std::vector<TimerOp>& out) const override {
    rows_.each("", [&](std::string_view id, std::string_view) {
      if (id != "looks") out.push_back({.id = timer(id), .duration = std::chrono::seconds(1)});
    });
    if (is(Defect::ForgetsATimer) && out.size() > 3) out.pop_back();
  }
  uint64_t digest() const override { return is(Defect::DigestStands) ? rows_.size() : rows_.digest(); }

 private:
  bool is(Defect defect) const { return defect_ == defect; }
  static TimerId timer(std::string_view key) { return TimerId(static_cast<uint64_t>(key.at(0))); }

  std::optional<Defect> defect_;
  mutable RowTable rows_{kId};
  mutable uint64_t looks_ = 0;
};

StateMachineCase tally(std::string name, std::optional<Defect> defect) {
  return {.name = std::move(name),
          .id = kId,
          .make = [defect] { return std::make_unique<Tally>(defect); },
          .command = [](RandomBits& random) { return std::string(1, static_cast<char>('a' + random() % 20)); },
          .questions = {"rows"}};
}

constexpr char kChild[] = "COORDKIT_DEFECTIVE_MACHINES";

std::vector<StateMachineCase> defective() {
  std::vector<StateMachineCase> cases;
  if (std::getenv(kChild) == nullptr) return cases;
  for (const Planted& planted : kPlanted) cases.push_back(tally(planted.name, planted.defect));
  return cases;
}

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }

class DefectTest : public ::testing::TestWithParam<Planted> {};

TEST_P(DefectTest, IsCaught) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string filter = std::string("Defects/StateMachineSuite.") + GetParam().caught_by + "/" + GetParam().name;
  const std::string command = std::string(kChild) + "=1 " + self + " --gtest_filter='" + filter + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 4096> piece;
  while (const size_t size = fread(piece.data(), 1, piece.size(), pipe)) text.append(piece.data(), size);
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 1) << text;
  EXPECT_NE(text.find("[  FAILED  ] 1 test"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(All, DefectTest, ::testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace

INSTANTIATE_TEST_SUITE_P(Sound, StateMachineSuite, ::testing::Values(tally("tally", std::nullopt)), machine_name);
INSTANTIATE_TEST_SUITE_P(Defects, StateMachineSuite, ::testing::ValuesIn(defective()), machine_name);

}  // namespace coordkit::testing
