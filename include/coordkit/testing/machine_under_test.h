// The conformance suite for state machines drives and watches this: one machine with a log before
// it and rows behind it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/engine/engine.h"
#include "coordkit/ports/state_machine.h"

namespace coordkit::testkit {

// The rows that the batches of a machine leave behind. Also checks the rules for keys.
class RowStore final : public CheckpointView {
 public:
  // Without rows. Keys must start with the prefix of this machine.
  explicit RowStore(MachineId machine) : prefix_(row_prefix(machine)) {}

  // Writes and erases what the batch says. A key that breaks a rule fails the test.
  void add(const CheckpointBatch& batch) {
    std::set<std::string> seen;
    for (const CheckpointBatch::Row& row : batch.rows) {
      EXPECT_TRUE(row.key.starts_with(prefix_)) << "a key starts with row_prefix(id)";
      EXPECT_LE(row.key.size(), 64u) << "a key has at most 64 bytes";
      EXPECT_TRUE(seen.insert(row.key).second) << "a key appears at most once in a batch";
      if (row.value) {
        rows_[row.key] = *row.value;
      } else {
        rows_.erase(row.key);
      }
    }
  }
  size_t size() const { return rows_.size(); }  // the number of rows
  // Whether add() of this batch would change nothing.
  bool same_as(const CheckpointBatch& batch) const {
    return std::all_of(batch.rows.begin(), batch.rows.end(), [this](const CheckpointBatch::Row& row) {
      const auto found = rows_.find(row.key);
      return row.value ? found != rows_.end() && found->second == *row.value : found == rows_.end();
    });
  }
  Position applied() const override { return {}; }
  bool installed() const override { return false; }
  absl::Status scan(std::string_view prefix, Visitor visit) const override {
    for (auto row = rows_.lower_bound(std::string(prefix)); row != rows_.end() && row->first.starts_with(prefix); ++row) {
      if (absl::Status status = visit(row->first, row->second); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override {
    for (const auto& [key, value] : rows_) {
      if (!range.contains(key)) continue;
      if (absl::Status status = visit(key, value); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  uint64_t digest() const override {
    RowDigest digest;
    for (const auto& [key, value] : rows_) digest.add(key, value_sum(key, value));
    return digest.value();
  }

 private:
  std::string prefix_;
  std::map<std::string, std::string> rows_;
};

// One machine under a log, and all its output.
class MachineUnderTest {
 public:
  // Takes the machine, and calls nothing yet.
  explicit MachineUnderTest(std::unique_ptr<StateMachine> made) : machine(std::move(made)) {}

  // Begins at an empty log, with the same cluster id and token base each time.
  void bootstrap() { machine->bootstrap(ClusterId(5), uint64_t{1} << 58); }
  // Applies commands with their indexes as one batch, checks the results and notes the output.
  void apply(const std::vector<std::pair<uint64_t, std::string>>& commands) {
    std::vector<Command> batch;
    std::set<Index> indexes;
    for (const auto& [index, payload] : commands) {
      batch.push_back({Index(index), request(index), payloads_.emplace_back(payload)});
      indexes.insert(Index(index));
    }
    ApplyOutput output;
    machine->apply(batch, output);
    for (const Command& command : batch) {
      const auto own = [&](const ApplyOutput::Result& result) { return result.request == command.request; };
      EXPECT_TRUE(std::any_of(output.results.begin(), output.results.end(), own))
          << "every command has a result in the apply that executes it: entry " << command.index.value();
    }
    for (size_t i = payloads_.size() - batch.size(); i < payloads_.size(); ++i) overwrite(payloads_[i]);
    note(output, indexes);
  }
  // Fires the given share of the armed timers.
  void fire(uint64_t index, uint64_t one_in) {
    std::vector<FiredTimer> fired;
    for (const auto& [id, op] : armed) {
      if (id.value() % one_in == 0) fired.push_back({id, op.generation});
    }
    if (fired.empty()) return;
    ApplyOutput output;
    machine->fire(Index(index), fired, output);
    note(output, {Index(index)});
  }
  // Adds the changes since the previous checkpoint. Returns the number of rows.
  size_t checkpoint(RowStore& store) {
    CheckpointBatch batch;
    machine->checkpoint(batch);
    store.add(batch);
    return batch.rows.size();
  }
  // Also arms the timers of that state, as the engine does. Earlier output belongs to another life.
  absl::Status restore(const CheckpointView& view) {
    absl::Status status = machine->restore(view);
    answers.clear(), events.clear(), finals.clear(), queued.clear(), armed.clear();
    for (const TimerOp& op : timers()) armed[op.id] = op;
    return status;
  }
  // The machine's own list of its armed timers.
  std::vector<TimerOp> timers() const {
    std::vector<TimerOp> ops;
    machine->timers(ops);
    return ops;
  }
  // The state's answers about commands that were answered Queued: nothing, "waits", or "was
  // answered" and the bytes.
  std::map<RequestId, std::string> known_of(std::span<const RequestId> requests) const {
    std::map<RequestId, std::string> known;
    machine->queued_results(requests, [&](const ApplyOutput::Result& result) {
      EXPECT_TRUE(std::binary_search(requests.begin(), requests.end(), result.request))
          << "queued_results() answers a question that was not asked";
      const bool final = result.stage == ApplyOutput::Stage::Final;
      EXPECT_TRUE(known.emplace(result.request, final ? "was answered " + std::string(result.bytes.view()) : "waits").second)
          << "queued_results() answers a request twice";
    });
    return known;
  }

  std::unique_ptr<StateMachine> machine;  // never null
  std::vector<std::string> answers;       // as text, each kind in its own order
  std::vector<std::string> events;        // as text, in their order
  std::map<RequestId, int> finals;        // the number of final results of each request; at most 1
  // The requests that were answered Queued; whether they still wait.
  std::map<RequestId, bool> queued;
  std::map<TimerId, TimerOp> armed;  // as the output of the machine says

 private:
  static RequestId request(uint64_t index) { return {{ReplicaId(1), StoreId(7), BootCounter(1)}, Sequence(index)}; }
  // The bytes of a command live as long as the call: a machine that keeps a view of them sees other
  // bytes from now on.
  void overwrite(std::string& payload) {
    for (char& byte : payload) byte = static_cast<char>(++others_);
  }
  void note(const ApplyOutput& output, const std::set<Index>& indexes) {
    for (const ApplyOutput::Result& result : output.results) {
      const bool final = result.stage == ApplyOutput::Stage::Final;
      EXPECT_TRUE(indexes.contains(result.index)) << "a result names the entry that decided, not " << result.index.value();
      if (!final || queued.contains(result.request)) queued[result.request] = !final;
      answers.push_back(std::to_string(result.index.value()) + (final ? " answers " : " queues ") +
                        std::to_string(result.request.sequence.value()) + ": " + std::string(result.bytes.view()));
      finals[result.request] += final ? 1 : 0;
      EXPECT_LE(finals[result.request], 1) << "a second final result of entry " << result.request.sequence.value();
    }
    for (const ApplyOutput::Event& event : output.events) {
      EXPECT_TRUE(indexes.contains(event.index)) << "an event names the entry that made it, not " << event.index.value();
      events.push_back(std::to_string(event.index.value()) + " announces " + event.bytes);
    }
    for (const TimerOp& op : output.timer_ops) {
      if (op.kind == TimerOp::Kind::Arm) {
        armed[op.id] = op;
      } else {
        armed.erase(op.id);
      }
    }
  }

  std::deque<std::string> payloads_;  // of all commands, overwritten
  static inline uint64_t others_ = 0;
};

}  // namespace coordkit::testkit
