// The engine with everything it needs: the loop of its turns, on a thread shared with the network or on the host's
// executor, the stores with their own threads, the worker that reads and builds whole states, and the callback thread. Door 1's
// handles share it.
//
// A round of the loop is the host's loop of engine.h: take what arrived, read the clock, turn, carry out the effects. What
// arrives from other threads is one bounded queue; a wake-up is posted only when none is pending. "The engine's thread" is
// the one running a round.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "coordkit/client.h"
#include "coordkit/early_sends.h"
#include "coordkit/engine.h"
#include "coordkit/replica.h"
#include "coordkit/store_events.h"
#include "coordkit/transport.h"
#include "engine/event_log.h"
#include "replica/admin_socket.h"
#include "replica/call_admission.h"
#include "replica/call_runner.h"
#include "replica/callback_thread.h"
#include "replica/deadline_timer.h"
#include "replica/event_feed.h"
#include "replica/event_relay.h"
#include "replica/fork_guard.h"
#include "replica/host_code.h"
#include "replica/membership_calls.h"
#include "replica/meter.h"
#include "replica/own_thread.h"
#include "replica/parts.h"
#include "replica/scrubber.h"
#include "replica/state_worker.h"
#include "replica/turn_loop.h"

namespace coordkit {

class DataDirectory;

class Host final : public std::enable_shared_from_this<Host>, public CallRunner, public StoreEvents, public TransportSink {
 public:
  explicit Host(ReplicaOptions options);
  ~Host() override;

  // Opening, in order (opening.cc).
  boost::asio::io_context* network_thread() { return own_thread_ ? &own_thread_->io() : nullptr; }  // null: not our thread
  void adopt(MadeParts parts);
  absl::StatusOr<std::shared_ptr<Host>> open(std::shared_ptr<DataDirectory> directory);
  absl::Status open_admin(Replica& replica);  // the replica closes this host before it is destroyed

  // Runs `call` on the engine's thread before one of its next turns, or, once closed, right here on the stopped client.
  void call(Call call) override { queue(calls_, std::move(call)); }
  void call_in_line(Call call) override;
  bool admit(LaggingTime deadline) override { return admission_.enter(deadline, clock_); }
  void leave(Served served) override { admission_.left(served == Served::Yes); }
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
  void checkpoint_rotten(absl::Status why) { post(EngineInput(StateRotten{std::move(why)})); }
  StoreId store() const { return engine_->store(); }
  absl::Status reload_tls();
  absl::Status close();

  void written(WriteNumber number) override;
  void peer_up(const Hello& hello) override;
  void peer_down(ReplicaId peer) override;
  void received(ReplicaId from, std::string body) override;
  void peer_refused(ReplicaId peer, std::string why) override;
  void peer_unreachable(ReplicaId peer, std::string why) override;

 private:
  // What other threads leave for the engine. Messages stay encoded until the turn: a flood costs bytes, not objects.
  struct Mail {
    ReplicaId from;
    std::string body;
  };
  using Arrival = std::variant<EngineInput, Mail, Call>;
  static constexpr size_t kMailBytesMax = 256 << 20;  // a transport may lose frames, so the newest are dropped

  absl::StatusOr<std::vector<HostedMachine>> machines() const;  // fresh ones
  void start(std::unique_ptr<Engine> engine);
  void begin_events();
  void host_threw(const absl::Status& why);
  void post_event(EngineInput input) override { post(std::move(input)); }
  void post(Arrival arrival);
  void wake();
  Duration run_turns();
  void take_arrivals(LaggingTime looked);  // the clock's last reading
  void queue(std::deque<Call>& where, Call call);
  size_t take_share(std::deque<Call>& from);
  void take_calls();
  struct Turned {
    LaggingTime began;
    LaggingTime due;  // the next one, at the latest
  };
  Turned one_turn();
  void carry_out(bool due);  // whether the next turn is due already
  void send(std::vector<Outbound>& sends);
  void submit(LogWrite write, bool busy);
  void send_released();
  bool anything_waits() const;
  void publish();
  // Waits until the predicate holds for the health or the replica is closed, at most `timeout`. Returns holding the lock.
  std::unique_lock<std::mutex> wait_health(Duration timeout, absl::FunctionRef<bool()> holds);
  LaggingTime next_due(Now now) const;
  bool closing();
  void finish_drain();
  void stop_engine();

  ReplicaOptions options_;
  const Clock& clock_;
  const ForkGuard fork_guard_;
  HostCode host_code_;
  const std::shared_ptr<OwnThread> own_thread_;  // none: the host has an executor
  TurnLoop loop_;
  std::shared_ptr<DataDirectory> directory_;  // none: the host's stores do not need one
  std::string no_reserve_;                    // why the next start may find no room; empty: it will find some
  std::unique_ptr<LogStore> log_;
  std::mutex viewing_;  // guards outside reads of the state store, and its end
  std::unique_ptr<StateStore> state_;
  std::optional<StateWorker> worker_;  // uses the state store
  std::optional<Scrubber> scrubber_;   // uses both stores
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<AdminSocket> admin_;        // none: not requested
  TcpTransport* tcp_ = nullptr;               // the same, if it is the built-in one; none once closed
  std::optional<TcpCounters> tcp_counters_;   // as they were then
  std::shared_ptr<SecureChannels> channels_;  // of the transport; none: without certificates
  std::unique_ptr<Engine> engine_;
  EarlySends* early_sends_ = nullptr;  // the engine's
  std::unique_ptr<Client> client_;
  MembershipCalls membership_;
  std::optional<CallbackThread> callbacks_;
  std::optional<EventRelay> events_;
  std::optional<EventFeed> feed_;              // uses the callbacks
  std::optional<engine::EventLog> event_log_;  // writes to the feed; none: not wanted
  std::optional<DeadlineTimer> deadlines_;     // uses the callbacks

  mutable std::mutex mutex_;  // of the queue and of closing
  std::vector<Arrival> arrivals_;
  std::deque<Call> calls_;  // never refused: releases and reads
  std::deque<Call> line_;   // admitted, waiting only for each other
  size_t mail_bytes_ = 0;
  bool closing_ = false;
  bool closed_ = false;
  bool drained_ = false;
  std::condition_variable drained_wake_;
  std::atomic<bool> draining_{false};

  CallAdmission admission_;
  Meter meter_;
  std::vector<Arrival> batch_;
  std::vector<Call> begun_;
  bool deferred_ = false;  // a write that must be done before the next turn
  EngineEffects effects_;
  std::vector<std::pair<ReplicaId, std::vector<Frame>>> frames_;
  std::atomic<WriteNumber> durable_{WriteNumber()};  // the log's newest
  std::vector<Outbound> released_;
  std::mutex health_mutex_;
  std::condition_variable health_changed_;
  Health health_;
  bool over_ = false;             // closed: waiting is over
  std::atomic<int> watchers_{0};  // threads waiting for a change
  std::atomic<uint64_t> next_tag_{1};
  std::recursive_mutex stopped_mutex_;  // guards the client once stopped; a callback may call again
};

}  // namespace coordkit
