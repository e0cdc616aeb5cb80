// The life of every call: entered, started by the next turn, ended once: by its result, at its deadline or by its caller.
//
// A call is what a caller waits for; a ticket is what the engine was asked. They end separately: a call past its deadline is
// gone, while its ticket lives on until its outcome is known, so that none of its effects stays unknown.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "base/spare_nodes.h"
#include "client/call.h"
#include "client/deliveries.h"
#include "client/requests.h"

namespace coordkit::client {

class Calls {
 public:
  static constexpr size_t kExpiredOfATurn = 1024;

  Calls(const ClientOptions& options, Deliveries& deliveries, Requests& requests)
      : options_(options), deliveries_(deliveries), requests_(requests) {}

  // `timeout`: from the start, for a call without a deadline.
  CallId enter(AnyCallback callback, OnAbandon on_abandon, CallDeadline deadline, Duration timeout, Call::Start start);
  CallId enter(AnyCallback callback, OnAbandon on_abandon, CallDeadline deadline, Call::Start start) {
    return enter(std::move(callback), on_abandon, deadline, options_.call_timeout, std::move(start));
  }
  CallId refuse(AnyCallback callback, absl::Status why);
  // Null: it has ended. The call's address is stable until it ends.
  Call* find(CallId id);

  // Ends a call; false: it had already ended.
  template <typename T>
  bool answer(CallId id, absl::StatusOr<T> value) {
    return end(id, std::move(value));
  }
  bool answer_done(CallId id, absl::Status status) { return end(id, std::move(status)); }
  bool fail(CallId id, absl::Status why);

  // The caller wants it to end early: the log decides where it can, otherwise like abandon().
  void cancel(CallId id);
  void abandon(CallId id);

  void start_new(Now now);  // calls entered since the last turn
  void expire(Now now);     // at most a turn's share
  void stop();              // fails all; later calls are answered Closed, at once
  bool stopped() const { return stopped_; }

  bool any_fresh() const { return !fresh_.empty(); }
  LaggingTime next_deadline() const { return deadlines_.empty() ? LaggingTime::max() : deadlines_.begin()->first; }
  size_t size() const { return slots_.size() - free_.size(); }

 private:
  template <typename Answer>
  bool end(CallId id, Answer value) {
    std::optional<AnyCallback> callback = remove(id);
    if (!callback) return false;
    deliveries_.answer(
        [callback = *std::move(callback), value = std::move(value)]() mutable { callback.answer(std::move(value)); });
    return true;
  }
  // An id is a serial number and, in its low bits, the call's slot: found without a search, and in the order of entry. A serial
  // comes again after some days of the hardest work.
  static constexpr uint64_t kSlotBits = 26;
  static constexpr uint64_t kSlotMask = (uint64_t{1} << kSlotBits) - 1;
  static uint64_t slot_of(CallId id) { return id.value() & kSlotMask; }
  CallId new_id(uint64_t slot) { return CallId(++last_serial_ << kSlotBits | slot); }

  // What only a call that was not started needs.
  struct Fresh {
    CallId id;
    Call::Start start;
    CallDeadline deadline;  // as passed in
    Duration timeout{};
  };
  std::optional<AnyCallback> remove(CallId id);
  void start_one(Fresh& fresh, Now now);
  void give_up(CallId id, absl::Status status);
  static absl::Status too_late(const Call& call);

  const ClientOptions& options_;
  Deliveries& deliveries_;
  Requests& requests_;
  std::deque<std::optional<Call>> slots_;  // empty: free
  std::vector<size_t> free_;
  std::vector<Fresh> fresh_;     // not started yet
  std::vector<Fresh> starting_;  // of this turn
  using Deadline = std::pair<LaggingTime, CallId>;
  absl::btree_set<Deadline, std::less<Deadline>, SpareNodes<Deadline>> deadlines_;  // of calls that were started
  uint64_t last_serial_ = 0;
  bool stopped_ = false;
};

}  // namespace coordkit::client
