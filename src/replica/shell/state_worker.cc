#include "replica/shell/state_worker.h"

#include <utility>

namespace coordkit {

StateWorker::StateWorker(StateStore& store, Machines machines, Post post, std::function<void()> fail)
    : store_(store),
      machines_(std::move(machines)),
      post_(std::move(post)),
      fail_(std::move(fail)),
      thread_("coordkit/views", [this](CallbackThread::Task&& task) { run(std::move(task)); }) {
  views_.emplace(store_);
}

// The one place of the thread where what a task did not expect ends.
void StateWorker::run(CallbackThread::Task&& task) noexcept {
  try {
    std::move(task)();
  } catch (...) {
    fail_();
  }
}

void StateWorker::read(ViewOrder order) {
  thread_.post([this, order = std::move(order)] {
    if (stopping_) return;
    std::optional<ViewAnswer> answer = views_->perform(order);
    if (answer) std::visit([this](auto& one) { post_(EngineInput(std::move(one))); }, *answer);
  });
}

void StateWorker::restore() {
  thread_.post([this] {
    if (stopping_) return;
    absl::StatusOr<std::unique_ptr<CheckpointView>> view = store_.view();
    if (!view.ok()) return post_(StateRestored{view.status()});
    absl::StatusOr<std::vector<HostedMachine>> machines = machines_();
    if (!machines.ok()) return post_(StateRestored{machines.status()});
    post_(StateRestored{RestoredState::build(*std::move(machines), **view)});
  });
}

void StateWorker::discard(std::unique_ptr<RestoredState> state) {
  thread_.post([gone = std::move(state)]() mutable { gone.reset(); });
}

void StateWorker::stop() {
  stopping_ = true;
  thread_.stop();
  views_.reset();
}

}  // namespace coordkit
