// errno as a status, with a hint at what to do about it.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace coordkit {

// `what` names the call and the file.
absl::Status errno_status(int error, const std::string& what);

}  // namespace coordkit
