// Many sessions of one process, each with its own lock (16-byte name), opened by callbacks and kept.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "coordkit/replica.h"

namespace coordkit::bench {

std::string lock_name_of(uint64_t number);  // 16 digits; at most 10^16 - 1

class Sessions : public std::enable_shared_from_this<Sessions> {
 public:
  Sessions(Service& service, uint64_t count, Duration ttl) : service_(service), ttl_(ttl), count_(count) {}

  // Blocks until all are open. The first failure ends it.
  absl::Status open();
  uint64_t valid() const;  // how many, by this machine's clock

 private:
  struct One {  // what a caller must keep, and nothing else
    Session session;
    Grant grant;
  };
  void open_next();
  void opened(uint64_t number, One* one, absl::StatusOr<Session> session);
  void granted(One* one, absl::StatusOr<Grant> grant);
  void failed(const absl::Status& why);

  Service& service_;
  const Duration ttl_;
  const uint64_t count_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<One> all_;
  uint64_t done_ = 0;
  absl::Status failure_;
};

}  // namespace coordkit::bench
