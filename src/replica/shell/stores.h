// The log, the checkpoint and the threads that read them in full: the worker that reads and builds whole states, and the
// scrubber. With them the directory, which stays locked as long as they are open.
//
// Threads: the engine's carries effects out; scrub_now() and view() are for any; all others belong to those that open and
// close. Findings of the stores are reported to the sink; nothing is once stop() has returned.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "coordkit/engine/engine.h"
#include "coordkit/ports/store_events.h"
#include "replica/operate/scrubber.h"
#include "replica/shell/state_worker.h"
#include "service/loop/own_thread.h"

namespace coordkit {

class DataDirectory;

class Stores {
 public:
  // `directory`, none: these stores do not need one. `loop`: the thread of the engine, if it is the replica's own; it is
  // stopped before release(). None: no write may keep the engine's thread.
  Stores(std::shared_ptr<DataDirectory> directory, std::unique_ptr<LogStore> log, std::unique_ptr<StateStore> state,
         OwnThread* loop);

  struct Recovered {
    RecoveredLog log;
    std::unique_ptr<CheckpointView> view;
  };
  absl::StatusOr<Recovered> open(StoreEvents& sink);
  // Makes sure that the next start finds room; if there is none, no_reserve() says so from then on.
  void keep_reserve();
  const std::string& no_reserve() const { return no_reserve_; }  // empty: there is room
  // Starts the threads. `post` is called by each of them, and `fail` within `catch (...)` by one that met what it did not
  // expect; `written` by the engine's, when a write that was left to it is done.
  void start(StateWorker::Machines machines, Scrubber::Options scrub, const std::function<void(EngineInput)>& post,
             const std::function<void()>& fail, std::function<void()> written);

  // `busy`: something waits for the engine's thread, which is not to be kept by a write.
  void carry_out(EngineEffects& effects, bool busy);
  // Whether a write has been left to the engine's thread since the last question: it is done before the next turn.
  bool take_deferred() { return std::exchange(deferred_, false); }

  absl::Status scrub_now(absl::FunctionRef<bool()> awaited);
  uint64_t log_bytes_written() const { return log_ ? log_->bytes_written() : log_bytes_; }
  uint64_t log_index_bytes() const { return log_ ? log_->index_bytes() : 0; }
  // The newest checkpoint; the view may outlive this. Closed: after stop(), which also ends scans under way.
  absl::StatusOr<std::unique_ptr<CheckpointView>> view();

  void stop();     // the threads first, for they use the stores. What is handed to a stopped store has no effect
  void release();  // after the last turn: the directory is free for the next replica

 private:
  void submit(LogWrite write, bool busy);

  OwnThread* const loop_;
  std::shared_ptr<DataDirectory> directory_;
  std::string no_reserve_;
  std::unique_ptr<LogStore> log_;
  uint64_t log_bytes_ = 0;  // that it had written when it was released
  std::mutex viewing_;      // guards outside reads of the state store, and its end
  std::unique_ptr<StateStore> state_;
  // Set under viewing_, and shared with the views.
  const std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);
  std::optional<StateWorker> worker_;  // uses the state store
  std::optional<Scrubber> scrubber_;   // uses both stores
  std::function<void()> written_;      // these two: of the engine's thread
  bool deferred_ = false;
};

}  // namespace coordkit
