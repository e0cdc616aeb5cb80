// One replica's figures about the commands and acquires of its own callers, and about sessions that
// expired (docs/semantics.md S-56).
//
// They count this process since it was opened, all locks together. Nothing is kept per name, and no
// other process is asked. They are for charts and alarms, not for proofs. An acquire whose caller
// gave up before the answer counts nowhere. A replica that takes in a whole state does not count
// the expiries that it skipped. Differences between two readings are rates. Plain values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "coordkit/export.h"
#include "coordkit/ports/clock.h"

namespace COORDKIT_EXPORT coordkit {

// Durations, in buckets that double.
class WaitTimes {
 public:
  static constexpr size_t kBuckets = 40;  // the last one's upper(): some six days

  // Bucket i counts durations of at most upper(i), and more than upper(i - 1). The last one also
  // counts all longer ones.
  static constexpr Duration upper(size_t bucket) { return std::chrono::microseconds(int64_t{1} << bucket); }

  // Counts one duration; one below zero counts as zero.
  void add(Duration waited) {
    const auto micros = static_cast<uint64_t>(std::chrono::ceil<std::chrono::microseconds>(waited).count());
    ++buckets_[waited <= upper(0) ? 0 : (std::min)(static_cast<size_t>(std::bit_width(micros - 1)), kBuckets - 1)];
    ++count_;
    total_ += (std::max)(waited, Duration::zero());
    longest_ = (std::max)(longest_, waited);
  }

  // How many durations are in each.
  const std::array<uint64_t, kBuckets>& buckets() const { return buckets_; }
  uint64_t count() const { return count_; }      // durations that were added
  Duration total() const { return total_; }      // their sum
  Duration longest() const { return longest_; }  // zero: none was added
  // At least this many percent took no longer, up to six days. At most twice the exact value; zero
  // when nothing was counted.
  Duration percentile(unsigned percent) const {
    const uint64_t wanted = std::max<uint64_t>((count_ * (std::min)(percent, 100U) + 99) / 100, 1);
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i];
      if (seen >= wanted) return (std::min)(upper(i), longest_);
    }
    return longest_;
  }
  friend bool operator==(const WaitTimes&, const WaitTimes&) = default;

 private:
  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
  Duration total_{};
  Duration longest_{};
};

// Commands that this process's callers, or its client for them, put into the log.
struct CommandStatistics {
  uint64_t submitted = 0;  // handed to this replica's engine, whatever became of them
  uint64_t refused = 0;    // refused without effect, or given up without an answer
  WaitTimes latency;       // of the others, from the turn that took them up to the first answer
  friend bool operator==(const CommandStatistics&, const CommandStatistics&) = default;
};

// Renewals of the sessions and kept leases of this process. Each is one message to the leader for
// all that have something to renew, or as few messages as may name their TTLs.
struct RenewalStatistics {
  uint64_t sent = 0;   // messages to the leader
  WaitTimes answered;  // from the send of each to the first answer that confirmed something;
                       // unanswered ones are missing
  friend bool operator==(const RenewalStatistics&, const RenewalStatistics&) = default;
};

// Acquires of locks by this process's callers.
struct LockStatistics {
  uint64_t grants = 0;        // acquires that were granted
  uint64_t local_grants = 0;  // of these, sticky ones that needed no log entry (S-58)
  uint64_t waits = 0;         // acquires that had to wait in line
  uint64_t hand_offs = 0;     // of these, the ones that were granted at last
  uint64_t timeouts = 0;      // and the ones whose time was over first
  uint64_t cancels = 0;       // acquires that were cancelled before their grant
  uint64_t refusals = 0;      // acquires that would not wait: Held, Delayed
  uint64_t deadlocks = 0;     // acquires that would have closed a circle
  uint64_t expiries = 0;      // sessions, anybody's, that expired
  WaitTimes wait_times;       // of the hand-offs, from the call to the grant
  friend bool operator==(const LockStatistics&, const LockStatistics&) = default;
};

}  // namespace coordkit
