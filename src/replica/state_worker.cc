#include "replica/state_worker.h"

#include <utility>

namespace coordkit {

StateWorker::StateWorker(StateStore& store, Machines machines, Post post)
    : store_(store), machines_(std::move(machines)), post_(std::move(post)) {
  views_.emplace(store_);
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
  if (stopping_.exchange(true)) return;
  thread_.post([this] { views_.reset(); });
  thread_.stop();
}

}  // namespace coordkit
