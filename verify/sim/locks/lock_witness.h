// Answers about locks and holds, those of semaphores, barriers and queues included
// (docs/invariants.md: INV_L01, L04, L05, L08).
#pragma once

#include <optional>

#include "coordkit/engine/client.h"
#include "sim/locks/trust_check.h"
#include "sim/oracle/answer_rules.h"

namespace coordkit::sim {

class LockWitness {
 public:
  LockWitness(const Model& model, Calls& calls, AnswerRules& rules, HistoryRecorder* history, Calls::Locks locks,
              TrustCheck beliefs)
      : model_(model), calls_(calls), rules_(rules), history_(history), locks_(locks), beliefs_(beliefs) {}

  CallNumber begin_check(uint32_t node, const HoldRef& hold);
  CallNumber begin_release(uint32_t node, const HoldRef& hold);
  // The holder has just asked its clock and learned that the hold is valid.
  void trusted(const HoldRef& hold);

  void acquired(CallNumber number, const absl::StatusOr<HoldRef>& answer);
  void converted(CallNumber number, const absl::StatusOr<HoldRef>& answer);
  void updated(CallNumber number, const absl::Status& answer) { rules_.succeeded(number, answer); }
  void released(CallNumber number, const HoldRef& hold, const absl::Status& answer);
  void checked(CallNumber number, const HoldRef& hold, const absl::StatusOr<bool>& answer);
  void looked(CallNumber number, const absl::StatusOr<LockInfo>& answer);
  void queued(CallNumber number, const absl::StatusOr<QueueInfo>& answer);
  void leader_seen(CallNumber number, const absl::StatusOr<std::optional<LeaderInfo>>& answer);

 private:
  bool current(const HoldState& hold) const;
  bool released_too_late(const Call& call, const HoldState& hold) const;
  void not_acquired(const Call& call, const absl::Status& answer);
  void acquired_locally(const Call& call, const HoldState& hold) const;

  const Model& model_;
  Calls& calls_;
  AnswerRules& rules_;
  HistoryRecorder* const history_;
  const Calls::Locks locks_;
  const TrustCheck beliefs_;
};

}  // namespace coordkit::sim
