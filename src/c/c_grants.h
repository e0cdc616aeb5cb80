// Calls that end with a grant.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "c/c_completions.h"
#include "c/c_handles.h"
#include "coordkit/c/coordkit_remote.h"
#include "coordkit/session.h"

namespace coordkit::c {

// The handle is made before the call: what was granted must not be lost for want of memory.
inline absl::Status grant_by(const coordkit_session& session, coordkit_grant** place, auto&& call) {
  std::unique_ptr<coordkit_grant> made(new coordkit_grant{session.completions, Grant()});
  absl::StatusOr<Grant> got = call();
  if (!got.ok()) return got.status();
  made->grant = *std::move(got);
  *place = made.release();
  return absl::OkStatus();
}

inline absl::Status begin_grant(const coordkit_session& session, uint64_t tag, auto&& start) {
  Slot slot = slot_for(tag);
  slot.front().grant.reset(new coordkit_grant{session.completions, Grant()});
  return begin_call<absl::StatusOr<Grant>>(session.completions, std::move(slot), start, [](CallEnd& end, Grant got) {
    end.grant->grant = std::move(got);
    return absl::OkStatus();
  });
}

}  // namespace coordkit::c
