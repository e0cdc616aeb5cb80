#include <algorithm>

#include "absl/status/status.h"
#include "base/problems.h"
#include "coordkit/raft/core.h"

namespace coordkit::raft {

absl::Status Options::validate() const {
  using std::chrono::milliseconds;
  Problems problems;
  const auto from_zero_to_an_hour = [](Duration delay) { return delay >= Duration::zero() && delay <= std::chrono::hours(1); };
  const bool beats = heartbeat_interval >= milliseconds(1);
  const bool elects = election_timeout >= milliseconds(10) && election_timeout <= std::chrono::hours(1);
  if (!self) problems.add("`self` is 0: give every replica an id from 1 up");
  if (!beats) problems.add("heartbeat_interval is below 1 ms: give it 1 ms at least");
  if (election_timeout < milliseconds(10)) problems.add("election_timeout is below 10 ms: give it 10 ms at least");
  if (election_timeout > std::chrono::hours(1)) problems.add("election_timeout is above 1 h: give it 1 h at most");
  if (beats && elects && election_timeout - heartbeat_interval <= heartbeat_interval) {
    problems.add(
        "election_timeout is not above two heartbeat_intervals, so that one lost heartbeat would end a leader's term: make it "
        "longer, or heartbeat_interval shorter");
  }
  if (!from_zero_to_an_hour(commit_news_delay)) problems.add("commit_news_delay is not between zero and 1 h");
  if (!from_zero_to_an_hour(append_delay)) problems.add("append_delay is not between zero and 1 h");
  if (append_messages_in_flight == 0 || append_messages_in_flight > 65536)
    problems.add("append_messages_in_flight is not between 1 and 65,536");
  if (promotion_lag_max == 0 || promotion_lag_max > uint64_t{1} << 32)
    problems.add("promotion_lag_max is not between 1 and 2^32 entries");
  if (append_bytes_in_flight == 0) problems.add("append_bytes_in_flight is 0: give it 1 at least");
  if (unsynced_bytes_max == 0) problems.add("unsynced_bytes_max is 0: give it 1 at least");
  if (append_bytes_max == 0 || append_bytes_max > kAppendBytesMax) {
    problems.add("append_bytes_max is not between 1 byte and 3 MiB: a message with more could have more than 65,536 entries");
  }
  if (lease < Duration::zero() || (elects && lease >= election_timeout)) {
    problems.add("lease is neither zero nor below election_timeout by the error of the clocks: let lease_of() compute it");
  }
  if (log_pinned_bytes < log_retained_bytes)
    problems.add("log_pinned_bytes is below log_retained_bytes: give it as much at least");
  return problems.status();
}

// V: the real time that a slow clock lets pass must not exceed the time that a fast one waits: the rule of sessions (T1).
Duration lease_of(Duration election_timeout, uint32_t rate_error_ppm) {
  constexpr int64_t kMillion = 1'000'000;
  const int64_t error = std::min<int64_t>(rate_error_ppm, kMillion);
  const int64_t whole = election_timeout.count() / (kMillion + error);
  const int64_t rest = election_timeout.count() % (kMillion + error);
  return Duration(whole * (kMillion - error) + rest * (kMillion - error) / (kMillion + error));
}

}  // namespace coordkit::raft
