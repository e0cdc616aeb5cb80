// Answers about sessions, including those that change hands or are ended by others (docs/semantics.md S-45, S-57).
#pragma once

#include "coordkit/engine/client.h"
#include "sim/oracle/answer_rules.h"

namespace coordkit::sim {

class SessionWitness {
 public:
  SessionWitness(const Model& model, AnswerRules& rules) : model_(model), rules_(rules) {}

  void opened(CallNumber number, const absl::StatusOr<SessionRef>& answer);
  void closed(CallNumber number, SessionId session, const absl::Status& answer);
  // Whether another process may trust the session still, as far as the log knows.
  bool resumed(CallNumber number, SessionId session, const absl::StatusOr<ResumedSession>& answer);
  void killed(CallNumber number, SessionId victim, const absl::Status& answer);
  void forced(CallNumber number, const absl::StatusOr<SessionId>& answer);  // by a hold of the session
  void listed(CallNumber number, const absl::StatusOr<SessionList>& answer);

 private:
  const Model& model_;
  AnswerRules& rules_;
};

}  // namespace coordkit::sim
