// State machines with one defect each, and the correct one that they are made from.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <random>
#include <stdexcept>

#include "coordkit/ports/row_table.h"
#include "coordkit/testing/state_machine_suite.h"
#include "tests/proof/conformance/planted.h"

namespace coordkit::testkit {
namespace {

enum class Defect : uint8_t {
  None,
  BatchShows,         // an answer depends on its batch
  AnswersTwice,       //
  ForgetsATimer,      // timers() leaves one out
  LookingCounts,      // a query changes the state
  RowLost,            // a checkpoint leaves out some changes
  RestoreAdds,        // restore() keeps what was there
  WritesEverything,   // each checkpoint has all rows
  BigIsWrittenWhole,  // the same, once there are many rows
  ForeignKey,         // a row without the machine's prefix
  DigestStands,       // the digest does not cover the values
  QueryThrows,        // on malformed bytes
  GuardThrows,        // on malformed bytes
  CommandThrows,      // on malformed bytes
  ChanceDecides,      // depends on what differs in another process
  StaleFiring,        // fires a timer that has been armed again since
  InstallUncounted,   // after a restore it forgets what the first commands change
  DigestCounts,       // the digest is the number of commands
  DeafOnceRestored,   // ignores firings after a restore
  CacheKept,          // restore() keeps a cache, from which it answers
  ViewsKept,          // keeps a view of a payload
  IndexLeftOut,       // answers name no entry
  WaitsForEver,       // says that a command waits that was answered
};

constexpr MachineId kId{16};
constexpr size_t kKeyMax = 40;

// Drawn once per process, like the seeds of hashes.
uint64_t chance() {
  static const uint64_t drawn = std::random_device()();
  return drawn;
}

// Keys that count how often they were named; each arms its own timer. "?a" waits until a is named once more, unless somebody
// waits for that already. The waiter is the row "?a"; the last one, and its answer, is the row "=a".
class Tally final : public StateMachine {
 public:
  explicit Tally(Defect defect) : defect_(defect) {}

  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    for (const Command& command : commands) {
      std::string answer = execute(command, output);
      if (answer.empty()) continue;  // it waits
      if (is(Defect::BatchShows) && commands.size() > 3) answer = "many";
      output.answer(is(Defect::IndexLeftOut) ? Index() : command.index, command.request, answer);
      if (is(Defect::AnswersTwice)) output.results.push_back(output.results.back());
    }
  }
  void fire(Index, std::span<const FiredTimer> timers, ApplyOutput& output) override {
    for (const FiredTimer& timer : timers) {
      const std::string key(1, static_cast<char>(timer.id.value()));
      const std::optional<std::string_view> row = rows_.find(key);
      if (is(Defect::DeafOnceRestored) && restored_) continue;
      if (!row || (timer.generation != generation(std::string(*row)) && !is(Defect::StaleFiring))) continue;
      rows_.put(key, std::to_string(std::stoi(std::string(*row)) + 1));
      arm(key, output);
    }
  }
  absl::StatusOr<std::string> query(std::string_view question) const override {
    if (is(Defect::LookingCounts)) rows_.put("looks", std::to_string(++looks_));
    if (is(Defect::QueryThrows) && question != "rows") throw std::invalid_argument("no such question");
    return std::to_string(rows_.size());
  }
  bool holds(std::string_view guard) override {
    if (is(Defect::GuardThrows) && guard.size() > 100) throw std::length_error("a guard too long");
    return rows_.find(guard.substr(0, kKeyMax)).has_value();
  }
  void checkpoint(CheckpointBatch& batch) override {
    rows_.checkpoint(batch);
    if (is(Defect::RowLost) && batch.rows.size() > 1) batch.rows.pop_back();
    if (is(Defect::InstallUncounted) && std::exchange(restored_, false)) batch.rows.clear();
    if (is(Defect::ForeignKey)) batch.put("mine", "row");
    if (!is(Defect::WritesEverything) && !(is(Defect::BigIsWrittenWhole) && rows_.size() > 1000)) return;
    batch.rows.clear();
    rows_.each("", [&](std::string_view id, std::string_view value) {
      batch.put(row_prefix(kId) + std::string(id), std::string(value));
    });
  }
  absl::Status restore(const CheckpointView& view) override {
    restored_ = true;
    if (!is(Defect::CacheKept)) cache_.clear();
    if (!is(Defect::RestoreAdds)) return rows_.restore(view);
    return view.scan(row_prefix(kId), [this](std::string_view key, std::string_view value) {
      rows_.put(key.substr(row_prefix(kId).size()), std::string(value));
      return absl::OkStatus();
    });
  }
  void timers(std::vector<TimerOp>& out) const override {
    rows_.each("", [&](std::string_view id, std::string_view count) {
      if (id.size() == 1) out.push_back(timer_of(id, std::string(count)));
    });
    if (is(Defect::ForgetsATimer) && out.size() > 3) out.pop_back();
  }
  void queued_results(std::span<const RequestId> requests,
                      absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const override {
    const auto tell = [&](std::string_view said, ApplyOutput::Stage stage) {
      for (const RequestId& request : requests) {
        const std::string who = name_of(request);
        if (!said.starts_with(who)) continue;
        answer({.request = request, .stage = stage, .bytes = SharedBytes(std::string(said.substr(who.size())))});
      }
    };
    rows_.each("?", [&](std::string_view, std::string_view said) { tell(said, ApplyOutput::Stage::Queued); });
    const auto stage = is(Defect::WaitsForEver) ? ApplyOutput::Stage::Queued : ApplyOutput::Stage::Final;
    rows_.each("=", [&](std::string_view, std::string_view said) { tell(said, stage); });
  }
  uint64_t digest() const override {
    if (is(Defect::DigestCounts)) return std::stoull(std::string(rows_.find("##").value_or("0")));
    return is(Defect::DigestStands) ? rows_.size() : rows_.digest();
  }

 private:
  bool is(Defect defect) const { return defect_ == defect; }
  static Generation generation(const std::string& count) { return Generation(static_cast<uint64_t>(std::stoi(count))); }
  static std::string name_of(const RequestId& request) {
    return std::to_string(request.origin.replica.value()) + "/" + std::to_string(request.origin.store.value()) + "/" +
           std::to_string(request.origin.boot.value()) + "/" + std::to_string(request.sequence.value()) + " ";
  }
  static RequestId request_of(const std::string& name) {
    uint64_t replica = 0, store = 0, boot = 0, sequence = 0;
    std::sscanf(name.c_str(), "%" SCNu64 "/%" SCNu64 "/%" SCNu64 "/%" SCNu64, &replica, &store, &boot, &sequence);
    return {{ReplicaId(replica), StoreId(store), BootCounter(boot)}, Sequence(sequence)};
  }
  static TimerOp timer_of(std::string_view key, const std::string& count) {
    return {.id = TimerId(static_cast<unsigned char>(key.at(0))),
            .generation = generation(count),
            .duration = std::chrono::seconds(1)};
  }
  void arm(std::string_view key, ApplyOutput& output) const {
    output.timer_ops.push_back(timer_of(key, std::string(*rows_.find(key))));
  }

  std::string execute(const Command& command, ApplyOutput& output) {
    const std::string_view key = command.payload;
    if (is(Defect::CommandThrows) && key.size() > 100) throw std::length_error("a command too long");
    if (is(Defect::DigestCounts)) rows_.put("##", std::to_string(digest() + 1));
    if (key.size() == 2 && key[0] == '?') return wait(command, output);
    if (key.empty() || key.size() > kKeyMax || key.find_first_of("?=#") == 0) return "!not a key";
    if (is(Defect::ViewsKept) && std::exchange(view_, key) == key) return "!the same again";
    std::string count = std::to_string(std::stoi(std::string(rows_.find(key).value_or("0"))) + 1);
    rows_.put(key, count);
    if (key.size() == 1) arm(key, output);
    wake(std::string(key), command.index, count, output);
    if (is(Defect::CacheKept))
      count = std::to_string(++cache_.try_emplace(std::string(key), std::stoi(count) - 1).first->second);
    return is(Defect::ChanceDecides) ? count + " of " + std::to_string(chance()) : count;
  }

  std::string wait(const Command& command, ApplyOutput& output) {
    if (rows_.find(command.payload)) return "!somebody waits already";
    rows_.put(command.payload, name_of(command.request));
    output.answer(command, "", ApplyOutput::Stage::Queued);
    return "";
  }
  void wake(const std::string& key, Index index, const std::string& count, ApplyOutput& output) {
    const std::optional<std::string_view> waits = rows_.find("?" + key);
    if (!waits) return;
    const std::string who(*waits);
    rows_.erase("?" + key);
    rows_.put("=" + key, who + count);
    output.answer(index, request_of(who), count);
  }

  Defect defect_;
  mutable RowTable rows_{kId};
  mutable uint64_t looks_ = 0;
  bool restored_ = false;
  std::map<std::string, int> cache_;
  std::string_view view_;
};

StateMachineCase tally(std::string name, Defect defect) {
  return {.name = std::move(name),
          .id = kId,
          .make = [defect] { return std::make_unique<Tally>(defect); },
          .command =
              [](RandomBits& random) {
                const std::string wait = random() % 8 == 0 ? "?" : "";
                return wait + static_cast<char>('a' + random() % 20);
              },
          .questions = {"rows"},
          .fill = [](uint64_t i) { return "number " + std::to_string(i); }};
}

Broken<StateMachineCase> all_broken_machines() {
  Broken<StateMachineCase> all;
  const auto add = [&all](const char* name, Defect defect) { all.add(name, tally(name, defect)); };
  add("BatchShows", Defect::BatchShows);
  add("AnswersTwice", Defect::AnswersTwice);
  add("ForgetsATimer", Defect::ForgetsATimer);
  add("LookingCounts", Defect::LookingCounts);
  add("RowLost", Defect::RowLost);
  add("RestoreAdds", Defect::RestoreAdds);
  add("WritesEverything", Defect::WritesEverything);
  add("BigIsWrittenWhole", Defect::BigIsWrittenWhole);
  add("ForeignKey", Defect::ForeignKey);
  add("DigestStands", Defect::DigestStands);
  add("QueryThrows", Defect::QueryThrows);
  add("GuardThrows", Defect::GuardThrows);
  add("CommandThrows", Defect::CommandThrows);
  add("ChanceDecides", Defect::ChanceDecides);
  add("StaleFiring", Defect::StaleFiring);
  add("InstallUncounted", Defect::InstallUncounted);
  add("DigestCounts", Defect::DigestCounts);
  add("DeafOnceRestored", Defect::DeafOnceRestored);
  add("CacheKept", Defect::CacheKept);
  add("ViewsKept", Defect::ViewsKept);
  add("IndexLeftOut", Defect::IndexLeftOut);
  add("WaitsForEver", Defect::WaitsForEver);
  return all;
}
const Broken<StateMachineCase> kBrokenMachines = all_broken_machines();

TEST(BrokenMachineTest, EachIsInTheList) {
  std::vector<std::string> names = kBrokenMachines.names;
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, planted_in("StateMachineSuite"));
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Working, StateMachineSuite, ::testing::Values(tally("tally", Defect::None)), machine_name);
INSTANTIATE_TEST_SUITE_P(Broken, StateMachineSuite, ::testing::ValuesIn(kBrokenMachines.here()), machine_name);

}  // namespace coordkit::testkit
