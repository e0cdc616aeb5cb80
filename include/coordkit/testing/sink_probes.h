// Sinks that remember the reports of stores, and that a test can wait on. Waiting ends with the
// event or, in a broken store, with the patience (patience.h).
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "coordkit/ports/log_store.h"
#include "coordkit/ports/state_store.h"
#include "coordkit/testing/patience.h"

namespace coordkit::testkit {

// The common part of both probes: reports come from any thread, a test waits for them, and reports
// after the end are counted.
class Probe {
 public:
  // From here on every report is one too many: the store is closed.
  void seal() {
    const std::scoped_lock lock(mutex_);
    sealed_ = true;
  }
  // The number of reports after seal().
  size_t late() const {
    const std::scoped_lock lock(mutex_);
    return late_;
  }

 protected:
  // Runs `change` under the lock, counts a late report, and wakes those who wait.
  template <typename Change>
  void note(Change change) {
    const std::scoped_lock lock(mutex_);
    late_ += sealed_ ? 1 : 0;
    change();
    changed_.notify_all();
  }
  // Waits until `condition`, which is asked under the lock, is true; false: the patience is over.
  template <typename Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience(), condition);
  }

  mutable std::mutex mutex_;         // guards the fields of the derived class, too
  std::condition_variable changed_;  // notified by note()

 private:
  bool sealed_ = false;
  size_t late_ = 0;
};

// Remembers what a log store reports. Thread-safe.
class LogSinkProbe final : public LogSink, public Probe {
 public:
  void written(WriteNumber number) override {
    note([&] {
      in_order_ = in_order_ && number > written_;
      written_ = number;
    });
  }
  void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) override {
    note([&] { reads_.insert_or_assign(first, std::move(entries)); });
  }
  void log_failed(absl::Status why) override {
    note([&] { failures_.push_back(std::move(why)); });
  }

  void log_space(LogSpace space) override {
    note([&] { spaces_.push_back(space); });
  }

  void log_waits(absl::Status why) override {
    note([&] { waits_.push_back(std::move(why)); });
  }
  void log_spare_fails(absl::Status why) override {
    note([&] { spare_failures_.push_back(std::move(why)); });
  }

  // Waits until the write is durable, waits for room, or has failed; false: no such report came.
  bool wait_reported(WriteNumber number) {
    return wait(
        [&] { return written_ >= number || !failures_.empty() || (!spaces_.empty() && spaces_.back() == LogSpace::Full); });
  }
  // Waits until the spare has failed, or (ok) is there again.
  bool wait_spare(bool ok) {
    return wait([&] { return !spare_failures_.empty() && spare_failures_.back().ok() == ok; });
  }
  // Waits until the newest report about space is this one; false: the patience is over.
  bool wait_space(LogSpace space) {
    return wait([&] { return !spaces_.empty() && spaces_.back() == space; });
  }
  // Waits until this write is durable; false: the store has failed before, or the patience is over.
  bool wait_written(WriteNumber number) {
    return wait([&] { return written_ >= number || !failures_.empty(); }) && written() >= number;
  }
  // Waits until the store has failed; false: the patience is over.
  bool wait_failed() {
    return wait([&] { return !failures_.empty(); });
  }
  // Waits for the answer to a read that begins at `first`, and takes it. kDeadlineExceeded: none
  // came.
  absl::StatusOr<std::vector<raft::Entry>> wait_read(Index first) {
    if (!wait([&] { return reads_.contains(first); })) return absl::DeadlineExceededError("no answer to a read");
    const std::scoped_lock lock(mutex_);
    return std::move(reads_.extract(first).mapped());
  }
  // The newest write that was reported; zero: none was.
  WriteNumber written() const {
    const std::scoped_lock lock(mutex_);
    return written_;
  }
  // Whether each reported number was greater than the one before.
  bool in_order() const {
    const std::scoped_lock lock(mutex_);
    return in_order_;
  }
  // All reports of log_waits, in order.
  std::vector<absl::Status> waits() const {
    const std::scoped_lock lock(mutex_);
    return waits_;
  }
  // All reports of log_failed, in order.
  std::vector<absl::Status> failures() const {
    const std::scoped_lock lock(mutex_);
    return failures_;
  }

 private:
  std::vector<LogSpace> spaces_;     // every change
  std::vector<absl::Status> waits_;  // the same
  std::vector<absl::Status> spare_failures_;
  WriteNumber written_;
  bool in_order_ = true;
  std::map<Index, absl::StatusOr<std::vector<raft::Entry>>> reads_;
  std::vector<absl::Status> failures_;
};

// Remembers what a state store reports. Thread-safe.
class StateSinkProbe final : public StateSink, public Probe {
 public:
  // A checkpoint is durable.
  struct Checkpointed {
    Position applied;  // of the checkpoint that is durable
    friend bool operator==(const Checkpointed&, const Checkpointed&) = default;
  };
  // A range was staged.
  struct Staged {
    Ticket ticket;  // of the call
    friend bool operator==(const Staged&, const Staged&) = default;
  };
  // The staged rows have become the state.
  struct Installed {
    Position applied;  // of that state
    friend bool operator==(const Installed&, const Installed&) = default;
  };
  // They have not, because their digest is another.
  struct Refused {
    Position applied;  // of the call
    friend bool operator==(const Refused&, const Refused&) = default;
  };
  using Report = std::variant<Checkpointed, Staged, Installed, Refused>;  // the answer to one call

  void checkpointed(Position applied) override { add(Checkpointed{applied}); }
  void staged(Ticket ticket) override { add(Staged{ticket}); }
  void installed(Position applied) override { add(Installed{applied}); }
  void install_refused(Position applied, absl::Status) override { add(Refused{applied}); }
  void checkpoint_failed(absl::Status why) override {
    note([&] { failures_.push_back(std::move(why)); });
  }

  void checkpoint_damaged(absl::Status why) override {
    note([&] { damages_.push_back(std::move(why)); });
  }
  void checkpoint_waits(absl::Status why) override {
    note([&] { waits_.push_back(std::move(why)); });
  }

  // The first report not taken yet; nullopt if the store failed or the report never came.
  std::optional<Report> next() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience(), [&] { return taken_ < reports_.size() || !failures_.empty(); });
    return taken_ < reports_.size() ? std::optional(reports_[taken_++]) : std::nullopt;
  }
  // Takes reports until it has taken this one.
  bool wait_for(Report report) {
    for (std::optional<Report> one = next(); one; one = next()) {
      if (*one == report) return true;
    }
    return false;
  }
  // Takes reports until a checkpoint of this position is durable; false: it never was.
  bool wait_applied(Position applied) { return wait_for(Checkpointed{applied}); }
  // Waits until there is an answer, a wait for room, or a failure; false: no such report came.
  bool wait_reported(size_t answers) {
    return wait([&] { return reports_.size() >= answers || !failures_.empty() || (!waits_.empty() && !waits_.back().ok()); });
  }
  // Waits until checkpoint_failed was called; false: the patience is over.
  bool wait_failed() {
    return wait([&] { return !failures_.empty(); });
  }
  // Waits until checkpoint_damaged was called so often; false: the patience is over.
  bool wait_damaged(size_t times = 1) {
    return wait([&] { return damages_.size() >= times; });
  }
  // Either of the two that a store says of a write that failed.
  bool wait_failed_or_damaged() {
    return wait([&] { return !failures_.empty() || !damages_.empty(); });
  }
  // Waits until the store waits for room on the disk, or continues.
  bool wait_waiting(bool waiting) {
    return wait([&] { return !waits_.empty() && waits_.back().ok() == !waiting; });
  }
  // All reports of checkpoint_damaged, in order.
  std::vector<absl::Status> damages() const {
    const std::scoped_lock lock(mutex_);
    return damages_;
  }
  // All reports of checkpoint_waits, in order; an OK one ends a wait.
  std::vector<absl::Status> waits() const {
    const std::scoped_lock lock(mutex_);
    return waits_;
  }
  // All answers, in order, those included that were taken.
  std::vector<Report> reports() const {
    const std::scoped_lock lock(mutex_);
    return reports_;
  }
  // All reports of checkpoint_failed, in order.
  std::vector<absl::Status> failures() const {
    const std::scoped_lock lock(mutex_);
    return failures_;
  }

 private:
  void add(Report report) {
    note([&] { reports_.push_back(report); });
  }

  std::vector<Report> reports_;
  size_t taken_ = 0;
  std::vector<absl::Status> failures_;
  std::vector<absl::Status> damages_;
  std::vector<absl::Status> waits_;
};

}  // namespace coordkit::testkit
