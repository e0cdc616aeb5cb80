// The end of a host: what was begun is drained, then each part stops, those that give others work first.
#include <iterator>
#include <utility>

#include "coordkit/storage/data_directory.h"
#include "replica/host.h"
#include "replica/waiting.h"

namespace coordkit {

bool Host::closing() {
  const std::lock_guard lock(mutex_);
  return closing_;
}

void Host::finish_drain() {
  const ClientStatus status = client_->status();
  if (status.releases + status.tickets > 0) return;
  const std::lock_guard lock(mutex_);
  drained_ = true;
  drained_wake_.notify_all();
}

// The last thing the engine's thread does. Calls that find the host closed wait here until the client has stopped.
void Host::stop_engine() {
  const std::lock_guard lock(stopped_mutex_);
  {
    const std::lock_guard queue(mutex_);
    closed_ = true;
    batch_.swap(arrivals_);
    for (std::deque<Call>* waiting : {&calls_, &line_}) {
      begun_.insert(begun_.end(), std::make_move_iterator(waiting->begin()), std::make_move_iterator(waiting->end()));
      waiting->clear();
    }
  }
  for (Arrival& arrival : batch_) {
    if (auto* call = std::get_if<Call>(&arrival)) std::move (*call)(*client_);
  }
  for (Call& call : begun_) std::move(call)(*client_);
  batch_.clear();
  begun_.clear();
  client_->stop();
  membership_.stop();
  transport_->close();
  if (tcp_ != nullptr) tcp_counters_ = std::exchange(tcp_, nullptr)->counters();
  {
    const std::lock_guard health(health_mutex_);
    over_ = true;
  }
  publish();
}

absl::Status Host::close() {
  if (forked()) return forked_away();
  if (on_engine_thread()) {
    return make_error(Reason::InCallback,
                      "close() inside an async callback would wait for its own thread; call it from another one");
  }
  {
    std::unique_lock lock(mutex_);
    if (closing_) return absl::OkStatus();
    if (loop_.begun() && options_.drain > Duration::zero()) {
      draining_ = true;
      lock.unlock();
      loop_.wake();
      lock.lock();
      drained_wake_.wait_for(lock, options_.drain, [&] { return drained_; });
    }
    if (std::exchange(closing_, true)) return absl::OkStatus();
  }
  if (scrubber_) scrubber_->stop();
  if (worker_) worker_->stop();
  if (log_) log_->close();
  if (state_) {
    const std::lock_guard lock(viewing_);
    state_->close();
  }
  if (loop_.begun()) {
    loop_.end([this] { stop_engine(); });
  } else if (transport_) {
    transport_->close();
  }
  if (own_thread_) own_thread_->stop();
  admin_.reset();  // its visitors have been answered by now
  if (deadlines_) deadlines_->stop();
  if (callbacks_) callbacks_->stop();
  // Handles may keep this object for long; the directory and the port must be free for the next replica now.
  transport_.reset();
  log_.reset();
  state_.reset();
  if (directory_) directory_->keep_reserve().IgnoreError();  // the next open tries again, and says so
  directory_.reset();
  return absl::OkStatus();
}

}  // namespace coordkit
