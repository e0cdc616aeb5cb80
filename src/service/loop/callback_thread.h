// A thread that runs tasks in order, each once; one that blocks delays only the others. One such thread runs the user's
// callbacks: phase changes, lost holds, leadership. Started with the replica, ended by stop(), which first runs what is queued.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "base/thread.h"

namespace coordkit {

class CallbackThread {
 public:
  using Task = absl::AnyInvocable<void()>;

  // `run_one` runs each task, and catches what the task throws: it does not throw.
  using RunOne = std::function<void(Task&&)>;
  explicit CallbackThread(
      ThreadName name, RunOne run_one = [](Task&& task) { std::move(task)(); })
      : run_one_(std::move(run_one)), thread_(name, [this] { run(); }) {}
  ~CallbackThread() { stop(); }
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;

  // After stop(): returns the task for the caller to run.
  Task post(Task task);
  bool runs_here() const;  // is the caller one of the tasks?
  // Runs what is queued and ends the thread. Called from a task: it ends after that, for which each later caller waits; so a
  // task never destroys this object. Any thread, any number of times.
  void stop();

 private:
  void run();

  const RunOne run_one_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  std::deque<Task> taken_;  // of the thread
  bool stopping_ = false;
  std::mutex joining_;
  Thread thread_;  // last: it uses the other members
};

}  // namespace coordkit
