// The thread on which a state is read for peers, built after an install, and destroyed when it was replaced: everything that
// takes time proportional to the state. In order, one at a time; answers are posted to the engine like anything else.
//
// Threads: every method is called from the engine's thread, stop() from any. After stop() nothing is posted.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "coordkit/engine/engine.h"
#include "service/loop/callback_thread.h"

namespace coordkit {

class StateWorker {
 public:
  using Post = std::function<void(EngineInput)>;
  using Machines = std::function<absl::StatusOr<std::vector<HostedMachine>>()>;  // fresh ones, called on the worker's thread

  // `fail`: a task threw; within `catch (...)`.
  StateWorker(StateStore& store, Machines machines, Post post, std::function<void()> fail);
  ~StateWorker() { stop(); }

  void read(ViewOrder order);
  void restore();
  void discard(std::unique_ptr<RestoredState> state);
  // Waits for the current task; the rest is dropped. Idempotent. The store must still exist.
  void stop();

 private:
  StateStore& store_;
  const Machines machines_;
  const Post post_;
  const std::function<void()> fail_;
  std::optional<StateViews> views_;  // of the worker's thread
  std::atomic<bool> stopping_{false};
  void run(CallbackThread::Task&& task) noexcept;

  CallbackThread thread_;  // last: its tasks use the other members
};

}  // namespace coordkit
