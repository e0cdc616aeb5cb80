// Answers about semaphores, latches, barriers, double barriers, claim queues, counters and groups: of commands what
// the log decided, of reads what was so.
#pragma once

#include "coordkit/client/coordination.h"
#include "coordkit/engine/client.h"
#include "sim/oracle/answer_rules.h"

namespace coordkit::sim {

class CoordinationWitness {
 public:
  using Object = CoordinationModel::Object;

  CoordinationWitness(const Model& model, AnswerRules& rules) : model_(model), rules_(rules) {}

  // The end of a command, by its answer: nothing more, a hold, a claim, a number, a place, the value of a counter.
  void executed(CallNumber number, const absl::Status& answer);
  void executed(CallNumber number, const absl::StatusOr<HoldRef>& answer);
  void executed(CallNumber number, const absl::StatusOr<ClaimedItem>& answer);
  void executed(CallNumber number, const absl::StatusOr<Index>& answer);
  void executed(CallNumber number, const absl::StatusOr<uint64_t>& answer);
  void executed(CallNumber number, const absl::StatusOr<int64_t>& answer);
  void executed(CallNumber number, const absl::StatusOr<SwapResult>& answer);

  void awaited(CallNumber number, const absl::Status& answer, const Object& object);  // a latch or a barrier
  void object_seen(CallNumber number, const absl::Status& answer, const Object& object, Index as_of,
                   const machine::ObjectView& view);
  void counter_seen(CallNumber number, const absl::StatusOr<int64_t>& answer, const std::string& name);

 private:
  const Model& model_;
  AnswerRules& rules_;
};

}  // namespace coordkit::sim
