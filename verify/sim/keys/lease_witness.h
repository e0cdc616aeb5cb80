// Answers about leases of keys: they match what the log made of the lease, and reads show what was so
// (docs/invariants.md: INV_K05).
#pragma once

#include "coordkit/engine/client.h"
#include "sim/oracle/answer_rules.h"

namespace coordkit::sim {

class LeaseWitness {
 public:
  LeaseWitness(const Model& model, Calls& calls, AnswerRules& rules) : model_(model), calls_(calls), rules_(rules) {}

  void kept(CallNumber number, const absl::StatusOr<KeyLeaseRef>& answer);
  void given_back(CallNumber number, LeaseId id, const absl::Status& answer);  // by its keeper
  void granted(CallNumber number, const absl::StatusOr<GrantedLease>& answer);
  void renewed(CallNumber number, LeaseId id, const absl::StatusOr<GrantedLease>& answer);
  void revoked(CallNumber number, LeaseId id, const absl::StatusOr<RevokedLease>& answer);
  void seen(CallNumber number, LeaseId id, const absl::StatusOr<LeaseDetails>& answer);
  void listed(CallNumber number, const absl::StatusOr<LeaseList>& answer);

 private:
  void demand_missing(const Call& call, LeaseId id, const absl::Status& answer) const;

  const Model& model_;
  Calls& calls_;
  AnswerRules& rules_;
};

}  // namespace coordkit::sim
