#include "service/loop/own_thread.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <utility>

#include "base/descriptor.h"
#include "service/loop/busy_poll.h"

namespace coordkit {
namespace {

constexpr auto kTakeOverAfter = std::chrono::milliseconds(5);  // with a task that blocks; at most twice that
constexpr int kLooksBeforeDozing = 200;

void clear_if(std::atomic<std::thread::id>& thread, std::thread::id is) {
  thread.compare_exchange_strong(is, std::thread::id());
}

}  // namespace

// A first timer makes Asio open what it waits with.
OwnThread::OwnThread(Duration busy_poll) : busy_poll_(busy_poll) {
  const StandardStreamsKept kept;
  const boost::asio::steady_timer first(io_);
}

void OwnThread::start() {
  try {
    for (Thread& thread : threads_) thread = Thread("coordkit/loop", [this] { live(); });
  } catch (...) {
    stop();
    throw;
  }
}

void OwnThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  io_.stop();
  for (Thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void OwnThread::live() {
  const auto keep_running = boost::asio::make_work_guard(io_);
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id nobody{};
  BusyPoll poll(io_, busy_poll_);
  bool runs = runner_.compare_exchange_strong(nobody, self);  // the first to arrive
  while (runs || understudy()) {
    while (runner_.load(std::memory_order_relaxed) == self && !io_.stopped()) guard([&] { poll.run_one(); });
    if (io_.stopped()) return;
    runs = false;
  }
}

// The one place where what a handler or a task did not expect ends.
template <typename Run>
void OwnThread::guard(Run run) noexcept {
  try {
    run();
  } catch (...) {
    if (on_throw_) on_throw_();
  }
}

// True: this thread runs the loop from here on. False: stopped.
bool OwnThread::understudy() {
  std::unique_lock lock(mutex_);
  uint64_t seen = blocking_.load();
  for (int unchanged = 0; !stopping_;) {
    if (unchanged < kLooksBeforeDozing) {
      wake_.wait_for(lock, kTakeOverAfter);
    } else {
      dozes_ = true;
      if (blocking_.load() == seen) wake_.wait(lock, [this] { return stopping_ || !dozes_; });
      dozes_ = false;
      unchanged = 0;
    }
    uint64_t now = blocking_.load();
    unchanged = now == seen ? unchanged + 1 : 0;
    const bool held_up = now == seen && (now & 3) == static_cast<uint64_t>(Stage::Running);
    if (held_up && !stopping_ && blocking_.compare_exchange_strong(now, word(now >> 2, Stage::TakenOver))) {
      runner_ = std::this_thread::get_id();
      return true;
    }
    seen = now;
  }
  return false;
}

void OwnThread::block_after(Task task, Task then) { due_ = Blocking{std::move(task), std::move(then)}; }

void OwnThread::run(Task task) {
  std::move(task)();
  if (due_) run_blocking(*std::exchange(due_, std::nullopt));
}

// Afterwards this thread may be the understudy, as live() will find: it touches nothing of the loop's any more.
void OwnThread::run_blocking(Blocking blocking) {
  const uint64_t number = (blocking_.load(std::memory_order_relaxed) >> 2) + 1;
  blocking_ = word(number, Stage::Running);
  if (dozes_.exchange(false)) {
    const std::lock_guard lock(mutex_);
    wake_.notify_one();
  }
  const std::thread::id self = std::this_thread::get_id();
  blocks_ = self;
  guard([&] { std::move(blocking.task)(); });
  clear_if(blocks_, self);
  uint64_t running = word(number, Stage::Running);
  if (blocking_.compare_exchange_strong(running, word(number, Stage::Over))) return std::move(blocking.then)();
  clear_if(runner_, self);  // the thread that took over may not have said so yet
}

// The handlers of what the network has ready are queued between the two posts of a blocking task's. The second one must not
// fail: it would lose the task.
void OwnThread::post(Task task) {
  auto one = [this, task = std::move(task)]() mutable { run(std::move(task)); };
  if (blocks_.load(std::memory_order_relaxed) != std::this_thread::get_id()) {
    return boost::asio::post(io_, HandlerIn(memory_, std::move(one)));
  }
  boost::asio::post(io_, HandlerIn(memory_, [this, one = std::move(one)]() mutable {
                      if (!memory_.room()) return one();
                      boost::asio::post(io_, HandlerIn(memory_, std::move(one)));
                    }));
}

// On the heap: there may be many of them at a time, and those that post one can do without.
void OwnThread::post_after(Duration delay, Task task) {
  auto timer = std::make_shared<boost::asio::steady_timer>(io_, delay);
  timer->async_wait([this, timer, task = std::move(task)](const boost::system::error_code& error) mutable {
    if (!error) run(std::move(task));
  });
}

}  // namespace coordkit
