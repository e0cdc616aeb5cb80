// A state store that passes everything on, both ways. A defect is what a derived class does differently.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "coordkit/ports/state_store.h"

namespace coordkit::testkit {

// Outlives restarts: what it remembers is on the medium, as far as the defect goes.
class StateWrapper : public StateStore, public StateSink {
 public:
  void set_inner(StateStore& inner) { inner_ = &inner; }

  absl::StatusOr<Position> open(StateSink& sink) override {
    sink_ = &sink;
    return inner_->open(*this);
  }
  void commit(CheckpointBatch batch) override { inner_->commit(std::move(batch)); }
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override {
    inner_->stage(ticket, std::move(range), std::move(rows));
  }
  void install(Position applied, uint64_t digest) override { inner_->install(applied, digest); }
  void unstage() override { inner_->unstage(); }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override { return inner_->view(); }
  void close() override { inner_->close(); }

  void checkpointed(Position applied) override { sink_->checkpointed(applied); }
  void staged(Ticket ticket) override { sink_->staged(ticket); }
  void installed(Position applied) override { sink_->installed(applied); }
  void install_refused(Position applied, absl::Status why) override { sink_->install_refused(applied, std::move(why)); }
  void checkpoint_failed(absl::Status why) override { sink_->checkpoint_failed(std::move(why)); }
  void checkpoint_damaged(absl::Status why) override { sink_->checkpoint_damaged(std::move(why)); }
  void checkpoint_waits(absl::Status why) override { sink_->checkpoint_waits(std::move(why)); }

 protected:
  StateStore& inner() { return *inner_; }
  StateSink& sink() { return *sink_; }

 private:
  StateStore* inner_ = nullptr;
  StateSink* sink_ = nullptr;
};

// The same for views.
class ViewWrapper : public CheckpointView {
 public:
  explicit ViewWrapper(std::unique_ptr<CheckpointView> inner) : inner_(std::move(inner)) {}
  Position applied() const override { return inner_->applied(); }
  bool installed() const override { return inner_->installed(); }
  absl::Status scan(std::string_view prefix, Visitor visit) const override { return inner_->scan(prefix, visit); }
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override { return inner_->scan_range(range, visit); }
  uint64_t digest() const override { return inner_->digest(); }

 protected:
  const CheckpointView& inner() const { return *inner_; }

 private:
  std::unique_ptr<CheckpointView> inner_;
};

// A store whose views are `View`s, made from the requested view.
template <typename View>
class ViewedThrough : public StateWrapper {
 public:
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override {
    auto intact = inner().view();
    if (!intact.ok()) return intact.status();
    return std::make_unique<View>(*std::move(intact));
  }
};

// The harness of a correct store, with a wrapper between the store and the suite.
template <typename Wrapper, typename Base>
class WrappedStateHarness : public Base {
 public:
  using Base::Base;
  StateStore& restart() override {
    wrapper_.set_inner(Base::restart());
    return wrapper_;
  }

 protected:
  Wrapper wrapper_;
};

}  // namespace coordkit::testkit
