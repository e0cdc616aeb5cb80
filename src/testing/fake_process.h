// The process under test: its client, calls that wait for the next turn, and callbacks that wait for it to end.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "coordkit/client.h"
#include "coordkit/engine.h"
#include "replica/waiting.h"

namespace coordkit::testkit {

class FakeProcess {
 public:
  void start(Engine& engine);
  void crash();  // open calls are answered; nothing is closed or released
  void stop();   // later calls are answered Closed
  bool stopped() const { return stopped_; }
  // While it stands still, time and the cluster continue.
  void pause() { paused_ = true; }
  void resume() { paused_ = false; }

  void call(CallRunner::Call call);
  bool has_calls() const { return !calls_.empty() && !paused_; }

  void before_turn(Now now);
  void after_turn(Now now, const EngineEffects& effects);
  void run_callbacks();
  Duration next_turn(Now now) const;  // from now

 private:
  void run_calls();

  std::unique_ptr<Client> client_;
  std::vector<CallRunner::Call> calls_;
  std::deque<absl::AnyInvocable<void()>> callbacks_;
  bool paused_ = false;
  bool stopped_ = false;
  uint64_t secrets_ = 0;
};

}  // namespace coordkit::testkit
