// The rules for every answer, whatever was asked. An answer carries the index (or revision) that decided it. So a run is
// linearizable if replaying the log through the model gives the same answers and if indexes respect real time. Both are checked
// as answers come in, in O(log n) each. Also: an outcome NONE never had an effect, a success had exactly one.
// (docs/invariants.md: INV_R11, R15, R16, L08, L09.)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>

#include "sim/oracle/model.h"
#include "sim/users/calls.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class AnswerRules {
 public:
  // Checks, or only counts what is pending so that the black-box check judges alone.
  enum class Duty : uint8_t { Judge, Count };
  // Says whether a result is what a caller was answered.
  using Matches = std::function<bool(const machine::Result&)>;

  AnswerRules(World& world, const Model& model, Calls& calls, Duty duty)
      : world_(world), model_(model), calls_(calls), duty_(duty) {}

  // Ends the call. Null: no more is to be checked; a refusal has been.
  const Call* succeeded(CallNumber number, const absl::Status& answer);
  bool judges() const { return duty_ == Duty::Judge; }

  // The answer names the entry that decided it, or after which it was read.
  void decided(const Call& call, Index index);
  void observed(const Call& call, Index index);

  // The execution of the command that carries the call's label.
  const CommandOutcomes::Outcome& only_execution(const Call& call) const;
  // For a command without a label: a caller's answer is what the log decided for one command with exactly these contents from
  // its node, each matched to one call.
  void executed(CallNumber number, const absl::Status& answer, const Matches& matches);
  std::optional<Index> match(const Call& call, const Matches& matches);

  // After the run: outcomes against the whole log.
  void finish() const;

 private:
  void refused(Call& call, const absl::Status& status);
  void finish_labelled(const Call& call) const;
  void finish_commands() const;

  World& world_;
  const Model& model_;
  Calls& calls_;
  const Duty duty_;
  std::set<RequestId> matched_;  // commands matched to a caller's answer
};

}  // namespace coordkit::sim
