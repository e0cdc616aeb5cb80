#include "coordkit/call.h"

#include "replica/call_control.h"

namespace coordkit {

void AsyncCall::cancel() const {
  if (control_ != nullptr) control_->cancel();
}

}  // namespace coordkit
