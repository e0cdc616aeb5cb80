#include <algorithm>

#include "absl/status/status.h"
#include "coordkit/error.h"
#include "coordkit/raft/core.h"

namespace coordkit::raft {

absl::Status Options::validate() const {
  using std::chrono::milliseconds;
  if (!self) return make_error(Reason::InvalidArgument, "`self` is zero; give every replica an id from 1");
  if (heartbeat_interval < milliseconds(1))
    return make_error(Reason::InvalidArgument, "heartbeat_interval must be at least 1 ms");
  if (election_timeout < milliseconds(10))
    return make_error(Reason::InvalidArgument, "election_timeout must be at least 10 ms");
  if (election_timeout > std::chrono::hours(1))
    return make_error(Reason::InvalidArgument, "election_timeout must be at most 1 h");
  if (election_timeout <= 2 * heartbeat_interval) {
    return make_error(Reason::InvalidArgument,
                      "election_timeout must be above 2 * heartbeat_interval, or one lost heartbeat ends a reign");
  }
  for (const Duration delay : {commit_news_delay, append_delay}) {
    if (delay >= Duration::zero() && delay <= std::chrono::hours(1)) continue;
    return make_error(Reason::InvalidArgument, "commit_news_delay and append_delay must be from zero to 1 h");
  }
  if (append_messages_in_flight == 0 || append_messages_in_flight > 65536) {
    return make_error(Reason::InvalidArgument, "append_messages_in_flight must be from 1 to 65536");
  }
  if (promotion_lag_max == 0 || promotion_lag_max > uint64_t{1} << 32) {
    return make_error(Reason::InvalidArgument, "promotion_lag_max must be from 1 to 2^32 entries");
  }
  if (append_bytes_in_flight == 0 || unsynced_bytes_max == 0) {
    return make_error(Reason::InvalidArgument, "append_bytes_in_flight and unsynced_bytes_max must be above zero");
  }
  if (append_bytes_max == 0 || append_bytes_max > kAppendBytesMax) {
    return make_error(Reason::InvalidArgument,
                      "append_bytes_max must be from 1 to 3 MiB: a message with more could have more than 65,536 entries");
  }
  if (lease < Duration::zero() || lease >= election_timeout) {
    return make_error(Reason::InvalidArgument,
                      "lease must be zero or below election_timeout, by the error of the clocks; lease_of() computes it");
  }
  if (log_pinned_bytes < log_retained_bytes) {
    return make_error(Reason::InvalidArgument, "log_pinned_bytes must be at least log_retained_bytes");
  }
  return absl::OkStatus();
}

// V: the real time that a slow clock lets pass must not exceed what a fast one waits: the rule of sessions (T1).
Duration lease_of(Duration election_timeout, uint32_t rate_error_ppm) {
  constexpr int64_t kMillion = 1'000'000;
  const int64_t error = std::min<int64_t>(rate_error_ppm, kMillion);
  const int64_t whole = election_timeout.count() / (kMillion + error);
  const int64_t rest = election_timeout.count() % (kMillion + error);
  return Duration(whole * (kMillion - error) + rest * (kMillion - error) / (kMillion + error));
}

}  // namespace coordkit::raft
