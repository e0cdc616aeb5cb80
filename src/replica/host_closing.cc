// The end of a host: what was begun is drained, then each part stops, those that give others work first.
#include <utility>

#include "base/thread.h"
#include "replica/callback_stream.h"
#include "replica/host.h"
#include "replica/waiting.h"

namespace coordkit {

void Host::finish_drain() {
  const ClientStatus status = turns_->client().status();
  if (status.releases + status.tickets == 0) closing_.drained();
}

// The last thing the engine's thread does, with the calls that find the host closed meanwhile.
void Host::stop_engine() {
  const auto lock = turns_->stop(arrivals_);
  peers_.close();
  health_.end();
  publish();
  turns_->run_late();
}

absl::Status Host::close() {
  if (forked()) return forked_away();
  if (on_engine_thread()) {
    return make_error(Reason::InCallback,
                      "close() inside an async callback would wait for its own thread; call it from another one");
  }
  closing_in_callback();
  if (!closing_.begin(options_.drain)) {
    if (on_callback_thread()) return absl::OkStatus();  // who closes waits for this callback
    closing_.wait();
    if (announcements_) announcements_->stop();  // who closed was perhaps one of them
    return absl::OkStatus();
  }
  stores_.stop();
  if (loop_.begun()) {
    loop_.end([this] { stop_engine(); });
  } else {
    peers_.close();
  }
  if (own_thread_) own_thread_->stop();
  admin_.reset();  // its visitors have been answered by now
  if (announcements_) announcements_->stop();
  // Handles may keep this object for long; the directory and the port must be free for the next replica now.
  peers_.release();
  stores_.release();
  closing_.closed();
  return absl::OkStatus();
}

void Host::end(std::shared_ptr<Host> host) {
  if (host->forked() || host->closing_.closes_here()) return;
  host->close().IgnoreError();
  if (!host->on_engine_thread() && !host->on_callback_thread()) return;
  Thread::detached("coordkit/close", [host = std::move(host)] { host->close().IgnoreError(); });
}

}  // namespace coordkit
