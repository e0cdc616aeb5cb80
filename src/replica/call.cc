#include "coordkit/call.h"

#include "coordkit/error.h"
#include "replica/call_control.h"

namespace coordkit {
namespace {

thread_local bool refusing_here = false;

}  // namespace

RefusalHere::RefusalHere() { refusing_here = true; }
RefusalHere::~RefusalHere() { refusing_here = false; }
bool RefusalHere::any() { return refusing_here; }

const absl::Status& crowded_out() {
  static const absl::Status why = make_error(Reason::TooManyRequests,
                                             "more calls are under way than this replica can answer in time; nothing was done: "
                                             "wait for some to end before trying again");
  return why;
}

void AsyncCall::cancel() const {
  if (control_ != nullptr) CallControl::cancel(control_);
}

}  // namespace coordkit
