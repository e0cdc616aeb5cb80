// The refusal of a lock's acquire: it answers the caller, and counts the refusal if the caller was still waiting.
#pragma once

#include <string_view>

#include "client/calls/answers.h"
#include "client/calls/calls.h"
#include "client/locks/statistics.h"

namespace coordkit::client {

inline void refuse_lock(Calls& calls, Statistics& statistics, CallId id, const machine::Result& result, std::string_view name) {
  if (calls.fail(id, status_of(result, name))) statistics.refused(result.code);
}

}  // namespace coordkit::client
