// The end of an observer by its handle, on whatever thread that goes: none of its calls begins any more, though some are
// queued. An empty observer sees nothing.
#pragma once

#include <stop_token>
#include <utility>

#include "absl/functional/any_invocable.h"

namespace coordkit {

template <typename Seen>
absl::AnyInvocable<void(Seen)> until(const std::stop_source& ended, absl::AnyInvocable<void(Seen)> observer) {
  return [ended = ended.get_token(), observer = std::move(observer)](Seen seen) mutable {
    if (observer && !ended.stop_requested()) observer(std::forward<Seen>(seen));
  };
}

}  // namespace coordkit
