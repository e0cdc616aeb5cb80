// The machine's answers to requests that were answered Queued, when a peer's state took the place of ours
// (StateMachine::queued_results).
#pragma once

#include <utility>

#include "absl/functional/function_ref.h"
#include "coordkit/ports/state_machine.h"
#include "machine/result.h"
#include "machine/state.h"

namespace coordkit::machine {

class QueuedAnswers {
 public:
  using Answer = absl::FunctionRef<void(const ApplyOutput::Result&)>;
  QueuedAnswers(const State& state, Answer answer) : state_(state), answer_(answer) {}

  void waits(SessionId session, const RequestId& request, Index queued) {
    if (!owns(session, request)) return decided(request, queued, {.code = ResultCode::Lost});
    answer_({queued, request, ApplyOutput::Stage::Queued, {}});
  }
  void granted(SessionId session, const RequestId& request, Result grant) {
    const Index since = grant.since;
    decided(request, since, owns(session, request) ? std::move(grant) : Result{.code = ResultCode::Lost});
  }

 private:
  // S-45: a hold that another process has now is not the caller's.
  bool owns(SessionId session, const RequestId& request) const {
    const lease::Standing standing = state_.sessions.standing(session, request);
    return standing == lease::Standing::Alive || standing == lease::Standing::Ending;
  }
  void decided(const RequestId& request, Index index, Result result) {
    result.revision = state_.keys.revision();
    answer_({index, request, ApplyOutput::Stage::Final, SharedBytes(encode(result))});
  }

  const State& state_;
  const Answer answer_;
};

}  // namespace coordkit::machine
