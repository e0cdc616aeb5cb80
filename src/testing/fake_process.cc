#include "testing/fake_process.h"

#include <algorithm>
#include <utility>

namespace coordkit::testkit {

void FakeProcess::start(Engine& engine) {
  ClientOptions options;
  options.notify = [this](absl::AnyInvocable<void()> task) { callbacks_.push_back(std::move(task)); };
  options.draw_secret = [this] { return "secret number " + std::to_string(++secrets_); };
  client_ = std::make_unique<Client>(engine, std::move(options));
}

void FakeProcess::crash() {
  run_timers(LaggingTime::max());
  client_->stop();
  run_calls();
  run_callbacks();
  client_.reset();
}

void FakeProcess::stop() {
  if (stopped_) return;
  run_timers(LaggingTime::max());
  stopped_ = true;
  client_->stop();
  run_callbacks();
}

void FakeProcess::call(CallRunner::Call call) {
  if (stopped_) return std::move(call)(*client_);
  calls_.push_back(std::move(call));
}

void FakeProcess::announce(absl::AnyInvocable<void()> task) {
  if (stopped_) return std::move(task)();
  callbacks_.push_back(std::move(task));
}

void FakeProcess::run_timers(LaggingTime now) {
  std::multimap<LaggingTime, absl::AnyInvocable<void()>> due;  // an act that another act adds is for later
  while (!timers_.empty() && timers_.begin()->first <= now) due.insert(timers_.extract(timers_.begin()));
  for (auto& [time, act] : due) std::move(act)();
}

void FakeProcess::run_calls() {
  for (CallRunner::Call& call : std::exchange(calls_, {})) std::move(call)(*client_);
}

void FakeProcess::before_turn(Now now) {
  if (paused_) return;
  run_timers(now.lagging);
  run_calls();
  client_->before_turn(now);
}

void FakeProcess::after_turn(Now now, const EngineEffects& effects) {
  if (!paused_) client_->after_turn(now, effects);
}

void FakeProcess::run_callbacks() {
  while (!callbacks_.empty() && !paused_) {
    absl::AnyInvocable<void()> task = std::move(callbacks_.front());
    callbacks_.pop_front();
    std::move(task)();
  }
}

Duration FakeProcess::next_turn(Now now) const {
  if (paused_) return Duration::max();
  const Duration next = client_->next_turn(now);
  return timers_.empty() ? next : std::min(next, std::max(timers_.begin()->first - now.lagging, Duration::zero()));
}

}  // namespace coordkit::testkit
