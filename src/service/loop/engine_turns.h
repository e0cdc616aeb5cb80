// The engine and what looks at it in every turn: the client, door 1's own calls, metrics and the events for operators.
//
// Threads: the engine's. Once stop() has returned, run_stopped() is for any, and nothing else is called outside of it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "coordkit/engine/client.h"
#include "coordkit/engine/engine.h"
#include "engine/loop/event_log.h"
#include "service/loop/arrivals.h"
#include "service/operate/membership_calls.h"
#include "service/operate/meter.h"

namespace coordkit {

class EngineTurns {
 public:
  using Call = CallRunner::Call;

  // `host_and_port`: the form of the members' addresses. `links`: between remotes and gateways; null: there are none.
  EngineTurns(std::unique_ptr<Engine> engine, ClientOptions options, bool host_and_port, LinkTurns* links);
  // From now on `tell` is called inside of take() and turn(). Arguments: those of engine::EventLog.
  void report_events(Duration election_timeout, Agreement agreement, OnReplicaEvent tell, LaggingTime now);
  // Events: what code of the host did.
  void threw(const absl::Status& why, LaggingTime now);
  void held_up(std::string sentence, LaggingTime now);
  // A round was not finished, or an input is missing: the next turn halts the engine, and every call is answered. Repeated if
  // it throws.
  void fail(const absl::Status& why);

  // Posts the inputs that have arrived and runs the calls. `looked`: the clock's last reading.
  void take(Arrivals& arrivals, LaggingTime looked);
  // One turn. Its effects are valid until the next; returns when that is due at the latest, whatever they lead to.
  LaggingTime turn(Now now);
  EngineEffects& effects() { return effects_; }
  // Between turns: what waited for this write, which is durable. Valid until the next time.
  const std::vector<Outbound>& released(WriteNumber durable);

  const Engine& engine() const { return *engine_; }
  const Client& client() const { return *client_; }
  Client& client() { return *client_; }
  Meter& meter() { return meter_; }

  // Door 1's own calls, inside a call.
  Ticket change_members(LaggingTime now, const MembershipChange& change, MembershipOptions options, Callback<Index> done);
  Ticket transfer_leadership(LaggingTime now, ReplicaId target, Duration timeout, DoneCallback done);
  void abandon(Ticket call) { membership_.abandon(*engine_, call); }

  // Keeps `act` until it is run by its number, once, or by stop(), which lets it begin calls.
  uint64_t postpone(absl::AnyInvocable<void()> act);
  void run_postponed(uint64_t number);

  // Answers every call with Closed, those too that have not begun. Calls that find the arrivals closed meanwhile are left for
  // run_late(), so that their callers wait for no callback; it comes before the returned lock is released.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> stop(Arrivals& arrivals);
  void run_late();
  void run_stopped(Call call);  // null: nothing
  bool runs_stopped_here() const { return stopped_runner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

 private:
  void take(Arrivals::Mail& mail);
  void run_calls();
  LaggingTime next_due(Now now) const;

  const std::unique_ptr<Engine> engine_;
  const std::unique_ptr<Client> client_;
  MembershipCalls membership_;
  Meter meter_;
  std::optional<engine::EventLog> event_log_;  // none: not wanted
  LinkTurns* const links_;
  std::vector<Arrivals::Arrival> inputs_;  // being posted
  struct Calls {
    std::vector<Call> all;
    size_t begun = 0;
  };
  Calls calls_;  // being run
  struct Postponed {
    absl::btree_map<uint64_t, absl::AnyInvocable<void()>> acts;
    uint64_t last = 0;
  };
  Postponed postponed_;
  EngineEffects effects_;
  std::vector<Outbound> released_;
  std::recursive_mutex stopped_mutex_;             // guards everything once stopped; a callback may call again
  std::atomic<std::thread::id> stopped_runner_{};  // the thread that runs a call on the stopped client
  std::mutex late_mutex_;                          // guards the next
  std::optional<std::vector<Call>> late_;          // from stop() to run_late()
};

}  // namespace coordkit
