// The executor of a replica that was given none: one loop, which also serves the network, and two threads for it. One
// runs the loop, the other is its understudy and sleeps.
//
// A task that may block (a sync of a disk that has been fast so far) is given to block_after(). It runs on the loop's thread,
// so that no other thread need be woken for it. If it does block, the understudy takes over the loop after a few milliseconds,
// and the blocked thread is the understudy from then on.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/thread.h"
#include "coordkit/ports/executor.h"
#include "service/loop/handler_memory.h"

namespace coordkit {

class OwnThread final : public Executor {
 public:
  explicit OwnThread(Duration busy_poll);  // before it sleeps: busy_poll.h. Throws boost::system::system_error: no descriptor
  ~OwnThread() override { stop(); }

  boost::asio::io_context& io() { return io_; }
  // Called within `catch (...)` when a handler of the network, or a task, throws; the loop continues. Before start(). Does not
  // throw.
  void on_throw(std::function<void()> tell) { on_throw_ = std::move(tell); }
  void start();  // both threads, or neither and std::system_error
  void stop();   // tasks not run by now never run. Waits for a task that blocks. Idempotent

  void post(Task task) override;
  void post_after(Duration delay, Task task) override;
  // From a task of post(): runs `task`, which may block, as soon as that one has returned, and then, unless the loop was taken
  // over meanwhile, `then`. Posts of `task` come behind what the network has ready by then. Once per task of post().
  void block_after(Task task, Task then);

 private:
  // The understudy's view of blocking tasks: the number of the newest, and its stage.
  enum class Stage : uint8_t { Over, Running, TakenOver };
  static constexpr uint64_t word(uint64_t task, Stage stage) { return task << 2 | static_cast<uint64_t>(stage); }

  void live();  // each thread's loop: alternately runner and understudy
  bool understudy();
  template <typename Run>
  void guard(Run run) noexcept;
  struct Blocking {
    Task task;
    Task then;
  };
  void run(Task task);
  void run_blocking(Blocking blocking);

  const Duration busy_poll_;
  std::function<void()> on_throw_;
  HandlerMemory memory_;  // before the io_context, whose handlers lie in it
  // Not 1: what a handler posts would then be its thread's own until it ends, and a task that blocks would keep it.
  boost::asio::io_context io_{2};
  std::array<Thread, 2> threads_;
  std::atomic<std::thread::id> runner_{};
  std::atomic<uint64_t> blocking_{word(0, Stage::Over)};
  std::atomic<std::thread::id> blocks_{};  // the thread that runs the newest blocking task; none: it is over
  std::optional<Blocking> due_;            // of the thread of the loop, within a task of post()
  std::atomic<bool> dozes_{false};         // the understudy, until there is a blocking task
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
};

}  // namespace coordkit
