// Your own state machine: accounts and their balances, in the log that also carries coordkit's locks.
//
//   command   "deposit NAME AMOUNT"  adds; answers the new balance      "move FROM TO AMOUNT"  answers what FROM has left
//   question  "NAME"                 the balance                        refusals begin with '!' and change nothing
//
// All its state is in one RowTable, which does the checkpoints and the digest.
#pragma once

#include <coordkit/ports/row_table.h>
#include <coordkit/ports/state_machine.h>

#include <charconv>
#include <sstream>
#include <string>

namespace example {

inline constexpr coordkit::MachineId kLedger{16};  // for the life of the cluster, on every replica

class Ledger final : public coordkit::StateMachine {
 public:
  void bootstrap(coordkit::ClusterId, uint64_t) override {}

  void apply(std::span<const coordkit::Command> commands, coordkit::ApplyOutput& output) override {
    for (const coordkit::Command& command : commands) output.answer(command, execute(command, output));
  }

  absl::StatusOr<std::string> query(std::string_view name) const override { return std::to_string(balance(name)); }

  void checkpoint(coordkit::CheckpointBatch& batch) override { accounts_.checkpoint(batch); }
  bool forget_stored() override { return accounts_.forget_stored(); }
  absl::Status restore(const coordkit::CheckpointView& view) override { return accounts_.restore(view); }
  uint64_t digest() const override { return accounts_.digest(); }

  // No timers of its own.
  void fire(coordkit::Index, std::span<const coordkit::FiredTimer>, coordkit::ApplyOutput&) override {}
  void timers(std::vector<coordkit::TimerOp>&) const override {}

 private:
  std::string execute(const coordkit::Command& command, coordkit::ApplyOutput& output) {
    std::istringstream words{std::string(command.payload)};
    std::string verb, from, to;
    uint64_t amount = 0;
    words >> verb >> from;
    if (verb == "move") words >> to;
    if (!(words >> amount) || from.size() > kNameMax || to.size() > kNameMax) return "!not understood";
    if (verb == "deposit") return add(from, amount) ? std::to_string(balance(from)) : "!too much";
    if (verb != "move") return "!not understood";
    if (balance(from) < amount) return "!not enough";
    set(from, balance(from) - amount);
    if (!add(to, amount)) return add(from, amount), "!too much";
    output.events.push_back({.index = command.index, .bytes = from + " paid " + std::to_string(amount) + " to " + to});
    return std::to_string(balance(from));
  }

  uint64_t balance(std::string_view name) const {
    uint64_t amount = 0;
    if (const auto row = accounts_.find(name)) std::from_chars(row->data(), row->data() + row->size(), amount);
    return amount;
  }
  bool add(const std::string& name, uint64_t amount) {
    const uint64_t before = balance(name);
    if (amount > ~before) return false;
    set(name, before + amount);
    return true;
  }
  void set(const std::string& name, uint64_t amount) {
    if (amount == 0) {
      accounts_.erase(name);
    } else {
      accounts_.put(name, std::to_string(amount));
    }
  }

  static constexpr size_t kNameMax = coordkit::kRowIdBytesMax;
  coordkit::RowTable accounts_{kLedger};
};

}  // namespace example
