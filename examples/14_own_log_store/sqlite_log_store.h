// A LogStore over SQLite: for a host that keeps everything in databases, and a pattern for a store over anything else that has
// transactions. Meant to be copied.
//
// Only one thread uses the database. It takes everything queued, makes one transaction of it and reports it written, so what
// arrives while the disk syncs shares the next sync. The file is locked while it is open.
// Threads: as in the port. Failure: the first error of SQLite is final, a full disk included: reported once, then nothing more.
#pragma once

#include <coordkit/ports/log_store.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "log_database.h"

namespace example {

using namespace coordkit;

class SqliteLogStore final : public LogStore {
 public:
  explicit SqliteLogStore(std::string file) : file_(std::move(file)) {}
  ~SqliteLogStore() override { close(); }

  absl::StatusOr<RecoveredLog> open(LogSink& sink) override try {
    if (database_) return make_error(Reason::InUse, "this log store was opened before; make a new one");
    database_ = std::make_unique<LogDatabase>(file_);
    sink_ = &sink;
    RecoveredLog recovered = database_->recover();
    thread_ = std::thread([this] { run(); });
    return recovered;
  } catch (const absl::Status& why) {
    database_.reset();
    return why;
  }
  void submit(LogWrite write) override {
    post([this, write = std::move(write)] {
      database_->perform(write);
      performed_ = write.number;
    });
  }
  void read(Index first, Index last, size_t bytes_max) override {
    post([this, first, last, bytes_max] { sink_->log_read(first, database_->read(first, last, bytes_max)); });
  }
  void compact(Position through) override {
    post([this, through] { database_->forget(through); });
  }
  void close() override {  // finishes what was submitted
    end(false);
    if (thread_.joinable()) thread_.join();
    database_.reset();
  }

 private:
  using Tasks = std::vector<std::function<void()>>;
  void post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    waiting_.push_back(std::move(task));
    wake_.notify_one();
  }
  void end(bool at_once) {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (at_once) waiting_.clear();
    wake_.notify_one();
  }
  Tasks take() {  // none: stopped
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    return std::exchange(waiting_, {});
  }

  void run() try {
    for (Tasks tasks = take(); !tasks.empty(); tasks = take()) {
      const WriteNumber before = performed_;
      database_->begin();
      for (const std::function<void()>& task : tasks) task();
      database_->commit();
      if (performed_ > before) sink_->written(performed_);
    }
  } catch (const absl::Status& why) {
    database_->give_up();
    end(true);
    sink_->log_failed(why);
  }

  const std::string file_;
  LogSink* sink_ = nullptr;
  std::unique_ptr<LogDatabase> database_;  // owned by the thread once it runs; so is the next
  WriteNumber performed_;
  std::mutex mutex_;  // guards the next two
  Tasks waiting_;
  bool ended_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace example
