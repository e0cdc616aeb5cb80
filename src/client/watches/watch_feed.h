// Connects watches to the engine: when they are created, when they continue to read, and when they are retried. The rest is
// in watches.h.
#pragma once

#include <optional>

#include "client/calls/requests.h"
#include "client/watches/watches.h"

namespace coordkit::client {

class WatchFeed {
 public:
  WatchFeed(const ClientOptions& options, Deliveries& deliveries, Requests& requests)
      : options_(options), deliveries_(deliveries), requests_(requests), watches_(deliveries, reader()) {}

  WatchId add(WatchOptions options, WatchObserver observer, absl::Status refusal);
  void ask_progress(WatchId id);
  void end(WatchId id, DoneCallback done);
  Watches& watches() { return watches_; }

  void make(Now now);
  void tell(Now now);
  bool wants_turn() const {
    return watches_.any_to_make() || more_ || (watches_.any_to_retry() && !retrying_) ||
           (watches_.any_without_room() && !looking_);
  }
  LaggingTime next_progress() const { return watches_.next_progress(); }

 private:
  Watches::Read reader();
  void ask(Now now);
  void withdraw(WatchId id);
  void retry(Now now);
  void look_for_room(Now now);

  const ClientOptions& options_;
  Deliveries& deliveries_;
  Requests& requests_;
  Watches watches_;
  absl::btree_map<WatchId, Ticket> questions_;  // for pieces, if history is elsewhere
  bool retrying_ = false;                       // a retry is scheduled
  bool looking_ = false;                        // a look for room is scheduled
  Index seen_;                                  // the watches have seen the state after this entry
  bool more_ = false;                           // there is existing history to read, or progress to report
};

}  // namespace coordkit::client
