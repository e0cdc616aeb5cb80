// The end of a host: what was begun is drained, then each part stops, those that give others work first.
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/thread.h"
#include "coordkit/error.h"
#include "service/calls/call_control.h"
#include "service/calls/callback_stream.h"
#include "service/calls/waiting.h"
#include "service/shell/loop_host.h"

namespace coordkit {
namespace {

// An executor that runs nothing for so long has been stopped: it would be waited for without end.
constexpr Duration kExecutorPatience = std::chrono::seconds(1);
constexpr int kStepAttempts = 500;
constexpr auto kStepAgain = std::chrono::milliseconds(10);

// A close cannot be refused: a step of it waits for memory. After some seconds without any, what it should have freed stays.
template <typename Step>
void insist(Step step) noexcept {
  for (int attempt = 0; attempt < kStepAttempts; ++attempt) {
    try {
      return step();
    } catch (...) {
      std::this_thread::sleep_for(kStepAgain);
    }
  }
}

}  // namespace

void LoopHost::finish_drain() {
  const ClientStatus status = turns_->client().status();
  if (status.releases + status.tickets == 0) closing_.drained();
}

// The last thing the engine's thread does, with the calls that find the host closed meanwhile. Each step is safe to repeat.
void LoopHost::stop_engine() noexcept {
  std::unique_lock<std::recursive_mutex> lock;
  insist([&] { lock = turns_->stop(arrivals_); });
  insist([&] { close_network(); });
  insist([&] { health_.stop(report()); });
  insist([&] { turns_->run_late(); });
}

absl::Status LoopHost::close() {
  if (forked()) return forked_away();
  if (on_engine_thread()) {
    return make_error(Reason::InCallback,
                      "close() inside an async callback would wait for its own thread; call it from another one");
  }
  if (on_executor_thread()) {
    return make_error(Reason::InCallback,
                      "close() on the only thread of the executor that runs this replica would wait for itself; use "
                      "close_async(), or another thread");
  }
  return close(Where::Anywhere);
}

// On the executor's thread no turn is run while this waits: the last one is run right here, and nothing is waited for that
// takes more of them.
absl::Status LoopHost::close(Where where) {
  closing_in_callback();
  if (!closing_.begin(where == Where::OnExecutor ? Duration::zero() : loop_options_.drain)) {
    // The thread that closes waits for this one.
    if (on_callback_thread() || where == Where::OnExecutor) return absl::OkStatus();
    closing_.wait();
    if (announcements_) announcements_->stop();  // the one that closed was perhaps one of them
    return absl::OkStatus();
  }
  insist([&] { stop_sources(); });
  if (loop_.begun()) {
    loop_.end([this] { stop_engine(); }, loop_options_.own_thread ? Duration::max() : kExecutorPatience);
  } else {
    close_network();
  }
  if (loop_options_.own_thread) loop_options_.own_thread->stop();
  end_visits();
  if (announcements_) insist([&] { announcements_->stop(); });
  // Handles may keep this object for long; the directory and the port must be free for the next replica now.
  insist([&] { release(); });
  closing_.closed();
  return absl::OkStatus();
}

void LoopHost::end(std::shared_ptr<Host> self) {
  if (forked() || closing_.closes_here()) return;
  if (!on_engine_thread() && on_executor_thread()) {
    close(Where::OnExecutor).IgnoreError();
    return;
  }
  close().IgnoreError();
  if (!on_engine_thread() && !on_callback_thread()) return;
  insist([&] { Thread::detached("coordkit/close", [self] { self->close().IgnoreError(); }); });
}

void LoopHost::close_async(std::shared_ptr<Host> self, DoneCallback done) {
  if (forked()) return tell(std::move(done), forked_away());
  const auto given = std::make_shared<DoneCallback>(std::move(done));
  const auto answer = [self, given](absl::Status status) {
    self->run_callback("close_async", [&] { tell(std::move(*given), std::move(status)); });
  };
  try {
    Thread::detached(
        "coordkit/close", [this, answer] { answer(close(Where::Anywhere)); },
        [answer] { answer(absl::ResourceExhaustedError("")); });  // a sentence would need memory, which is what lacked
  } catch (const UnstartedThread&) {
    answer(make_error(Reason::LimitExceeded,
                      "close_async() can start no thread; nothing was done: raise the limit of threads, or call close() from "
                      "another thread"));
  }
}

}  // namespace coordkit
