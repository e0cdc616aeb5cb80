// Answers about keys. The result of a put, a delete or a transaction is what the model got from that entry, including the
// answers of their operations. A read shows the keys as they were at that revision (docs/invariants.md: INV_K01, K03,
// K04).
#pragma once

#include "coordkit/engine/client.h"
#include "sim/oracle/answer_rules.h"

namespace coordkit::sim {

class KeyWitness {
 public:
  KeyWitness(const Model& model, Calls& calls, AnswerRules& rules, HistoryRecorder* history)
      : model_(model), calls_(calls), rules_(rules), history_(history) {}

  void put(CallNumber number, const absl::StatusOr<PutResult>& answer);
  void erased(CallNumber number, const absl::StatusOr<EraseResult>& answer);
  void got(CallNumber number, const absl::StatusOr<GetResult>& answer);
  // With all their options, and transactions.
  void entry_put(CallNumber number, const absl::StatusOr<PutResult>& answer);
  void entries_erased(CallNumber number, const absl::StatusOr<EraseResult>& answer);
  void transacted(CallNumber number, const absl::StatusOr<TransactionResult>& answer);
  void ranged(CallNumber number, const RangeOperation& range, const absl::StatusOr<RangeResult>& answer);
  void compacted(CallNumber number, const absl::StatusOr<CompactResult>& answer);

 private:
  void check_refusal(const Call& call, const RangeOperation& range, const absl::Status& status) const;

  const Model& model_;
  Calls& calls_;
  AnswerRules& rules_;
  HistoryRecorder* const history_;
};

}  // namespace coordkit::sim
