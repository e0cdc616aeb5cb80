// The process under test: its client, calls that wait for the next turn, and callbacks that wait for it to end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "coordkit/engine/client.h"
#include "coordkit/engine/engine.h"
#include "service/calls/waiting.h"

namespace coordkit::testkit {

class FakeProcess {
 public:
  void start(Engine& engine);
  void crash();  // open calls are answered; nothing is closed or released
  void stop();   // later calls are answered Closed
  bool stopped() const { return stopped_; }
  // During a pause, time and the cluster continue.
  void pause() { paused_ = true; }
  void resume() { paused_ = false; }

  void call(CallRunner::Call call);
  // Runs `act` inside a turn from `due` on, or when the process ends.
  void at(LaggingTime due, absl::AnyInvocable<void()> act) { timers_.emplace(due, std::move(act)); }
  // Runs `task` after this turn, behind all earlier announcements; once stopped, right here.
  void announce(absl::AnyInvocable<void()> task);
  const Client& client() const { return *client_; }
  bool has_calls() const { return !calls_.empty() && !paused_; }

  void before_turn(Now now);
  void after_turn(Now now, const EngineEffects& effects);
  void run_callbacks();
  Duration next_turn(Now now) const;  // from now

 private:
  void run_calls();
  void run_timers(LaggingTime now);

  std::unique_ptr<Client> client_;
  std::vector<CallRunner::Call> calls_;
  std::deque<absl::AnyInvocable<void()>> callbacks_;
  std::multimap<LaggingTime, absl::AnyInvocable<void()>> timers_;
  bool paused_ = false;
  bool stopped_ = false;
  uint64_t secrets_ = 0;
};

}  // namespace coordkit::testkit
