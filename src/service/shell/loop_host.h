// A host whose engine runs in the turns of a loop: what a replica (running_host.h) and a process without one (remote_host.h)
// have in common. There are the loop (turn_loop.h), on a thread shared with the network or on an executor of the program's, and
// the things that other threads leave for it (arrivals.h). There are the engine with its client (engine_turns.h), the callback
// thread (announcements.h), and the reports about it all (host_health.h).
//
// A round of the loop is the host's loop of engine.h: take what arrived, read the clock, turn, carry out the effects. "The
// engine's thread" is the one running a round. A class on top of this has what carries the effects out.
//
// Threads begin in start() and end in close(), before anything is destroyed: those that give others work end first
// (host_closing.cc). A member refers to earlier ones only. The destructor of the class on top closes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "coordkit/engine/client.h"
#include "coordkit/engine/engine.h"
#include "service/calls/callback_calls.h"
#include "service/loop/announcements.h"
#include "service/loop/arrivals.h"
#include "service/loop/engine_turns.h"
#include "service/loop/hold_ups.h"
#include "service/loop/own_thread.h"
#include "service/loop/turn_loop.h"
#include "service/operate/host_health.h"
#include "service/shell/closing.h"
#include "service/shell/fork_guard.h"
#include "service/shell/host.h"

namespace coordkit {

struct LoopOptions {
  const Clock& clock;
  std::shared_ptr<OwnThread> own_thread;  // none: there is an executor of the program's
  std::shared_ptr<Executor> executor;
  Duration election_timeout{};
  Duration drain{};
};

class LoopHost : public std::enable_shared_from_this<LoopHost>, public Host {
 public:
  explicit LoopHost(LoopOptions options);

  // Closes, and lets go. In a callback, which a close cannot wait for, a thread of its own does or completes it: so nothing of
  // a host is destroyed on its own threads.
  void end(std::shared_ptr<Host> self) override;

  // Runs `call` on the engine's thread before one of its next turns, or, once closed, right here on the stopped client.
  // Inside a callback on that thread: at once.
  void call(Call call) override { turns_->run_stopped(post(std::move(call))); }
  Call post(Call call) noexcept override;
  void call_in_line(Call call) override { turns_->run_stopped(forked() ? nullptr : arrivals_.add_in_line(std::move(call))); }
  Client* client_here(Counts counts) override;
  bool admit(LaggingTime deadline) override { return arrivals_.admission().enter(deadline, loop_options_.clock); }
  void leave(Served served) override { arrivals_.admission().left(served == Served::Yes); }
  // Once closed: is the caller inside of a call on the stopped client?
  bool on_engine_thread() const override { return loop_.runs_here() || (turns_ && turns_->runs_stopped_here()); }
  bool on_callback_thread() const override { return announcements_ && announcements_->run_here(); }
  const Clock& clock() const override { return loop_options_.clock; }
  bool on_executor_thread() const override { return !loop_options_.own_thread && loop_.begun() && loop_.waits_for_caller(); }
  const HoldUps* hold_ups() const override { return &hold_ups_; }
  // In a forked child: no thread of this object runs here, and none of its locks may be taken.
  bool forked() const override { return fork_guard_.forked(); }
  Duration retry_after() const override { return loop_options_.election_timeout; }

  void run_callback(const char* call, absl::FunctionRef<void()> callback) override;
  void announce(CallbackThread::Task task) override { announcements_->announce(std::move(task)); }
  void later(Duration delay, absl::AnyInvocable<void()> act) override;
  void abandon(Ticket call) override;

  HostHealth& health() override { return health_; }
  absl::Status close() override;
  void close_async(std::shared_ptr<Host> self, DoneCallback done) override;

 protected:
  // The parts of start(): announce_to(), then the class on top makes turns_, then begin().
  void announce_to(const HostCallbacks& callbacks);
  ClientOptions client_options();  // of every host; the class on top adds its own
  void begin();                    // once turns_ is made
  // Within `catch (...)`, in the one place of each thread where what was not expected ends.
  void fail() noexcept { arrivals_.fail(arrivals_.last_words().caught()); }
  LaggingTime lagging() const { return loop_options_.clock.lagging(); }

  // ---- by the class on top; on the engine's thread, except the last three
  virtual void carry_out(EngineEffects& effects, Now now, bool due) = 0;  // `due`: whether the next turn is due already
  virtual bool take_deferred() { return false; }                          // whether work waits for the end of this round
  virtual HostHealth::Report report() = 0;
  virtual void close_network() = 0;
  virtual void stop_sources() {}  // the threads that report to the loop
  virtual void end_visits() {}    // all callers have been answered
  virtual void release() = 0;     // after the last turn: port and directory are free for the next one

  const LoopOptions loop_options_;
  const ForkGuard fork_guard_;
  TurnLoop loop_;
  Arrivals arrivals_;
  CallbackCalls callback_calls_;
  HoldUps hold_ups_;
  Closing closing_;
  std::optional<Announcements> announcements_;  // these two: once it is started
  std::optional<EngineTurns> turns_;
  HostHealth health_;

 private:
  enum class Where : uint8_t { Anywhere, OnExecutor };
  absl::Status close(Where where);
  Duration run_turns() noexcept;
  void finish_drain();
  void stop_engine() noexcept;
};

}  // namespace coordkit
