// Sinks that remember what stores reported, and that a test can wait on. Waiting ends with the event or, in a broken store,
// after ten seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "coordkit/log_store.h"
#include "coordkit/state_store.h"

namespace coordkit::testing {

class LogSinkProbe final : public LogSink {
 public:
  void written(WriteNumber number) override {
    const std::scoped_lock lock(mutex_);
    in_order_ = in_order_ && number > written_;
    written_ = number;
    changed_.notify_all();
  }
  void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) override {
    const std::scoped_lock lock(mutex_);
    reads_.insert_or_assign(first, std::move(entries));
    changed_.notify_all();
  }
  void log_failed(absl::Status why) override {
    const std::scoped_lock lock(mutex_);
    failures_.push_back(std::move(why));
    changed_.notify_all();
  }

  bool wait_written(WriteNumber number) {
    return wait([&] { return written_ >= number || !failures_.empty(); }) && written() >= number;
  }
  bool wait_failed() {
    return wait([&] { return !failures_.empty(); });
  }
  absl::StatusOr<std::vector<raft::Entry>> wait_read(Index first) {
    if (!wait([&] { return reads_.contains(first); })) return absl::DeadlineExceededError("no answer to a read");
    const std::scoped_lock lock(mutex_);
    return std::move(reads_.extract(first).mapped());
  }
  WriteNumber written() const {
    const std::scoped_lock lock(mutex_);
    return written_;
  }
  bool in_order() const {
    const std::scoped_lock lock(mutex_);
    return in_order_;
  }
  std::vector<absl::Status> failures() const {
    const std::scoped_lock lock(mutex_);
    return failures_;
  }

 private:
  template <typename Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), condition);
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  WriteNumber written_;
  bool in_order_ = true;
  std::map<Index, absl::StatusOr<std::vector<raft::Entry>>> reads_;
  std::vector<absl::Status> failures_;
};

class StateSinkProbe final : public StateSink {
 public:
  void checkpointed(Position applied) override {
    const std::scoped_lock lock(mutex_);
    applied_ = applied;
    changed_.notify_all();
  }
  void checkpoint_failed(absl::Status why) override {
    const std::scoped_lock lock(mutex_);
    failures_.push_back(std::move(why));
    changed_.notify_all();
  }
  bool wait_applied(Position applied) {
    std::unique_lock lock(mutex_);
    const auto done = [&] { return applied_ == applied || !failures_.empty(); };
    return changed_.wait_for(lock, std::chrono::seconds(10), done) && applied_ == applied;
  }
  bool wait_failed() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return !failures_.empty(); });
  }
  std::vector<absl::Status> failures() const {
    const std::scoped_lock lock(mutex_);
    return failures_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Position applied_;
  std::vector<absl::Status> failures_;
};

}  // namespace coordkit::testing
