#include "service/calls/callback_stream.h"

#include "coordkit/error.h"
#include "service/loop/turn_loop.h"

namespace coordkit {
namespace {

// The streams whose calls this thread is in, from the inside out.
thread_local CallbackStream* innermost = nullptr;

}  // namespace

bool CallbackStream::begin() {
  std::unique_lock lock(mutex_);
  const std::thread::id here = std::this_thread::get_id();
  wake_.wait(lock, [&] { return ended_ || depth_ == 0 || runner_ == here; });
  if (ended_) return false;
  enter();
  return true;
}

void CallbackStream::enter() {
  if (depth_++ > 0) return;
  runner_ = std::this_thread::get_id();
  outer_ = std::exchange(innermost, this);
}

void CallbackStream::leave() {
  std::unique_lock lock(mutex_);
  if (depth_ == 1 && ended_ && !dropped_) {
    dropped_ = true;
    lock.unlock();
    drop();  // what goes with it may end this stream: that is inside of its own call
    lock.lock();
  }
  if (--depth_ > 0) return;
  innermost = std::exchange(outer_, nullptr);
  runner_ = {};
  closes_ = interrupted_ = false;
  wake_.notify_all();
}

void CallbackStream::end() {
  {
    std::unique_lock lock(mutex_);
    ended_ = true;
    if (runner_ == std::this_thread::get_id()) return;
    if (depth_ > 0 && !std::exchange(interrupted_, true) && wait_ != nullptr) (*wait_)();
    wake_.wait(lock, [this] { return depth_ == 0 || (closes_ && TurnLoop::any_runs_here()); });
    if (depth_ > 0 || dropped_) return;
    enter();
  }
  leave();
}

void CallbackStream::end_later() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (depth_ > 0 || dropped_) return;
    enter();
  }
  leave();
}

// ---- within a call

bool InterruptibleWait::in_callback() { return innermost != nullptr; }

void InterruptibleWait::begin(std::function<void()> interrupt) {
  interrupt_ = std::move(interrupt);
  for (CallbackStream* stream = innermost; stream != nullptr; stream = stream->outer_) {
    const std::lock_guard lock(stream->mutex_);
    stream->wait_ = &interrupt_;
    if (stream->interrupted_) interrupt_();
  }
}

bool InterruptibleWait::interrupted() const {
  if (!interrupt_) return false;
  for (CallbackStream* stream = innermost; stream != nullptr; stream = stream->outer_) {
    const std::lock_guard lock(stream->mutex_);
    if (stream->interrupted_) return true;
  }
  return false;
}

void InterruptibleWait::end() {
  for (CallbackStream* stream = innermost; stream != nullptr; stream = stream->outer_) {
    const std::lock_guard lock(stream->mutex_);
    stream->wait_ = nullptr;
  }
}

absl::Status ended_in_wait() {
  return make_error(Reason::CancelPending, Outcome::Unknown,
                    "another thread ended the stream whose callback waited here; the call may still take effect");
}

void closing_in_callback() {
  for (CallbackStream* stream = innermost; stream != nullptr; stream = stream->outer_) {
    const std::lock_guard lock(stream->mutex_);
    stream->closes_ = true;
    stream->wake_.notify_all();
  }
}

}  // namespace coordkit
