// A replica with its threads: the engine with everything it needs. Its parts meet here. There are the loop of its turns
// (turn_loop.h), on a thread shared with the network or on the host's executor, and the things that other threads leave for it
// (arrivals.h). There are the engine with its client (engine_turns.h), stores (stores.h), transport (peer_transport.h), and the
// callback thread (announcements.h). Door 1's handles share it.
//
// A round of the loop is the host's loop of engine.h: take what arrived, read the clock, turn, carry out the effects. "The
// engine's thread" is the one running a round.
//
// Threads begin in open() and end in close(), before anything is destroyed: those that give others work end first
// (host_closing.cc). A member refers to earlier ones only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "coordkit/engine/client.h"
#include "coordkit/engine/engine.h"
#include "coordkit/replica.h"
#include "replica/calls/callback_calls.h"
#include "replica/loop/announcements.h"
#include "replica/loop/arrivals.h"
#include "replica/loop/engine_turns.h"
#include "replica/loop/hold_ups.h"
#include "replica/loop/own_thread.h"
#include "replica/loop/turn_loop.h"
#include "replica/operate/admin_socket.h"
#include "replica/operate/host_health.h"
#include "replica/shell/closing.h"
#include "replica/shell/fork_guard.h"
#include "replica/shell/host.h"
#include "replica/shell/parts.h"
#include "replica/shell/peer_transport.h"
#include "replica/shell/stores.h"

namespace coordkit {

class DataDirectory;

class RunningHost final : public std::enable_shared_from_this<RunningHost>, public Host {
 public:
  // `own_thread`, none: the options name an executor. `parts` use its loop, and the directory, if they need one.
  RunningHost(ReplicaOptions options, std::shared_ptr<OwnThread> own_thread, std::shared_ptr<DataDirectory> directory,
              MadeParts parts);
  ~RunningHost() override;

  absl::StatusOr<std::shared_ptr<RunningHost>> open();  // opening.cc
  absl::Status open_admin();
  // Closes, and lets go. In a callback, which a close cannot wait for, a thread of its own does or completes it: so nothing of
  // a host is destroyed on its own threads.
  void end(std::shared_ptr<Host> self) override;

  // Runs `call` on the engine's thread before one of its next turns, or, once closed, right here on the stopped client.
  // Inside a callback on that thread: at once.
  void call(Call call) override { turns_->run_stopped(post(std::move(call))); }
  Call post(Call call) noexcept override;
  void call_in_line(Call call) override { turns_->run_stopped(forked() ? nullptr : arrivals_.add_in_line(std::move(call))); }
  Client* client_here(Counts counts) override;
  bool admit(LaggingTime deadline) override { return arrivals_.admission().enter(deadline, clock_); }
  void leave(Served served) override { arrivals_.admission().left(served == Served::Yes); }
  // Once closed: is the caller inside of a call on the stopped client?
  bool on_engine_thread() const override { return loop_.runs_here() || (turns_ && turns_->runs_stopped_here()); }
  bool on_callback_thread() const override { return announcements_ && announcements_->run_here(); }
  const Clock& clock() const override { return clock_; }
  bool on_executor_thread() const override { return !own_thread_ && loop_.begun() && loop_.waits_for_caller(); }
  const HoldUps* hold_ups() const override { return &hold_ups_; }
  // In a forked child: no thread of this object runs here, and none of its locks may be taken.
  bool forked() const override { return fork_guard_.forked(); }
  const ReplicaOptions& options() const { return options_; }
  Duration retry_after() const override { return options_.election_timeout; }

  void run_callback(const char* call, absl::FunctionRef<void()> callback) override;
  void announce(CallbackThread::Task task) override { announcements_->announce(std::move(task)); }
  void later(Duration delay, absl::AnyInvocable<void()> act) override;

  Ticket change_members(const MembershipChange& change, MembershipOptions options, Callback<Index> done) override;
  Ticket transfer_leadership(std::optional<uint64_t> target, Duration timeout, DoneCallback done) override;
  void abandon(Ticket call) override;

  HostHealth& health() override { return health_; }
  absl::Status scrub_now(absl::FunctionRef<bool()> awaited) override;
  absl::StatusOr<BackupInfo> backup(const std::string& file, LiveBackupOptions options) override;  // live_backup.cc
  absl::Status reload_tls() override;
  absl::Status close() override;
  void close_async(std::shared_ptr<Host> self, DoneCallback done) override;

 private:
  enum class Where : uint8_t { Anywhere, OnExecutor };
  absl::Status close(Where where);
  // A checkpoint at this entry or beyond it, once durable; one is taken if there is none. The view may outlive this.
  absl::StatusOr<std::unique_ptr<CheckpointView>> checkpoint_at(Index at_least, LaggingTime deadline);
  void start(std::unique_ptr<Engine> engine);
  Duration run_turns() noexcept;
  HostHealth::Report report();
  void carry_out(EngineEffects& effects, bool due);  // whether the next turn is due already
  void send_released();
  void finish_drain();
  void stop_engine() noexcept;

  const ReplicaOptions options_;
  const Clock& clock_;
  const ForkGuard fork_guard_;
  const std::shared_ptr<OwnThread> own_thread_;  // none: the host has an executor
  TurnLoop loop_;
  Arrivals arrivals_;
  CallbackCalls callback_calls_;
  HoldUps hold_ups_;
  Closing closing_;
  Stores stores_;
  PeerTransport peers_;
  std::optional<Announcements> announcements_;  // these two: once open() has come so far
  std::optional<EngineTurns> turns_;
  HostHealth health_;
  std::unique_ptr<AdminSocket> admin_;  // none: not requested
};

}  // namespace coordkit
