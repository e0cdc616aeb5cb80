// A log store that passes everything on, both ways. A defect is what a derived class does differently.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "coordkit/ports/log_store.h"

namespace coordkit::testkit {

// Outlives restarts: what it remembers is on the medium, as far as the defect goes.
class LogWrapper : public LogStore, public LogSink {
 public:
  void set_inner(LogStore& inner) { inner_ = &inner; }

  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    sink_ = &sink;
    return inner_->open(*this);
  }
  void submit(LogWrite write) override { inner_->submit(std::move(write)); }
  void read(Index first, Index last, size_t bytes_max) override { inner_->read(first, last, bytes_max); }
  void scrub(Index from, std::function<void(LogScrub)> done) override { inner_->scrub(from, std::move(done)); }
  void compact(Position through) override { inner_->compact(through); }
  void close() override { inner_->close(); }

  void written(WriteNumber number) override { sink_->written(number); }
  void log_read(Index first, absl::StatusOr<std::vector<raft::Entry>> entries) override {
    sink_->log_read(first, std::move(entries));
  }
  void log_failed(absl::Status why) override { sink_->log_failed(std::move(why)); }
  void log_space(LogSpace space) override { sink_->log_space(space); }

 protected:
  LogStore& inner() { return *inner_; }
  LogSink& sink() { return *sink_; }

 private:
  LogStore* inner_ = nullptr;
  LogSink* sink_ = nullptr;
};

// The harness of a correct store, with a wrapper between the store and the suite.
template <typename Wrapper, typename Base>
class WrappedLogHarness : public Base {
 public:
  using Base::Base;
  LogStore& restart() override {
    wrapper_.set_inner(Base::restart());
    return wrapper_;
  }

 protected:
  Wrapper wrapper_;
};

}  // namespace coordkit::testkit
