#include "coordkit/call.h"

#include <utility>

#include "coordkit/error.h"
#include "service/calls/call_control.h"

namespace coordkit {
namespace {

thread_local bool refusing_here = false;

}  // namespace

InlineRefusal::InlineRefusal() { refusing_here = true; }
InlineRefusal::~InlineRefusal() { refusing_here = false; }
bool InlineRefusal::any() { return refusing_here; }

const absl::Status& crowded_out() {
  static const absl::Status why = make_error(Reason::TooManyRequests,
                                             "more calls are under way than this replica can answer in time; nothing was done: "
                                             "wait for some to end before trying again");
  return why;
}

bool give_up(const AsyncCall& call) { return CallControl::give_up(call); }

AsyncCall::AsyncCall() = default;
AsyncCall::AsyncCall(Ref<CallControl> control) : control_(std::move(control)) {}
AsyncCall::AsyncCall(const AsyncCall& other) = default;
AsyncCall::AsyncCall(AsyncCall&& other) noexcept = default;
AsyncCall& AsyncCall::operator=(const AsyncCall& other) = default;
AsyncCall& AsyncCall::operator=(AsyncCall&& other) noexcept = default;
AsyncCall::~AsyncCall() = default;

void AsyncCall::cancel() const {
  if (control_ != nullptr) CallControl::cancel(control_);
}

}  // namespace coordkit
