// The engine with everything it needs. Here its parts meet: the loop of its turns (turn_loop.h), on a thread shared with the
// network or on the host's executor, what other threads leave for it (arrivals.h), stores (stores.h), transport
// (peer_transport.h), and the callback thread. Door 1's handles share it.
//
// A round of the loop is the host's loop of engine.h: take what arrived, read the clock, turn, carry out the effects. "The
// engine's thread" is the one running a round.
//
// Threads end in close(), before anything is destroyed: those that give others work first (host_closing.cc). The order of the
// members matters only in that loop and arrivals, which others refer to, come first.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "coordkit/client.h"
#include "coordkit/engine.h"
#include "coordkit/replica.h"
#include "engine/event_log.h"
#include "replica/admin_socket.h"
#include "replica/arrivals.h"
#include "replica/call_runner.h"
#include "replica/callback_thread.h"
#include "replica/closing.h"
#include "replica/deadline_timer.h"
#include "replica/event_feed.h"
#include "replica/event_relay.h"
#include "replica/fork_guard.h"
#include "replica/host_code.h"
#include "replica/membership_calls.h"
#include "replica/meter.h"
#include "replica/own_thread.h"
#include "replica/parts.h"
#include "replica/peer_transport.h"
#include "replica/published_health.h"
#include "replica/stores.h"
#include "replica/turn_loop.h"

namespace coordkit {

class DataDirectory;

class Host final : public std::enable_shared_from_this<Host>, public CallRunner {
 public:
  // `own_thread`, none: the options name an executor. `parts` use its loop, and the directory, if they need one.
  Host(ReplicaOptions options, std::shared_ptr<OwnThread> own_thread, std::shared_ptr<DataDirectory> directory,
       MadeParts parts);
  ~Host() override;

  absl::StatusOr<std::shared_ptr<Host>> open();  // opening.cc
  absl::Status open_admin(Replica& replica);     // the replica closes this host before it is destroyed

  // Runs `call` on the engine's thread before one of its next turns, or, once closed, right here on the stopped client.
  void call(Call call) override { run_if_closed(forked() ? nullptr : arrivals_.add(std::move(call))); }
  void call_in_line(Call call) override { run_if_closed(forked() ? nullptr : arrivals_.add_in_line(std::move(call))); }
  bool admit(LaggingTime deadline) override { return arrivals_.admission().enter(deadline, clock_); }
  void leave(Served served) override { arrivals_.admission().left(served == Served::Yes); }
  bool on_engine_thread() const override { return loop_.runs_here(); }
  bool on_callback_thread() const override { return callbacks_ && callbacks_->runs_here(); }
  const Clock& clock() const override { return clock_; }
  // In a forked child: no thread of this object runs here, and none of its locks may be taken.
  bool forked() const override { return fork_guard_.forked(); }
  const ReplicaOptions& options() const { return options_; }
  std::string owner_tag() override;
  LaggingTime deadline(Duration timeout) const;
  WriteOptions write_options(ProposeOptions options) const;

  void run_callback(absl::FunctionRef<void()> callback) override;
  // Runs `task` on the callback thread; once that is stopped, right here.
  void announce(CallbackThread::Task task);
  // On the engine's thread, after this delay unless the host is closed before.
  void later(Duration delay, absl::AnyInvocable<void()> act);

  // Called inside a call.
  Ticket change_members(const MembershipChange& change, MembershipOptions options, Callback<Index> done);
  Ticket transfer_leadership(std::optional<uint64_t> target, Duration timeout, DoneCallback done);
  void abandon_members(Ticket call) override { membership_.abandon(call); }

  Metrics metrics(const Client& client);  // inside a call
  Health health();
  absl::Status wait_ready(Duration timeout);
  absl::Status scrub_now();
  // A checkpoint at this entry or beyond it, once durable; one is taken if there is none. The view may outlive this.
  absl::StatusOr<std::unique_ptr<CheckpointView>> checkpoint_at(Index at_least, LaggingTime deadline);
  void checkpoint_rotten(absl::Status why) { arrivals_.post(EngineInput(StateRotten{std::move(why)})); }
  StoreId store() const { return engine_->store(); }
  absl::Status reload_tls();
  absl::Status close();

 private:
  void start(std::unique_ptr<Engine> engine);
  void begin_events();
  void host_threw(const absl::Status& why);
  void run_if_closed(Call call);
  Duration run_turns();
  void take_arrivals(LaggingTime looked);  // the clock's last reading
  void take_calls();
  struct Turned {
    LaggingTime began;
    LaggingTime due;  // the next one, at the latest
  };
  Turned one_turn();
  void carry_out(bool due);  // whether the next turn is due already
  void publish();
  LaggingTime next_due(Now now) const;
  void finish_drain();
  void stop_engine();

  ReplicaOptions options_;
  const Clock& clock_;
  const ForkGuard fork_guard_;
  HostCode host_code_;
  const std::shared_ptr<OwnThread> own_thread_;  // none: the host has an executor
  TurnLoop loop_;
  Arrivals arrivals_;
  PublishedHealth health_;
  Closing closing_;
  Stores stores_;
  PeerTransport peers_;
  std::unique_ptr<AdminSocket> admin_;  // none: not requested
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Client> client_;
  MembershipCalls membership_;
  std::optional<CallbackThread> callbacks_;
  std::optional<EventRelay> events_;
  std::optional<EventFeed> feed_;              // uses the callbacks
  std::optional<engine::EventLog> event_log_;  // writes to the feed; none: not wanted
  std::optional<DeadlineTimer> deadlines_;     // uses the callbacks

  Meter meter_;
  std::vector<Arrivals::Arrival> batch_;
  std::vector<Call> begun_;
  EngineEffects effects_;
  std::atomic<uint64_t> next_tag_{1};
  std::recursive_mutex stopped_mutex_;  // guards the client once stopped; a callback may call again
};

}  // namespace coordkit
